//! A part of a history, laid out for a search.

use std::hash::Hash;

use crate::hash::hash_of;
use crate::history::{History, Outcome};
use crate::model::Model;

/// No operation, no node.
pub(crate) const NONE: u32 = u32::MAX;

/// Operations with numbers of their own: completed ones first, then those of unknown outcome, each in the order of
/// their calls; and the list of their calls and returns that have not been placed.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    /// The operation of the history.
    pub ids: Vec<u32>,
    /// How many are completed.
    pub completed: usize,
    /// Whether the operation changes no state.
    pub observer: Vec<bool>,
    /// The event by which it has taken effect; `NONE` if its outcome is unknown.
    pub deadline: Vec<u32>,
    /// For an unknown outcome: the last identical operation of unknown outcome before it. For a completed one: the
    /// identical one, with the same result, that has to be over just before it.
    pub twin: Vec<u32>,
    /// The event of the call.
    pub call: Vec<u32>,
    /// The list. Node 0 is both ends of it, 1 + i the call of operation i, 1 + n + i its return.
    pub next: Vec<u32>,
    prev: Vec<u32>,
    /// Nodes by event, while the list is made.
    by_event: Vec<u32>,
    sorted: Vec<(u32, u32)>,
    /// The last operation of each class of identical ones, by hash.
    classes: Vec<u32>,
}

/// Smaller instances are done before identical operations would be found.
const WORTH_CLASSES: usize = 24;

impl Instance {
    /// Lays out the given operations, in the order of their calls. Those that certainly did not happen are left out, and
    /// so are observers of unknown outcome, which nobody can notice.
    pub fn prepare<M: Model>(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        members: impl Iterator<Item = u32> + Clone,
    ) {
        self.ids.clear();
        self.observer.clear();
        self.deadline.clear();
        self.twin.clear();
        self.call.clear();
        let operations = history.operations();
        for id in members.clone() {
            let operation = &operations[id as usize];
            if let Outcome::Ok(ret) = &operation.outcome {
                self.ids.push(id);
                self.observer.push(model.observer(&operation.op, Some(ret)));
                self.deadline.push(operation.deadline());
                self.call.push(operation.call);
                self.twin.push(NONE);
            }
        }
        self.completed = self.ids.len();
        for id in members {
            let operation = &operations[id as usize];
            let unknown = matches!(operation.outcome, Outcome::Info | Outcome::Pending);
            if unknown && !model.observer(&operation.op, None) {
                self.ids.push(id);
                self.observer.push(false);
                self.deadline.push(NONE);
                self.call.push(operation.call);
                self.twin.push(NONE);
            }
        }
        self.link(history);
        self.pair_crashed(history);
        if self.completed > WORTH_CLASSES {
            self.pair_identical(history);
        }
    }

    /// Finds the predecessor of each operation of unknown outcome among those that are identical, in the order of calls.
    fn pair_crashed<O: Eq + Hash, R>(&mut self, history: &History<O, R>) {
        let (completed, count) = (self.completed, self.ids.len() - self.completed);
        if count < 2 {
            return;
        }
        let op = |at: u32| &history.operations()[self.ids[at as usize] as usize].op;
        let mask = (2 * count).next_power_of_two() - 1;
        self.classes.clear();
        self.classes.resize(mask + 1, NONE);
        for at in completed as u32..(completed + count) as u32 {
            let mut class = hash_of(op(at)) as usize & mask;
            while self.classes[class] != NONE && op(self.classes[class]) != op(at) {
                class = (class + 1) & mask;
            }
            self.twin[at as usize] = std::mem::replace(&mut self.classes[class], at);
        }
    }

    /// Finds the predecessor of each completed operation among those that are identical and return the same, in the order
    /// in which they have to be over.
    fn pair_identical<O: Eq + Hash, R: Eq + Hash>(&mut self, history: &History<O, R>) {
        let operations = history.operations();
        let seen = |op: usize| {
            let operation = &operations[self.ids[op] as usize];
            (&operation.op, operation.outcome.ret())
        };
        let mask = (2 * self.completed).next_power_of_two() - 1;
        self.classes.clear();
        self.classes.resize(mask + 1, NONE);
        self.sorted.clear();
        let changing = (0..self.completed).filter(|op| !self.observer[*op]);
        self.sorted.extend(changing.map(|op| (self.deadline[op], op as u32)));
        self.sorted.sort_unstable();
        for (_, op) in &self.sorted {
            let mut at = hash_of(&seen(*op as usize)) as usize & mask;
            while self.classes[at] != NONE && seen(self.classes[at] as usize) != seen(*op as usize) {
                at = (at + 1) & mask;
            }
            self.twin[*op as usize] = std::mem::replace(&mut self.classes[at], *op);
        }
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    fn link<O, R>(&mut self, history: &History<O, R>) {
        let (n, c) = (self.len(), self.completed);
        let operations = history.operations();
        self.next.clear();
        self.next.resize(1 + n + c, 0);
        self.prev.clear();
        self.prev.resize(1 + n + c, 0);
        let mut last = 0u32;
        let (next, prev) = (&mut self.next, &mut self.prev);
        let mut append = |node: u32| {
            next[last as usize] = node;
            prev[node as usize] = last;
            last = node;
        };
        let calls = (0..n).map(|i| (operations[self.ids[i] as usize].call, 1 + i as u32));
        let returns = (0..c).map(|i| (self.deadline[i], (1 + n + i) as u32));
        if 8 * (n + c) >= history.events() as usize {
            self.by_event.clear();
            self.by_event.resize(history.events() as usize, 0);
            for (event, node) in calls.chain(returns) {
                self.by_event[event as usize] = node;
            }
            self.by_event.iter().filter(|node| **node != 0).for_each(|node| append(*node));
        } else {
            self.sorted.clear();
            self.sorted.extend(calls.chain(returns));
            self.sorted.sort_unstable();
            self.sorted.iter().for_each(|(_, node)| append(*node));
        }
        next[last as usize] = 0;
        prev[0] = last;
    }

    /// Takes an operation off the list.
    #[inline]
    pub fn unlink(&mut self, op: u32) {
        let mut cut = |node: usize| {
            let (before, after) = (self.prev[node], self.next[node]);
            self.next[before as usize] = after;
            self.prev[after as usize] = before;
        };
        cut(1 + op as usize);
        if (op as usize) < self.completed {
            cut(1 + self.ids.len() + op as usize);
        }
    }

    /// Puts the operation that was taken off last back on.
    #[inline]
    pub fn relink(&mut self, op: u32) {
        let mut tie = |node: usize| {
            let (before, after) = (self.prev[node], self.next[node]);
            self.next[before as usize] = node as u32;
            self.prev[after as usize] = node as u32;
        };
        if (op as usize) < self.completed {
            tie(1 + self.ids.len() + op as usize);
        }
        tie(1 + op as usize);
    }

    /// The operations that are on the list and were called before an event, in order.
    pub fn called_before(&self, event: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let n = self.ids.len() as u32;
        let mut node = 0;
        std::iter::from_fn(move || {
            loop {
                node = self.next[node as usize];
                if node == 0 {
                    return None;
                }
                if node <= n {
                    break;
                }
            }
            (self.call[node as usize - 1] < event).then_some(node - 1)
        })
    }

    #[inline]
    pub fn before(&self, node: u32) -> u32 {
        self.prev[node as usize]
    }
}
