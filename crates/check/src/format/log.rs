//! A whole file in memory, and its errors.

use std::fmt;

use super::{Entry, Note, ReadError};
use crate::history::{Event, Value};

/// A history file that has been read: events in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// What the file says of itself; `Nil` if it says nothing.
    pub meta: Value,
    /// The events of processes.
    pub events: Vec<Event>,
    /// Everything else.
    pub notes: Vec<Note>,
}

/// The first errors of a file, and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogErrors {
    /// The first errors, at most [`LogErrors::SHOWN`].
    pub first: Vec<ReadError>,
    /// How many lines could not be read.
    pub count: u64,
}

impl LogErrors {
    /// The number of errors to keep.
    pub const SHOWN: usize = 20;

    pub(crate) fn add(&mut self, error: ReadError) {
        self.count += 1;
        if self.first.len() < LogErrors::SHOWN {
            self.first.push(error);
        }
    }
}

impl From<ReadError> for LogErrors {
    fn from(error: ReadError) -> LogErrors {
        LogErrors { first: vec![error], count: 1 }
    }
}

impl fmt::Display for LogErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.first.iter().enumerate() {
            write!(f, "{}{error}", if index == 0 { "" } else { "\n" })?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for LogErrors {}

impl Log {
    /// Reads all entries of a reader, of whatever format. All lines are looked at, so that all errors are said.
    pub fn read(entries: impl Iterator<Item = Result<Entry, ReadError>>) -> Result<Log, LogErrors> {
        let mut log = Log::default();
        let mut errors = LogErrors { first: Vec::new(), count: 0 };
        for entry in entries {
            match entry {
                Ok(Entry::Meta(meta)) => log.meta = meta,
                Ok(Entry::Event(event)) => log.events.push(event),
                Ok(Entry::Note(note)) => log.notes.push(Note { after: log.events.len() as u32, ..note }),
                Err(error) => errors.add(error),
            }
        }
        if errors.count == 0 { Ok(log) } else { Err(errors) }
    }
}
