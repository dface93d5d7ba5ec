//! From events to transactions: who had what open, and how it ended.

use std::collections::HashMap;

use super::atom::Atom;
use super::history::{End, Step, StepKind, Steps, Transactions};
use crate::history::{EventKind, Process, Value};

/// A micro-operation as one writes it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Micro {
    /// Appends a value to a key's list.
    Append(Value, Value),
    /// Writes a key's register.
    Write(Value, Value),
    /// Reads a key: a register's value, a [list](Value::List), or `Nil` for a key that was never written.
    Read(Value, Value),
}

/// A transaction that has begun.
#[derive(Clone, Debug)]
struct Open {
    invoked: u32,
    line: u64,
    steps: Steps,
}

/// Builds a transactional history event by event.
///
/// ```
/// use drawloom_check::history::{EventKind, Process, Value};
/// use drawloom_check::transactions::{Builder, Micro};
///
/// let mut builder = Builder::new();
/// let write = [Micro::Write(Value::Text("x".into()), Value::Int(1))];
/// builder.event(Process(0), EventKind::Invoke, &write)?;
/// builder.event(Process(0), EventKind::Ok, &write)?;
/// assert_eq!(builder.finish().len(), 1);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    pub(crate) history: Transactions,
    pub(crate) scratch: Steps,
    /// Sessions by process; only ever asked, never walked.
    sessions: HashMap<u64, u32>,
    open: Vec<Option<Open>>,
    /// Where processes have no names, the one transaction that is open.
    nameless: Option<u32>,
    spare: Vec<Steps>,
    events: u32,
}

impl Builder {
    /// An empty history.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// A process begins a transaction, or its transaction ends. A history without [`EventKind::Invoke`] says
    /// nothing about real time.
    ///
    /// The error says why the event cannot be; the history stays as it was.
    pub fn event(&mut self, process: Process, kind: EventKind, steps: &[Micro]) -> Result<(), String> {
        self.event_at(process, kind, steps, 0)
    }

    pub(crate) fn event_at(
        &mut self,
        process: Process,
        kind: EventKind,
        steps: &[Micro],
        line: u64,
    ) -> Result<(), String> {
        self.scratch.clear();
        for step in steps {
            match step {
                Micro::Append(key, value) => self.step(key, StepKind::Append, value),
                Micro::Write(key, value) => self.step(key, StepKind::Write, value),
                Micro::Read(key, Value::List(list)) => {
                    let from = self.scratch.elements.len() as u32;
                    for value in list {
                        let atom = self.history.atoms.value(value);
                        self.scratch.elements.push(atom);
                    }
                    let to = self.scratch.elements.len() as u32;
                    self.step(key, StepKind::ReadList(from, to), &Value::Nil);
                }
                Micro::Read(key, value) => self.step(key, StepKind::Read, value),
            }
        }
        self.take(Some(process), kind, line)
    }

    /// What every key holds at the beginning. It is `Nil` if nothing else is said; lists are always empty.
    pub fn record_init(&mut self, init: &Value) {
        self.history.initial = self.history.atoms.value(init);
        let empty = init.is_nil() || init.as_list().is_some_and(<[Value]>::is_empty);
        self.history.no_list = (!empty).then(|| init.kind());
    }

    /// A read or write of a register, whatever its value is.
    pub(crate) fn access(&mut self, key: &Value, kind: StepKind, value: &Value) {
        self.scratch.clear();
        self.step(key, kind, value);
    }

    /// The store's own record of the order of a key's versions, oldest first.
    pub fn record_order(&mut self, key: &Value, values: &[Value]) {
        let name = self.history.atoms.value(key);
        let key = self.history.key(name);
        let order = values.iter().map(|value| self.history.atoms.value(value)).collect();
        self.history.recorded[key.0 as usize] = Some(order);
    }

    fn step(&mut self, key: &Value, kind: StepKind, value: &Value) {
        let name = self.history.atoms.value(key);
        let value = self.history.atoms.value(value);
        self.push(name, kind, value);
    }

    pub(crate) fn push(&mut self, key: Atom, kind: StepKind, value: Atom) {
        let key = self.history.key(key);
        self.scratch.steps.push(Step { key, kind, value });
    }

    /// The event whose steps are in `scratch`.
    pub(crate) fn take(&mut self, process: Option<Process>, kind: EventKind, line: u64) -> Result<(), String> {
        let session = self.session_of(process);
        let open = self.open[session as usize].take();
        if process.is_none() {
            self.nameless = (kind == EventKind::Invoke).then_some(session);
        }
        let who = || process.map_or("without a name".to_owned(), |process| process.to_string());
        self.events += 1;
        let at = self.events;
        let end = match (kind, &open) {
            (EventKind::Invoke, Some(before)) => {
                let since = before.line;
                self.open[session as usize] = open;
                return Err(format!("process {} begins a transaction, but has one open since line {since}", who()));
            }
            (EventKind::Invoke, None) => {
                let spare = self.spare.pop().unwrap_or_default();
                let steps = std::mem::replace(&mut self.scratch, spare);
                self.history.has_calls = true;
                self.open[session as usize] = Some(Open { invoked: at, line, steps });
                return Ok(());
            }
            (_, None) if self.history.has_calls => {
                return Err(format!("process {} ends a transaction, but has none open", who()));
            }
            (EventKind::Ok, _) => End::Committed,
            (EventKind::Fail, _) => End::Aborted,
            (EventKind::Info, _) => End::Unknown,
        };
        let (invoked, called) = open.map_or((0, None), |open| (open.invoked, Some(open.steps)));
        // What a transaction that did not commit has written is what it was called with.
        let steps = match (&called, end) {
            (Some(called), End::Aborted | End::Unknown) if self.scratch.steps.is_empty() => called,
            _ => &self.scratch,
        };
        let completed = if end == End::Unknown { u32::MAX } else { at };
        self.history.end(session, end, steps, (invoked, completed), line);
        if let Some(mut called) = called {
            called.clear();
            self.spare.push(called);
        }
        Ok(())
    }

    /// A process without a name is somebody else every time: nothing is known of the order of its transactions.
    fn session_of(&mut self, process: Option<Process>) -> u32 {
        match process {
            Some(Process(number)) => {
                if let Some(session) = self.sessions.get(&number) {
                    return *session;
                }
                let session = self.history.session(number.to_string());
                self.sessions.insert(number, session);
                self.open.push(None);
                session
            }
            None => {
                if let Some(session) = self.nameless {
                    return session;
                }
                self.open.push(None);
                self.history.session("?".to_owned())
            }
        }
    }

    /// The history; transactions that are open are of unknown end.
    pub fn finish(mut self) -> Transactions {
        let open = self.open.iter_mut().enumerate();
        let mut open: Vec<_> = open.filter_map(|(session, open)| Some((open.take()?, session as u32))).collect();
        open.sort_by_key(|(open, _)| open.invoked);
        for (Open { invoked, line, steps }, session) in open {
            self.history.end(session, End::Unknown, &steps, (invoked, u32::MAX), line);
        }
        self.history.settle();
        self.history
    }
}
