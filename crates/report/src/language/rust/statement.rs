//! The statement of Rust around a place, and what becomes of the value there. The text is cut at brackets, semicolons and
//! blocks, which is enough for code that a formatter has been over; of anything else nothing is claimed.

use crate::language::Syntax;
use crate::record::Place;
use crate::source::Sources;
use crate::source::statement::{Statement, is_compared, variables};

/// Lines of a statement that are looked at on each side of a place.
const LINES: u32 = 8;

/// Methods that change nothing of what they are called on.
const READS: [&str; 48] = [
    "len",
    "is_empty",
    "get",
    "contains",
    "contains_key",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "is_some_and",
    "iter",
    "clone",
    "cloned",
    "copied",
    "first",
    "last",
    "front",
    "back",
    "peek",
    "keys",
    "values",
    "as_ref",
    "as_deref",
    "as_str",
    "as_slice",
    "to_vec",
    "to_owned",
    "to_string",
    "starts_with",
    "ends_with",
    "binary_search",
    "any",
    "all",
    "count",
    "sum",
    "max",
    "min",
    "map_or",
    "map",
    "capacity",
    "range",
    "first_key_value",
    "last_key_value",
    "eq",
    "ne",
    "cmp",
    "unwrap_or",
    "elapsed",
];

/// What takes a lock, or opens what was taken.
const OPENERS: [&str; 14] = [
    "lock",
    "read",
    "write",
    "try_lock",
    "try_read",
    "try_write",
    "blocking_lock",
    "unwrap",
    "expect",
    "unwrap_or_else",
    "await",
    "ok",
    "into_inner",
    "upgradable_read",
];

/// The statement around `place`.
pub(super) fn around(syntax: &'static dyn Syntax, sources: &Sources<'_>, place: &Place) -> Option<Statement> {
    let line = sources.raw(&place.file, place.line)?;
    let column = (place.column as usize).checked_sub(1)?;
    let mut before: String = line.chars().take(column).collect();
    let mut after: String = without_comment(&line.chars().skip(column).collect::<String>()).to_owned();
    for n in (place.line.saturating_sub(LINES)..place.line).rev() {
        if begins(&before).is_some() {
            break;
        }
        let Some(line) = sources.raw(&place.file, n) else { break };
        before = format!("{} {before}", without_comment(&line).trim());
    }
    for n in place.line + 1..=place.line + LINES {
        if ends(&after).is_some() {
            break;
        }
        let Some(line) = sources.raw(&place.file, n) else { break };
        after = format!("{after} {}", without_comment(&line).trim());
    }
    let from = begins(&before).unwrap_or(0);
    let (to, end) = ends(&after).unwrap_or((after.len(), ' '));
    let before = before[from..].trim_start().to_owned();
    Some(Statement { syntax, before, after: after[..to].trim_end().to_owned(), end })
}

pub(super) fn is_condition(statement: &Statement) -> bool {
    let Statement { before, after, .. } = statement;
    let first = before.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty());
    let or_else = before.starts_with("let ") && after.ends_with(" else");
    let chosen = before.contains("= if ") || before.contains("= match ");
    let said = matches!(first, Some("if" | "while" | "match" | "else"));
    said || or_else || chosen || is_compared(after) || is_compared(before) || after.contains(".then")
}

pub(super) fn bound(Statement { before, .. }: &Statement) -> Vec<String> {
    match before.split_once("let ").and_then(|(_, rest)| rest.split_once('=')) {
        Some((pattern, _)) => variables(pattern.split(':').next().unwrap_or(pattern)),
        None => Vec::new(),
    }
}

pub(super) fn is_returned(Statement { before, end, .. }: &Statement) -> bool {
    let assigned = before.starts_with("let ") || before.contains(" = ");
    before.starts_with("return ") || (matches!(end, '}' | ',') && !assigned)
}

pub(super) fn is_blind(Statement { before, end, .. }: &Statement) -> bool {
    let dropped = before.starts_with("let _ =");
    let path = |c: char| c.is_alphanumeric() || "_.*&:[]() ".contains(c);
    let plain = before.chars().all(path) && open_brackets(before) == 0;
    let word = before.split(' ').next().unwrap_or_default();
    let stands_alone = plain && *end == ';' && !matches!(word, "return" | "if" | "while" | "match" | "let");
    dropped || stands_alone
}

/// What follows the guard of a lock that is taken here, behind `lock().unwrap()`, and whether the guard is
/// dereferenced.
fn behind_guard(Statement { before, after, .. }: &Statement) -> Option<(&str, bool)> {
    let mut rest = after.as_str();
    while let Some((name, after)) = first_name(rest.trim_start_matches(['.', ' '])) {
        if !OPENERS.contains(&name) {
            break;
        }
        rest = after.trim_start();
        if rest.starts_with('(') {
            rest = &rest[closing(rest)?..];
        }
        rest = rest.trim_start().trim_start_matches('?');
    }
    let before = before.trim_end();
    let path = before.rsplit(|c: char| !c.is_alphanumeric() && !"_.[]:".contains(c)).next().unwrap_or_default();
    Some((rest, before[..before.len() - path.len()].ends_with('*')))
}

pub(super) fn uses_guarded(statement: &Statement) -> bool {
    let used = |(rest, opened): (&str, bool)| opened || rest.starts_with(['.', '[']);
    behind_guard(statement).is_some_and(used)
}

pub(super) fn only_reads(statement: &Statement) -> Option<bool> {
    let (mut rest, opened) = behind_guard(statement)?;
    let before = &statement.before;
    if before.contains("&mut *") {
        return Some(false);
    }
    if !rest.starts_with(['.', '[']) {
        return match opened {
            true => Some(!is_assigned(rest)),
            // A guard that is bound: it can be written through if it is mutable.
            false if before.starts_with("let mut ") => None,
            false if before.starts_with("let ") && rest.trim().is_empty() => Some(true),
            false => None,
        };
    }
    // The fields on the way, up to the first method.
    loop {
        rest = rest.trim_start();
        if rest.starts_with('[') {
            rest = &rest[closing(rest)?..];
            continue;
        }
        let Some((name, after)) = rest.strip_prefix('.').and_then(first_name) else { break };
        if after.starts_with('(') || after.starts_with("::<") {
            return Some(READS.contains(&name));
        }
        rest = after;
    }
    Some(!is_assigned(rest))
}

/// ` = 3`, ` += 1`.
fn is_assigned(rest: &str) -> bool {
    let rest = rest.trim_start();
    let signs = ["= ", "+= ", "-= ", "*= ", "/= ", "|= ", "&= ", "^= ", "%= ", "<<= ", ">>= "];
    signs.iter().any(|sign| rest.starts_with(sign))
}

fn first_name(text: &str) -> Option<(&str, &str)> {
    let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (length > 0).then(|| text.split_at(length))
}

/// Behind the bracket that closes the one with which the text begins.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

fn open_brackets(text: &str) -> i32 {
    text.chars().map(|c| i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'))).sum()
}

/// Where the last statement of a text begins, if the text has its beginning.
fn begins(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut previous = ' ';
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' => depth -= 1,
            // A block that is over ends the statement before it.
            ';' | '{' | '}' if depth <= 0 => return Some(at + 1),
            '=' if previous == '>' && depth <= 0 => return Some(at + 2),
            _ => {}
        }
        previous = c;
    }
    None
}

/// Where the first statement of a text is over, and by what.
fn ends(text: &str) -> Option<(usize, char)> {
    let mut depth = 0_i32;
    let mut outside = false;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            '{' if depth > 0 => depth += 1,
            '}' if depth > 0 => depth -= 1,
            // The argument of a call is part of the statement in which that is made.
            ')' | ']' if depth == 0 => outside = true,
            ')' | ']' => depth -= 1,
            ';' | '{' | '}' if depth == 0 => return Some((at, c)),
            ',' if depth == 0 && !outside && !text[at..].contains(')') => return Some((at, c)),
            _ => {}
        }
    }
    None
}

fn without_comment(line: &str) -> &str {
    line.split("// ").next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use crate::language::RUST;
    use crate::source::statement::Statement;
    use crate::source::statement::tests::statement_at;

    #[test]
    fn what_a_lock_guards_is_only_read_where_the_text_says_so() {
        for (text, expected) in [
            ("let n = self.jobs.@lock().unwrap().len();", Some(true)),
            ("self.jobs.@lock().unwrap().push(1);", Some(false)),
            ("let before = *self.balance.@lock().await;", Some(true)),
            ("*self.balance.@lock().await = before + 1;", Some(false)),
            ("*self.balance.@lock().unwrap() += 1;", Some(false)),
            ("if self.entries.@lock().unwrap().contains_key(&k) {", Some(true)),
            ("if *self.value.@lock().unwrap() > 3 {", Some(true)),
            ("self.bucket.@lock().unwrap().tokens > 0 }", Some(true)),
            ("self.bucket.@lock().unwrap().tokens -= 1;", Some(false)),
            ("let mut guard = self.state.@lock().unwrap();", None),
            ("let guard = self.state.@lock().unwrap();", Some(true)),
            ("let jobs = take(&mut *self.jobs.@lock().unwrap());", Some(false)),
            ("let x = self\n    .entries\n    .@lock()\n    .unwrap()\n    .get(&key)\n    .cloned();", Some(true)),
            ("self.cells.@lock().unwrap()[i] = 1;", Some(false)),
            ("let oldest = self.order.@lock().unwrap().remove(0);", Some(false)),
        ] {
            assert_eq!(statement_at(RUST, text).only_reads(), expected, "{text}");
        }
    }

    #[test]
    fn what_becomes_of_a_value_is_told_by_its_statement() {
        let told = |s: &Statement| (s.is_condition(), s.is_returned(), s.is_blind(), s.bound().join(","));
        for (text, expected) in [
            ("{ self.served.@fetch_add(1, Relaxed);", (false, false, true, "")),
            ("{ if self.open.@load(SeqCst) < self.limit {", (true, false, false, "")),
            ("{ let seen = self.open.@load(SeqCst);", (false, false, false, "seen")),
            ("fn open(&self) -> usize { self.open.@load(SeqCst) }", (false, true, false, "")),
            ("{ return self.open.@load(SeqCst);", (false, true, false, "")),
            ("{ let Some(job) = self.jobs.@lock().unwrap().pop() else { return };", (true, false, false, "job")),
            ("{ let (a, b) = (x.@load(SeqCst), y.load(SeqCst));", (false, false, false, "a,b")),
            ("{ drop(self.open.@load(SeqCst));", (false, false, false, "")),
            ("{ let _ = self.open.@swap(1, SeqCst);", (false, false, true, "")),
        ] {
            let (condition, returned, blind, bound) = told(&statement_at(RUST, text));
            assert_eq!((condition, returned, blind, bound.as_str()), expected, "{text}");
        }
    }
}
