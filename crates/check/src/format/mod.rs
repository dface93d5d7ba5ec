//! History files: read as a stream, with errors that name the line and the reason.
//!
//! A file becomes [`Entry`]s, and these a [`Log`]; what an event means is up to the model that reads the log.

mod edn;
mod jsonl;
pub(crate) mod line;
mod log;
mod parse;

use serde::de::DeserializeSeed;

use crate::history::{Event, Value};

pub use edn::Reader as Edn;
pub use jsonl::{Reader as JsonLines, write as write_jsonl};
pub use log::{Log, LogErrors};

/// What some editors put before everything else.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// An entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The header of the file: model, initial value, expected verdict. A map.
    Meta(Value),
    /// An event of a process.
    Event(Event),
    /// An event of something that is not a client, such as a nemesis; shown, never checked.
    Note(Note),
}

/// An event of something that is not a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The sender of the remark.
    pub who: String,
    /// The text of the remark.
    pub text: String,
    /// After how many events of processes it stands in the file.
    pub after: u32,
    /// The line that it begins on.
    pub line: u64,
}

/// Why a line of a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {reason}", column.map_or(String::new(), |column| format!(", column {column}")))]
pub struct ReadError {
    /// The line, 1 and up.
    pub line: u64,
    /// The column in bytes, 1 and up, where it is known.
    pub column: Option<u64>,
    /// The mistake.
    pub reason: String,
}

impl ReadError {
    pub(crate) fn new(line: u64, reason: impl Into<String>) -> ReadError {
        ReadError { line, column: None, reason: reason.into() }
    }
}

/// How a record is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Syntax {
    Json,
    Edn,
}

/// A stream of records, each of which is a source of serde: a line of JSON, a form of EDN.
pub(crate) trait Records {
    /// Goes to the next record. Is `false` at the end.
    fn advance(&mut self) -> Result<bool, ReadError>;

    /// The line on which the record begins.
    fn line(&self) -> u64;

    /// The record as it stands in the file.
    fn text(&self) -> (&[u8], Syntax);

    /// Makes something of the record; `None` if it is blank.
    fn form<'de, S: DeserializeSeed<'de>>(&'de self, seed: S) -> Result<Option<S::Value>, ReadError>;
}
