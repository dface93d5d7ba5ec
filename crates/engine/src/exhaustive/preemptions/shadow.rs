//! Who would have to wait, as far as counting tells.

use super::sequence::Event;
use crate::dependence::Label;
use crate::exhaustive::execution::Execution;
use crate::id::ResourceId;
use crate::operation::{OpKind, outcome};
use crate::resource::{State, UNBOUNDED};

/// Whether a step is made when it need not wait, rather than when its task gets there. The others
/// that wait do something before: they give a mutex back, arrive, or meet somebody.
pub(super) fn waits_for_its_turn(label: &Label) -> bool {
    match label.kind {
        OpKind::Lock | OpKind::Read | OpKind::Write | OpKind::Acquire | OpKind::OnceEnter => true,
        // The two sides of a rendezvous could never both wait for the other.
        OpKind::Send => label.arg > 0 && label.arg != UNBOUNDED,
        OpKind::Recv => label.arg > 0,
        _ => false,
    }
}

/// Whether a step can make another task able to go on.
pub(super) fn gives(kind: OpKind) -> bool {
    use OpKind::*;
    match kind {
        Exit | Unpark | TimerFire | Unlock | ReadUnlock | WriteUnlock | Downgrade | CondWait | NotifyOne
        | NotifyAll | Release | Arrive | OnceFinish | Send | TrySend | Recv | TryRecv | CloseSend | CloseRecv
        | Spawn => true,
        // Who spins waits for a change of memory; but who has yielded can be left anyway. Of who awaits one, the
        // sequence knows.
        Load | Await | Store | Rmw | Cas | Fence | CellRead | CellWrite => false,
        Start | Join | IsFinished | Yield | Park | Sleep | Now | Choose | Lock | TryLock | Read | Write | TryRead
        | TryWrite | Acquire | TryAcquire | OnceEnter | OnceCheck | Call | Return => false,
    }
}

/// By resource, the steps that count.
#[derive(Default)]
pub(super) struct Shadow {
    on: Vec<Vec<usize>>,
    /// Of semaphores, the permits that there were at first.
    permits: Vec<u64>,
    /// Of channels, how many ends of either side have to go before the side is gone.
    ends: Vec<[Option<usize>; 2]>,
}

impl Shadow {
    pub(super) fn become_of(&mut self, events: &[Event], execution: &Execution<'_>) {
        let resources = execution.resources.len();
        self.on.iter_mut().for_each(Vec::clear);
        self.on.resize(resources.max(self.on.len()), Vec::new());
        self.permits.clear();
        self.permits.extend(execution.resources.iter().map(|r| match r.initial {
            State::Permits(free) => free,
            _ => 0,
        }));
        self.ends.clear();
        self.ends.resize(resources, [None; 2]);
        for (i, event) in events.iter().enumerate() {
            let label = &event.label;
            if label.resource != ResourceId::NONE && label.kind != OpKind::TimerFire {
                self.on[label.resource.index()].push(i);
            }
            if label.kind == OpKind::CondWait {
                self.on[label.arg as usize].push(i);
            }
        }
        let mut gone: Vec<[usize; 2]> = vec![[0; 2]; resources];
        for step in execution.steps {
            let side = match step.kind {
                OpKind::CloseSend => 0,
                OpKind::CloseRecv => 1,
                _ => continue,
            };
            let at = step.resource.index();
            gone[at][side] += 1;
            if u32::from(step.outcome) == outcome::DISCONNECTED {
                self.ends[at][side] = Some(gone[at][side]);
            }
        }
    }

    /// Whether two requests wait in one queue.
    pub(super) fn same_queue(&self, a: &Label, b: &Label) -> bool {
        a.resource == b.resource && (a.kind == OpKind::Send) == (b.kind == OpKind::Send)
    }

    /// Whether the request need not wait when the events that `made` accepts have been made.
    pub(super) fn could_complete(&self, events: &[Event], request: usize, made: impl Fn(usize) -> bool) -> bool {
        use OpKind::*;
        let Label { kind, resource, arg, .. } = events[request].label;
        let here = || {
            let made = self.on[resource.index()].iter().filter(|i| made(**i)).map(|i| (*i, &events[*i]));
            made.filter(|(_, event)| !event.void).map(|(i, event)| (i, &event.label))
        };
        let count = |kinds: &[OpKind]| here().filter(|(_, l)| kinds.contains(&l.kind) && is_ok(l)).count() as u64;
        let is_gone = |close: OpKind, side: usize| {
            self.ends[resource.index()][side].is_some_and(|all| here().filter(|(_, l)| l.kind == close).count() >= all)
        };
        match kind {
            Lock => count(&[Lock, TryLock]) <= count(&[Unlock, CondWait]),
            Read | Write => {
                let downgrades = count(&[Downgrade]);
                let writing = count(&[Write, TryWrite]) > count(&[WriteUnlock]) + downgrades;
                let reading = count(&[Read, TryRead]) + downgrades > count(&[ReadUnlock]);
                !writing && (kind == Read || !reading)
            }
            Acquire => {
                let sum = |kinds: &[OpKind]| -> u64 {
                    here().filter(|(_, l)| kinds.contains(&l.kind) && is_ok(l)).map(|(_, l)| l.arg).sum()
                };
                self.permits[resource.index()] + sum(&[Release]) >= sum(&[Acquire, TryAcquire]) + arg
            }
            OnceEnter => {
                let runs = here().filter(|(i, l)| l.kind == OnceEnter && runs_it(events, *i)).count();
                runs as u64 <= count(&[OnceFinish])
            }
            Send => count(&[Send, TrySend]) < count(&[Recv, TryRecv]).saturating_add(arg) || is_gone(CloseRecv, 1),
            Recv => count(&[Recv, TryRecv]) < count(&[Send, TrySend]) || is_gone(CloseSend, 0),
            _ => true,
        }
    }
}

fn is_ok(label: &Label) -> bool {
    label.outcome == outcome::OK
}

/// Whether it fell to this request to run the initialiser: one that waited for it is not told at once.
fn runs_it(events: &[Event], request: usize) -> bool {
    let Label { task, resource, outcome, .. } = events[request].label;
    let mut own = events[request + 1..].iter().map(|e| &e.label).filter(|l| l.task == task && l.resource == resource);
    matches!(outcome, outcome::RUN | outcome::RUN_AFTER_PANIC)
        || own.next().is_some_and(|next| next.kind == OpKind::OnceFinish)
}
