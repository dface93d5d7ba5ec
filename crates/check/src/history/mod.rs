//! Histories: operations of concurrent processes, in the real-time order of their calls and returns.

mod builder;
mod event;
mod recorder;
mod value;

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;

use crate::hash::Fold;

pub use builder::Builder;
pub use event::{Event, EventKind};
pub use recorder::{Client, Recorder};
pub use value::Value;

/// A sequential client: it calls one operation at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process(pub u64);

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// An operation of a history: its place in the order of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// The operation as an index into [`History::operations`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<R> {
    /// It took effect, and this came back.
    Ok(R),
    /// It certainly did not take effect.
    Fail,
    /// Unknown: it may take effect at any time after its call, or never.
    Info,
    /// The history ends before the operation does. Checked as `Info` is.
    Pending,
}

impl<R> Outcome<R> {
    /// The result, if there is one.
    pub fn ret(&self) -> Option<&R> {
        match self {
            Outcome::Ok(ret) => Some(ret),
            Outcome::Fail | Outcome::Info | Outcome::Pending => None,
        }
    }
}

/// One operation: a call, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<O, R> {
    /// The process that called it.
    pub process: Process,
    /// The operation.
    pub op: O,
    /// How it ended.
    pub outcome: Outcome<R>,
    /// Which event of the history the call is.
    pub call: u32,
    /// Which event of the history its end is. `None` while it is pending; an operation that ended with `Info`
    /// has one, but can take effect after it.
    pub end: Option<u32>,
}

impl<O, R> Operation<O, R> {
    /// The event by which it has taken effect, or `u32::MAX` if there is none.
    pub fn deadline(&self) -> u32 {
        match (&self.outcome, self.end) {
            (Outcome::Ok(_), Some(end)) => end,
            _ => u32::MAX,
        }
    }

    /// Whether this operation was over before `other` was called.
    pub fn precedes(&self, other: &Self) -> bool {
        self.deadline() < other.call
    }
}

/// Operations in the order of their calls. Positions of calls and ends are numbers of events, 0 and up.
#[derive(Clone, Debug)]
pub struct History<O, R> {
    operations: Vec<Operation<O, R>>,
    /// Operations that have not ended, by process. Only ever asked, never walked.
    open: HashMap<Process, OpId, BuildHasherDefault<Fold>>,
    events: u32,
}

impl<O, R> Default for History<O, R> {
    fn default() -> Self {
        History { operations: Vec::new(), open: HashMap::default(), events: 0 }
    }
}

/// Two histories are equal if their operations are.
impl<O: PartialEq, R: PartialEq> PartialEq for History<O, R> {
    fn eq(&self, other: &Self) -> bool {
        self.operations == other.operations
    }
}

/// An event that cannot be: the history stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// A process calls an operation while another one of its operations is open.
    #[error("process {0} calls an operation, but has one open since event {1}")]
    AlreadyOpen(Process, u32),
    /// A process ends an operation, but has none open.
    #[error("process {0} ends an operation, but has none open")]
    NoneOpen(Process),
    /// More events than a history can hold.
    #[error("a history holds at most {} events", u32::MAX - 1)]
    TooLong,
}

impl<O, R> History<O, R> {
    /// An empty history.
    pub fn new() -> Self {
        History::default()
    }

    /// A history written event by event, where mistakes are reported at the end.
    pub fn builder() -> Builder<O, R> {
        Builder::default()
    }

    /// The operations, in the order of their calls.
    pub fn operations(&self) -> &[Operation<O, R>] {
        &self.operations
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// How many events there are.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// Operations with their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (OpId, &Operation<O, R>)> {
        self.operations.iter().enumerate().map(|(index, operation)| (OpId(index as u32), operation))
    }

    /// Forgets all operations, and keeps the memory they took.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.open.clear();
        self.events = 0;
    }

    /// A process calls an operation.
    pub fn invoke(&mut self, process: Process, op: O) -> Result<OpId, HistoryError> {
        if let Some(open) = self.open.get(&process) {
            return Err(HistoryError::AlreadyOpen(process, self.operations[open.index()].call));
        }
        let call = self.next_event()?;
        let id = OpId(self.operations.len() as u32);
        self.operations.push(Operation { process, op, outcome: Outcome::Pending, call, end: None });
        self.open.insert(process, id);
        Ok(id)
    }

    /// The open operation of a process ends; with [`Outcome::Pending`] nothing happens.
    pub fn complete(&mut self, process: Process, outcome: Outcome<R>) -> Result<OpId, HistoryError> {
        let id = self.open(process).ok_or(HistoryError::NoneOpen(process))?;
        if matches!(outcome, Outcome::Pending) {
            return Ok(id);
        }
        let end = self.next_event()?;
        self.open.remove(&process);
        let operation = &mut self.operations[id.index()];
        operation.outcome = outcome;
        operation.end = Some(end);
        Ok(id)
    }

    /// The open operation of a process, if it has one.
    pub fn open(&self, process: Process) -> Option<OpId> {
        self.open.get(&process).copied()
    }

    /// The history of those operations that `keep` chooses, with the same real-time order.
    pub fn subset(&self, mut keep: impl FnMut(OpId) -> bool) -> History<O, R>
    where
        O: Clone,
        R: Clone,
    {
        let operations: Vec<_> =
            self.iter().filter(|(id, _)| keep(*id)).map(|(_, operation)| operation.clone()).collect();
        History::from_positions(operations)
    }

    /// The history as it was after its first `events` events.
    pub fn prefix(&self, events: u32) -> History<O, R>
    where
        O: Clone,
        R: Clone,
    {
        let called = self.operations.iter().filter(|operation| operation.call < events);
        let operations = called.map(|operation| match operation.end {
            Some(end) if end >= events => Operation { outcome: Outcome::Pending, end: None, ..operation.clone() },
            _ => operation.clone(),
        });
        History::from_positions(operations.collect())
    }

    /// The history with other types of operations and results.
    pub fn map<P, Q>(self, mut op: impl FnMut(O) -> P, mut ret: impl FnMut(R) -> Q) -> History<P, Q> {
        let convert = |o: Operation<O, R>| Operation {
            process: o.process,
            op: op(o.op),
            outcome: match o.outcome {
                Outcome::Ok(value) => Outcome::Ok(ret(value)),
                Outcome::Fail => Outcome::Fail,
                Outcome::Info => Outcome::Info,
                Outcome::Pending => Outcome::Pending,
            },
            call: o.call,
            end: o.end,
        };
        History { operations: self.operations.into_iter().map(convert).collect(), open: self.open, events: self.events }
    }

    /// A history from operations whose calls and ends are any distinct numbers: they are made dense.
    pub(crate) fn from_positions(mut operations: Vec<Operation<O, R>>) -> History<O, R> {
        operations.sort_by_key(|operation| operation.call);
        let mut positions: Vec<(u32, usize, bool)> = Vec::with_capacity(2 * operations.len());
        for (index, operation) in operations.iter().enumerate() {
            positions.push((operation.call, index, false));
            positions.extend(operation.end.map(|end| (end, index, true)));
        }
        positions.sort_unstable();
        for (event, (_, index, is_end)) in positions.iter().enumerate() {
            match is_end {
                false => operations[*index].call = event as u32,
                true => operations[*index].end = Some(event as u32),
            }
        }
        let open = |(index, o): (usize, &Operation<O, R>)| o.end.is_none().then_some((o.process, OpId(index as u32)));
        History {
            open: operations.iter().enumerate().filter_map(open).collect(),
            events: positions.len() as u32,
            operations,
        }
    }

    fn next_event(&mut self) -> Result<u32, HistoryError> {
        if self.events >= u32::MAX - 1 {
            return Err(HistoryError::TooLong);
        }
        self.events += 1;
        Ok(self.events - 1)
    }
}
