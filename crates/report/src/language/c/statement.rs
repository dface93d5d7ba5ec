//! Statements of C: a line each.

use crate::source::is_identifier;
use crate::source::statement::{Statement, is_condition};

/// What is assigned to, if the line is an assignment: `int seen = load(&x);` → `int seen`.
pub(super) fn assigned(line: &str) -> Option<&str> {
    let at = line.find('=')?;
    let compares =
        line[at + 1..].starts_with('=') || line[..at].ends_with(['!', '<', '>', '+', '-', '*', '/', '|', '&', '^']);
    let target = line[..at].trim();
    (!compares && !target.contains('(')).then_some(target)
}

pub(super) fn bound(Statement { after: line, .. }: &Statement) -> Vec<String> {
    let variable =
        |target: &str| target.rsplit([' ', '*']).next().filter(|word| is_identifier(word)).map(str::to_owned);
    assigned(line).and_then(variable).into_iter().collect()
}

pub(super) fn is_blind(Statement { after: line, .. }: &Statement) -> bool {
    let augmented = [" += ", " -= ", " *= ", " |= ", " &= ", " ^= ", "++", "--"].iter().any(|sign| line.contains(sign));
    let word = line.split([' ', '(']).next().unwrap_or_default();
    let statement = assigned(line).is_none() && line.contains('(') && !is_condition(line);
    augmented || (statement && !matches!(word, "return" | "for" | "switch" | "assert"))
}

#[cfg(test)]
mod tests {
    use crate::language::C;
    use crate::source::statement::Statement;
    use crate::source::statement::tests::statement_at;

    #[test]
    fn a_line_is_a_statement() {
        let told = |s: &Statement| (s.is_condition(), s.is_returned(), s.is_blind(), s.bound().join(","));
        for (text, expected) in [
            ("@    count += 1;", (false, false, true, "")),
            ("@    count++;", (false, false, true, "")),
            ("@    if (seen > 0) {", (true, false, false, "")),
            ("@    int seen = load(&count);", (false, false, false, "seen")),
            ("@    return count;", (false, true, false, "")),
            ("@    store(&count, 1);", (false, false, true, "")),
        ] {
            let (condition, returned, blind, bound) = told(&statement_at(C, text));
            assert_eq!((condition, returned, blind, bound.as_str()), expected, "{text}");
        }
    }
}
