//! Source files: their lines, and what a reader takes from them: what things are called.
//!
//! A trace knows an object by the place where it was made. The line there usually has a better name for it:
//! `let balance = Arc::new(Mutex::new(0))`, or the field `balance: AtomicU64::new(0)`. No language is parsed
//! for that. A name that cannot be told is none.

mod containers;
mod files;
mod pieces;
mod python;
pub(crate) mod statement;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub use files::SourceFiles;

use crate::language::Language;
use crate::printable::printable;
use crate::record::{Place, Record};

/// Source files, each read once.
pub(crate) struct Sources<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    language: Language,
    files: RefCell<HashMap<String, Option<Rc<Vec<String>>>>>,
}

impl<'a> Sources<'a> {
    /// Those that `record` speaks of.
    pub(crate) fn of(record: &Record, read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Sources { read, language: record.meta.language, files: RefCell::default() }
    }

    fn file(&self, name: &str) -> Option<Rc<Vec<String>>> {
        if let Some(known) = self.files.borrow().get(name) {
            return known.clone();
        }
        let lines = (self.read)(name).map(|text| Rc::new(text.lines().map(str::to_owned).collect::<Vec<_>>()));
        self.files.borrow_mut().insert(name.to_owned(), lines.clone());
        lines
    }

    /// The line with this number, from 1, as it is.
    pub(crate) fn raw(&self, file: &str, line: u32) -> Option<String> {
        self.file(file)?.get((line as usize).checked_sub(1)?).cloned()
    }

    /// The line at `place`, without its indentation.
    pub(crate) fn line(&self, place: &Place) -> Option<String> {
        let line = self.raw(&place.file, place.line)?;
        Some(printable(line.trim()).into_owned())
    }

    /// What stands before `place`: the beginning of its line and, if `lines` is more than one, lines before.
    fn before(&self, place: &Place, lines: u32) -> Option<String> {
        let line = self.raw(&place.file, place.line)?;
        let mut text: String = line.chars().take((place.column as usize).checked_sub(1)?).collect();
        for above in 1..lines {
            let Some(line) = place.line.checked_sub(above).and_then(|n| self.raw(&place.file, n)) else { break };
            if line.trim_end().ends_with([';', '{', '}', ',']) && !text.trim().is_empty() {
                break;
            }
            text = format!("{line} {text}");
        }
        Some(text)
    }

    /// What stands at `place` and after it, on its line.
    pub(crate) fn after(&self, place: &Place) -> Option<String> {
        let line = self.raw(&place.file, place.line)?;
        Some(line.chars().skip((place.column as usize).checked_sub(1)?).collect())
    }

    /// What the thing that is made at `place` is called there: the variable or field that it goes to.
    pub(crate) fn name_at(&self, place: &Place) -> Option<String> {
        const LINES: u32 = 3;
        if self.language == Language::Python {
            return python::used_in(&self.line(place)?);
        }
        let text = self.before(place, LINES)?;
        destination(&text)
    }

    /// What those who use a thing call it, of which its birthplace says nothing: the field or variable whose method is
    /// called. None if they do not agree.
    pub(crate) fn used_at<'p>(&self, places: impl Iterator<Item = &'p Place>) -> Option<String> {
        let all = self.receivers(places);
        // What is a field stays one; a variable may be another in each function.
        let fields = all.iter().filter(|(_, field)| *field);
        agreed(fields.map(|(name, _)| name)).or_else(|| agreed(all.iter().map(|(name, _)| name)))
    }

    /// The same, if it is a field to somebody.
    pub(crate) fn field_at<'p>(&self, places: impl Iterator<Item = &'p Place>) -> Option<String> {
        agreed(self.receivers(places).iter().filter(|(_, field)| *field).map(|(name, _)| name))
    }

    /// What methods are called on at `places`, and whether that is a field or an element.
    fn receivers<'p>(&self, places: impl Iterator<Item = &'p Place>) -> Vec<(String, bool)> {
        const LINES: u32 = 2;
        if self.language != Language::Rust {
            return Vec::new();
        }
        let receiver = |place: &Place| receiver(self.before(place, LINES)?.trim_end().strip_suffix('.')?);
        places.filter_map(receiver).filter(|(name, _)| name != "self").collect()
    }

    /// What the source calls something that has only the name of its type, from where it was touched.
    pub(crate) fn container_at<'p>(&self, name: &str, places: impl Iterator<Item = &'p Place>) -> Option<String> {
        if self.language != Language::Python {
            return None;
        }
        containers::called(name, places.filter_map(|place| self.line(place)))
    }

    /// What the task that is spawned at `place` does: the function that its closure calls, or the variable
    /// that its handle goes to.
    pub(crate) fn task_at(&self, place: &Place) -> Option<String> {
        if self.language == Language::Python {
            return None;
        }
        let after = self.after(place)?;
        called(&after, false).or_else(|| self.name_at(place)).or_else(|| called(&after, true))
    }
}

/// The variable or field that an expression goes to, of which only what stands before it is known.
fn destination(before: &str) -> Option<String> {
    let chars: Vec<char> = before.chars().collect();
    let mut depth = 0;
    // Which element of a list or tuple it is, if it is in one.
    let (mut listed, mut element) = (false, 0);
    let mut at = chars.len();
    while at > 0 {
        at -= 1;
        let previous = at.checked_sub(1).map(|i| chars[i]);
        match chars[at] {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '{' | ';' | '|' => return None,
            '(' | '[' => listed = true,
            ',' => element += 1,
            ':' if previous == Some(':') => at -= 1,
            ':' => return identifier_before(&chars[..at]),
            '=' if previous.is_some_and(|c| "=!<>+-*/|&^%".contains(c)) => return None,
            '=' => return assigned(&chars[..at], listed.then_some(element)),
            _ => {}
        }
    }
    None
}

/// `let mut balance: Arc<_>` → `balance`; `self.balance` → `balance`; `let (a, b)` → the element, or the last.
fn assigned(before: &[char], element: Option<usize>) -> Option<String> {
    let text: String = before.iter().collect();
    let statement = text.rsplit([';', '{', '}']).next()?;
    let target = statement.split(':').next()?.trim();
    if let Some((_, names)) = target.split_once('(') {
        let names: Vec<&str> = names.trim_end_matches(')').split(',').map(str::trim).collect();
        let word = names.get(element.unwrap_or(names.len() - 1))?.trim_start_matches("mut ");
        return is_identifier(word).then(|| word.to_owned());
    }
    let word = target.rsplit([' ', '.']).next()?;
    is_identifier(word).then(|| word.to_owned())
}

fn identifier_before(chars: &[char]) -> Option<String> {
    let text: String = chars.iter().collect();
    let word = text.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    is_identifier(word).then(|| word.to_owned())
}

/// The one name that all of them are.
fn agreed<'n>(mut names: impl Iterator<Item = &'n String>) -> Option<String> {
    let first = names.next()?;
    names.all(|name| name == first).then(|| first.clone())
}

/// What a method is called on, and whether it is a field or an element: `self.jobs` → `jobs`, `self.accounts[from]` →
/// `accounts`.
fn receiver(path: &str) -> Option<(String, bool)> {
    let mut path = path.trim_end();
    let mut is_part = false;
    while path.ends_with(']') {
        let mut depth = 0;
        let opening = path.char_indices().rev().find(|(_, c)| {
            depth += i32::from(*c == ']') - i32::from(*c == '[');
            depth == 0
        });
        path = path[..opening?.0].trim_end();
        is_part = true;
    }
    let name = identifier_before(&path.chars().collect::<Vec<_>>())?;
    is_part |= path[..path.len() - name.len()].trim_end().ends_with('.');
    Some((name, is_part))
}

fn is_identifier(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && word != "_" && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// `spawn(move || deposit(20))` → `deposit`, and, if `methods` are asked for, `spawn(|| bank.deposit(20))`. Only
/// where the call is all that the closure does.
fn called(spawn: &str, methods: bool) -> Option<String> {
    let (_, body) = spawn.split_once("||")?;
    let body = body.trim_start();
    let path = &body[..body.find('(')?];
    let goes_on = body[path.len()..].trim_end_matches(['(', ')', ';', ',', ']', '}', ' ']).contains(").");
    let fits = path.chars().all(|c| c.is_alphanumeric() || "_:.".contains(c));
    if !fits || goes_on || path.contains('.') != methods {
        return None;
    }
    let name = path.rsplit([':', '.']).next()?;
    (is_identifier(name) && name != "drop" && name.starts_with(char::is_lowercase)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_called_as_the_source_calls_them() {
        let name = |line: &str| {
            let column = line.find('@').expect("the place is marked");
            destination(&line[..column])
        };
        for (line, expected) in [
            ("let balance = Arc::new(@Mutex::new(0));", Some("balance")),
            ("let mut balance: Arc<Mutex<u64>> = Arc::new(@", Some("balance")),
            ("Bank { balance: @Var::new(1), paid: Var::new(0) }", Some("balance")),
            ("Bank { balance: Var::new(1), paid: @Var::new(0) }", Some("paid")),
            ("private: [Var::new(0), @Var::new(0)],", Some("private")),
            ("let pipe = Arc::new((Lock::new(), @Var::new(1)));", Some("pipe")),
            ("static COUNT: AtomicU32 = @AtomicU32::new(0);", Some("COUNT")),
            ("self.count = @AtomicU32::new(0);", Some("count")),
            ("let all: Vec<_> = (0..3).map(|_| @Mutex::new(0)).collect();", None),
            ("let (first, second) = (Arc::new(@Mutex::new(0)), Arc::new(Mutex::new(0)));", Some("first")),
            ("let (first, second) = (Arc::new(Mutex::new(0)), Arc::new(@Mutex::new(0)));", Some("second")),
            ("let (sender, jobs) = @mpsc::channel();", Some("jobs")),
            ("if a == @x", None),
            ("drop(a); @Mutex::new(0)", None),
        ] {
            assert_eq!(name(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn an_element_is_called_as_its_container() {
        let part = |name: &str| Some((name.to_owned(), true));
        assert_eq!(receiver("if self.accounts[from]"), part("accounts"));
        assert_eq!(receiver("self.next[slots[i]]"), part("next"));
        assert_eq!(receiver("grid[x][y]"), part("grid"));
        assert_eq!(receiver("(jobs"), Some(("jobs".to_owned(), false)));
        assert_eq!(receiver("jobs()"), None);
    }

    #[test]
    fn a_task_is_called_as_what_it_calls() {
        let function = |text| called(text, false);
        assert_eq!(function("thread::spawn(move || deposit(&theirs, 20));").as_deref(), Some("deposit"));
        assert_eq!(function("thread::spawn(move || bank::deposit(&theirs, 20));").as_deref(), Some("deposit"));
        assert_eq!(function("thread::spawn(move || theirs.deposit(20));"), None);
        assert_eq!(called("thread::spawn(move || theirs.deposit(20));", true).as_deref(), Some("deposit"));
        assert_eq!(called("thread::spawn(move || jobs.iter().sum::<u32>());", true), None);
        assert_eq!(function("thread::spawn(move || {"), None);
        assert_eq!(function("thread::spawn(|| Bank(1))"), None);
    }
}
