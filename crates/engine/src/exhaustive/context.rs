//! What an operation would come to in another place.
//!
//! Whether a compare-exchange succeeds, a try-lock is refused or a notification finds somebody depends
//! on where it stands, and the dependence table distinguishes these. So when a step is moved, its
//! outcome is computed anew, from the steps that would then be before it: no user code is needed, for
//! all of *these* steps come to what they came to in the execution.

use std::collections::VecDeque;

use super::execution::Execution;
use crate::dependence::Label;
use crate::engine::begin_of_wait;
use crate::id::TaskId;
use crate::operation::{OpKind, outcome};
use crate::resource::State;
use crate::trace::Step;

/// The label of `moved` if it came right after the steps at the positions that `is_before` accepts, all of
/// them before `end`; `at` is where these leave the order of the execution. `None` if it could not be made there.
#[inline]
pub(super) fn label_after(
    execution: &Execution<'_>,
    moved: Label,
    at: usize,
    end: usize,
    is_before: impl Fn(usize) -> bool,
) -> Option<Label> {
    if comes_to_the_same(moved.kind) {
        return Some(moved);
    }
    label_that_depends(execution, moved, at, end, is_before)
}

/// Whether a step of this kind comes to the same anywhere. Does not know of all such kinds: only of those that are
/// met most.
#[inline]
pub(super) fn comes_to_the_same(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(kind, Load | Store | Rmw | Lock | Unlock | Await)
}

#[inline(never)]
fn label_that_depends(
    execution: &Execution<'_>,
    moved: Label,
    at: usize,
    end: usize,
    is_before: impl Fn(usize) -> bool,
) -> Option<Label> {
    let mut label = moved;
    let made = &execution.steps[..end];
    let steps = || made.iter().enumerate().filter(|(i, _)| is_before(*i)).map(|(_, step)| step);
    // Who has given up waiting is as if it had never asked.
    let some_give_up = execution.has_timers;
    let gave_up = |at: usize| some_give_up && gave_up(execution.steps, at, end, &is_before);
    let on_it = || made.iter().enumerate().filter(|(i, s)| s.resource == moved.resource && is_before(*i));
    let here = || on_it().filter(|(i, s)| s.kind != OpKind::TimerFire && !gave_up(*i)).map(|(_, s)| s);
    let count = |kinds: &[OpKind]| here().filter(|s| kinds.contains(&s.kind) && ok(s)).count() as u64;
    match moved.kind {
        OpKind::Cas => {
            let expected = if moved.outcome == outcome::OK { moved.value } else { moved.arg };
            // What the steps beyond `at` have left there, if they wrote; else what was there before.
            let beyond = made.iter().enumerate().skip(at).filter(|(i, _)| is_before(*i));
            let written = beyond.filter(|(_, s)| s.resource == moved.resource).filter_map(|(_, s)| left(s)).last();
            if let Some(value) = written.or_else(|| value_at(execution, moved, at)) {
                label.outcome = if value == expected { outcome::OK } else { outcome::REFUSED };
            }
        }
        OpKind::TryLock => {
            let waits = steps().filter(|s| s.kind == OpKind::CondWait && s.arg == u64::from(moved.resource.0)).count();
            let taken = count(&[OpKind::Lock, OpKind::TryLock]);
            label.outcome = refused_if(taken > count(&[OpKind::Unlock]) + waits as u64);
        }
        // Of a lock that prefers one side, what it comes to makes no difference to the table.
        OpKind::TryRead | OpKind::TryWrite if moved.arg != 0 => {}
        OpKind::TryRead | OpKind::TryWrite => {
            let downgrades = count(&[OpKind::Downgrade]);
            let writing = count(&[OpKind::Write, OpKind::TryWrite]) > count(&[OpKind::WriteUnlock]) + downgrades;
            let reading = count(&[OpKind::Read, OpKind::TryRead]) + downgrades > count(&[OpKind::ReadUnlock]);
            label.outcome = refused_if(writing || (moved.kind == OpKind::TryWrite && reading));
        }
        OpKind::TryAcquire => label.outcome = refused_if(!has_permits(execution, moved, here())),
        OpKind::NotifyOne | OpKind::NotifyAll => {
            let waiting = here().fold(0u64, |waiting, s| match s.kind {
                OpKind::CondWait => waiting + 1,
                OpKind::NotifyOne => waiting.saturating_sub(1),
                OpKind::NotifyAll => 0,
                _ => waiting,
            });
            label.outcome = refused_if(waiting == 0);
        }
        OpKind::Send | OpKind::TrySend | OpKind::Recv | OpKind::TryRecv => {
            let sent = count(&[OpKind::Send, OpKind::TrySend]);
            let received = count(&[OpKind::Recv, OpKind::TryRecv]);
            let closed = |kind| here().any(|s| s.kind == kind && u32::from(s.outcome) == outcome::DISCONNECTED);
            let (ticket, gone, possible) = match moved.kind {
                OpKind::Send => (sent, closed(OpKind::CloseRecv), true),
                OpKind::TrySend => (sent, closed(OpKind::CloseRecv), sent < received.saturating_add(moved.arg)),
                OpKind::Recv => (received, closed(OpKind::CloseSend) && received >= sent, true),
                _ => (received, closed(OpKind::CloseSend) && received >= sent, received < sent),
            };
            label.value = ticket;
            label.outcome = match (gone, possible) {
                (true, _) => outcome::DISCONNECTED,
                (false, true) => outcome::OK,
                (false, false) => outcome::REFUSED,
            };
        }
        OpKind::IsFinished => {
            let exited = steps().any(|s| s.kind == OpKind::Exit && u64::from(s.task.0) == moved.arg);
            label.outcome = refused_if(!exited);
        }
        OpKind::OnceCheck => label.outcome = refused_if(!here().any(|s| s.kind == OpKind::OnceFinish && s.arg == 1)),
        OpKind::TimerFire if execution.timers().is_empty() => {}
        OpKind::TimerFire => return earliest_timer(execution, moved, end, is_before),
        OpKind::Park => {
            let aims = |s: &Step| s.arg == u64::from(moved.task.0);
            let (token, time_is_up) = steps().fold((false, false), |(token, time_is_up), s| match s.kind {
                OpKind::Unpark if aims(s) => (true, time_is_up),
                OpKind::TimerFire if aims(s) && !too_late(s) => (token, true),
                OpKind::Park if s.task == moved.task => (false, false),
                _ if s.task == moved.task => (token, false),
                _ => (token, time_is_up),
            });
            label.outcome = match (token, time_is_up) {
                (true, _) => outcome::OK,
                (false, true) => outcome::TIMED_OUT,
                (false, false) if was_over_at_once(execution, moved, steps()) => outcome::TIMED_OUT,
                (false, false) => return None,
            };
        }
        _ => {}
    }
    Some(label)
}

/// Whether the time limit of the park `moved` was over before it began, after `steps`.
fn was_over_at_once<'a>(execution: &Execution<'_>, moved: Label, steps: impl Iterator<Item = &'a Step>) -> bool {
    let is_own = |step: &Step| step.task == moved.task;
    let own = steps.filter(|step| is_own(step)).count();
    let mut all_own = (0..execution.steps.len()).filter(|i| is_own(&execution.steps[*i]));
    let Some(read) = own.checked_sub(1).and_then(|last| all_own.nth(last)) else { return false };
    // All timers that fired before that step are among these steps, whatever they are: it depends on them.
    let fires = execution.steps[..read].iter().filter(|step| step.kind == OpKind::TimerFire && !too_late(step));
    let now = fires.map(|fire| fire.value).max().unwrap_or(0);
    execution.timers().iter().any(|timer| timer.read == read && timer.deadline <= now)
}

/// Whether the wait after the step at `at` was ended by its timer, as one of these steps.
fn gave_up(steps: &[Step], at: usize, end: usize, is_before: impl Fn(usize) -> bool) -> bool {
    let task = steps[at].task;
    let is_next =
        |s: &Step| s.task == task || (s.kind == OpKind::TimerFire && s.arg == u64::from(task.0) && !too_late(s));
    let next = (at + 1..end).find(|i| is_next(&steps[*i]) && is_before(*i));
    next.is_some_and(|next| steps[next].task != task)
}

fn too_late(fire: &Step) -> bool {
    u32::from(fire.outcome) == outcome::REFUSED
}

/// The clock's next step: the timer that is the earliest after these steps.
fn earliest_timer(
    execution: &Execution<'_>,
    moved: Label,
    end: usize,
    is_before: impl Fn(usize) -> bool,
) -> Option<Label> {
    let made = &execution.steps[..end];
    let fired = |begun: usize| {
        let fires = made.iter().enumerate().filter(|(i, s)| s.kind == OpKind::TimerFire && is_before(*i));
        fires.map(|(_, s)| s.after as usize).any(|after| after == begun + 1)
    };
    let started = execution.timers().iter().filter(|timer| timer.read < end && is_before(timer.read));
    let waits = started.map(|timer| (timer, begin_of_wait(execution.steps, timer.read, timer.task)));
    let left = waits.filter(|(_, (begun, _))| !fired(*begun));
    let (timer, (begun, resource)) = left.min_by_key(|(timer, _)| (timer.deadline, timer.rank, timer.read))?;
    let is_same = (u64::from(timer.task.0), timer.deadline, resource) == (moved.arg, moved.value, moved.resource);
    let outcome = match is_same && moved.outcome != outcome::OK {
        true => moved.outcome,
        // A park or a sleep becomes a step when it is over, and is not yet.
        false if begun != timer.read && is_over(execution.steps, begun, timer.task, &is_before) => outcome::REFUSED,
        false => outcome::TIMED_OUT,
    };
    let (arg, value) = (u64::from(timer.task.0), timer.deadline);
    (begun < end && is_before(begun)).then_some(Label { arg, value, resource, outcome, ..moved })
}

/// Whether the wait that `task` began at `begun` is over after these steps, without its timer: or never was one.
fn is_over(steps: &[Step], begun: usize, task: TaskId, is_before: impl Fn(usize) -> bool) -> bool {
    let next = (begun + 1..steps.len()).find(|i| steps[*i].task == task);
    next.is_some_and(|next| is_before(next) || steps[next].after.checked_sub(1).is_none_or(|by| is_before(by as usize)))
}

fn ok(step: &Step) -> bool {
    u32::from(step.outcome) == outcome::OK
}

fn refused_if(refused: bool) -> u32 {
    if refused { outcome::REFUSED } else { outcome::OK }
}

/// Whether a semaphore has the permits that `moved` wants, and nobody waits, after `steps`.
fn has_permits<'a>(execution: &Execution<'_>, moved: Label, steps: impl Iterator<Item = &'a Step>) -> bool {
    let State::Permits(mut free) = execution.resources[moved.resource.index()].initial else { return true };
    let mut waiting = VecDeque::new();
    for step in steps {
        match step.kind {
            OpKind::Acquire if step.arg > free || !waiting.is_empty() => waiting.push_back(step.arg),
            OpKind::Acquire => free -= step.arg,
            OpKind::TryAcquire if ok(step) => free -= step.arg,
            OpKind::Release => free += step.arg,
            _ => {}
        }
        while waiting.front().is_some_and(|wanted| *wanted <= free) {
            free -= waiting.pop_front().unwrap_or(0);
        }
    }
    waiting.is_empty() && moved.arg <= free
}

/// The value of an atomic when the execution stood at `at`: what the next step on it found there, or
/// what the last one left.
fn value_at(execution: &Execution<'_>, moved: Label, at: usize) -> Option<u64> {
    let found = |s: &Step| match s.kind {
        OpKind::Load | OpKind::Rmw | OpKind::Cas => Some(s.value),
        OpKind::Await if ok(s) => Some(s.value),
        OpKind::Store => Some(s.arg),
        _ => None,
    };
    let on_it = |s: &&Step| s.resource == moved.resource;
    let next = execution.steps[at..].iter().filter(on_it).find_map(found);
    next.or_else(|| execution.steps[..at].iter().rev().filter(on_it).find_map(left))
}

/// The value that a step has left in its atomic.
fn left(step: &Step) -> Option<u64> {
    match step.kind {
        OpKind::Load | OpKind::Store => Some(step.value),
        OpKind::Await if ok(step) => Some(step.value),
        OpKind::Rmw => Some(step.arg),
        OpKind::Cas => Some(if ok(step) { step.arg } else { step.value }),
        _ => None,
    }
}
