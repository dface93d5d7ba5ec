//! What a search need not look at. Each rule is sound on its own, whatever the others leave out.

use super::{Frame, Instance, NONE, Search};
use crate::history::History;
use crate::model::Model;

/// How many identical operations are looked at, and how many observers: more cost more than they save.
const TWINS: usize = 4;
const BLOCKED: usize = 4;
/// How many calls and returns are looked at for an observer that is yet to be called.
const AHEAD: usize = 16;
/// In a smaller history, asking before entering a node costs more than entering it.
pub(super) const WORTH_GUARD: usize = 24;
/// In a longer history, a look at everything for every operation would take too long.
const LARGEST_LOOK: usize = 5_000;

impl<S: Clone + Eq + std::hash::Hash> Search<S> {
    /// Whether some operation could not have returned what it did, whatever the others did before its return: a value from
    /// nowhere. Worth asking when a search turns out to be long.
    pub fn is_impossible<M: Model<State = S>>(&self, model: &M, history: &History<M::Op, M::Ret>) -> bool {
        let Instance { ids, completed, observer, deadline, call, .. } = &self.instance;
        if ids.len() > LARGEST_LOOK {
            return false;
        }
        let operation = |op: usize| &history.operations()[ids[op] as usize];
        let init = model.init();
        (0..*completed).any(|op| {
            // The latest first: who is looked for is rarely far away.
            let crashed = (*completed..ids.len()).filter(|other| call[*other] < deadline[op]);
            let called = call[..*completed].partition_point(|call| *call < deadline[op]);
            let others = (0..called).rev().chain(crashed).filter(|other| *other != op && !observer[*other]);
            let others = others.map(|other| (&operation(other).op, operation(other).outcome.ret()));
            operation(op).outcome.ret().is_some_and(|ret| model.hopeless(&init, &operation(op).op, ret, others))
        })
    }

    /// Whether a successor need not be looked at: an operation of unknown outcome came before it that makes no difference, so
    /// that it might as well come later or never; or an observer that was or will be called will never fit.
    #[inline]
    pub(super) fn is_pointless<M: Model<State = S>>(
        &self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        frame: Frame,
        successor: usize,
    ) -> bool {
        let state = match self.next.get(successor) {
            Some(state) => state,
            None => self.states.get(frame.state),
        };
        let before = (frame.unnoticed != NONE).then(|| self.states.get(frame.unnoticed));
        before.is_some_and(|before| self.without.states(before).any(|other| other == state))
            || frame.guard != NONE && self.is_lost(model, history, frame.guard, state)
    }

    /// Of identical candidates, only the one that has to be over first is one; of unknown outcome, the one called first.
    pub(super) fn drop_twins(&mut self, start: usize, urgent: u32) {
        let mut kept = start;
        for at in start..self.candidates.len() {
            let op = self.candidates[at];
            if !self.has_twin(op, urgent) {
                self.candidates[kept] = op;
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
    }

    /// Whether an identical operation that goes first is a candidate, too: called before the first return.
    #[inline]
    fn has_twin(&self, op: u32, first_return: u32) -> bool {
        let mut twin = self.instance.twin[op as usize];
        // One that is called later but has to be over earlier is no candidate yet; the one before it may be.
        for _ in 0..TWINS {
            if twin == NONE {
                return false;
            }
            if !self.is_placed(twin) && self.instance.call[twin as usize] < first_return {
                return true;
            }
            twin = self.instance.twin[twin as usize];
        }
        false
    }

    /// Whether the model says that the urgent operation, the guard, or an observer that was called, can never fit from
    /// here on.
    pub(super) fn is_hopeless<M: Model<State = S>>(
        &self,
        model: &M,
        history: &History<M::Op, M::Ret>,
        urgent: u32,
        guard: u32,
    ) -> bool {
        let state = self.states.get(self.state);
        let is_lost = |op: u32| self.is_lost(model, history, op, state);
        // If one is blocked, that is the guard.
        is_lost(urgent)
            || self.blocked.iter().take(BLOCKED).any(|op| *op != urgent && is_lost(*op))
            || (guard != NONE && guard != urgent && self.blocked.is_empty() && is_lost(guard))
    }

    /// The first observer on the list behind a node, if it is not far away: what must be seen later says early which
    /// order is wrong.
    pub(super) fn next_observer(&self, mut node: u32) -> u32 {
        for _ in 0..AHEAD {
            node = self.instance.next[node as usize];
            match node.checked_sub(1) {
                None => return NONE,
                Some(op) if self.instance.observer.get(op as usize) == Some(&true) => return op,
                Some(_) => {}
            }
        }
        NONE
    }

    /// Whether an operation can never fit from a state on, whatever of what is not placed comes first.
    fn is_lost<M: Model<State = S>>(&self, model: &M, history: &History<M::Op, M::Ret>, op: u32, state: &S) -> bool {
        let operation = |op: u32| &history.operations()[self.instance.ids[op as usize] as usize];
        let called = self.instance.called_before(self.instance.deadline[op as usize]);
        let changing = called.filter(move |other| *other != op && !self.instance.observer[*other as usize]);
        let others = changing.map(|op| {
            let other = operation(op);
            (&other.op, other.outcome.ret())
        });
        let lost = operation(op);
        lost.outcome.ret().is_some_and(|ret| model.hopeless(state, &lost.op, ret, others))
    }
}
