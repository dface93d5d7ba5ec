//! The ways in which few operations can be ordered, up to the one that cannot be placed.

use std::collections::{HashMap, HashSet};

use super::Attempt;
use crate::history::{History, OpId};
use crate::model::{Model, Next};

/// The most nodes that are looked at, the most bytes that they may take, and the most attempts that are shown.
const NODES: usize = 20_000;
const BYTES: usize = 16 << 20;
const SHOWN: usize = 6;

struct Tried<'a, M: Model> {
    model: &'a M,
    history: &'a History<M::Op, M::Ret>,
    culprit: OpId,
    order: Vec<usize>,
    states: Vec<M::State>,
    entered: HashSet<(Vec<bool>, M::State)>,
    /// Orders after which nothing but the culprit has to come: for each state that they lead to, the first of the longest.
    found: Vec<(Vec<usize>, Vec<M::State>)>,
    /// Where the order to a state is in `found`. Only ever asked, never walked.
    led: HashMap<M::State, usize>,
    bytes: usize,
}

/// Orders of the operations of a small history that place everything that must come before the culprit, one for each state
/// they lead to.
pub(super) fn attempts<M: Model>(model: &M, history: &History<M::Op, M::Ret>, culprit: OpId) -> Vec<Attempt> {
    let mut tried = Tried {
        model,
        history,
        culprit,
        order: Vec::new(),
        states: Vec::new(),
        entered: HashSet::new(),
        found: Vec::new(),
        led: HashMap::new(),
        bytes: 0,
    };
    tried.extend(&mut vec![false; history.len()], &model.init());
    let mut found = tried.found;
    found.sort_by_key(|(order, _)| std::cmp::Reverse(order.len()));
    let init = model.init();
    let mut attempts = Vec::new();
    for (mut order, mut states) in found {
        if attempts.len() == SHOWN {
            break;
        }
        let Some(blocked) = blocked(model, history, culprit, &mut order, &mut states) else { continue };
        let state = states.last().unwrap_or(&init);
        let operation = &history.operations()[blocked];
        let reason = operation.outcome.ret().map_or_else(String::new, |ret| model.explain(state, &operation.op, ret));
        let states = states.iter().map(|state| format!("{state:?}")).collect();
        attempts.push(Attempt { order, states, blocked, reason });
    }
    attempts.sort_by_key(|attempt| attempt.blocked != culprit.index());
    attempts
}

/// What cannot follow an order: the culprit, unless it fits there. Then the order continues with it, until another one does not.
fn blocked<M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    culprit: OpId,
    order: &mut Vec<usize>,
    states: &mut Vec<M::State>,
) -> Option<usize> {
    let operations = history.operations();
    let init = model.init();
    let after = |at: usize, state: &M::State| {
        let mut next = Next::default();
        model.step(state, &operations[at].op, operations[at].outcome.ret(), &mut next);
        next.states(state).next().cloned()
    };
    let mut at = culprit.index();
    while let Some(state) = after(at, states.last().unwrap_or(&init)) {
        order.push(at);
        let must = |at: &usize| operations[*at].outcome.ret().is_some() && !order.contains(at);
        let free = |at: &usize| (0..operations.len()).filter(must).all(|o| !operations[o].precedes(&operations[*at]));
        let mut left = (0..operations.len()).filter(|at| must(at) && free(at));
        let first = left.clone().next()?;
        at = left.find(|at| after(*at, &state).is_some()).unwrap_or(first);
        states.push(state);
    }
    Some(at)
}

impl<M: Model> Tried<'_, M> {
    fn extend(&mut self, placed: &mut Vec<bool>, state: &M::State) {
        let takes = |state: &M::State| size_of::<M::State>() + self.model.heap(state) + 32;
        let full = self.entered.len() == NODES || self.bytes > BYTES;
        if full || !self.entered.insert((placed.clone(), state.clone())) {
            return;
        }
        self.bytes += placed.len() + takes(state);
        let operations = self.history.operations();
        for at in 0..operations.len() {
            let free =
                operations.iter().zip(placed.iter()).all(|(other, placed)| *placed || !other.precedes(&operations[at]));
            if placed[at] || !free || at == self.culprit.index() {
                continue;
            }
            let mut next = Next::default();
            self.model.step(state, &operations[at].op, operations[at].outcome.ret(), &mut next);
            for after in next.states(state).cloned().collect::<Vec<_>>() {
                // What may not have happened and changes nothing leads nowhere new.
                if operations[at].outcome.ret().is_none() && after == *state {
                    continue;
                }
                placed[at] = true;
                self.order.push(at);
                self.states.push(after.clone());
                self.extend(placed, &after);
                self.states.pop();
                self.order.pop();
                placed[at] = false;
            }
        }
        let culprit = &operations[self.culprit.index()];
        let ready = operations.iter().zip(placed.iter()).all(|(other, placed)| *placed || !other.precedes(culprit));
        if !ready {
            return;
        }
        let next = self.found.len();
        let at = *self.led.entry(state.clone()).or_insert(next);
        if at == next {
            self.bytes += takes(state) + self.states.iter().map(|state| takes(state) + 8).sum::<usize>();
            self.found.push((self.order.clone(), self.states.clone()));
        } else if self.found[at].0.len() < self.order.len() {
            self.found[at] = (self.order.clone(), self.states.clone());
        }
    }
}
