//! What becomes of a value that was read, as far as the source text tells: is something decided by it, is it
//! used again?
//!
//! A trace shows accesses, not what is computed in between. So the lines between two accesses are looked at:
//! for conditions, and for the variable that the value was bound to.

use super::accesses::Access;
use crate::record::{Place, Record};
use crate::source::Sources;

/// Lines behind a read within which a decision is taken to rest on it.
const NEAR: u32 = 12;

/// The source text around accesses.
pub(super) struct Flow<'a> {
    pub(super) record: &'a Record,
    pub(super) sources: &'a Sources<'a>,
}

impl Flow<'_> {
    fn place(&self, access: &Access) -> Option<&Place> {
        self.record.place(self.record.steps[access.step as usize].place)
    }

    /// Whether what `read` found decides about what comes next, before `until` is reached.
    pub(super) fn decides(&self, read: &Access, until: &Access) -> bool {
        let Some(place) = self.place(read) else { return false };
        let Some(line) = self.sources.line(place) else { return false };
        let end = match self.place(until) {
            Some(other) if other.file == place.file && other.line > place.line => other.line,
            // In another function, or further up.
            _ => place.line + NEAR,
        };
        if is_assertion(&line) {
            return false;
        }
        if is_condition(&line) {
            return true;
        }
        let Some(name) = bound(&line) else { return false };
        (place.line + 1..end)
            .filter_map(|n| self.sources.raw(&place.file, n))
            .take_while(|line| !starts_function(line))
            .any(|line| mentions(&line, &name) && is_condition(&line) && !is_assertion(&line))
    }

    /// Whether what `read` found is used by `later`: written back, as an index, as an argument.
    pub(super) fn reaches(&self, read: &Access, later: &Access) -> bool {
        let (Some(from), Some(to)) = (self.place(read), self.place(later)) else { return false };
        if from.file == to.file && from.line == to.line {
            return read.code.2 != later.code.2;
        }
        let name = self.sources.line(from).and_then(|line| bound(&line));
        match (name, self.sources.line(to)) {
            (Some(name), Some(line)) => mentions(&line, &name),
            _ => false,
        }
    }

    /// Whether what `read` found is what `later` writes back, in another form.
    pub(super) fn is_written_back(&self, read: &Access, later: &Access) -> bool {
        if !later.section {
            return self.reaches(read, later);
        }
        let name = self.place(read).and_then(|place| self.sources.line(place)).and_then(|line| bound(&line));
        let line = self.place(later).and_then(|place| self.sources.line(place));
        let written = line.as_deref().and_then(|line| line.split_once(" = ")).map(|(_, value)| value);
        name.zip(written).is_some_and(|(name, written)| mentions(written, &name))
    }

    /// Whether a value was written that follows from the one that was read, by the numbers alone.
    pub(super) fn adds(&self, read: &Access, write: &Access) -> bool {
        self.place(read).is_none() && read.found.zip(write.left).is_some_and(|(a, b)| a != b && a.abs_diff(b) <= 1024)
    }
}

/// The variable that a `let` binds on this line.
fn bound(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("let ")?;
    let target = rest.split(['=', ':']).next()?.trim();
    let name = target.trim_start_matches("mut ").trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let fits = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    fits.then(|| name.to_owned())
}

fn mentions(line: &str, name: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

fn is_assertion(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("assert") || line.starts_with("debug_assert")
}

fn is_condition(line: &str) -> bool {
    let decides = |word: &str| matches!(word, "if" | "while" | "match" | "then" | "then_some" | "elif");
    let compares = [" == ", " != ", " < ", " > ", " <= ", " >= ", ".is_none()", ".is_some()", ".is_empty()"];
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(decides) || compares.iter().any(|c| line.contains(c))
}

fn starts_function(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("fn ") || line.starts_with("pub fn ") || line.starts_with("#[")
}
