//! Source files: their lines, and what a reader takes from them: what things are called.
//!
//! A trace knows an object by the place where it was made. The line there usually has a better name for it:
//! `let balance = Arc::new(Mutex::new(0))`, or the field `balance: AtomicU64::new(0)`. No language is parsed
//! for that. A name that cannot be told is none.

mod files;
pub(crate) mod statement;

use drawloom_engine::sorted::Map;
use std::cell::RefCell;
use std::rc::Rc;

pub use files::SourceFiles;

use crate::language::Language;
use crate::printable::printable;
use crate::record::{Place, Record};

/// Source files, each read once.
pub(crate) struct Sources<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    language: Language,
    files: RefCell<Map<String, Option<Rc<Vec<String>>>>>,
}

impl<'a> Sources<'a> {
    /// Those that `record` speaks of.
    pub(crate) fn of(record: &Record, read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Sources::read_by(read, record.meta.language)
    }

    pub(crate) fn read_by(read: &'a dyn Fn(&str) -> Option<String>, language: Language) -> Self {
        Sources { read, language, files: RefCell::default() }
    }

    pub(crate) fn file(&self, name: &str) -> Option<Rc<Vec<String>>> {
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
    pub(crate) fn before(&self, place: &Place, lines: u32) -> Option<String> {
        let line = self.raw(&place.file, place.line)?;
        let mut text: String = line.chars().take((place.column as usize).checked_sub(1)?).collect();
        for above in 1..lines {
            let Some(line) = place.line.checked_sub(above).and_then(|n| self.raw(&place.file, n)) else { break };
            let is_over = line.trim_end().ends_with([';', '{', '}', ',']) && !text.trim().is_empty();
            if is_over || line.trim_start().starts_with(self.language.comment) {
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
        self.language.syntax.name_at(self, place)
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
        places.filter_map(|place| self.language.syntax.receiver_at(self, place)).collect()
    }

    /// What the source calls something that has only the name of its type, from where it was touched.
    pub(crate) fn container_at<'p>(&self, name: &str, places: impl Iterator<Item = &'p Place>) -> Option<String> {
        self.language.syntax.container(name, &mut places.filter_map(|place| self.line(place)))
    }

    /// What the task that is spawned at `place` does: the function that its closure calls, or the variable
    /// that its handle goes to.
    pub(crate) fn task_at(&self, place: &Place) -> Option<String> {
        self.language.syntax.task_at(self, place)
    }

    /// Whether a piece of a coroutine begins at `place`.
    pub(crate) fn begins_piece(&self, place: &Place) -> bool {
        self.language.syntax.begins_piece(self, place)
    }

    /// The first line of the piece that is the beginning of the function at `place`, if it uses anything.
    pub(crate) fn first_of_piece(&self, place: &Place) -> Option<Place> {
        self.language.syntax.first_of_piece(self, place)
    }

    /// The line of the piece that begins at `place` in which one of `names` is used first.
    pub(crate) fn in_piece(&self, place: &Place, names: &[String]) -> Option<Place> {
        self.language.syntax.in_piece(self, place, names)
    }
}

/// The identifier that a text ends with.
pub(crate) fn identifier_before(chars: &[char]) -> Option<String> {
    let text: String = chars.iter().collect();
    let word = text.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    is_identifier(word).then(|| word.to_owned())
}

/// The one name that all of them are.
fn agreed<'n>(mut names: impl Iterator<Item = &'n String>) -> Option<String> {
    let first = names.next()?;
    names.all(|name| name == first).then(|| first.clone())
}

pub(crate) fn is_identifier(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && word != "_" && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}
