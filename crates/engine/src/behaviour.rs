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
use crate::id::TaskId;
use crate::operation::{OpKind, ResourceKind};
use crate::resource::{Traits, queue, reads_only};
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
    pub(crate) time: Trail,
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

    pub(crate) fn aimed(&mut self, task: TaskId) -> &mut Trail {
        if self.aimed.len() <= task.index() {
            self.aimed.resize(task.index() + 1, Trail::NEW);
        }
        &mut self.aimed[task.index()]
    }
}

impl Task {
    /// It has given a mutex back: nobody but tries depends on that.
    #[cfg_attr(not(debug_assertions), inline(always))]
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
        let Some(&step) = self.steps.last() else { return };
        let own = self.tasks[step.task.index()].hash;
        let told = if step.kind.is(Traits::TELLS_OUTCOME) { step.outcome } else { 0 };
        let hash = mix(own, kind_word(step.kind) | u64::from(told));
        self.tasks[step.task.index()].hash = step.kind.room().fold_all(self, hash, &step);
    }

    /// For a step at a [queue](crate::resource::queue).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn leave_trail_at_queue(&mut self, step: &Step) {
        if self.limits().behaviour {
            let told = if step.kind.is(Traits::TELLS_OUTCOME) { step.outcome } else { 0 };
            let task = &mut self.tasks[step.task.index()];
            let hash = mix(task.hash, kind_word(step.kind) | u64::from(told));
            task.hash = queue::fold(&mut self.resources[step.resource.index()].trail, hash, step);
        }
    }

    /// For a step that touches no resource, and whose outcome says nothing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn leave_trail_of_own(&mut self, task: TaskId, kind: OpKind) {
        if self.limits().behaviour {
            let hash = &mut self.tasks[task.index()].hash;
            *hash = mix(*hash, kind_word(kind));
        }
    }

    /// Takes a park of `task` into account.
    #[inline]
    pub(crate) fn leave_trail_of_park(&mut self, task: TaskId, kind: OpKind) {
        let hash = mix(self.tasks[task.index()].hash, kind_word(kind));
        self.tasks[task.index()].hash = self.trails.aimed(task).ordered(hash);
    }

    /// Takes into account that `task` has given `target` a token.
    #[inline]
    pub(crate) fn leave_trail_of_unpark(&mut self, task: TaskId, target: TaskId, kind: OpKind) {
        let hash = mix(self.tasks[task.index()].hash, kind_word(kind));
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn access(&mut self, own: &mut u64, kind: OpKind, outcome: u32) {
        if reads_only(kind, outcome) {
            self.read(own);
        } else {
            self.write(own);
        }
    }

    /// A write to memory or a request for a mutex: ordered among its like.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn write(&mut self, own: &mut u64) {
        self.read(own);
        self.newest = *own;
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read(&self, own: &mut u64) {
        let product = u128::from(own.wrapping_add(0x35)) * u128::from(self.newest);
        *own = (product as u64) ^ (product >> 64) as u64;
    }

    /// An unlock: whose it is follows from the requests, so it is enough to count them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn unlock(&mut self) {
        self.releases = self.releases.wrapping_add(1);
    }

    /// Ordered with all before it: a write.
    pub(crate) fn ordered(&mut self, hash: u64) -> u64 {
        self.newest = mix(mix(hash, self.newest), self.shared);
        self.shared = 0;
        self.newest
    }

    /// Ordered with what is ordered, not with its like: a read.
    pub(crate) fn commuting(&mut self, hash: u64) -> u64 {
        let hash = mix(hash, self.newest);
        self.shared = self.shared.wrapping_add(hash);
        hash
    }

    /// Ordered with all but releases: who comes first is served first.
    pub(crate) fn request(&mut self, hash: u64) -> u64 {
        let hash = mix(hash, self.tries);
        self.ordered(hash)
    }

    /// A request that commutes with its like.
    pub(crate) fn share(&mut self, hash: u64) -> u64 {
        let hash = mix(mix(hash, self.newest), self.tries);
        self.shared = self.shared.wrapping_add(hash);
        hash
    }

    /// Ordered with its like only.
    pub(crate) fn queue(&mut self, hash: u64) -> u64 {
        self.newest = mix(hash, self.newest);
        self.newest
    }

    /// Sees releases only.
    pub(crate) fn ask(&mut self, hash: u64) -> u64 {
        let hash = mix(hash, self.releases);
        self.tries = self.tries.wrapping_add(hash);
        hash
    }

    /// A message is put in.
    pub(crate) fn send(&mut self, hash: u64) -> u64 {
        self.request(mix(hash, self.refused_sends))
    }

    /// No message could be put in.
    pub(crate) fn refuse_send(&mut self, hash: u64) -> u64 {
        let hash = mix(mix(hash, self.newest), self.received);
        self.refused_sends = self.refused_sends.wrapping_add(hash);
        hash
    }

    /// A message is taken out.
    pub(crate) fn receive(&mut self, hash: u64) -> u64 {
        self.received = mix(mix(mix(hash, self.tries), self.refused_sends), self.received);
        self.received
    }

    /// No message could be taken out.
    pub(crate) fn refuse_receive(&mut self, hash: u64) -> u64 {
        let hash = mix(self.seen_by_attempt(hash), self.received);
        self.tries = self.tries.wrapping_add(hash);
        hash
    }

    /// A receiver goes away.
    pub(crate) fn close_receivers(&mut self, hash: u64) -> u64 {
        let hash = mix(mix(mix(mix(hash, self.newest), self.received), self.tries), self.refused_sends);
        (self.newest, self.received) = (hash, hash);
        hash
    }

    /// Sees tries only; and its like, if `chained`.
    pub(crate) fn release(&mut self, hash: u64, chained: bool) -> u64 {
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
    pub(crate) fn attempt(&mut self, hash: u64, succeeded: bool) -> u64 {
        let mut hash = self.seen_by_attempt(hash);
        if succeeded {
            hash = mix(hash, self.tries);
            (self.newest, self.shared) = (hash, 0);
        }
        self.tries = self.tries.wrapping_add(hash);
        hash
    }

    /// Sees what is put in and its like, and is seen as releases are.
    pub(crate) fn leave(&mut self, hash: u64) -> u64 {
        self.releases = mix(mix(hash, self.newest), self.releases);
        self.releases
    }

    /// Sees all, and is seen by all.
    pub(crate) fn everything(&mut self, hash: u64) -> u64 {
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

/// One round of a multiply–xor hash: not for adversaries, but cheap and well spread.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
