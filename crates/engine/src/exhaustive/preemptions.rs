//! The preemption bound: how many preemptions the executions of a class need at least.
//!
//! Prefixes whose class needs too many are not explored. What is counted is the *least* number over all
//! orders of the class, not that of an order that happened to be made: so it makes no difference by which
//! order a class is found, and sleep sets stay valid. A prefix never needs more than what it leads to;
//! still, on the way to a class within the bound there may be classes beyond it, so the prefixes may need
//! as many as there are tasks, less two, more than the bound (the slack of Marmanis, Kokologiannakis and
//! Vafeiadis: *Reconciling preemption bounding with DPOR*, TACAS 2023); one more where tasks wait for what others do.
//!
//! It is counted as on a real machine, which has no tickets: who has to wait is there when it is his turn,
//! and leaving him meanwhile is free; a request that is never granted is not made; leaving a task that
//! could go on counts one, unless it has just yielded or does nothing more. The clock is no task: that a
//! timer fires preempts nobody.
//!
//! `sequence` is a prefix as a partial order, `shadow` says what could go on in the midst of it; here is
//! the search, breadth first by preemptions, over how far each task has come and who made the last step.

mod sequence;
mod shadow;

pub(crate) use self::shadow::Made;

use std::collections::HashSet;

use self::sequence::{Goes, Sequence};
use super::execution::Execution;
use super::sequence::Reversed;
use crate::id::TaskId;
use crate::operation::OpKind;
use crate::resource::Traits;
use crate::sorted::sort;

/// Beyond so many states it is not worth while to find out: the prefix is explored.
const MOST_STATES: usize = 100_000;

/// What a class needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    /// So many preemptions, and no fewer.
    Least(u32),
    /// More than was asked about.
    More,
    /// It cannot be told: somebody was refused because of another one's place in a queue, which is
    /// no matter of preemptions; or there is too much to look through.
    Unknown,
}

/// The bound, with what was dropped because of it.
#[derive(Default)]
pub(super) struct Preemptions {
    most: Option<u32>,
    /// Prefixes dropped so far.
    dropped: u64,
    sequence: Sequence,
    search: Search,
}

impl Preemptions {
    /// Sets the number of preemptions that a class may need; `None` is any.
    pub(super) fn set_bound(&mut self, most: Option<u32>) {
        self.most = most;
    }

    /// Whether there is a bound.
    pub(super) fn is_bounded(&self) -> bool {
        self.most.is_some()
    }

    /// Prefixes dropped since this was asked last.
    pub(super) fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Whether the prefix that a reversal leads to is not to be explored.
    pub(super) fn forbid(&mut self, execution: &Execution<'_>, reversed: &Reversed) -> bool {
        let Some(most) = self.most.filter(|_| can_be_counted(execution)) else { return false };
        let Reversed { first, end, moved, .. } = *reversed;
        let staying = (first + 1..end).filter(|i| !execution.before(first, *i));
        self.sequence.become_of(execution, (0..first).chain(staying), Some((moved.position, moved.label)));
        let forbidden = self.search.needs(&self.sequence, most + slack(execution)) == Needs::More;
        self.dropped += u64::from(forbidden);
        forbidden
    }

    /// Whether the class of a whole execution is within the bound.
    pub(super) fn is_within(&mut self, execution: &Execution<'_>) -> bool {
        self.most.is_none_or(|most| matches!(self.of(execution, most), Needs::Least(_)))
    }

    /// What the class of a whole execution needs, if it is no more than `most`.
    pub(super) fn of(&mut self, execution: &Execution<'_>, most: u32) -> Needs {
        if !can_be_counted(execution) {
            return Needs::Unknown;
        }
        self.sequence.become_of(execution, 0..execution.made, None);
        self.search.needs(&self.sequence, most)
    }
}

/// Whether the machine without tickets could have made it. There who waits has not asked yet, so that it makes no sense to say
/// that somebody was killed after he had asked for what he never got. With a kill, nothing is dropped.
fn can_be_counted(execution: &Execution<'_>) -> bool {
    !execution.reaches_further || !execution.steps.iter().any(|step| step.kind.kills())
}

/// By how much prefixes may exceed the bound, so that nothing within it is missed.
fn slack(execution: &Execution<'_>) -> u32 {
    let meets_others = |kind: OpKind| kind.family().is_some() || kind.is(Traits::REACHES) || kind.waits_first();
    let mut tasks: Vec<TaskId> = execution.steps.iter().filter(|s| meets_others(s.kind)).map(|s| s.task).collect();
    sort(&mut tasks);
    tasks.dedup();
    let tasks = tasks.iter().filter(|task| !execution.is_environment(**task)).count();
    // Who waits for others, rather than for its turn, can be left for free, and yet be kept from waiting by a preemption:
    // from there the way to what needs none leads through what needs one.
    let waits = tasks > 1 && execution.steps.iter().any(|s| s.kind.is(Traits::WAITS_FOR_OTHERS));
    tasks.saturating_sub(2) as u32 + u32::from(waits)
}

/// Who made the last step, before anybody has.
const NOBODY: usize = usize::MAX;

/// How far each task has come, and who made the last step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    done: Box<[u32]>,
    last: usize,
}

/// What a search leaves to the next one: its memory.
#[derive(Default)]
struct Search {
    seen: HashSet<State>,
    now: Vec<State>,
    later: Vec<State>,
}

impl Search {
    /// The least number of preemptions with which all of the sequence can be made.
    fn needs(&mut self, sequence: &Sequence, most: u32) -> Needs {
        self.seen.clear();
        self.later.clear();
        self.now.clear();
        self.now.push(State { done: vec![0; sequence.tasks()].into(), last: NOBODY });
        for preemptions in 0..=most {
            while let Some(mut state) = self.now.pop() {
                go_without_choice(sequence, &mut state);
                if sequence.is_whole(&state.done) {
                    return Needs::Least(preemptions);
                }
                if self.seen.len() >= MOST_STATES {
                    return Needs::Unknown;
                }
                if !self.seen.contains(&state) {
                    self.branch(sequence, &state);
                    self.seen.insert(state);
                }
            }
            if self.later.is_empty() {
                // It cannot be made at all by tasks that have no place in a queue.
                return Needs::Unknown;
            }
            std::mem::swap(&mut self.now, &mut self.later);
        }
        Needs::More
    }

    /// Everything that can come next. What comes without a preemption, and of that what stays with the
    /// task, is tried first.
    fn branch(&mut self, sequence: &Sequence, state: &State) {
        let left = state.last != NOBODY && sequence.could_go_on(state.last, &state.done);
        let others = (0..sequence.tasks()).filter(|task| *task != state.last);
        for task in others.filter(|task| sequence.can_go(*task, &state.done)) {
            // The environment preempts nobody: what counts is who runs after it.
            let preempts = !sequence.is_environment(task);
            let next = state.after(task, if preempts { task } else { state.last });
            let costs = left && preempts;
            if costs { &mut self.later } else { &mut self.now }.push(next);
        }
        if state.last != NOBODY && sequence.can_go(state.last, &state.done) {
            self.now.push(state.after(state.last, state.last));
        }
    }
}

impl State {
    fn after(&self, task: usize, last: usize) -> State {
        let mut next = State { done: self.done.clone(), last };
        next.done[task] += 1;
        next
    }
}

/// Makes the steps that can only be to the good: requests that are never granted take their place; and the
/// last task goes on as long as its steps give nothing to others. (To leave it would cost one now, and no
/// more later. But what gives something to others can make it dearer to leave *them*.)
fn go_without_choice(sequence: &Sequence, state: &mut State) {
    loop {
        let done = &state.done;
        let futile = (0..sequence.tasks()).find(|task| {
            sequence.next(*task, done).is_some_and(|e| e.goes == Goes::Never && sequence.may_come(e, done))
        });
        let next = futile.or_else(|| {
            let last = Some(state.last).filter(|last| *last != NOBODY)?;
            let event = sequence.next(last, done)?;
            (!event.after_yield && !event.gives && sequence.can_go(last, done)).then_some(last)
        });
        let Some(task) = next else { return };
        state.done[task] += 1;
    }
}
