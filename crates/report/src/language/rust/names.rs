//! What Rust's source calls things: the variable or field that a value goes to, what a method is called on, the function
//! that a task runs.

use crate::record::Place;
use crate::source::{Sources, identifier_before, is_identifier};

pub(super) fn name_at(sources: &Sources<'_>, place: &Place) -> Option<String> {
    const LINES: u32 = 3;
    let text = sources.before(place, LINES)?;
    destination(&text)
}

pub(super) fn receiver_at(sources: &Sources<'_>, place: &Place) -> Option<(String, bool)> {
    const LINES: u32 = 2;
    receiver(sources.before(place, LINES)?.trim_end().strip_suffix('.')?).filter(|(name, _)| name != "self")
}

/// The function that the closure calls that is spawned at `place`, or the variable that its handle goes to.
pub(super) fn task_at(sources: &Sources<'_>, place: &Place) -> Option<String> {
    let after = sources.after(place)?;
    called(&after, false).or_else(|| name_at(sources, place)).or_else(|| called(&after, true))
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
        // `_keep` is there so that something lives, and is not what people call it by.
        let last = names.iter().rposition(|name| !name.starts_with('_')).unwrap_or(names.len() - 1);
        let word = names.get(element.unwrap_or(last))?.trim_start_matches("mut ");
        return is_identifier(word).then(|| word.to_owned());
    }
    let word = target.rsplit([' ', '.']).next()?;
    is_identifier(word).then(|| word.to_owned())
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
            ("let (events, _keep) = @broadcast::channel(4);", Some("events")),
            ("let (_, _keep) = @broadcast::channel(4);", Some("_keep")),
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
