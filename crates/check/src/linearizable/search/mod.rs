//! The general search: Wing and Gong's, with Lowe's memory, and what makes it quick.
//!
//! A node is a set of operations that have been placed, and the state they lead to. Candidates are the operations that
//! were called before the first return of one that is not placed; that one is *urgent*. An observer that fits is
//! placed at once and never reconsidered: whatever could come before it can come after it. If the model says
//! that the urgent operation, or an observer that has been called, cannot be reached, the node is left. Of identical
//! candidates the one that has to be over first goes first: they could change places. One of unknown outcome that would change nothing
//! is not placed at all, nor one that makes no difference to the operation after it. A node that was entered before is not entered again; what is remembered of it is the
//! window of operations that matter, not the whole set.
//!
//! Every one of these rules holds for prefixes of the history as well. So everything before the furthest urgent return
//! that was ever met can be explained.
//!
//! Wing & Gong, Testing and verifying concurrent objects (1993); Lowe, Testing for linearizability (2017).

mod instance;
mod memo;
mod rules;
mod states;

use instance::{Instance, NONE};
pub(crate) use memo::Memo;
pub(crate) use states::States;

use crate::hash::{fold, scatter};
use crate::history::{History, OpId};
use crate::model::{Model, Next};

/// In which order candidates are tried. None is best for all histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Whoever has to be over first.
    Deadline,
    /// Whoever was called first.
    Call,
}

impl Order {
    /// All orders, the most promising first.
    pub const ALL: [Order; 2] = [Order::Deadline, Order::Call];
}

/// How a search ended, or did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Everything is placed; `Search::order` is the order.
    Found,
    /// There is no order.
    Impossible,
    /// So many steps were made. The search can go on.
    Steps,
    /// It remembers too much.
    Bytes,
}

/// A node whose candidates are being tried.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// How many operations were placed when its candidates were listed.
    placed: u32,
    state: u32,
    /// Its candidates: a stretch of `Search::candidates`.
    start: u32,
    /// The candidate to be tried next, and which of the states it leads to.
    cursor: u32,
    successor: u32,
    /// The last word in which a completed operation may be placed.
    last_word: u32,
    /// If the last operation is one of unknown outcome that nobody has noticed yet: the state before it.
    unnoticed: u32,
    /// An observer that was called and does not fit yet: a state from which it never will is not entered.
    guard: u32,
}

/// A search that can be interrupted and resumed, and whose memory serves the next one.
#[derive(Debug)]
pub(crate) struct Search<S> {
    instance: Instance,
    states: States<S>,
    memo: Memo,
    next: Next<S>,
    /// Where the last operation would have led without the one of unknown outcome before it.
    without: Next<S>,
    key: Vec<u64>,

    /// Which operations are placed: completed ones, and from `crashed_words` on those of unknown outcome.
    placed: Vec<u64>,
    crashed_words: usize,
    /// The first word of `placed` that is not all ones.
    first_word: usize,
    /// The last word in which a completed operation may be placed.
    last_word: usize,
    hash: u64,
    left: usize,
    state: u32,
    /// The state before the last operation, if nobody knows whether that took effect.
    unnoticed: u32,
    trail: Vec<u32>,
    frames: Vec<Frame>,
    candidates: Vec<u32>,
    /// Observers that were called but do not fit, at the node that is being entered.
    blocked: Vec<u32>,
    order: Order,
    began: bool,

    steps: u64,
    most_placed: usize,
    furthest: u32,
    furthest_op: u32,
}

impl<S: Clone + Eq + std::hash::Hash> Default for Search<S> {
    fn default() -> Self {
        Search {
            instance: Instance::default(),
            states: States::default(),
            memo: Memo::default(),
            next: Next::default(),
            without: Next::default(),
            key: Vec::new(),
            placed: Vec::new(),
            crashed_words: 0,
            first_word: 0,
            last_word: 0,
            hash: 0,
            left: 0,
            state: 0,
            unnoticed: NONE,
            trail: Vec::new(),
            frames: Vec::new(),
            candidates: Vec::new(),
            blocked: Vec::new(),
            order: Order::Deadline,
            began: false,
            steps: 0,
            most_placed: 0,
            furthest: 0,
            furthest_op: NONE,
        }
    }
}

/// What a node turned out to be.
enum Node {
    Found,
    Dead,
    Open,
}

impl<S: Clone + Eq + std::hash::Hash> Search<S> {
    /// Begins a search for an order of the given operations.
    pub fn prepare<M: Model<State = S>>(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        members: impl Iterator<Item = u32> + Clone,
        order: Order,
    ) {
        self.instance.prepare(model, history, members);
        self.states.clear();
        self.memo.clear();
        self.crashed_words = self.instance.completed.div_ceil(64);
        self.placed.clear();
        self.placed.resize(self.crashed_words + (self.instance.len() - self.instance.completed).div_ceil(64), 0);
        self.first_word = 0;
        self.last_word = 0;
        self.hash = 0;
        self.left = self.instance.completed;
        self.trail.clear();
        self.frames.clear();
        self.unnoticed = NONE;
        self.candidates.clear();
        self.order = order;
        self.began = false;
        self.steps = 0;
        self.most_placed = 0;
        self.furthest = 0;
        self.furthest_op = NONE;
        self.next.clear();
        self.next.copy(&model.init());
        self.state = self.states.intern(&mut self.next.changed()[0], |state| model.heap(state));
        self.next.clear();
    }

    /// How many operations have to be placed.
    pub fn size(&self) -> usize {
        self.instance.completed
    }

    /// Whether candidates are tried in this order.
    pub fn is_by(&self, order: Order) -> bool {
        self.order == order
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub fn bytes(&self) -> u64 {
        (self.memo.bytes() + self.states.bytes() + 4 * self.candidates.capacity()) as u64
    }

    pub fn most_placed(&self) -> usize {
        self.most_placed.max(self.trail.len())
    }

    /// The operation that could not be placed, once the search has ended in vain.
    pub fn culprit(&self) -> Option<OpId> {
        self.instance.ids.get(self.furthest_op as usize).copied().map(OpId)
    }

    /// The operations that are placed now, in order.
    pub fn order(&self) -> impl ExactSizeIterator<Item = OpId> + '_ {
        self.trail.iter().map(|op| OpId(self.instance.ids[*op as usize]))
    }

    /// Goes on until the search ends, `limit` steps have been made in all, or more than `bytes` are remembered.
    pub fn run<M: Model<State = S>>(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        limit: u64,
        bytes: u64,
    ) -> Progress {
        if !self.began {
            self.began = true;
            if let Node::Found = self.enter(model, history) {
                return Progress::Found;
            }
        }
        loop {
            let Some(&frame) = self.frames.last() else { return Progress::Impossible };
            self.undo(frame.placed as usize);
            self.state = frame.state;
            self.last_word = frame.last_word as usize;
            if frame.cursor as usize == self.candidates.len() {
                self.candidates.truncate(frame.start as usize);
                self.frames.pop();
                continue;
            }
            if self.steps >= limit {
                return Progress::Steps;
            }
            if self.bytes() > bytes || !self.memo.has_room(3 + self.placed.len()) {
                return Progress::Bytes;
            }
            let op = self.candidates[frame.cursor as usize];
            match self.attempt(model, history, op, frame) {
                None => self.advance(0),
                Some(more) => {
                    self.advance(more);
                    if let Node::Found = self.enter(model, history) {
                        return Progress::Found;
                    }
                }
            }
        }
    }

    /// Sets the frame to its next attempt: another successor of the same candidate, or (zero) the next candidate.
    #[inline]
    fn advance(&mut self, successor: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.cursor += u32::from(successor == 0);
            frame.successor = successor;
        }
    }

    /// Places a candidate, if that leads to a node that was not entered before; tells which of its successors comes next.
    #[inline]
    fn attempt<M: Model<State = S>>(
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
    fn enter<M: Model<State = S>>(&mut self, model: &M, history: &History<M::Op, M::Ret>) -> Node {
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
        if self.candidates.len() == start || self.is_hopeless(model, history, urgent) {
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
            guard: if n > rules::WORTH_GUARD { self.blocked.first().copied().unwrap_or(NONE) } else { NONE },
        });
        Node::Open
    }

    /// The word and the bit of an operation in `placed`.
    #[inline]
    fn bit(&self, op: u32) -> (usize, u64) {
        let (op, completed) = (op as usize, self.instance.completed);
        match op.checked_sub(completed) {
            None => (op / 64, 1 << (op % 64)),
            Some(crashed) => (self.crashed_words + crashed / 64, 1 << (crashed % 64)),
        }
    }

    fn is_placed(&self, op: u32) -> bool {
        let (word, bit) = self.bit(op);
        self.placed[word] & bit != 0
    }

    #[inline]
    fn place(&mut self, op: u32) {
        let (word, bit) = self.bit(op);
        self.placed[word] |= bit;
        self.hash ^= scatter(u64::from(op));
        self.instance.unlink(op);
        self.trail.push(op);
        if (op as usize) < self.instance.completed {
            self.left -= 1;
            while self.first_word < self.crashed_words && self.placed[self.first_word] == u64::MAX {
                self.first_word += 1;
            }
        }
    }

    /// Takes back placements until so many are left.
    #[inline]
    fn undo(&mut self, placed: usize) {
        if placed < self.trail.len() {
            self.most_placed = self.most_placed.max(self.trail.len());
        }
        while self.trail.len() > placed {
            let Some(op) = self.trail.pop() else { return };
            let (word, bit) = self.bit(op);
            self.placed[word] &= !bit;
            self.hash ^= scatter(u64::from(op));
            self.instance.relink(op);
            if (op as usize) < self.instance.completed {
                self.left += 1;
                self.first_word = self.first_word.min(word);
            }
        }
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
