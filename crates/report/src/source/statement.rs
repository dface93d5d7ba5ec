//! The statement around a place, and what becomes of the value there: whether something is decided by it, what it is
//! bound to, whether it is dropped.
//!
//! No language is parsed for that. The text is cut at brackets, semicolons and blocks, which is enough for code that a
//! formatter has been over; of anything else nothing is claimed.

use super::Sources;
use crate::language::Language;
use crate::record::Place;

/// Lines of a statement that are looked at on each side of a place.
const LINES: u32 = 8;

/// What stands before and after a place, within its statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    language: Language,
    before: String,
    after: String,
    /// What ends it: `;`, `{`, `}` or `,`; a blank if that is not known.
    end: char,
}

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

const COMPARISONS: [&str; 13] = [
    " == ",
    " != ",
    " < ",
    " > ",
    " <= ",
    " >= ",
    ".is_none()",
    ".is_some()",
    ".is_empty()",
    ".is_ok()",
    ".is_err()",
    ".contains_key(",
    ".contains(",
];

impl Sources<'_> {
    /// The statement around `place`.
    pub(crate) fn statement(&self, place: &Place) -> Option<Statement> {
        let language = self.language;
        let line = self.raw(&place.file, place.line)?;
        if language == Language::Python {
            return Some(Statement { language, before: String::new(), after: line.trim().to_owned(), end: ' ' });
        }
        let column = (place.column as usize).checked_sub(1)?;
        let mut before: String = line.chars().take(column).collect();
        let mut after: String = without_comment(&line.chars().skip(column).collect::<String>()).to_owned();
        for n in (place.line.saturating_sub(LINES)..place.line).rev() {
            if begins(&before).is_some() {
                break;
            }
            let Some(line) = self.raw(&place.file, n) else { break };
            before = format!("{} {before}", without_comment(&line).trim());
        }
        for n in place.line + 1..=place.line + LINES {
            if ends(&after).is_some() {
                break;
            }
            let Some(line) = self.raw(&place.file, n) else { break };
            after = format!("{after} {}", without_comment(&line).trim());
        }
        let from = begins(&before).unwrap_or(0);
        let (to, end) = ends(&after).unwrap_or((after.len(), ' '));
        let before = before[from..].trim_start().to_owned();
        Some(Statement { language, before, after: after[..to].trim_end().to_owned(), end })
    }

    /// The function around `place`: its name.
    pub(crate) fn function(&self, place: &Place) -> Option<String> {
        /// A longer function is none that a value is passed through.
        const FURTHEST: u32 = 60;
        let word = if self.language == Language::Python { "def " } else { "fn " };
        (place.line.saturating_sub(FURTHEST)..=place.line).rev().find_map(|n| {
            let line = self.raw(&place.file, n)?;
            let (before, rest) = line.split_once(word)?;
            let declares = before.split_whitespace().all(|word| word.starts_with("pub") || MODIFIERS.contains(&word));
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            (declares && !name.is_empty()).then_some(name)
        })
    }

    /// Where a file calls a function.
    pub(crate) fn calls(&self, file: &str, function: &str) -> Vec<Place> {
        let Some(lines) = self.file(file) else { return Vec::new() };
        let call = format!("{function}(");
        let found = (1..).zip(lines.iter()).filter_map(|(n, line)| {
            let at = line.find(&call)?;
            let before = &line[..at];
            let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let declared = before.trim_end().ends_with("fn") || before.trim_end().ends_with("def");
            let column = before.chars().count() as u32 + 1;
            (whole && !declared).then(|| Place { file: file.to_owned(), line: n, column })
        });
        found.collect()
    }
}

const MODIFIERS: [&str; 5] = ["async", "const", "unsafe", "extern", "crate)"];

impl Statement {
    /// Whether something is decided by the value.
    pub(crate) fn is_condition(&self) -> bool {
        if self.language == Language::Python {
            return is_condition(&self.after);
        }
        let first = self.before.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty());
        let or_else = self.before.starts_with("let ") && self.after.ends_with(" else");
        let chosen = self.before.contains("= if ") || self.before.contains("= match ");
        let said = matches!(first, Some("if" | "while" | "match" | "else"));
        said || or_else || chosen || self.is_compared() || self.after.contains(".then")
    }

    /// Whether it stands in the head of a loop over something: `for i in 0..self.len()`.
    pub(crate) fn is_loop(&self) -> bool {
        if self.language == Language::Python { &self.after } else { &self.before }.starts_with("for ")
    }

    /// Whether it is compared with something.
    fn is_compared(&self) -> bool {
        COMPARISONS.iter().any(|sign| self.after.contains(sign) || self.before.contains(sign))
    }

    pub(crate) fn is_assertion(&self) -> bool {
        is_assertion(if self.language == Language::Python { &self.after } else { &self.before })
    }

    /// The variables that it is bound to.
    pub(crate) fn bound(&self) -> Vec<String> {
        let names = |pattern: &str| {
            let words = pattern.split(|c: char| !c.is_alphanumeric() && c != '_');
            let variable = |word: &&str| {
                word.starts_with(|c: char| c.is_lowercase() || c == '_')
                    && !matches!(*word, "_" | "mut" | "ref" | "let")
            };
            words.filter(variable).map(str::to_owned).collect::<Vec<_>>()
        };
        match self.language {
            Language::Python => match self.after.split_once(" = ") {
                Some((target, _)) if target.chars().all(|c| c.is_alphanumeric() || "_, ".contains(c)) => names(target),
                _ => Vec::new(),
            },
            Language::Rust => match self.before.split_once("let ").and_then(|(_, rest)| rest.split_once('=')) {
                Some((pattern, _)) => names(pattern.split(':').next().unwrap_or(pattern)),
                None => Vec::new(),
            },
        }
    }

    /// Whether it is what the function around it comes to.
    pub(crate) fn is_returned(&self) -> bool {
        match self.language {
            Language::Python => self.after.starts_with("return ") || self.after.starts_with("yield "),
            Language::Rust => {
                let assigned = self.before.starts_with("let ") || self.before.contains(" = ");
                self.before.starts_with("return ") || (matches!(self.end, '}' | ',') && !assigned)
            }
        }
    }

    /// Whether nobody learns what was found: a blind write.
    pub(crate) fn is_blind(&self) -> bool {
        let augmented = [" += ", " -= ", " *= ", " |= ", " &= ", " ^= "].iter().any(|sign| self.after.contains(sign));
        match self.language {
            Language::Python => {
                let statement = !self.after.contains(" = ") && self.after.contains('(') && !is_condition(&self.after);
                let word = self.after.split(' ').next().unwrap_or_default();
                augmented || (statement && !matches!(word, "return" | "yield" | "with" | "for" | "raise" | "assert"))
            }
            Language::Rust => {
                let dropped = self.before.starts_with("let _ =");
                let path = |c: char| c.is_alphanumeric() || "_.*&:[]() ".contains(c);
                let plain = self.before.chars().all(path) && open_brackets(&self.before) == 0;
                let word = self.before.split(' ').next().unwrap_or_default();
                let stands_alone =
                    plain && self.end == ';' && !matches!(word, "return" | "if" | "while" | "match" | "let");
                dropped || stands_alone
            }
        }
    }

    /// Whether it puts something in the place of what was there: `self.best = score`.
    pub(crate) fn assigns(&self) -> bool {
        let target = self.after.split_once(" = ").map(|(target, _)| target);
        self.language == Language::Python && target.is_some_and(|target| !target.contains('('))
    }

    /// Whether it is a call, and assigns nothing.
    pub(crate) fn calls(&self) -> bool {
        let assigns = self.after.contains("= ") || self.after.starts_with("del ");
        self.language == Language::Python && !assigns && self.after.contains('(')
    }

    /// What follows the guard of a lock that is taken here, behind `lock().unwrap()`, and whether the guard is
    /// dereferenced.
    fn behind_guard(&self) -> Option<(&str, bool)> {
        let mut rest = self.after.as_str();
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
        let before = self.before.trim_end();
        let path = before.rsplit(|c: char| !c.is_alphanumeric() && !"_.[]:".contains(c)).next().unwrap_or_default();
        Some((rest, before[..before.len() - path.len()].ends_with('*')))
    }

    /// Of a lock that is taken here, whether what it guards is used at once: `*self.total.lock().unwrap() += 1`.
    pub(crate) fn uses_guarded(&self) -> bool {
        let used = |(rest, opened): (&str, bool)| opened || rest.starts_with(['.', '[']);
        self.language == Language::Rust && self.behind_guard().is_some_and(used)
    }

    /// Of a lock that is taken here, whether what it guards is only read; none if that cannot be told.
    pub(crate) fn only_reads(&self) -> Option<bool> {
        if self.language == Language::Python {
            return None;
        }
        let (mut rest, opened) = self.behind_guard()?;
        if self.before.contains("&mut *") {
            return Some(false);
        }
        if !rest.starts_with(['.', '[']) {
            return match opened {
                true => Some(!is_assigned(rest)),
                // A guard that is bound: it can be written through if it is mutable.
                false if self.before.starts_with("let mut ") => None,
                false if self.before.starts_with("let ") && rest.trim().is_empty() => Some(true),
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

    /// Whether a variable is in it.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        mentions(&self.before, name) || mentions(&self.after, name)
    }
}

/// Whether a line decides something, by its words.
pub(crate) fn is_condition(line: &str) -> bool {
    let decides = |word: &str| matches!(word, "if" | "while" | "match" | "then" | "then_some" | "elif");
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(decides) || COMPARISONS.iter().any(|c| line.contains(c))
}

pub(crate) fn is_assertion(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("assert") || line.starts_with("debug_assert")
}

pub(crate) fn mentions(line: &str, name: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
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
    use super::*;

    /// The statement at the `@` in `text`.
    fn at(language: Language, text: &str) -> Statement {
        let (before, _) = text.split_once('@').expect("the place is marked");
        let line = before.lines().count().max(1) as u32;
        let column = before.lines().last().unwrap_or_default().chars().count() as u32 + 1;
        let plain = text.replace('@', "");
        let read = move |_: &str| Some(plain.clone());
        let sources = Sources { read: &read, language, files: Default::default() };
        sources.statement(&Place { file: "x".to_owned(), line, column }).expect("a statement")
    }

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
            assert_eq!(at(Language::Rust, text).only_reads(), expected, "{text}");
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
            let (condition, returned, blind, bound) = told(&at(Language::Rust, text));
            assert_eq!((condition, returned, blind, bound.as_str()), expected, "{text}");
        }
    }

    #[test]
    fn python_has_a_statement_a_line() {
        let told = |s: &Statement| (s.is_condition(), s.is_returned(), s.is_blind(), s.bound().join(","));
        for (text, expected) in [
            ("@    self.renders += 1", (false, false, true, "")),
            ("@    self.sold.append(customer)", (false, false, true, "")),
            ("@    if self.quota > 0:", (true, false, false, "")),
            ("@    picture = self.ready.get(name)", (false, false, false, "picture")),
            ("@    return self.tickets[show] > 0", (true, true, false, "")),
        ] {
            let (condition, returned, blind, bound) = told(&at(Language::Python, text));
            assert_eq!((condition, returned, blind, bound.as_str()), expected, "{text}");
        }
    }
}
