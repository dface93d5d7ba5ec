//! Events as files hold them, before a model gives them types.

use super::{Process, Value};

/// The kind of an event of a history file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It is called.
    Invoke,
    /// It took effect.
    Ok,
    /// It did not take effect. What that means is up to the model: a failed comparison is a result, too.
    Fail,
    /// It is unknown whether the operation took effect.
    Info,
}

impl EventKind {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            EventKind::Invoke => "invoke",
            EventKind::Ok => "ok",
            EventKind::Fail => "fail",
            EventKind::Info => "info",
        }
    }

    /// The kind that a word of a file names.
    pub fn from_word(word: &str) -> Option<EventKind> {
        [EventKind::Invoke, EventKind::Ok, EventKind::Fail, EventKind::Info]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// One event of a history file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The process of the event.
    pub process: Process,
    /// The kind of the event.
    pub kind: EventKind,
    /// The name of the operation: `read`, `write`, `txn` …
    pub f: String,
    /// Which key, where the format keeps it apart from the value.
    pub key: Option<Value>,
    /// The argument of a call, the result of a return.
    pub value: Value,
    /// When, in the file's own unit. The order of events is that of the file; times are for people.
    pub time: Option<Value>,
    /// The line that the event begins on, 1 and up.
    pub line: u64,
}
