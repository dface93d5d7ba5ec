//! The behaviour hash: equal for executions that differ only in the order of steps that commute.
//!
//! It is kept up step by step, with a few words per resource and no clocks. Each task has a running hash
//! of all that its steps depended on. Where the table ([`crate::dependence`]) orders two steps, one of
//! them folds in whether the other came before: directly, if such steps are ordered among themselves
//! too, or as a sum, if they are not. Orders that follow from others need no word: a lock is granted by
//! the unlock of the request before it, ticket 7 is received after it was sent.
//!
//! That one of the two knows is enough, since the hash of an execution is made of those of all tasks: a
//! read knows the writes before it, so a write need not know the reads. What is done most (accesses to
//! memory, mutexes) makes use of that, and of a task's next operation being determined by what it has
//! seen; it costs one multiplication, or none. All else does it by the book.
//!
//! Executions with different hashes differ; equal hashes mean the same behaviour up to collisions.

use crate::engine::Engine;
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, ResourceKind, outcome};
use crate::task::Task;
use crate::trace::Step;

/// What later steps at a resource, or aimed at a task, depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
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

/// The trails that belong to no resource.
#[derive(Debug)]
pub(crate) struct Trails {
    /// Park tokens: `newest` is the last park of the task, `shared` the tokens it was given since.
    aimed: Vec<Trail>,
    time: Trail,
    /// Of an exchange whose comparison may yet turn out to have failed: what there was before it.
    before_exchange: (u64, Trail),
    /// The hash of each task's path, where needed.
    paths: Vec<u64>,
    before_teardown: u64,
}

impl Trails {
    pub(crate) const fn new() -> Trails {
        Trails {
            aimed: Vec::new(),
            time: Trail::NEW,
            before_exchange: (0, Trail::NEW),
            paths: Vec::new(),
            before_teardown: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.aimed.clear();
        self.time = Trail::NEW;
    }

    fn aimed(&mut self, task: TaskId) -> &mut Trail {
        if self.aimed.len() <= task.index() {
            self.aimed.resize(task.index() + 1, Trail::NEW);
        }
        &mut self.aimed[task.index()]
    }
}

impl Task {
    /// It has given a mutex back: nobody but tries depends on that.
    #[inline(always)]
    pub(crate) fn note_unlock(&mut self) {
        self.hash = self.hash.wrapping_add(0x3C6E_F372);
    }

    /// The hash that a child begins with.
    pub(crate) fn hash_of_child(&self) -> u64 {
        mix(self.hash, u64::from(self.children))
    }
}

impl Engine {
    /// The behaviour hash of the execution so far, without its teardown. Of no meaning without
    /// [`Limits::behaviour`](crate::Limits::behaviour).
    pub fn behaviour(&self) -> u64 {
        if self.is_tearing_down() { self.trails.before_teardown } else { self.combined(&mut Vec::new()) }
    }

    /// Teardown begins, whose steps do not count.
    pub(crate) fn keep_behaviour(&mut self) {
        if !self.limits().behaviour {
            return;
        }
        let mut paths = std::mem::take(&mut self.trails.paths);
        self.trails.before_teardown = self.combined(&mut paths);
        self.trails.paths = paths;
    }

    /// The hashes of all tasks in one, each with its path: the same in every execution.
    fn combined(&self, paths: &mut Vec<u64>) -> u64 {
        paths.clear();
        let mut sum = 0;
        for task in &self.tasks {
            // Who spawned it came before it.
            let parent = paths.get(task.parent.index()).copied().unwrap_or(paths.len() as u64);
            let path = mix(parent, u64::from(task.ordinal));
            paths.push(path);
            sum ^= mix(task.hash, path);
        }
        sum
    }

    /// Takes the last step into account, if anybody wants to know.
    #[inline]
    pub(crate) fn leave_trail(&mut self) {
        if self.limits().behaviour {
            self.leave_trail_of_last();
        }
    }

    #[inline(never)]
    fn leave_trail_of_last(&mut self) {
        use OpKind::*;
        let Some(step) = self.steps.last() else { return };
        let own = self.tasks[step.task.index()].hash;
        let mut hash = mix(own, kind_word(step.kind) | u64::from(visible_outcome(step)));
        match step.kind {
            Choose => hash = mix(hash, step.value),
            Now => hash = self.trails.time.commuting(hash),
            TimerFire => {
                hash = self.trails.time.ordered(hash);
                if step.resource != ResourceId::NONE {
                    hash = self.resources[step.resource.index()].trail.everything(hash);
                } else {
                    hash = self.trails.aimed(TaskId(step.arg as u32)).ordered(hash);
                }
            }
            CondWait => hash = self.resources[step.arg as usize].trail.release(hash, false),
            _ => {}
        }
        if step.resource != ResourceId::NONE && step.kind != TimerFire {
            hash = self.resources[step.resource.index()].trail.step(hash, step);
        }
        self.tasks[step.task.index()].hash = hash;
    }

    /// Takes a park of `task` into account.
    #[inline]
    pub(crate) fn leave_trail_of_park(&mut self, task: TaskId) {
        let hash = mix(self.tasks[task.index()].hash, kind_word(OpKind::Park));
        self.tasks[task.index()].hash = self.trails.aimed(task).ordered(hash);
    }

    /// Takes into account that `task` has given `target` a token.
    #[inline]
    pub(crate) fn leave_trail_of_unpark(&mut self, task: TaskId, target: TaskId) {
        let hash = mix(self.tasks[task.index()].hash, kind_word(OpKind::Unpark));
        self.tasks[task.index()].hash = self.trails.aimed(target).commuting(hash);
    }

    /// Takes the last step into account, an access; its comparison may yet turn out to have failed.
    #[inline(never)]
    pub(crate) fn leave_trail_of_access(&mut self) {
        let Some(step) = self.steps.last() else { return };
        let resource = &mut self.resources[step.resource.index()];
        if !matches!(resource.kind, ResourceKind::Atomic | ResourceKind::Cell | ResourceKind::Object) {
            return self.leave_trail();
        }
        let hash = &mut self.tasks[step.task.index()].hash;
        self.trails.before_exchange = (*hash, resource.trail);
        resource.trail.access(hash, step.kind, u32::from(step.outcome));
    }

    /// The comparison of the last step, an exchange that has left its trail, has failed.
    pub(crate) fn leave_trail_of_refused(&mut self) {
        let Some(step) = self.steps.last() else { return };
        let (hash, trail) = self.trails.before_exchange;
        self.tasks[step.task.index()].hash = hash;
        self.resources[step.resource.index()].trail = trail;
        self.leave_trail_of_access();
    }
}

impl Trail {
    /// Nothing has happened; `newest` is multiplied by, so it is not zero.
    pub(crate) const NEW: Trail =
        Trail { newest: 0x9E37_79B9_7F4A_7C15, shared: 0, tries: 0, releases: 0, received: 0, refused_sends: 0 };

    /// An access to memory by a task whose hash is `own`.
    #[inline(always)]
    pub(crate) fn access(&mut self, own: &mut u64, kind: OpKind, outcome: u32) {
        if matches!(kind, OpKind::Load | OpKind::CellRead | OpKind::Await) || outcome == outcome::REFUSED {
            self.read(own);
        } else {
            self.write(own);
        }
    }

    /// A write to memory or a request for a mutex: ordered among its like.
    #[inline(always)]
    pub(crate) fn write(&mut self, own: &mut u64) {
        self.read(own);
        self.newest = *own;
    }

    #[inline(always)]
    fn read(&self, own: &mut u64) {
        let product = u128::from(own.wrapping_add(0x35)) * u128::from(self.newest);
        *own = (product as u64) ^ (product >> 64) as u64;
    }

    /// An unlock: whose it is follows from the requests, so it is enough to count them.
    #[inline(always)]
    pub(crate) fn unlock(&mut self) {
        self.releases = self.releases.wrapping_add(1);
    }

    #[inline(always)]
    fn step(&mut self, hash: u64, step: &Step) -> u64 {
        use OpKind::*;
        let ok = u32::from(step.outcome) == outcome::OK;
        match step.kind {
            // Of what is no memory: what is asked or told of a lock's poison.
            Load | CellRead | Await => self.commuting(hash),
            Store | Rmw | Cas | CellWrite => self.everything(hash),
            CondWait | Arrive => self.ordered(hash),
            NotifyOne | NotifyAll => {
                if ok {
                    self.ordered(hash)
                } else {
                    self.commuting(hash)
                }
            }
            // Of a lock that prefers one side: only reads commute, and only with each other.
            Read if step.arg != 0 => self.commuting(hash),
            Write | TryRead | TryWrite | ReadUnlock | WriteUnlock | Downgrade if step.arg != 0 => self.ordered(hash),
            Lock | Write | Acquire => self.request(hash),
            Read => {
                let hash = mix(mix(hash, self.newest), self.tries);
                self.shared = self.shared.wrapping_add(hash);
                hash
            }
            // A call sees the returns before it, a return the calls.
            Unlock | ReadUnlock | WriteUnlock | Downgrade | Return => self.release(hash, false),
            Release | OnceFinish => self.release(hash, true),
            TryLock | TryRead | TryWrite | TryAcquire => self.attempt(hash, ok),
            OnceEnter => {
                self.newest = mix(hash, self.newest);
                self.newest
            }
            OnceCheck | Call => {
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

    #[inline(always)]
    fn send(&mut self, hash: u64) -> u64 {
        self.request(mix(hash, self.refused_sends))
    }

    #[inline(always)]
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

/// What a step of this kind is known by; there is room for an outcome.
#[inline]
fn kind_word(kind: OpKind) -> u64 {
    (kind as u64 + 1) << 8
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
