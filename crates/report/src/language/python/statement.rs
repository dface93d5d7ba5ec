//! Statements of Python: a line each.

use crate::source::statement::{Statement, is_condition, variables};

pub(super) fn bound(Statement { after: line, .. }: &Statement) -> Vec<String> {
    match line.split_once(" = ") {
        // `a = …`, `a, b = …`, and `(a,) = …`, as a row of a database is unpacked.
        Some((target, _))
            if target.chars().all(|c| c.is_alphanumeric() || "_, ()[]*".contains(c)) && !indexes(target) =>
        {
            variables(target)
        }
        _ => Vec::new(),
    }
}

/// Whether a target is an element of something: `rows[at]`, which binds no variable.
fn indexes(target: &str) -> bool {
    let mut before = ' ';
    target.chars().any(|c| {
        let of_a_name = before.is_alphanumeric() || before == '_';
        before = c;
        matches!(c, '[' | '(') && of_a_name
    })
}

pub(super) fn is_returned(Statement { after: line, .. }: &Statement) -> bool {
    line.starts_with("return ") || line.starts_with("yield ")
}

pub(super) fn is_blind(Statement { after: line, .. }: &Statement) -> bool {
    let augmented = [" += ", " -= ", " *= ", " |= ", " &= ", " ^= "].iter().any(|sign| line.contains(sign));
    let statement = !line.contains(" = ") && line.contains('(') && !is_condition(line);
    let word = line.split(' ').next().unwrap_or_default();
    augmented || (statement && !matches!(word, "return" | "yield" | "with" | "for" | "raise" | "assert"))
}

pub(super) fn assigns(Statement { after: line, .. }: &Statement) -> bool {
    let target = line.split_once(" = ").map(|(target, _)| target);
    target.is_some_and(|target| !target.contains('('))
}

pub(super) fn calls(Statement { after: line, .. }: &Statement) -> bool {
    let assigns = line.contains("= ") || line.starts_with("del ");
    !assigns && line.contains('(')
}

#[cfg(test)]
mod tests {
    use crate::language::PYTHON;
    use crate::source::statement::Statement;
    use crate::source::statement::tests::statement_at;

    #[test]
    fn a_line_is_a_statement() {
        let told = |s: &Statement| (s.is_condition(), s.is_returned(), s.is_blind(), s.bound().join(","));
        for (text, expected) in [
            ("@    self.renders += 1", (false, false, true, "")),
            ("@    self.sold.append(customer)", (false, false, true, "")),
            ("@    if self.quota > 0:", (true, false, false, "")),
            ("@    picture = self.ready.get(name)", (false, false, false, "picture")),
            ("@    (total,) = db.execute(QUERY).fetchone()", (false, false, false, "total")),
            ("@    [first, *rest] = self.jobs", (false, false, false, "first,rest")),
            ("@    rows[at] = 3", (false, false, false, "")),
            ("@    return self.tickets[show] > 0", (true, true, false, "")),
        ] {
            let (condition, returned, blind, bound) = told(&statement_at(PYTHON, text));
            assert_eq!((condition, returned, blind, bound.as_str()), expected, "{text}");
        }
    }
}
