//! Random histories: most are right or nearly so, with every kind of outcome.

use drawloom_check::model::{Model, Next};
use drawloom_check::{History, Process};

use crate::rng::Rng;

/// What a model's histories are made of.
pub trait Subject {
    type Model: Model;

    fn model(&self) -> Self::Model;

    /// A random operation of a process; `unique` is a new number each time.
    fn op(&self, rng: &mut Rng, process: u64, unique: i64) -> <Self::Model as Model>::Op;

    /// Everything that the operation might return.
    fn rets(&self, op: &<Self::Model as Model>::Op, unique: i64) -> Vec<<Self::Model as Model>::Ret>;
}

/// How large, how parallel and how wrong histories are.
#[derive(Clone, Copy)]
pub struct Size {
    pub operations: usize,
    pub processes: usize,
    /// Percent of results that are any of the possible ones.
    pub wrong: usize,
    /// Percent of operations whose outcome nobody knows.
    pub unknown: usize,
}

enum Phase<O, R> {
    Idle,
    Called(O),
    /// It took effect; `None` if the result was lost.
    Effective(R),
    /// It never will.
    Dropped,
}

/// A history of an object that follows the model, but for some results.
pub fn random<S: Subject>(
    subject: &S,
    rng: &mut Rng,
    size: Size,
) -> History<<S::Model as Model>::Op, <S::Model as Model>::Ret>
where
    <S::Model as Model>::Op: Clone,
    <S::Model as Model>::Ret: Clone,
{
    let model = subject.model();
    let mut state = model.init();
    let mut history = History::new();
    let mut phases: Vec<_> = (0..size.processes).map(|_| Phase::Idle).collect();
    let mut calls = 0;
    loop {
        let at = rng.below(size.processes);
        let process = Process(at as u64);
        let phase = std::mem::replace(&mut phases[at], Phase::Idle);
        phases[at] = match phase {
            Phase::Idle if calls == size.operations => {
                if phases.iter().all(|phase| matches!(phase, Phase::Idle)) || rng.chance(10) {
                    return history;
                }
                Phase::Idle
            }
            Phase::Idle => {
                calls += 1;
                let op = subject.op(rng, at as u64, calls as i64);
                history.invoke(process, op.clone()).expect("idle");
                if rng.chance(size.unknown / 2) { Phase::Dropped } else { Phase::Called(op) }
            }
            Phase::Called(op) => {
                let rets = subject.rets(&op, calls as i64);
                let mut legal = Vec::new();
                for ret in &rets {
                    let mut next = Next::default();
                    model.step(&state, &op, Some(ret), &mut next);
                    legal.extend(next.states(&state).map(|after| (after.clone(), ret.clone())));
                }
                if legal.is_empty() {
                    // It waits for others, or can never be.
                    if rng.chance(20) { Phase::Dropped } else { Phase::Called(op) }
                } else {
                    let (after, ret) = rng.pick(&legal).clone();
                    state = after;
                    if rng.chance(size.wrong) {
                        Phase::Effective(rng.pick(&rets).clone())
                    } else {
                        Phase::Effective(ret)
                    }
                }
            }
            Phase::Effective(_) if rng.chance(size.unknown / 2) => {
                history.complete(process, drawloom_check::Outcome::Info).expect("open");
                Phase::Idle
            }
            Phase::Effective(ret) => {
                history.complete(process, drawloom_check::Outcome::Ok(ret)).expect("open");
                Phase::Idle
            }
            Phase::Dropped => {
                let outcome =
                    if rng.chance(40) { drawloom_check::Outcome::Fail } else { drawloom_check::Outcome::Info };
                history.complete(process, outcome).expect("open");
                Phase::Idle
            }
        };
    }
}
