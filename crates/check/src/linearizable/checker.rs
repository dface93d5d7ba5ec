//! Checks histories, one after the other, in the same memory.

use super::parts::Parts;
use super::search::{Order, Progress, Search};
use super::special;
use crate::history::{History, OpId};
use crate::model::Model;
use crate::verdict::{Budget, Reason, Unknown, Verdict};

/// The algorithm that judged a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The general search.
    Search,
    /// The near-linear algorithm for the model's shape.
    Special,
}

/// Why a history is not linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// An operation of the part that cannot be explained.
    pub part: OpId,
    /// How far the history can be explained: everything before the return of this operation can be. It cannot be placed, or
    /// one that is still open or comes soon after leaves no way to. Only the general search knows it at once.
    pub op: Option<OpId>,
    /// The algorithm that found it.
    pub method: Method,
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Steps so far.
    pub steps: u64,
    /// Parts that are not decided yet.
    pub parts: usize,
    /// Of the part that was just looked at, how many operations have been placed at most.
    pub placed: usize,
    /// And how many it has.
    pub of: usize,
}

/// Whom to tell how far it has come.
#[derive(Default)]
struct Told(Option<Box<dyn FnMut(Standing) + Send>>);

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Told" } else { "Nobody" })
    }
}

/// Checks whether histories are linearizable. After a few histories of the same size it allocates nothing.
///
/// Parts of a history take turns, and so do the orders in which candidates are tried, with budgets that double: no
/// part and no order can keep the others waiting, and the verdict does not depend on clocks or on the number of cores.
#[derive(Debug)]
pub struct Checker<M: Model> {
    parts: Parts,
    idle: Vec<Search<M::State>>,
    running: Vec<Running<M::State>>,
    order: Vec<OpId>,
    method: Method,
    steps: u64,
    told: Told,
}

#[derive(Debug)]
struct Running<S> {
    part: usize,
    search: Search<S>,
}

/// Parts up to this size go to the general search at once: it is mostly quicker there, and knows more.
const SMALL: usize = 32;
/// Steps of the first turn, beside one for every operation.
const FIRST_TURN: u64 = 1024;
/// Steps between two reports of how far it has come: a fraction of a second.
const REPORT: u64 = 1 << 16;

impl<M: Model> Default for Checker<M> {
    fn default() -> Self {
        Checker {
            parts: Parts::default(),
            idle: Vec::new(),
            running: Vec::new(),
            order: Vec::new(),
            method: Method::Search,
            steps: 0,
            told: Told::default(),
        }
    }
}

/// What became of a part, or of all.
type Judged = Verdict<(), Violation>;

impl<M: Model> Checker<M> {
    /// A checker that has checked nothing yet.
    pub fn new() -> Self {
        Checker::default()
    }

    /// The same checker, which tells how far it has come whenever some ten thousand steps have been made.
    #[must_use]
    pub fn telling(mut self, told: impl FnMut(Standing) + Send + 'static) -> Self {
        self.told = Told(Some(Box::new(told)));
        self
    }

    /// Whether the history is linearizable. If it is, [`Checker::order`] may know an order.
    pub fn check(&mut self, model: &M, history: &History<M::Op, M::Ret>, budget: Budget) -> Judged {
        self.parts.divide(model, history);
        self.check_parts(model, history, budget, true)
    }

    /// As [`Checker::check`], by the general search alone: slower on long histories, but it always knows an order or
    /// the operation that cannot be placed.
    pub fn search(&mut self, model: &M, history: &History<M::Op, M::Ret>, budget: Budget) -> Judged {
        self.parts.divide(model, history);
        self.check_parts(model, history, budget, false)
    }

    /// As [`Checker::check`], of the given operations, which are one part.
    pub(super) fn check_part(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        members: &[u32],
        budget: Budget,
    ) -> Judged {
        self.parts.only(members);
        self.check_parts(model, history, budget, true)
    }

    /// An order that explains the last history: of each part if it was divided, one after the other. Empty if the history
    /// was judged by an algorithm that finds none.
    pub fn order(&self) -> &[OpId] {
        &self.order
    }

    /// How many steps the last check took.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn check_parts(&mut self, model: &M, history: &History<M::Op, M::Ret>, budget: Budget, special: bool) -> Judged {
        self.order.clear();
        self.method = Method::Search;
        self.steps = 0;
        let judged = self.first_turn(model, history, budget, special);
        let judged = match judged {
            Some(judged) => judged,
            None => self.take_turns(model, history, budget, special),
        };
        for Running { search, .. } in self.running.drain(..) {
            self.idle.push(search);
        }
        if self.method == Method::Special || !judged.is_ok() {
            self.order.clear();
        }
        judged
    }

    /// Gives every part its first turn; most need no other.
    fn first_turn(
        &mut self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        budget: Budget,
        special: bool,
    ) -> Option<Judged> {
        let mut open = false;
        for part in 0..self.parts.len() {
            let members = self.parts.members(part);
            if special && members.len() > SMALL {
                match special::decide(model, history, members.iter().copied()) {
                    Some(true) => {
                        self.method = Method::Special;
                        continue;
                    }
                    Some(false) => {
                        let part = OpId(members[0]);
                        return Some(Verdict::Illegal(Violation { part, op: None, method: Method::Special }));
                    }
                    None => {}
                }
            }
            let turn = (FIRST_TURN + 4 * members.len() as u64).min(budget.steps.saturating_sub(self.steps));
            let mut search = self.idle.pop().unwrap_or_default();
            search.prepare(model, history, members.iter().copied(), Order::ALL[0]);
            let progress = search.run(model, history, turn, budget.bytes);
            self.steps += search.steps();
            self.running.push(Running { part, search });
            match self.settle(self.running.len() - 1, progress, budget) {
                Some(judged) => return Some(judged),
                None => open |= self.running.last().is_some_and(|last| last.part == part),
            }
        }
        (!open).then_some(Verdict::Ok(()))
    }

    /// Turns that grow, until every part is done or the budget is.
    fn take_turns(&mut self, model: &M, history: &History<M::Op, M::Ret>, budget: Budget, special: bool) -> Judged {
        if let Some(judged) = special.then(|| self.decide_small(model, history)).flatten() {
            return judged;
        }
        if let Some(running) = self.running.iter().find(|running| running.search.is_impossible(model, history)) {
            let part = OpId(self.parts.members(running.part)[0]);
            return Verdict::Illegal(Violation { part, op: None, method: Method::Search });
        }
        let open: Vec<usize> = self.running.iter().map(|running| running.part).collect();
        for part in open {
            for order in &Order::ALL[1..] {
                let mut search = self.idle.pop().unwrap_or_default();
                search.prepare(model, history, self.parts.members(part).iter().copied(), *order);
                self.running.push(Running { part, search });
            }
        }
        self.running.sort_by_key(|running| running.part);
        let mut turn = 4 * FIRST_TURN;
        loop {
            let mut at = 0;
            while at < self.running.len() {
                let held: u64 = self.running.iter().map(|running| running.search.bytes()).sum();
                let search = &self.running[at].search;
                let (before, own) = (search.steps(), search.bytes());
                // Where there is no order, all ways to look for one take the same time: then the second is a waste.
                let turn = if search.is_by(Order::ALL[0]) { turn } else { turn / 4 };
                let left = budget.steps.saturating_sub(self.steps);
                let bytes = budget.bytes.saturating_sub(held - own);
                let end = before.saturating_add(turn.min(left));
                let progress = self.run(model, history, at, end, bytes);
                let (part, count) = (self.running[at].part, self.running.len());
                if let Some(judged) = self.settle(at, progress, budget) {
                    return judged;
                }
                if self.running.is_empty() {
                    return Verdict::Ok(());
                }
                // A part that is done takes its other searches with it, which may stand before this one.
                at = match count - self.running.len() {
                    0 => at + 1,
                    1 if self.running.get(at).is_some_and(|next| next.part == part) => at,
                    _ => self.running.partition_point(|running| running.part <= part),
                };
            }
            turn = turn.saturating_mul(2);
        }
    }

    /// Asks the near-linear algorithm about the small parts that turned out to be hard after all.
    fn decide_small(&mut self, model: &M, history: &History<M::Op, M::Ret>) -> Option<Judged> {
        let mut at = 0;
        while let Some(Running { part, .. }) = self.running.get(at) {
            let members = self.parts.members(*part);
            let decided = match members.len() > SMALL {
                true => None,
                false => special::decide(model, history, members.iter().copied()),
            };
            match decided {
                None => at += 1,
                Some(true) => {
                    self.method = Method::Special;
                    self.idle.push(self.running.remove(at).search);
                }
                Some(false) => {
                    let part = OpId(members[0]);
                    return Some(Verdict::Illegal(Violation { part, op: None, method: Method::Special }));
                }
            }
        }
        self.running.is_empty().then_some(Verdict::Ok(()))
    }

    /// One turn of one search, until it has made so many steps in all; tells how far it has come meanwhile.
    fn run(&mut self, model: &M, history: &History<M::Op, M::Ret>, at: usize, end: u64, bytes: u64) -> Progress {
        let parts = self.running.chunk_by(|one, other| one.part == other.part).count();
        loop {
            let search = &mut self.running[at].search;
            let before = search.steps();
            let stop = if self.told.0.is_some() { end.min(before.saturating_add(REPORT)) } else { end };
            let progress = search.run(model, history, stop, bytes);
            let steps = self.steps;
            self.steps += search.steps() - before;
            if let (Some(told), true) = (&mut self.told.0, steps / REPORT < self.steps / REPORT) {
                told(Standing { steps: self.steps, parts, placed: search.most_placed(), of: search.size() });
            }
            if progress != Progress::Steps || search.steps() >= end {
                return progress;
            }
        }
    }

    /// Takes note of how a turn ended. The verdict, if it decides more than its own part.
    fn settle(&mut self, at: usize, progress: Progress, budget: Budget) -> Option<Judged> {
        let Running { part, search } = &self.running[at];
        let part = *part;
        let unknown = |reason: Reason, steps: u64| {
            let (placed, of) = (search.most_placed(), search.size());
            Some(Verdict::Unknown(Unknown { reason, steps, placed, of }))
        };
        match progress {
            Progress::Found => {
                self.order.extend(search.order());
                while let Some(done) = self.running.iter().position(|running| running.part == part) {
                    self.idle.push(self.running.remove(done).search);
                }
                None
            }
            Progress::Impossible => {
                let part = OpId(self.parts.members(part)[0]);
                Some(Verdict::Illegal(Violation { part, op: search.culprit(), method: Method::Search }))
            }
            // Another order may need less.
            Progress::Bytes if self.running.iter().filter(|other| other.part == part).count() > 1 => {
                self.running.remove(at);
                None
            }
            Progress::Bytes => unknown(Reason::Bytes(budget.bytes), self.steps),
            Progress::Steps if self.steps >= budget.steps => unknown(Reason::Steps(budget.steps), self.steps),
            Progress::Steps => None,
        }
    }
}
