//! proptest strategies for scenarios and histories. With the feature `proptest`.
//!
//! What they draw shrinks: fewer processes, fewer operations, simpler ones, and less that happens at the same time. For
//! the schedules of a scenario, explore it within the property: each smaller scenario is then explored again.
//!
//! ```
//! use drawloom_check::model::{Register, RegisterOp, RegisterRet};
//! use drawloom_check::{linearizable, strategies};
//! use proptest::prelude::*;
//!
//! let operation = prop_oneof![Just(RegisterOp::Read), (0..3u32).prop_map(RegisterOp::Write)];
//! let answered = (operation, strategies::outcome((0..3u32).prop_map(RegisterRet::Value)));
//! let histories = strategies::histories(strategies::scenarios(answered, 1..4, 1..5));
//! proptest!(|(history in histories)| {
//!     prop_assert!(!linearizable::check(&Register::new(0), &history).is_unknown());
//! });
//! ```

use std::collections::VecDeque;
use std::fmt::Debug;

use proptest::collection::{SizeRange, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};

use crate::history::{History, Outcome, Process};
use crate::model::Spec;

/// Scenarios: what each of some processes calls, one after the other. Shrinks to fewer processes, shorter lists and
/// simpler operations.
pub fn scenarios<S: Strategy>(
    operation: S,
    processes: impl Into<SizeRange>,
    length: impl Into<SizeRange>,
) -> impl Strategy<Value = Vec<Vec<S::Value>>> {
    vec(vec(operation, length), processes)
}

/// How an operation ends: most return, some fail, of some nobody knows. Shrinks to a return.
pub fn outcome<R: Clone + Debug>(ret: impl Strategy<Value = R>) -> impl Strategy<Value = Outcome<R>> {
    prop_oneof![
        8 => ret.prop_map(Outcome::Ok),
        1 => Just(Outcome::Fail),
        1 => Just(Outcome::Info),
    ]
}

/// Histories in which the operations of a scenario end as it says, right or wrong: a process calls, others do something,
/// it returns. What comes last may be pending. Shrinks the scenario, and then to one process after the other.
pub fn histories<O: Debug + Clone, R: Debug + Clone>(
    scenario: impl Strategy<Value = Vec<Vec<(O, Outcome<R>)>>>,
) -> impl Strategy<Value = History<O, R>> {
    interleaved(scenario).prop_map(|(scenario, order, cut)| {
        let mut processes = queues(scenario);
        let mut history = History::new();
        follow(&order, cut, 2, &mut processes, |process, (op, outcome), part| match part {
            0 => drop(history.invoke(process, op.clone())),
            _ => drop(history.complete(process, outcome.clone())),
        });
        history
    })
}

/// Histories of an object that is right: each operation takes effect at some moment between its call and its return, and
/// returns what `spec` does. All of them are linearizable. Shrinks as [`histories`] do.
pub fn right_histories<T: Spec>(
    spec: T,
    scenario: impl Strategy<Value = Vec<Vec<T::Op>>>,
) -> impl Strategy<Value = History<T::Op, T::Ret>>
where
    T::Op: Clone,
    T::Ret: Clone,
{
    interleaved(scenario).prop_map(move |(scenario, order, cut)| {
        let mut processes = queues(scenario);
        let mut object = spec.clone();
        let mut history = History::new();
        let mut returns: Vec<Option<T::Ret>> = processes.iter().map(|_| None).collect();
        follow(&order, cut, 3, &mut processes, |process, op, part| match part {
            0 => drop(history.invoke(process, op.clone())),
            1 => returns[process.0 as usize] = Some(object.apply(op)),
            _ => drop(returns[process.0 as usize].take().map(|ret| history.complete(process, Outcome::Ok(ret)))),
        });
        history
    })
}

/// A scenario, who moves in which order, and how many moves are left out at the end.
fn interleaved<T: Debug>(
    scenario: impl Strategy<Value = Vec<Vec<T>>>,
) -> impl Strategy<Value = (Vec<Vec<T>>, Vec<u8>, usize)> {
    // Bytes that are not used shrink to nothing, and what is missing is the first process.
    (scenario, vec(any::<u8>(), 0..64), prop_oneof![3 => Just(0), 1 => 0..4usize])
}

fn queues<T>(scenario: Vec<Vec<T>>) -> Vec<VecDeque<T>> {
    scenario.into_iter().map(VecDeque::from).collect()
}

/// Lets processes move: each operation takes so many moves, the parts of it.
fn follow<T>(
    order: &[u8],
    cut: usize,
    parts: usize,
    processes: &mut [VecDeque<T>],
    mut act: impl FnMut(Process, &T, usize),
) {
    let moves: usize = processes.iter().map(|process| process.len() * parts).sum();
    let mut part = vec![0; processes.len()];
    for number in 0..moves.saturating_sub(cut) {
        let busy: Vec<usize> = (0..processes.len()).filter(|process| !processes[*process].is_empty()).collect();
        let process = busy[usize::from(order.get(number).copied().unwrap_or(0)) % busy.len()];
        let Some(operation) = processes[process].front() else { return };
        act(Process(process as u64), operation, part[process]);
        part[process] = (part[process] + 1) % parts;
        if part[process] == 0 {
            processes[process].pop_front();
        }
    }
}
