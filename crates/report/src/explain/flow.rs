//! What becomes of a value that was read, as far as the source text tells: is something decided by it, is it
//! used again?
//!
//! A trace shows accesses, not what is computed in between. So the statements around two accesses are looked at, and
//! the lines between them: for conditions, and for the variable that the value was bound to. A value that a helper
//! returns is followed to where that is called.

use super::accesses::{Access, Mode};
use super::case::Case;
use crate::record::Place;
use crate::source::Sources;
use crate::source::statement::{Statement, is_assertion, is_condition, mentions};

/// Lines behind a read within which a decision is taken to rest on it.
const NEAR: u32 = 12;
/// Helpers of helpers that a value is followed through.
const DEPTH: u32 = 3;

/// The source text around accesses.
pub(super) struct Flow<'c, 'a> {
    case: &'c Case<'a>,
    sources: &'c Sources<'a>,
}

impl<'c, 'a> Flow<'c, 'a> {
    pub(super) fn of(case: &'c Case<'a>) -> Self {
        Flow { case, sources: case.sources }
    }

    fn place(&self, access: &Access) -> Option<Place> {
        self.case.accessed_at(access)
    }

    pub(super) fn statement(&self, access: &Access) -> Option<Statement> {
        self.sources.statement(&self.place(access)?)
    }

    /// Whether what `read` found decides about what comes next, before `until` is reached.
    pub(super) fn decides(&self, read: &Access, until: &Access) -> bool {
        let Some(place) = self.place(read) else { return false };
        let end = match self.place(until) {
            Some(other) if other.file == place.file && other.line > place.line => other.line,
            // In another function, or further up.
            _ => place.line + NEAR,
        };
        self.decides_at(&place, end, DEPTH)
    }

    /// Whether the value at `place` decides about something before line `end`, or where the function is called that
    /// returns it.
    fn decides_at(&self, place: &Place, end: u32, depth: u32) -> bool {
        let Some(statement) = self.sources.statement(place) else { return false };
        if statement.is_assertion() {
            return false;
        }
        if statement.is_condition() {
            return true;
        }
        let bound = statement.bound();
        let later = (place.line + 1..end)
            .filter_map(|n| self.sources.raw(&place.file, n))
            .take_while(|line| !starts_function(line));
        for line in later {
            if bound.iter().any(|name| mentions(&line, name)) && is_condition(&line) && !is_assertion(&line) {
                return true;
            }
        }
        if depth == 0 || !statement.is_returned() {
            return false;
        }
        let Some(function) = self.sources.function(place) else { return false };
        let calls = self.sources.calls(&place.file, &function);
        calls.iter().any(|call| self.decides_at(call, call.line + NEAR, depth - 1))
    }

    /// Whether what `read` found says how often a loop goes round: `for i in 0..self.len()`.
    pub(super) fn counts_rounds(&self, read: &Access) -> bool {
        self.place(read).is_some_and(|place| self.counts_rounds_at(&place, DEPTH))
    }

    fn counts_rounds_at(&self, place: &Place, depth: u32) -> bool {
        let Some(statement) = self.sources.statement(place) else { return false };
        if statement.is_loop() {
            return true;
        }
        let bound = statement.bound();
        let later = (place.line + 1..place.line + NEAR)
            .filter_map(|n| self.sources.raw(&place.file, n))
            .take_while(|line| !starts_function(line));
        let mut headers = later.filter(|line| line.trim_start().starts_with("for "));
        if headers.any(|line| bound.iter().any(|name| mentions(&line, name))) {
            return true;
        }
        if depth == 0 || !statement.is_returned() {
            return false;
        }
        let Some(function) = self.sources.function(place) else { return false };
        let calls = self.sources.calls(&place.file, &function);
        calls.iter().any(|call| self.counts_rounds_at(call, depth - 1))
    }

    /// Whether what `read` found is used by `later`: written back, as an index, as an argument.
    pub(super) fn reaches(&self, read: &Access, later: &Access) -> bool {
        let (Some(from), Some(to)) = (self.place(read), self.place(later)) else { return false };
        if from.file == to.file && from.line == to.line {
            return read.code.2 != later.code.2;
        }
        let (Some(first), Some(last)) = (self.sources.statement(&from), self.sources.statement(&to)) else {
            return false;
        };
        first.bound().iter().any(|name| last.mentions(name))
    }

    /// Whether what `read` found is what `later` writes back, in another form.
    pub(super) fn is_written_back(&self, read: &Access, later: &Access) -> bool {
        if !later.section {
            return self.reaches(read, later);
        }
        let bound = self.statement(read).map(|statement| statement.bound()).unwrap_or_default();
        let line = self.place(later).and_then(|place| self.sources.line(&place));
        let written = line.as_deref().and_then(|line| line.split_once(" = ")).map(|(_, value)| value);
        written.is_some_and(|written| bound.iter().any(|name| mentions(written, name)))
    }

    /// Whether a value was written that follows from the one that was read, by the numbers alone.
    pub(super) fn adds(&self, read: &Access, write: &Access) -> bool {
        self.place(read).is_none() && read.found.zip(write.left).is_some_and(|(a, b)| a != b && a.abs_diff(b) <= 1024)
    }

    /// Whether an access writes without anybody learning what it found: `served.fetch_add(1)`.
    pub(super) fn is_blind(&self, access: &Access) -> bool {
        let assigns = |statement: &Statement| access.mode == Mode::Write && statement.assigns();
        self.statement(access).is_some_and(|statement| statement.is_blind() || assigns(&statement))
    }
}

fn starts_function(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("fn ") || line.starts_with("pub fn ") || line.starts_with("#[") || line.starts_with("def ")
}
