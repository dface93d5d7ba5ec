//! The one dependence table: which steps commute, which race, which merely enable each other.
//!
//! Exhaustive exploration, the priority strategies, causal slices and race reports all ask here, so
//! that no two of them can disagree. The table is over *labels*: an operation together with what it
//! came to. Three rules keep it valid (each one is a property test of the models):
//!
//! 1. *Commutation*: two adjacent independent steps can be swapped without anybody noticing.
//! 2. *Stability*: whether two steps depend on each other must not change because an independent
//!    third one stands between them. Refining by outcome breaks this easily; where in doubt the
//!    table is coarse.
//! 3. *Recomputed outcome*: after a reversal the outcome of the moved step is computed anew.
//!
//! Blocking operations follow the ticket principle: a `Lock` step is the *request*, which never
//! blocks; the wait that may follow is no step. So a request never conflicts with an unlock: it may
//! come before it or after, and either way what follows the request comes after the unlock.

use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::trace::Step;

/// How two steps of different tasks relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// They commute.
    Independent,
    /// They commute; but what follows the request among them happens after both.
    Granting,
    /// The earlier happens before the later, and the order cannot be reversed.
    Enabling,
    /// Both orders exist and may differ: a race to be explored.
    Dependent,
}

/// A step as the table sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    /// Who.
    pub task: TaskId,
    /// What.
    pub kind: OpKind,
    /// On what.
    pub resource: ResourceId,
    /// The operation's second operand.
    pub arg: u64,
    /// What it came to ([`outcome`]).
    pub outcome: u32,
    /// The ticket number of channel steps, the value of others.
    pub value: u64,
}

/// Relates two steps. Total, symmetric and pure.
#[inline]
pub fn relation(a: &Label, b: &Label) -> Relation {
    // What is met most, without the many questions that do not arise.
    if a.kind.is_access() && b.kind.is_access() && a.task != b.task {
        let independent = a.resource != b.resource || a.resource == ResourceId::NONE || (is_read(a) && is_read(b));
        return if independent { Relation::Independent } else { Relation::Dependent };
    }
    relation_in_general(a, b)
}

/// The same of two steps that were made.
#[inline]
pub(crate) fn relation_of_steps(a: &Step, b: &Step) -> Relation {
    let same = a.resource == b.resource && a.resource != ResourceId::NONE;
    if same && a.kind.is_access() && b.kind.is_access() && a.task != b.task {
        return if is_reading(a) && is_reading(b) { Relation::Independent } else { Relation::Dependent };
    }
    relation(&a.label(), &b.label())
}

fn relation_in_general(a: &Label, b: &Label) -> Relation {
    use OpKind::*;
    use Relation::*;
    if a.task == b.task {
        return Enabling;
    }
    // Operations that aim at a task rather than at a resource.
    match (a.kind, b.kind) {
        (Spawn, _) if a.arg == u64::from(b.task.0) => return Enabling,
        (_, Spawn) if b.arg == u64::from(a.task.0) => return Enabling,
        (Exit, Join) if b.arg == u64::from(a.task.0) => return Enabling,
        (Join, Exit) if a.arg == u64::from(b.task.0) => return Enabling,
        (Exit, IsFinished) if b.arg == u64::from(a.task.0) => return Dependent,
        (IsFinished, Exit) if a.arg == u64::from(b.task.0) => return Dependent,
        (Unpark, Park) if a.arg == u64::from(b.task.0) => return Dependent,
        (Park, Unpark) if b.arg == u64::from(a.task.0) => return Dependent,
        // Which timer is the earliest depends on all that were started, the task's own included.
        (TimerFire, Now) if a.outcome != outcome::OK => return Dependent,
        (Now, TimerFire) if b.outcome != outcome::OK => return Dependent,
        (TimerFire, _) if a.arg == u64::from(b.task.0) && !is_too_late(a) => return Enabling,
        (_, TimerFire) if b.arg == u64::from(a.task.0) && !is_too_late(b) => return Enabling,
        (TimerFire, Now) | (Now, TimerFire) => return Dependent,
        // What ends a wait in time keeps its timer from firing.
        (TimerFire, Exit) if a.outcome == outcome::OK => return Dependent,
        (Exit, TimerFire) if b.outcome == outcome::OK => return Dependent,
        (TimerFire, Unpark) | (Unpark, TimerFire) if (a.arg, a.resource) == (b.arg, b.resource) => return Dependent,
        _ => {}
    }
    // A wait on a condition variable is also an unlock of its mutex.
    let mutex_of = |l: &Label| (l.kind == CondWait).then_some(ResourceId(l.arg as u32));
    let of_mutex = |l: &Label| family(l.kind) == Some(ResourceKind::Mutex);
    if mutex_of(a) == Some(b.resource) && of_mutex(b) {
        return mutex(Unlock, outcome::OK, b.kind, b.outcome);
    }
    if mutex_of(b) == Some(a.resource) && of_mutex(a) {
        return mutex(a.kind, a.outcome, Unlock, outcome::OK);
    }
    let on_mutex = |l: &Label| l.kind == TimerFire || family(l.kind) == Some(ResourceKind::Atomic);
    if (mutex_of(a) == Some(b.resource) && on_mutex(b)) || (mutex_of(b) == Some(a.resource) && on_mutex(a)) {
        return Dependent;
    }
    if a.resource != b.resource || a.resource == ResourceId::NONE {
        return Independent;
    }
    match (a.kind, b.kind) {
        (TimerFire, _) | (_, TimerFire) => Dependent,
        _ => same_resource(a, b),
    }
}

/// Whether it is a timer that finds its wait over.
fn is_too_late(fire: &Label) -> bool {
    fire.outcome == outcome::REFUSED
}

/// Whether two steps are [`Dependent`](Relation::Dependent). What exhaustive exploration asks most, and
/// most of the time of steps that have nothing to do with each other.
#[inline]
pub fn dependent(a: &Label, b: &Label) -> bool {
    let same = a.resource == b.resource && a.resource != ResourceId::NONE;
    (same || reaches_further(a.kind) || reaches_further(b.kind)) && relation(a, b) == Relation::Dependent
}

/// The same of a step that was made and of one that was not, or came to something else.
#[inline]
pub(crate) fn dependent_on_step(a: &Step, b: &Label) -> bool {
    if a.kind.is_access() && b.kind.is_access() && a.task != b.task {
        let same = a.resource == b.resource && a.resource != ResourceId::NONE;
        return same && !(is_reading(a) && is_read(b));
    }
    dependent(&a.label(), b)
}

/// Whether a step of this kind can be dependent on steps of another resource than its own.
#[inline]
pub(crate) fn reaches_further(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(kind, IsFinished | Park | Unpark | TimerFire | Now | CondWait)
}

/// Whether a step is ordered with every step of another task that has to do with its resource, whatever
/// that is. Does not know of all such steps: only of those that are met most.
#[inline]
pub(crate) fn ordered_with_all(step: &Step) -> bool {
    writes(step.kind, u32::from(step.outcome))
}

/// Whether an access of this kind changes something.
#[inline]
pub(crate) fn writes(kind: OpKind, came_to: u32) -> bool {
    use OpKind::*;
    match kind {
        Store | Rmw | CellWrite => true,
        Cas => came_to != outcome::REFUSED,
        _ => false,
    }
}

/// Whether the order of a step and of what another task is about to do may matter, whatever the latter
/// comes to. An operation that waits for what the step gives back counts too: who is next is open again.
#[inline]
pub fn may_conflict(step: &Step, pending: &Operation) -> bool {
    use OpKind::*;
    let mutex_of = |kind, arg| if kind == CondWait { ResourceId(arg as u32) } else { ResourceId::NONE };
    let is_read = |kind| matches!(kind, Load | CellRead | Await | Read | ReadUnlock | OnceCheck);
    if step.resource != ResourceId::NONE {
        if step.resource == pending.resource {
            let events = matches!((step.kind, pending.kind), (Call, Call) | (Return, Return));
            return !(events || (is_read(step.kind) && is_read(pending.kind)));
        }
        if mutex_of(pending.kind, pending.arg) == step.resource {
            return true;
        }
    }
    if step.kind == CondWait && mutex_of(CondWait, step.arg) == pending.resource {
        return true;
    }
    match (step.kind, pending.kind) {
        (Exit, IsFinished) => pending.arg == u64::from(step.task.0),
        (Unpark, Unpark) => step.arg == pending.arg,
        (TimerFire, Now) => true,
        _ => false,
    }
}

/// Whether steps of these kinds on one resource never order each other, whatever they come to. Does not
/// know of all such pairs: only of those that are met most.
#[inline]
pub(crate) fn never_ordered(a: OpKind, b: OpKind) -> bool {
    use OpKind::*;
    matches!(
        (a, b),
        (Load, Load)
            | (Lock, Unlock)
            | (Unlock, Lock)
            | (Unlock, Unlock)
            | (Read, Read)
            | (Call, Call)
            | (Return, Return)
    )
}

fn same_resource(a: &Label, b: &Label) -> Relation {
    use Relation::*;
    let kind = family(a.kind);
    if kind != family(b.kind) {
        // Whether a lock is poisoned depends on who has given it back; and who takes it is told.
        return Dependent;
    }
    match kind {
        Some(ResourceKind::Atomic | ResourceKind::Cell | ResourceKind::Object) => {
            if is_read(a) && is_read(b) {
                Independent
            } else {
                Dependent
            }
        }
        Some(ResourceKind::Mutex) => mutex(a.kind, a.outcome, b.kind, b.outcome),
        Some(ResourceKind::RwLock) => rwlock(a, b),
        Some(ResourceKind::Condvar) => {
            let idle = |l: &Label| l.kind != OpKind::CondWait && l.outcome == outcome::REFUSED;
            if idle(a) && idle(b) { Independent } else { Dependent }
        }
        Some(ResourceKind::Semaphore | ResourceKind::Signal) => semaphore(a, b),
        Some(ResourceKind::Barrier) => Dependent,
        Some(ResourceKind::Once) => once(a, b),
        Some(ResourceKind::Channel) => channel(a, b),
        Some(ResourceKind::History) => history(a.kind, b.kind),
        None => Independent,
    }
}

/// What operations of this kind act on; plain memory and objects count as atomic.
fn family(kind: OpKind) -> Option<ResourceKind> {
    use OpKind::*;
    match kind {
        Load | Store | Rmw | Cas | CellRead | CellWrite | Await => Some(ResourceKind::Atomic),
        Lock | TryLock | Unlock => Some(ResourceKind::Mutex),
        Read | Write | TryRead | TryWrite | ReadUnlock | WriteUnlock | Downgrade => Some(ResourceKind::RwLock),
        CondWait | NotifyOne | NotifyAll => Some(ResourceKind::Condvar),
        Acquire | TryAcquire | Release => Some(ResourceKind::Semaphore),
        Arrive => Some(ResourceKind::Barrier),
        OnceEnter | OnceFinish | OnceCheck => Some(ResourceKind::Once),
        Send | TrySend | Recv | TryRecv | CloseSend | CloseRecv => Some(ResourceKind::Channel),
        Call | Return => Some(ResourceKind::History),
        Start | Spawn | Exit | Join | IsFinished | Yield | Park | Unpark | Sleep | Now | TimerFire | Choose | Fence => {
            None
        }
    }
}

#[inline]
fn is_read(l: &Label) -> bool {
    reads_only(l.kind, l.outcome)
}

#[inline]
fn is_reading(step: &Step) -> bool {
    reads_only(step.kind, u32::from(step.outcome))
}

/// Whether an access of this kind changes nothing.
#[inline]
pub(crate) fn reads_only(kind: OpKind, came_to: u32) -> bool {
    match kind {
        OpKind::Load | OpKind::CellRead | OpKind::Await => true,
        OpKind::Cas => came_to == outcome::REFUSED,
        _ => false,
    }
}

fn mutex(a: OpKind, a_outcome: u32, b: OpKind, b_outcome: u32) -> Relation {
    use OpKind::*;
    use Relation::*;
    let failed = |k, o| k == TryLock && o == outcome::REFUSED;
    match (a, b) {
        (Lock, Unlock) | (Unlock, Lock) | (Unlock, Unlock) => Granting,
        _ if failed(a, a_outcome) && failed(b, b_outcome) => Independent,
        _ => Dependent,
    }
}

fn rwlock(a: &Label, b: &Label) -> Relation {
    use OpKind::*;
    use Relation::*;
    if a.arg != 0 || b.arg != 0 {
        // Of a lock that prefers one side: who asks before somebody leaves may be let in by that.
        return if (a.kind, b.kind) == (Read, Read) { Independent } else { Dependent };
    }
    let is_unlock = |k| matches!(k, ReadUnlock | WriteUnlock | Downgrade);
    let is_try = |k| matches!(k, TryRead | TryWrite);
    let failed = |l: &Label| is_try(l.kind) && l.outcome == outcome::REFUSED;
    if is_try(a.kind) || is_try(b.kind) {
        return if failed(a) && failed(b) { Independent } else { Dependent };
    }
    match (a.kind, b.kind) {
        // No reader ever waits for another one to leave.
        (Read | ReadUnlock, Read | ReadUnlock) => Independent,
        (x, y) if is_unlock(x) || is_unlock(y) => Granting,
        _ => Dependent,
    }
}

fn semaphore(a: &Label, b: &Label) -> Relation {
    use OpKind::*;
    use Relation::*;
    let failed = |l: &Label| l.kind == TryAcquire && l.outcome == outcome::REFUSED;
    match (a.kind, b.kind) {
        // Releases depend on each other: which of two comes first decides whose permits a waiter gets.
        (Acquire, Release) | (Release, Acquire) => Granting,
        _ if failed(a) && failed(b) => Independent,
        _ => Dependent,
    }
}

fn once(a: &Label, b: &Label) -> Relation {
    use OpKind::*;
    use Relation::*;
    match (a.kind, b.kind) {
        (OnceCheck, OnceCheck) | (OnceCheck, OnceEnter) | (OnceEnter, OnceCheck) => Independent,
        (OnceEnter, OnceFinish) | (OnceFinish, OnceEnter) => Granting,
        _ => Dependent,
    }
}

/// All that real time says of a history is which operation returned before which other one was called. So a call and a
/// return do not commute; two calls do, and two returns: whoever is first, the same pairs overlap.
fn history(a: OpKind, b: OpKind) -> Relation {
    if a == b { Relation::Independent } else { Relation::Dependent }
}

fn channel(a: &Label, b: &Label) -> Relation {
    use OpKind::*;
    use Relation::*;
    let capacity = a.arg.max(b.arg);
    let ok = |l: &Label| l.outcome == outcome::OK;
    // A receive of ticket j makes the room that send j + capacity needs.
    let room = |send: &Label, recv: &Label| recv.value.checked_add(capacity) == Some(send.value);
    let pair = |send: &Label, recv: &Label| send.value == recv.value;
    let one = |s: &Label, r: &Label| -> Relation {
        // s is on the sending side, r on the receiving side.
        match (s.kind, r.kind) {
            (CloseSend, CloseRecv) | (CloseRecv, CloseSend) => Independent,
            (CloseSend, Recv) => Granting,
            (CloseSend, _) => {
                if ok(r) {
                    Independent
                } else {
                    Dependent
                }
            }
            (Send, Recv) if ok(s) && ok(r) && (pair(s, r) || room(s, r)) => Granting,
            (Send, Recv) => Independent,
            (Send, TryRecv) if ok(r) && pair(s, r) => Dependent,
            (Send, TryRecv) if ok(r) => {
                if room(s, r) {
                    Granting
                } else {
                    Independent
                }
            }
            (TrySend, Recv) if ok(s) && room(s, r) => Dependent,
            (TrySend, Recv) if ok(s) => {
                if pair(s, r) {
                    Granting
                } else {
                    Independent
                }
            }
            (TrySend, TryRecv) if ok(s) && ok(r) => {
                if pair(s, r) || room(s, r) {
                    Dependent
                } else {
                    Independent
                }
            }
            (TrySend, TryRecv) if !ok(s) && !ok(r) => Independent,
            _ => Dependent,
        }
    };
    let sending = |l: &Label| matches!(l.kind, Send | TrySend | CloseSend);
    match (sending(a), sending(b)) {
        (true, false) => one(a, b),
        (false, true) => one(b, a),
        (true, true) => match (a.kind, b.kind) {
            (CloseSend, _) | (_, CloseSend) => Independent,
            (TrySend, TrySend) if !ok(a) && !ok(b) => Independent,
            _ => Dependent,
        },
        (false, false) => match (a.kind, b.kind) {
            (TryRecv, TryRecv) if !ok(a) && !ok(b) => Independent,
            _ => Dependent,
        },
    }
}

#[cfg(test)]
mod tests;
