//! The search for an order that keeps the order of each process.

use crate::hash::hash_of;
use crate::history::{History, OpId, Outcome};
use crate::linearizable::{Memo, States};
use crate::model::{Model, Next};
use crate::verdict::{Budget, Reason, Unknown, Verdict};

use super::Violation;

/// Operations in their order, and how many are placed: the completed ones of a process; or one of unknown outcome, which
/// may take effect at any time after those that its process completed before it, or never.
#[derive(Debug)]
struct Lane {
    operations: Vec<OpId>,
    position: u32,
    /// Which lane must have come how far before this one may begin.
    after: (usize, u32),
}

/// A node of the search: what was done before its moves are tried.
#[derive(Clone, Copy, Debug)]
struct Frame {
    placed: usize,
    state: u32,
    lane: usize,
    successor: usize,
}

pub(super) struct Search<S> {
    lanes: Vec<Lane>,
    left: usize,
    states: States<S>,
    state: u32,
    memo: Memo,
    key: Vec<u64>,
    next: Next<S>,
    /// The lanes of the operations that are placed, in order.
    trail: Vec<usize>,
    frames: Vec<Frame>,
    steps: u64,
    longest: Vec<OpId>,
    stuck: Vec<OpId>,
}

impl<S: Clone + Eq + std::hash::Hash> Search<S> {
    pub fn new<M: Model<State = S>>(model: &M, history: &History<M::Op, M::Ret>) -> Search<S> {
        let mut processes: Vec<_> = history.operations().iter().map(|operation| operation.process).collect();
        processes.sort_unstable();
        processes.dedup();
        let lane = |after| Lane { operations: Vec::new(), position: 0, after };
        let mut lanes: Vec<Lane> = processes.iter().map(|_| lane((0, 0))).collect();
        let mut left = 0;
        for (id, operation) in history.iter() {
            let Ok(own) = processes.binary_search(&operation.process) else { continue };
            match operation.outcome {
                Outcome::Ok(_) => {
                    lanes[own].operations.push(id);
                    left += 1;
                }
                Outcome::Info | Outcome::Pending if !model.observer(&operation.op, None) => {
                    let after = (own, lanes[own].operations.len() as u32);
                    lanes.push(Lane { operations: vec![id], ..lane(after) });
                }
                Outcome::Fail | Outcome::Info | Outcome::Pending => {}
            }
        }
        let mut states = States::default();
        let state = states.intern(&mut model.init(), |state| model.heap(state));
        Search {
            lanes,
            left,
            states,
            state,
            memo: Memo::default(),
            key: Vec::new(),
            next: Next::default(),
            trail: Vec::new(),
            frames: Vec::new(),
            steps: 0,
            longest: Vec::new(),
            stuck: Vec::new(),
        }
    }

    pub fn violation(&self) -> Violation {
        Violation { stuck: self.stuck.clone(), order: self.longest.clone() }
    }

    pub fn run<M: Model<State = S>>(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        budget: Budget,
    ) -> Verdict<Vec<OpId>, Violation> {
        let of = self.left;
        self.enter(model, history);
        loop {
            if self.left == 0 {
                return Verdict::Ok(self.order());
            }
            let Some(&frame) = self.frames.last() else { return Verdict::Illegal(self.violation()) };
            self.undo(history, frame.placed);
            self.state = frame.state;
            let bytes = (self.memo.bytes() + self.states.bytes()) as u64;
            let reason = match () {
                () if self.steps >= budget.steps => Some(Reason::Steps(budget.steps)),
                () if bytes > budget.bytes || !self.memo.has_room(self.lanes.len()) => {
                    Some(Reason::Bytes(budget.bytes))
                }
                () => None,
            };
            if let Some(reason) = reason {
                return Verdict::Unknown(Unknown { reason, steps: self.steps, placed: self.longest.len(), of });
            }
            match self.lanes.get(frame.lane) {
                None => drop(self.frames.pop()),
                Some(_) => {
                    if self.attempt(model, history, frame) {
                        self.enter(model, history);
                    }
                }
            }
        }
    }

    /// The operation that comes next in a lane.
    fn following(&self, lane: usize) -> Option<OpId> {
        let Lane { operations, position, after } = &self.lanes[lane];
        let free = self.lanes[after.0].position >= after.1;
        free.then(|| operations.get(*position as usize).copied()).flatten()
    }

    /// Tries the next move of a node: the operation of its lane, with one of its successors.
    fn attempt<M: Model<State = S>>(&mut self, model: &M, history: &History<M::Op, M::Ret>, frame: Frame) -> bool {
        let Some(id) = self.following(frame.lane) else {
            self.advance(frame.lane + 1, 0);
            return false;
        };
        let operation = &history.operations()[id.index()];
        self.steps += 1;
        self.next.clear();
        model.step(self.states.get(self.state), &operation.op, operation.outcome.ret(), &mut self.next);
        let changed = self.next.changed().len();
        // After the states that the model names comes the unchanged one.
        let state = match self.next.changed().get_mut(frame.successor) {
            Some(state) => Some(self.states.intern(state, |state| model.heap(state))),
            None => self.next.stays().then_some(self.state),
        };
        if frame.successor < changed {
            self.advance(frame.lane, frame.successor + 1);
        } else {
            self.advance(frame.lane + 1, 0);
        }
        let Some(state) = state else { return false };
        // What may not have happened and changes nothing has not happened.
        if operation.outcome.ret().is_none() && state == self.state {
            return false;
        }
        self.step(history, frame.lane);
        if self.is_new(state) {
            self.state = state;
            return true;
        }
        false
    }

    fn advance(&mut self, lane: usize, successor: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.lane = lane;
            frame.successor = successor;
        }
    }

    /// Places all observers that fit, since nothing is lost by it, and leaves a frame for the rest.
    fn enter<M: Model<State = S>>(&mut self, model: &M, history: &History<M::Op, M::Ret>) {
        for lane in 0..self.lanes.len() {
            while let Some(id) = self.following(lane) {
                let operation = &history.operations()[id.index()];
                let ret = operation.outcome.ret();
                if ret.is_none() || !model.observer(&operation.op, ret) {
                    break;
                }
                self.steps += 1;
                self.next.clear();
                model.step(self.states.get(self.state), &operation.op, ret, &mut self.next);
                if self.next.is_empty() {
                    break;
                }
                self.step(history, lane);
            }
        }
        if self.trail.len() > self.longest.len() || self.stuck.is_empty() {
            self.longest = self.order();
            self.stuck = (0..self.lanes.len()).filter_map(|lane| self.following(lane)).collect();
        }
        self.frames.push(Frame { placed: self.trail.len(), state: self.state, lane: 0, successor: 0 });
    }

    fn order(&self) -> Vec<OpId> {
        let mut positions = vec![0; self.lanes.len()];
        let mut order = Vec::with_capacity(self.trail.len());
        for lane in &self.trail {
            order.push(self.lanes[*lane].operations[positions[*lane]]);
            positions[*lane] += 1;
        }
        order
    }

    fn step<O, R>(&mut self, history: &History<O, R>, lane: usize) {
        let at = &mut self.lanes[lane];
        let id = at.operations[at.position as usize];
        at.position += 1;
        self.left -= usize::from(history.operations()[id.index()].outcome.ret().is_some());
        self.trail.push(lane);
    }

    fn undo<O, R>(&mut self, history: &History<O, R>, placed: usize) {
        while self.trail.len() > placed {
            let Some(lane) = self.trail.pop() else { return };
            let lane = &mut self.lanes[lane];
            lane.position -= 1;
            let id = lane.operations[lane.position as usize];
            self.left += usize::from(history.operations()[id.index()].outcome.ret().is_some());
        }
    }

    fn is_new(&mut self, state: u32) -> bool {
        self.key.clear();
        self.key.push(u64::from(state));
        let positions = self
            .lanes
            .chunks(2)
            .map(|pair| u64::from(pair[0].position) | pair.get(1).map_or(0, |lane| u64::from(lane.position) << 32));
        self.key.extend(positions);
        self.memo.insert(hash_of(&self.key), &self.key)
    }
}
