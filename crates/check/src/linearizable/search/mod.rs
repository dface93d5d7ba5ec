//! The general search: Wing and Gong's, with Lowe's memory, and what makes it quick.
//!
//! A node is a set of operations that have been placed, and the state they lead to. Candidates are the operations that
//! were called before the first return of one that is not placed; that one is *urgent*. An observer that fits is
//! placed at once and never reconsidered: whatever could come before it can come after it. If the model says
//! that the urgent operation, or an observer that has been or will be called, cannot be reached, the node is left. Of identical
//! candidates the one that has to be over first goes first: they could change places. One of unknown outcome that would change nothing
//! is not placed at all, nor one that makes no difference to the operation after it. A node that was entered before is not entered again; what is remembered of it is the
//! window of operations that matter, not the whole set.
//!
//! Everything before the furthest urgent return that was ever met can be explained by the operations that were placed when it was met.
//!
//! Wing & Gong, Testing and verifying concurrent objects (1993); Lowe, Testing for linearizability (2017).

mod instance;
mod memo;
mod node;
mod placed;
mod rules;
mod states;

use instance::{Instance, NONE};
pub(crate) use memo::Memo;
use node::Node;
pub(crate) use states::States;

use crate::history::{History, OpId};
use crate::model::{Model, Next};

/// In which order candidates are tried. None is best for all histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one with the earliest deadline.
    Deadline,
    /// The one that was called first.
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
    /// So many steps were made. The search can continue.
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
    /// An observer that does not fit yet: a state from which it never will is not entered.
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

    /// The operation that could not be placed, once the search has failed.
    pub fn culprit(&self) -> Option<OpId> {
        self.instance.ids.get(self.furthest_op as usize).copied().map(OpId)
    }

    /// The operations that are placed now, in order.
    pub fn order(&self) -> impl ExactSizeIterator<Item = OpId> + '_ {
        self.trail.iter().map(|op| OpId(self.instance.ids[*op as usize]))
    }

    /// Continues until the search ends, `limit` steps have been made in all, or more than `bytes` are remembered.
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
}
