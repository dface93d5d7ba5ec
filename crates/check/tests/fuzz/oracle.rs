//! Brute force: all orders that real time (or the processes) allow. Nothing here is clever.

use std::collections::HashSet;

use drawloom_check::model::{Model, Next};
use drawloom_check::{History, Operation, Outcome};

/// Which operations must come before which.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    RealTime,
    Program,
}

/// Whether some order explains the history.
pub fn explains<M: Model>(model: &M, history: &History<M::Op, M::Ret>, constraint: Constraint) -> bool {
    let operations: Vec<_> =
        history.operations().iter().filter(|operation| !matches!(operation.outcome, Outcome::Fail)).collect();
    place(model, &operations, constraint, &mut vec![false; operations.len()], &model.init(), &mut None)
}

/// The same for longer histories: what was tried once is not tried again. `None` if that is too much.
pub fn explains_long<M: Model>(model: &M, history: &History<M::Op, M::Ret>) -> Option<bool> {
    let operations: Vec<_> =
        history.operations().iter().filter(|operation| !matches!(operation.outcome, Outcome::Fail)).collect();
    let mut placed = vec![false; operations.len()];
    let mut tried = Some(HashSet::new());
    let found = place(model, &operations, Constraint::RealTime, &mut placed, &model.init(), &mut tried);
    (found || tried.is_some_and(|tried| tried.len() < MOST_TRIED)).then_some(found)
}

/// Nodes that the search of longer histories looks at.
const MOST_TRIED: usize = 20_000;

fn place<M: Model>(
    model: &M,
    operations: &[&Operation<M::Op, M::Ret>],
    constraint: Constraint,
    placed: &mut [bool],
    state: &M::State,
    tried: &mut Option<HashSet<(Vec<bool>, M::State)>>,
) -> bool {
    let new = |tried: &mut HashSet<_>| tried.len() < MOST_TRIED && tried.insert((placed.to_vec(), state.clone()));
    if tried.as_mut().is_some_and(|tried| !new(tried)) {
        return false;
    }
    let completed = |index: usize| matches!(operations[index].outcome, Outcome::Ok(_));
    if (0..operations.len()).all(|index| placed[index] || !completed(index)) {
        return true;
    }
    let before = |a: usize, b: usize| match constraint {
        Constraint::RealTime => operations[a].precedes(operations[b]),
        Constraint::Program => {
            operations[a].process == operations[b].process && operations[a].call < operations[b].call
        }
    };
    for index in 0..operations.len() {
        // What is left out before this one has not happened, which only an unknown outcome allows.
        let free = (0..operations.len()).all(|other| placed[other] || !completed(other) || !before(other, index));
        if placed[index] || !free {
            continue;
        }
        let mut next = Next::default();
        model.step(state, &operations[index].op, operations[index].outcome.ret(), &mut next);
        placed[index] = true;
        let found = next.states(state).any(|after| place(model, operations, constraint, placed, after, tried));
        placed[index] = false;
        if found {
            return true;
        }
    }
    false
}
