//! The behaviour hash: equal for executions that differ only in the order of steps that commute.
//!
//! One pass over the trace with a few words per resource, no clocks. Each task has a running hash of
//! all that its steps depended on. Where the table ([`crate::dependence`]) orders two steps, the later
//! one folds in the earlier one's hash: directly, if such steps are ordered among themselves too, or
//! as a sum, if they are not. Orders that follow from others need no word: a lock is granted by the
//! unlock of the request before it, ticket 7 is received after it was sent.
//!
//! Executions with different hashes differ; equal hashes mean the same behaviour up to collisions.

use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::trace::Step;

/// What later steps at a resource, or aimed at a task, depend on.
#[derive(Clone, Copy, Default)]
struct Trail {
    /// The newest of the steps that are ordered among themselves: writes, requests, sends.
    newest: u64,
    /// Those that commute with each other and came after it: reads, notifications of nobody.
    shared: u64,
    /// Operations that do not wait, and may be refused.
    tries: u64,
    /// Steps that never race with requests, only with tries: unlocks, releases, closings.
    releases: u64,
    /// The newest receive.
    received: u64,
    /// Refused attempts to send: unlike those to receive, they do not see closings.
    refused_sends: u64,
}

/// The hash of a trace; `name` gives each task a number that is the same in every execution.
pub fn of(steps: &[Step], name: impl Fn(TaskId) -> u64) -> u64 {
    Behaviour::default().of(steps, name)
}

/// Computes behaviour hashes; keeps its memory from one trace to the next.
#[derive(Default)]
pub struct Behaviour {
    tasks: Vec<u64>,
    resources: Vec<Trail>,
    /// Park tokens: `newest` is the last park of the task, `shared` the tokens it was given since.
    aimed: Vec<Trail>,
    time: Trail,
}

impl Behaviour {
    /// The hash of a trace; `name` gives each task a number that is the same in every execution.
    pub fn of(&mut self, steps: &[Step], name: impl Fn(TaskId) -> u64) -> u64 {
        self.tasks.clear();
        self.resources.clear();
        self.aimed.clear();
        self.time = Trail::default();
        for step in steps {
            self.step(step);
        }
        let hashes = self.tasks.iter().enumerate();
        hashes.fold(0, |sum, (task, hash)| sum ^ mix(*hash, name(TaskId(task as u32))))
    }
}

fn at<T: Clone + Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

impl Behaviour {
    fn step(&mut self, step: &Step) {
        use OpKind::*;
        let own = *at(&mut self.tasks, step.task.index());
        let mut hash = mix(own, (step.kind as u64 + 1) << 8 | u64::from(visible_outcome(step)));
        match step.kind {
            Choose => hash = mix(hash, step.value),
            Spawn => *at(&mut self.tasks, step.arg as usize) = hash,
            Park => hash = at(&mut self.aimed, step.task.index()).ordered(hash),
            Unpark => hash = at(&mut self.aimed, step.arg as usize).commuting(hash),
            Now => hash = self.time.commuting(hash),
            TimerFire => {
                hash = self.time.ordered(hash);
                if step.resource != ResourceId::NONE {
                    hash = at(&mut self.resources, step.resource.index()).everything(hash);
                } else {
                    hash = at(&mut self.aimed, step.arg as usize).ordered(hash);
                }
            }
            CondWait => hash = at(&mut self.resources, step.arg as usize).release(hash, false),
            _ => {}
        }
        if step.resource != ResourceId::NONE && step.kind != TimerFire {
            hash = at(&mut self.resources, step.resource.index()).step(hash, step);
        }
        *at(&mut self.tasks, step.task.index()) = hash;
    }
}

impl Trail {
    fn step(&mut self, hash: u64, step: &Step) -> u64 {
        use OpKind::*;
        let ok = u32::from(step.outcome) == outcome::OK;
        match step.kind {
            Load | CellRead => self.commuting(hash),
            // On a lock, what is asked or told of its poison.
            Store | Rmw => self.everything(hash),
            CellWrite | CondWait | Arrive => self.ordered(hash),
            Cas | NotifyOne | NotifyAll => {
                if ok {
                    self.ordered(hash)
                } else {
                    self.commuting(hash)
                }
            }
            Lock | Write | Acquire => self.request(hash),
            Read => {
                let hash = mix(mix(hash, self.newest), self.tries);
                self.shared = self.shared.wrapping_add(hash);
                hash
            }
            Unlock | ReadUnlock | WriteUnlock | Downgrade => self.release(hash, false),
            Release | OnceFinish => self.release(hash, true),
            TryLock | TryRead | TryWrite | TryAcquire => self.attempt(hash, ok),
            OnceEnter => {
                self.newest = mix(hash, self.newest);
                self.newest
            }
            OnceCheck => {
                let hash = mix(hash, self.releases);
                self.tries = self.tries.wrapping_add(hash);
                hash
            }
            Send => self.send(hash),
            TrySend if ok => self.send(hash),
            Recv => self.receive(hash),
            TryRecv if ok => self.receive(hash),
            TrySend => {
                let hash = mix(mix(hash, self.newest), self.received);
                self.refused_sends = self.refused_sends.wrapping_add(hash);
                hash
            }
            TryRecv => {
                let hash = mix(self.seen_by_attempt(hash), self.received);
                self.tries = self.tries.wrapping_add(hash);
                hash
            }
            CloseSend => self.release(hash, false),
            CloseRecv => {
                let hash = mix(mix(mix(mix(hash, self.newest), self.received), self.tries), self.refused_sends);
                (self.newest, self.received) = (hash, hash);
                hash
            }
            Start | Spawn | Exit | Join | IsFinished | Yield | Park | Unpark | Sleep | Now | TimerFire | Choose
            | Fence => hash,
        }
    }

    /// Ordered with all before it: a write.
    fn ordered(&mut self, hash: u64) -> u64 {
        self.newest = mix(mix(hash, self.newest), self.shared);
        self.shared = 0;
        self.newest
    }

    /// Ordered with what is ordered, not with its like: a read.
    fn commuting(&mut self, hash: u64) -> u64 {
        let hash = mix(hash, self.newest);
        self.shared = self.shared.wrapping_add(hash);
        hash
    }

    fn request(&mut self, hash: u64) -> u64 {
        let hash = mix(hash, self.tries);
        self.ordered(hash)
    }

    fn send(&mut self, hash: u64) -> u64 {
        self.request(mix(hash, self.refused_sends))
    }

    fn receive(&mut self, hash: u64) -> u64 {
        self.received = mix(mix(mix(hash, self.tries), self.refused_sends), self.received);
        self.received
    }

    /// Sees tries only; and its like, if `chained`.
    fn release(&mut self, hash: u64, chained: bool) -> u64 {
        let hash = mix(hash, self.tries);
        if chained {
            self.releases = mix(hash, self.releases);
            return self.releases;
        }
        self.releases = self.releases.wrapping_add(hash);
        hash
    }

    fn seen_by_attempt(&self, hash: u64) -> u64 {
        mix(mix(mix(hash, self.newest), self.shared), self.releases)
    }

    /// Sees all but refused attempts, unless it succeeds.
    fn attempt(&mut self, hash: u64, succeeded: bool) -> u64 {
        let mut hash = self.seen_by_attempt(hash);
        if succeeded {
            hash = mix(hash, self.tries);
            (self.newest, self.shared) = (hash, 0);
        }
        self.tries = self.tries.wrapping_add(hash);
        hash
    }

    /// Sees all, and is seen by all.
    fn everything(&mut self, hash: u64) -> u64 {
        let hash = mix(mix(mix(self.seen_by_attempt(hash), self.tries), self.received), self.refused_sends);
        *self = Trail { newest: hash, shared: 0, tries: hash, releases: hash, received: hash, refused_sends: hash };
        hash
    }
}

/// What the step came to, where that is not merely another way to say who came first.
fn visible_outcome(step: &Step) -> u16 {
    use OpKind::*;
    match step.kind {
        Cas | TryLock | TryRead | TryWrite | TryAcquire | TrySend | TryRecv | IsFinished | OnceCheck => step.outcome,
        _ => 0,
    }
}

/// One round of a multiply–xor hash: not for adversaries, but cheap and well spread.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
