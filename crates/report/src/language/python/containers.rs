//! What lines of Python call a container, which has no name of its own: `dict['a']` in a record is `accounts['a']` to
//! who has written `self.accounts["a"] -= amount`.
//!
//! A line may be about several. But all lines at which one container was touched have its name in common, unless it
//! goes by several names: then it has none here.

use std::collections::BTreeSet;

use crate::language::PYTHON;
use crate::source::is_identifier;

/// Types whose name says nothing of what the container is for.
const PLAIN: [&str; 9] =
    ["dict", "list", "set", "deque", "defaultdict", "OrderedDict", "bytearray", "array", "memoryview"];

/// A name that a record gives to a container or an item of it, with the type and the item apart; none if it is
/// that of something else. `dict['a']` → `("dict", "['a']")`, `list` → `("list", "")`. What an event is made of is no
/// item of it to anybody: `Event._flag` → `("Event", "")`.
fn parts(name: &str) -> Option<(&str, &str)> {
    if PYTHON.made_of_locks(name).is_some() {
        return Some((name, ""));
    }
    let (kind, item) = name.split_at(name.find('[').unwrap_or(name.len()));
    PLAIN.contains(&kind).then_some((kind, item))
}

/// What those `lines` call what a record calls `name`, at which it was touched.
pub(super) fn called(name: &str, lines: &mut dyn Iterator<Item = String>) -> Option<String> {
    let (_, item) = parts(name)?;
    let mut common: Option<BTreeSet<String>> = None;
    let mut containers = BTreeSet::new();
    for line in lines {
        let mut words = Words::of(&line, item);
        containers.append(&mut words.containers);
        common = Some(match common {
            None => words.all,
            Some(common) => common.intersection(&words.all).cloned().collect(),
        });
    }
    let common = common?;
    let mut names = common.intersection(&containers);
    let only = names.next().filter(|_| names.next().is_none())?;
    Some(format!("{only}{item}"))
}

/// The names in a line.
#[derive(Default)]
struct Words {
    all: BTreeSet<String>,
    /// What has a subscript or a method, or is gone through.
    containers: BTreeSet<String>,
}

impl Words {
    /// If something in `line` has just this `item`, nothing else is meant.
    fn of(line: &str, item: &str) -> Words {
        let chars: Vec<char> = line.chars().collect();
        let mut words = Words::default();
        let mut with_item = BTreeSet::new();
        let mut before = String::new();
        let mut at = 0;
        while at < chars.len() {
            match chars[at] {
                '#' => break,
                quote @ ('\'' | '"') => at = after_text(&chars, at, quote),
                c if c.is_alphabetic() || c == '_' => {
                    let length = chars[at..].iter().position(|c| !is_of_a_path(*c)).unwrap_or(chars.len() - at);
                    let path: String = chars[at..at + length].iter().collect();
                    at += length;
                    let mut parts = path.trim_end_matches('.').rsplit('.');
                    let last = parts.next().unwrap_or_default().to_owned();
                    // Of `items.append(…)` the container is `items`; of `len(items)` the function is none.
                    let is_called = chars.get(at) == Some(&'(');
                    let name = if is_called { parts.next() } else { Some(last.as_str()) };
                    if let Some(name) = name.filter(|name| is_identifier(name) && !KEYWORDS.contains(name)) {
                        let has_subscript = chars.get(at) == Some(&'[');
                        if is_called || has_subscript || before == "in" {
                            words.containers.insert(name.to_owned());
                        }
                        if has_subscript && subscript(&chars[at..]) == quoted_alike(item) {
                            with_item.insert(name.to_owned());
                        }
                        words.all.insert(name.to_owned());
                    }
                    before = last;
                }
                _ => at += 1,
            }
        }
        if !with_item.is_empty() {
            words.all = with_item;
        }
        words
    }
}

/// The subscript with which a text begins.
fn subscript(chars: &[char]) -> String {
    let end = chars.iter().position(|c| *c == ']').map_or(0, |end| end + 1);
    quoted_alike(&chars[..end].iter().collect::<String>())
}

/// There are two ways to quote a key.
fn quoted_alike(item: &str) -> String {
    item.replace('"', "'")
}

/// Where the text that begins at `at` is over, on this line.
fn after_text(chars: &[char], at: usize, quote: char) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != quote {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    end + 1
}

fn is_of_a_path(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Words that are no names of containers.
const KEYWORDS: [&str; 27] = [
    "self", "cls", "and", "as", "assert", "async", "await", "del", "elif", "else", "except", "for", "from", "if", "in",
    "is", "lambda", "not", "or", "raise", "return", "try", "while", "with", "yield", "None", "pass",
];

#[cfg(test)]
mod tests {
    use super::called;

    fn name(resource: &str, lines: &[&str]) -> Option<String> {
        called(resource, &mut lines.iter().map(|line| (*line).to_owned()))
    }

    #[test]
    fn lines_that_touch_a_container_have_its_name_in_common() {
        for (resource, lines, expected) in [
            ("dict['a']", &["self.accounts[\"a\"] -= amount"][..], Some("accounts['a']")),
            ("dict['a']", &["accounts['a'] = rates['b']"], Some("accounts['a']")),
            (
                "dict['a']",
                &["if self.accounts[name] >= amount:", "self.accounts[name] -= amount"],
                Some("accounts['a']"),
            ),
            ("dict['a']", &["if self.seen[name]:", "return self.seen.pop(key)"], Some("seen['a']")),
            ("list[0]", &["cells[i] = 1", "return sum(cells)"], Some("cells[0]")),
            ("list", &["self.items.append(x)", "while not self.items:"], Some("items")),
            ("deque", &["if self.jobs: # of queue", "job = self.jobs.popleft()"], Some("jobs")),
            ("set", &["print('seen', x)", "seen.add(x)"], None),
            ("list", &["for item in self.items:", "if len(self.items) > 3:"], Some("items")),
            ("list", &["alias.append(x)", "return self.items.pop()"], None),
            ("Counter.value", &["self.value += 1"], None),
            ("Event._flag", &["self.ready.clear()", "if not self.ready.wait(5):"], Some("ready")),
            ("Queue", &["self.jobs.put(job)", "job = self.jobs.get()"], Some("jobs")),
            ("Cache", &["cache.clear()"], None),
            ("list", &[], None),
        ] {
            assert_eq!(name(resource, lines).as_deref(), expected, "{resource} at {lines:?}");
        }
    }
}
