//! Follows a history while it happens, and stops at the first return that cannot be explained.
//!
//! Just-in-time linearization (Lowe 2017), without knowledge of what open operations will return: a configuration is a
//! state, and for each open operation that has taken effect already, the states before and after it; when it
//! returns, that step must be one that gives this result. Operations that never change anything are not placed at all:
//! the states that were passed since their call are collected, and one of them must fit. Configurations grow only when a
//! return asks for it. With bounded concurrency memory is bounded, however long the history is.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::search::{Memo, States};
use crate::hash::{Fold, hash_of};
use crate::history::{HistoryError, OpId, Process};
use crate::model::{Model, Next};
use crate::verdict::{Budget, Reason, Unknown, Verdict};

/// The judgement of a monitor after an event: whether the history so far can be explained. If not, the operation is the one
/// whose return cannot be.
pub type Judgement = Verdict<(), OpId>;

/// Checks a history event by event.
///
/// ```
/// use drawloom_check::linearizable::Monitor;
/// use drawloom_check::model::{Register, RegisterOp::*, RegisterRet};
/// use drawloom_check::Process;
///
/// let mut monitor = Monitor::new(Register::new(0));
/// monitor.invoke(Process(0), Write(1))?;
/// monitor.invoke(Process(1), Read)?;
/// assert!(monitor.ok(Process(1), &RegisterRet::Value(1))?.is_ok());
/// monitor.invoke(Process(1), Read)?;
/// assert!(monitor.ok(Process(1), &RegisterRet::Value(0))?.is_illegal());
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
#[derive(Debug)]
pub struct Monitor<M: Model> {
    model: M,
    budget: Budget,
    slots: Vec<Slot<M::Op>>,
    states: States<M::State>,
    /// Sets of states that an open observer has seen, sorted.
    passed: Vec<Vec<u32>>,
    passed_numbers: HashMap<Vec<u32>, u64, BuildHasherDefault<Fold>>,
    /// Configurations, one after the other: a state, then a word for each slot.
    rows: Vec<u64>,
    found: Vec<u64>,
    waiting: Vec<u64>,
    entered: Memo,
    kept: Memo,
    next: Next<M::State>,
    calls: u32,
    steps: u64,
    verdict: Judgement,
}

/// An operation that is open, or will be for ever.
#[derive(Debug)]
struct Slot<O> {
    /// `None`: the slot is free.
    op: Option<(OpId, O)>,
    /// `None`: it ended, and nobody will ever know how.
    process: Option<Process>,
    /// It never changes anything, whatever it returns.
    observer: bool,
}

/// The word of an operation that has not taken effect, and of a free slot.
const OPEN: u64 = 0;
/// The word of an operation of unknown outcome that has taken effect.
const DONE: u64 = u64::MAX;

/// The word of an operation that has taken effect between two states.
fn word(before: u32, after: u32) -> u64 {
    (u64::from(before) + 1) << 32 | u64::from(after)
}

impl<M: Model> Monitor<M> {
    /// Watches an object from its beginning, within the default budget.
    pub fn new(model: M) -> Monitor<M> {
        Monitor::within(model, Budget::default())
    }

    /// Watches an object from its beginning, within a budget.
    pub fn within(model: M, budget: Budget) -> Monitor<M> {
        let mut states = States::default();
        let state = states.intern(&mut model.init(), |state| model.heap(state));
        Monitor {
            model,
            budget,
            slots: Vec::new(),
            states,
            passed: Vec::new(),
            passed_numbers: HashMap::default(),
            rows: vec![u64::from(state)],
            found: Vec::new(),
            waiting: Vec::new(),
            entered: Memo::default(),
            kept: Memo::default(),
            next: Next::default(),
            calls: 0,
            steps: 0,
            verdict: Verdict::Ok(()),
        }
    }

    /// The last judgement: `Illegal` and `Unknown` stay.
    pub fn verdict(&self) -> Judgement {
        self.verdict.clone()
    }

    /// How many configurations explain what has happened so far.
    pub fn configurations(&self) -> usize {
        self.rows.len() / (1 + self.slots.len())
    }

    /// A process calls an operation.
    pub fn invoke(&mut self, process: Process, op: M::Op) -> Result<OpId, HistoryError> {
        if let Some(open) = self.slots.iter().find(|slot| slot.process == Some(process) && slot.op.is_some()) {
            let call = open.op.as_ref().map_or(0, |(id, _)| id.0);
            return Err(HistoryError::AlreadyOpen(process, call));
        }
        let id = OpId(self.calls);
        self.calls = self.calls.checked_add(1).ok_or(HistoryError::TooLong)?;
        let observer = self.model.observer(&op, None);
        let slot = Slot { op: Some((id, op)), process: Some(process), observer };
        let at = match self.slots.iter().position(|slot| slot.op.is_none()) {
            Some(at) => {
                self.slots[at] = slot;
                at
            }
            None => {
                self.widen();
                self.slots.push(slot);
                self.slots.len() - 1
            }
        };
        if observer {
            let width = 1 + self.slots.len();
            for row in 0..self.rows.len() / width {
                let state = self.rows[row * width] as u32;
                self.rows[row * width + 1 + at] = self.number(vec![state]);
            }
        }
        Ok(id)
    }

    /// The open operation of a process returned: can that be?
    pub fn ok(&mut self, process: Process, ret: &M::Ret) -> Result<Judgement, HistoryError> {
        let at = self.slot_of(process)?;
        if self.verdict.is_ok() {
            self.settle(at, ret);
        }
        self.free(at);
        Ok(self.verdict.clone())
    }

    /// The open operation of a process certainly did not take effect.
    pub fn fail(&mut self, process: Process) -> Result<Judgement, HistoryError> {
        let at = self.slot_of(process)?;
        let width = 1 + self.slots.len();
        let undone = |row: &&[u64]| self.slots[at].observer || row[1 + at] == OPEN;
        let rows: Vec<u64> = self.rows.chunks(width).filter(undone).flatten().copied().collect();
        if rows.is_empty() && self.verdict.is_ok() {
            self.verdict = Verdict::Illegal(self.id(at));
        }
        self.rows = rows;
        self.free(at);
        Ok(self.verdict.clone())
    }

    /// Ends the open operation of a process without a known result.
    pub fn info(&mut self, process: Process) -> Result<Judgement, HistoryError> {
        let at = self.slot_of(process)?;
        if self.slots[at].observer {
            self.free(at);
            return Ok(self.verdict.clone());
        }
        self.slots[at].process = None;
        let width = 1 + self.slots.len();
        for row in self.rows.chunks_mut(width) {
            if row[1 + at] != OPEN {
                row[1 + at] = DONE;
            }
        }
        Ok(self.verdict.clone())
    }

    fn slot_of(&self, process: Process) -> Result<usize, HistoryError> {
        let is = |slot: &Slot<M::Op>| slot.process == Some(process) && slot.op.is_some();
        self.slots.iter().position(is).ok_or(HistoryError::NoneOpen(process))
    }

    fn id(&self, at: usize) -> OpId {
        self.slots[at].op.as_ref().map_or(OpId(0), |(id, _)| *id)
    }

    /// Makes room for one more slot in every configuration.
    fn widen(&mut self) {
        let width = 1 + self.slots.len();
        let rows = std::mem::take(&mut self.rows);
        for row in rows.chunks(width) {
            self.rows.extend_from_slice(row);
            self.rows.push(OPEN);
        }
    }

    fn free(&mut self, at: usize) {
        self.slots[at] = Slot { op: None, process: None, observer: false };
        let width = 1 + self.slots.len();
        for row in self.rows.chunks_mut(width) {
            row[1 + at] = OPEN;
        }
    }

    /// The number of a set of states, as a word.
    fn number(&mut self, set: Vec<u32>) -> u64 {
        let passed = &mut self.passed;
        *self.passed_numbers.entry(set).or_insert_with_key(|set| {
            passed.push(set.clone());
            passed.len() as u64
        })
    }

    /// Keeps the configurations in which the operation of a slot returned this.
    fn settle(&mut self, at: usize, ret: &M::Ret) {
        self.entered.clear();
        self.kept.clear();
        self.found.clear();
        std::mem::swap(&mut self.waiting, &mut self.rows);
        let width = 1 + self.slots.len();
        let mut row = vec![0; width];
        while self.waiting.len() >= width {
            let start = self.waiting.len() - width;
            row.copy_from_slice(&self.waiting[start..]);
            self.waiting.truncate(start);
            let bytes = 8 * (self.waiting.len() + self.found.len()) + self.entered.bytes() + self.states.bytes();
            let reason = match () {
                () if self.steps > self.budget.steps => Some(Reason::Steps(self.budget.steps)),
                () if bytes as u64 > self.budget.bytes => Some(Reason::Bytes(self.budget.bytes)),
                () => None,
            };
            if let Some(reason) = reason {
                let (placed, of) = (self.calls as usize - 1, self.calls as usize);
                self.verdict = Verdict::Unknown(Unknown { reason, steps: self.steps, placed, of });
                self.waiting.clear();
                return;
            }
            self.examine(at, ret, &row);
        }
        std::mem::swap(&mut self.rows, &mut self.found);
        if self.rows.is_empty() {
            self.verdict = Verdict::Illegal(self.id(at));
        }
    }

    fn examine(&mut self, at: usize, ret: &M::Ret, row: &[u64]) {
        let state = row[0] as u32;
        match row[1 + at] {
            set if self.slots[at].observer => {
                let seen = std::mem::take(&mut self.passed[set as usize - 1]);
                let fits = seen.iter().any(|state| self.leads(at, ret, *state, None));
                self.passed[set as usize - 1] = seen;
                if fits {
                    return self.keep(row, at);
                }
            }
            OPEN => {
                self.attempt(at, state, Some(ret));
                for after in self.successors(state) {
                    let row = self.moved(row, after, None);
                    self.keep(&row, at);
                }
            }
            word => {
                let (before, after) = ((word >> 32) as u32 - 1, word as u32);
                if self.leads(at, ret, before, Some(after)) {
                    self.keep(row, at);
                }
                return;
            }
        }
        for other in (0..self.slots.len()).filter(|other| *other != at) {
            let slot = &self.slots[other];
            if slot.op.is_none() || slot.observer || row[1 + other] != OPEN || self.has_twin(other, row) {
                continue;
            }
            let crashed = slot.process.is_none();
            self.attempt(other, state, None);
            for after in self.successors(state) {
                if crashed && after == state {
                    continue;
                }
                let entry = if crashed { DONE } else { word(state, after) };
                let row = self.moved(row, after, Some((other, entry)));
                if self.entered.insert(hash_of(&row), &row) {
                    self.waiting.extend_from_slice(&row);
                }
            }
        }
    }

    /// Whether an identical operation of unknown outcome, called earlier, has not taken effect: then that one goes first.
    fn has_twin(&self, at: usize, row: &[u64]) -> bool {
        let Slot { op: Some((id, op)), process: None, .. } = &self.slots[at] else { return false };
        self.slots.iter().zip(&row[1..]).any(|(slot, word)| {
            *word == OPEN && slot.process.is_none() && slot.op.as_ref().is_some_and(|(other, o)| other < id && o == op)
        })
    }

    /// Asks the model where an operation leads.
    fn attempt(&mut self, at: usize, state: u32, ret: Option<&M::Ret>) {
        self.steps += 1;
        self.next.clear();
        if let Some((_, op)) = &self.slots[at].op {
            self.model.step(self.states.get(state), op, ret, &mut self.next);
        }
    }

    /// The states that the model has named last.
    fn successors(&mut self, from: u32) -> Vec<u32> {
        let Monitor { next, states, model, .. } = self;
        let stays = next.stays().then_some(from);
        let changed = next.changed().iter_mut().map(|state| states.intern(state, |state| model.heap(state)));
        changed.chain(stays).collect()
    }

    /// Whether the operation can return this in a state (and lead to the other).
    fn leads(&mut self, at: usize, ret: &M::Ret, before: u32, after: Option<u32>) -> bool {
        self.attempt(at, before, Some(ret));
        let successors = self.successors(before);
        after.map_or(!successors.is_empty(), |after| successors.contains(&after))
    }

    /// A configuration after a step to another state, which open observers pass.
    fn moved(&mut self, row: &[u64], state: u32, entry: Option<(usize, u64)>) -> Vec<u64> {
        let mut row = row.to_vec();
        row[0] = u64::from(state);
        if let Some((at, word)) = entry {
            row[1 + at] = word;
        }
        for (at, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.observer) {
            debug_assert!(slot.op.is_some());
            let set = &self.passed[row[1 + at] as usize - 1];
            if let Err(place) = set.binary_search(&state) {
                let mut set = set.clone();
                set.insert(place, state);
                let passed = &mut self.passed;
                row[1 + at] = *self.passed_numbers.entry(set).or_insert_with_key(|set| {
                    passed.push(set.clone());
                    passed.len() as u64
                });
            }
        }
        row
    }

    /// Keeps a configuration without the operation that has returned.
    fn keep(&mut self, row: &[u64], at: usize) {
        let start = self.found.len();
        self.found.extend_from_slice(row);
        self.found[start + 1 + at] = OPEN;
        if !self.kept.insert(hash_of(&self.found[start..]), &self.found[start..]) {
            self.found.truncate(start);
        }
    }
}
