//! What facades of async runtimes are made of, beside the public part of [`future`](super).

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use drawloom_fiber::ForcedUnwind;

use super::drive;
use super::group::Group;
use super::native_timer;
pub use super::place::awaited_at;
use super::{JoinError, JoinHandle, join};
use crate::rt;
use crate::time::Instant;

/// The number of the running task in its execution; none outside of an exploration.
#[must_use]
pub fn running() -> Option<u32> {
    rt::current().map(|rt| rt.running().0)
}

/// Whether the execution is over and what is left of it is torn down: then nobody waits for anybody.
#[must_use]
pub fn is_over() -> bool {
    std::thread::panicking() || rt::current().is_some_and(rt::Handle::is_tearing_down)
}

/// What became of a task that somebody else than [`spawn`](super::spawn) has run: it was aborted.
#[must_use]
pub fn cancelled() -> JoinError {
    JoinError::cancelled()
}

/// As [`cancelled`]: it has panicked.
#[must_use]
pub fn panicked(payload: Box<dyn Any + Send>) -> JoinError {
    JoinError::panicked(payload)
}

/// Whether somebody has caught the end of the execution, which has to continue.
#[must_use]
pub fn is_torn_down(payload: &(dyn Any + Send)) -> bool {
    payload.is::<ForcedUnwind>()
}

/// Wakes `waker` after `duration`, outside of explorations.
pub fn wake_after(duration: Duration, waker: &Waker) {
    native_timer::register(Instant::now() + duration, None, waker);
}

/// As [`spawn`](super::spawn), for a future that takes turns with others, and asks [`is_aborted_in_turn`] before it continues. Inside
/// of explorations only.
#[track_caller]
pub fn spawn_in_turn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    join::spawn_in_turn(rt::current().expect("tasks take turns inside of an exploration only"), future)
}

/// Whether somebody has aborted the task that polls, while it waited for its turn.
#[must_use]
pub fn is_aborted_in_turn() -> bool {
    drive::is_aborted_in_turn()
}

/// Tasks that end together: those of a runtime.
#[derive(Clone, Default)]
pub struct Tasks(Arc<Group>);

impl Tasks {
    /// Until the returned value is dropped, what the running task spawns belongs here.
    pub fn enter(&self) -> Entered {
        Entered { before: Group::enter(Some(self.0.clone())), here: PhantomData }
    }

    /// Aborts all that can be, and waits for all.
    #[track_caller]
    pub fn end(&self) {
        self.0.end();
    }

    /// Aborts all that can be, and waits for none.
    pub fn abort(&self) {
        self.0.abort();
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

/// What [`Tasks::enter`] returns.
#[must_use = "leaves at once if it is dropped"]
pub struct Entered {
    before: Option<Arc<Group>>,
    /// It has to be dropped where it was made.
    here: PhantomData<std::sync::MutexGuard<'static, ()>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        Group::enter(self.before.take());
    }
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}
