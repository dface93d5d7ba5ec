//! How a call becomes a step.

use drawloom_engine::finding::FindingKind;
use drawloom_engine::{Engine, OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};
use drawloom_fiber::{Handle, Seen};

use crate::task::run_task;

/// What carries out the tasks of the running execution.
#[derive(Clone, Copy)]
pub(crate) struct Control(Handle);

impl Control {
    pub(crate) fn of_fibers(handle: Handle) -> Control {
        Control(handle)
    }

    /// Announces `operation`, waits for its turn and its grant. It does not return if the execution is over.
    #[inline(always)]
    pub(crate) fn step(self, operation: Operation) -> u32 {
        self.0.step(operation)
    }

    /// As [`step`](Self::step), for a lock of a mutex.
    #[inline(always)]
    pub(crate) fn lock(self, mutex: ResourceId, site: Site) {
        self.0.lock(mutex, site);
    }

    /// The same for an unlock.
    #[inline(always)]
    pub(crate) fn unlock(self, mutex: ResourceId, site: Site) {
        self.0.unlock(mutex, site);
    }

    /// As [`step`](Self::step), for an access to memory, which `act` carries out.
    #[inline(always)]
    pub(crate) fn access<R: Copy>(self, access: Operation, act: impl FnOnce() -> (R, Seen)) -> R {
        self.0.access(access, act)
    }

    /// As [`step`](Self::step), for a wait that ends after so many nanoseconds at the latest.
    pub(crate) fn step_within(self, operation: Operation, nanos: u64) -> u32 {
        self.0.step_with_timeout(operation, nanos)
    }

    /// The same, until an instant.
    pub(crate) fn step_until(self, operation: Operation, deadline: u64) -> u32 {
        self.0.step_until(operation, deadline)
    }

    /// The same for a task that has read the clock already.
    pub(crate) fn step_by(self, operation: Operation, deadline: u64) -> u32 {
        let me = self.running();
        self.engine(|engine| engine.set_deadline(me, Some(deadline)));
        let came_to = self.step(operation);
        self.engine(|engine| engine.set_deadline(me, None));
        came_to
    }

    #[inline(always)]
    pub(crate) fn engine<R>(self, act: impl FnOnce(&mut Engine) -> R) -> R {
        self.0.with_engine(act)
    }

    #[inline(always)]
    pub(crate) fn running(self) -> TaskId {
        self.0.running()
    }

    /// A resource of the running task. Nobody drops it, so it is no leak.
    pub(crate) fn create(self, kind: ResourceKind, state: State, site: Site) -> ResourceId {
        let id = self.0.create_resource(kind, state, site);
        self.0.with_engine(|engine| engine.drop_resource(id));
        id
    }

    /// Spawns a task, which runs what the execution knows under its number. Its body captures nothing: nobody would give the
    /// memory back.
    pub(crate) fn spawn(self, site: Site) -> TaskId {
        self.0.spawn(None, site, Box::new(run_task))
    }

    /// Fails the execution. The running task goes no further. Where every behaviour is explored, the others do: what they do is
    /// not ordered with it, and may come first elsewhere.
    pub(crate) fn fail(self, kind: FindingKind) -> ! {
        let me = self.running();
        self.engine(|engine| engine.fail(kind, me));
        self.end_task()
    }

    /// Ends the running task here.
    pub(crate) fn end_task(self) -> ! {
        self.0.end_task()
    }

    pub(crate) fn choose(self, outcomes: u64, site: Site) -> u64 {
        self.0.choose(outcomes, site)
    }

    pub(crate) fn wakes_spuriously(self, site: Site) -> bool {
        self.0.wakes_spuriously(site)
    }

    pub(crate) fn fails_spuriously(self, site: Site) -> bool {
        self.0.fails_spuriously(site)
    }

    pub(crate) fn weaker_access(self, site: Site) {
        self.0.weaker_access(site);
    }

    /// The virtual clock, read by a step.
    pub(crate) fn now(self, site: Site) -> u64 {
        self.0.step(Operation::new(OpKind::Now, ResourceId::NONE, site));
        self.0.with_engine(|engine| engine.now())
    }

    /// The same for a wait that begins at once.
    pub(crate) fn now_before_wait(self, site: Site) -> u64 {
        self.0.now_before_wait(site)
    }

    pub(crate) fn count_draw(self) -> u64 {
        self.0.count_draw()
    }
}

/// What an operation came to, as "yes" or "no".
pub(crate) fn is_ok(came_to: u32) -> bool {
    came_to == outcome::OK
}
