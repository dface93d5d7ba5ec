//! Nodes of a search: entering one, and trying its candidates.

use super::{Frame, NONE, Order, Search, rules};
use crate::hash::{fold, scatter};
use crate::history::History;
use crate::model::Model;

/// What a node turned out to be.
pub(super) enum Node {
    Found,
    Dead,
    Open,
}

impl<S: Clone + Eq + std::hash::Hash> Search<S> {
    /// Places a candidate, if that leads to a node that was not entered before; tells which of its successors comes next.
    #[inline]
    pub(super) fn attempt<M: Model<State = S>>(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        op: u32,
        frame: Frame,
    ) -> Option<u32> {
        self.steps += 1;
        let operation = &history.operations()[self.instance.ids[op as usize] as usize];
        let ret = operation.outcome.ret();
        self.next.clear();
        model.step(self.states.get(frame.state), &operation.op, ret, &mut self.next);
        if self.next.is_empty() {
            return None;
        }
        if frame.unnoticed != NONE {
            self.without.clear();
            model.step(self.states.get(frame.unnoticed), &operation.op, ret, &mut self.without);
        }
        let crashed = op as usize >= self.instance.completed;
        let count = self.next.changed().len() + usize::from(self.next.stays());
        self.place(op);
        for successor in frame.successor as usize..count {
            if self.is_pointless(model, history, frame, successor) {
                continue;
            }
            let state = match self.next.changed().get_mut(successor) {
                Some(state) => self.states.intern(state, |state| model.heap(state)),
                None => frame.state,
            };
            // An operation of unknown outcome that changes nothing might as well not have happened.
            if (crashed && state == frame.state) || !self.is_new(state) {
                continue;
            }
            self.state = state;
            self.unnoticed = if crashed { frame.state } else { NONE };
            return Some(if successor + 1 < count { successor as u32 + 1 } else { 0 });
        }
        self.undo(self.trail.len() - 1);
        None
    }

    /// Remembers the operations that are placed together with a state; is `false` if it did already.
    #[inline]
    fn is_new(&mut self, state: u32) -> bool {
        let hash = fold(self.hash ^ scatter(u64::from(state)));
        let words = &self.placed[..self.crashed_words];
        let first = self.first_word.min(words.len());
        let mut last = (self.last_word + 1).min(words.len()).max(first);
        while last > first && words[last - 1] == 0 {
            last -= 1;
        }
        self.key.clear();
        self.key.push(u64::from(state) | (first as u64) << 32);
        self.key.extend_from_slice(&words[first..last]);
        let crashed = &self.placed[self.crashed_words..];
        if !crashed.is_empty() {
            // The number of words before tells the two stretches apart.
            let end = crashed.iter().rposition(|word| *word != 0).map_or(0, |at| at + 1);
            self.key.push((last - first) as u64);
            self.key.extend_from_slice(&crashed[..end]);
        }
        self.memo.insert(hash, &self.key)
    }

    /// Places the observers that fit, lists the candidates, and leaves a frame if there is anything to try.
    #[inline]
    pub(super) fn enter<M: Model<State = S>>(&mut self, model: &M, history: &History<M::Op, M::Ret>) -> Node {
        let operations = history.operations();
        let n = self.instance.len();
        let start = self.candidates.len();
        let mut node = self.instance.next[0];
        let mut horizon = 0;
        let last = self.trail.last().copied().unwrap_or(NONE);
        self.blocked.clear();
        if self.left == 0 {
            return Node::Found;
        }
        let urgent = loop {
            let op = node - 1;
            if node as usize > n {
                break op - n as u32;
            }
            if self.instance.observer[op as usize] {
                let operation = &operations[self.instance.ids[op as usize] as usize];
                self.steps += 1;
                self.next.clear();
                model.step(self.states.get(self.state), &operation.op, operation.outcome.ret(), &mut self.next);
                horizon = op;
                if !self.next.is_empty() {
                    let before = self.instance.before(node);
                    self.place(op);
                    if self.left == 0 {
                        self.candidates.truncate(start);
                        return Node::Found;
                    }
                    node = self.instance.next[before as usize];
                    continue;
                }
                self.blocked.push(op);
            } else if (op as usize) < self.instance.completed {
                self.candidates.push(op);
                horizon = op;
            } else {
                self.candidates.push(op);
            }
            node = self.instance.next[node as usize];
        };
        self.last_word = self.last_word.max(horizon as usize / 64);
        let deadline = self.instance.deadline[urgent as usize];
        if deadline >= self.furthest {
            self.furthest = deadline;
            self.furthest_op = urgent;
        }
        // An observer that was called and does not fit yet, or else the next one that will be called, must come to fit.
        let guard = match self.blocked.first() {
            _ if n <= rules::WORTH_GUARD => NONE,
            Some(blocked) => *blocked,
            None => self.next_observer(node),
        };
        if self.candidates.len() == start || self.is_hopeless(model, history, urgent, guard) {
            self.most_placed = self.most_placed.max(self.trail.len());
            self.candidates.truncate(start);
            return Node::Dead;
        }
        self.drop_twins(start, deadline);
        if self.order == Order::Deadline {
            let deadline = &self.instance.deadline;
            insertion_sort(&mut self.candidates[start..], |op| (deadline[*op as usize], *op));
        }
        self.frames.push(Frame {
            placed: self.trail.len() as u32,
            state: self.state,
            start: start as u32,
            cursor: start as u32,
            successor: 0,
            last_word: self.last_word as u32,
            unnoticed: if self.trail.last() == Some(&last) { self.unnoticed } else { NONE },
            guard,
        });
        Node::Open
    }
}

/// Candidates are few and nearly sorted.
fn insertion_sort<T: Copy, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..items.len() {
        let item = items[end];
        let mut at = end;
        while at > 0 && key(&items[at - 1]) > key(&item) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}
