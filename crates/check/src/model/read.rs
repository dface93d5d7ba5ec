//! Histories from files: which event is which operation of a model.

mod containers;
mod locks;
mod stores;

use crate::format::{Log, LogErrors, ReadError};
use crate::history::{Event, EventKind, History, HistoryError, Outcome, Value};

use super::Model;

/// A model whose operations can be read from files.
pub trait Readable: Model + Sized {
    /// The name of the model in files and on command lines.
    const NAME: &'static str;

    /// The model, from what the file says of itself: `init`, `capacity`, `permits`. Nothing is needed.
    fn from_meta(meta: &Value) -> Result<Self, String>;

    /// The operation that an `invoke` calls.
    fn op(event: &Event) -> Result<Self::Op, String>;

    /// What an `ok` returned.
    fn ret(op: &Self::Op, event: &Event) -> Result<Self::Ret, String>;

    /// What a `fail` means: that the operation did not happen, unless the model knows better. A failed
    /// comparison, for one, is a result.
    fn failed(op: &Self::Op) -> Outcome<Self::Ret> {
        let _ = op;
        Outcome::Fail
    }
}

/// The history of a file, in a model's own words. Errors name the lines.
pub fn history_from_log<M: Readable>(log: &Log) -> Result<History<M::Op, M::Ret>, LogErrors> {
    let mut history: History<M::Op, M::Ret> = History::new();
    let mut lines: Vec<u64> = Vec::new();
    let mut errors = LogErrors { first: Vec::new(), count: 0 };
    for event in &log.events {
        if let Err(reason) = add::<M>(&mut history, &mut lines, event) {
            errors.add(ReadError::new(event.line, reason));
        }
    }
    if errors.count == 0 { Ok(history) } else { Err(errors) }
}

fn add<M: Readable>(history: &mut History<M::Op, M::Ret>, lines: &mut Vec<u64>, event: &Event) -> Result<(), String> {
    let process = event.process;
    let say = |error: HistoryError, lines: &[u64], history: &History<M::Op, M::Ret>| match error {
        HistoryError::AlreadyOpen(..) => {
            let line = history.open(process).map_or(0, |id| lines[id.index()]);
            format!("process {process} calls an operation, but its operation of line {line} is still open")
        }
        HistoryError::NoneOpen(_) | HistoryError::TooLong => error.to_string(),
    };
    let outcome = match event.kind {
        EventKind::Invoke => {
            let op = M::op(event)?;
            history.invoke(process, op).map_err(|error| say(error, lines, history))?;
            lines.push(event.line);
            return Ok(());
        }
        EventKind::Info => Outcome::Info,
        EventKind::Ok | EventKind::Fail => {
            let id = history.open(process).ok_or_else(|| say(HistoryError::NoneOpen(process), lines, history))?;
            let op = &history.operations()[id.index()].op;
            match event.kind {
                EventKind::Fail => M::failed(op),
                _ => Outcome::Ok(M::ret(op, event)?),
            }
        }
    };
    history.complete(process, outcome).map(drop).map_err(|error| say(error, lines, history))
}

/// The event's operation is not one of this model's.
fn unknown<T>(model: &str, known: &str) -> Result<T, String> {
    Err(format!("`f` is not an operation of a {model}, which has {known}"))
}

/// A model that always begins empty (or free) has no use for another initial value.
fn begins_empty(meta: &Value, model: &str, how: &str) -> Result<(), String> {
    match meta.get("init") {
        None | Some(Value::Nil) => Ok(()),
        Some(Value::List(elements) | Value::Set(elements)) if elements.is_empty() => Ok(()),
        Some(other) => Err(format!("a {model} begins {how}: `init` is {}, not null or []", other.kind())),
    }
}

/// Two values, as in `[from, to]`.
fn pair(value: &Value) -> Result<(Value, Value), String> {
    match value.as_list() {
        Some([first, second]) => Ok((first.clone(), second.clone())),
        _ => Err(format!("`value` is {}, not a list of two", value.kind())),
    }
}

fn number(value: &Value) -> Result<i64, String> {
    value.as_int().ok_or_else(|| format!("`value` is {}, not a whole number of 64 bits", value.kind()))
}

/// A number from 0 up in the file's description of itself.
fn count(meta: &Value, name: &str) -> Result<Option<u64>, String> {
    match meta.get(name) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Int(number)) if *number >= 0 => Ok(Some(*number as u64)),
        Some(other) => Err(format!("`{name}` is {}, not a number from 0 up", other.kind())),
    }
}
