//! The loop that drives one future: poll, wait to be woken, poll again.

use std::cell::RefCell;
use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::timer;
use crate::object::Object;
use crate::rt::{self, OpKind, Operation, ResourceId, TaskId};
use crate::thread::TaskOf;
use crate::time::Instant;

/// What tells the park of a future from that of a thread, in reports.
const AWAITS: u64 = 1;

/// Whom a waker wakes.
pub(super) struct Target {
    who: Who,
    /// Set in the step that wakes the task for its end, and looked at in the step that ends its wait:
    /// these two depend on each other already, so the flag needs no step of its own.
    aborted: AtomicBool,
    /// The same for a task that is polled in turn with others: it looks once more when it has the turn, in a step that knows of
    /// nothing else.
    aborted_in_turn: Option<Object<bool>>,
    /// Where the future was given to us: the place of its wake-ups, which have none of their own.
    made_at: &'static Location<'static>,
}

enum Who {
    /// Wakes by the task's park token.
    Task(OnceLock<TaskOf>),
    Native {
        woken: Mutex<bool>,
        wakes: Condvar,
    },
}

impl Who {
    fn native() -> Who {
        Who::Native { woken: Mutex::new(false), wakes: Condvar::new() }
    }
}

impl Target {
    /// The task that calls.
    #[track_caller]
    pub(super) fn here() -> Arc<Target> {
        let who = match rt::current() {
            Some(rt) => Who::Task(TaskOf { task: rt.running(), epoch: rt.epoch() }.into()),
            None => Who::native(),
        };
        Target::new(who, Location::caller())
    }

    /// A task that is about to be spawned; [`is`](Self::is) says which.
    #[track_caller]
    pub(super) fn spawned(made_at: &'static Location<'static>, in_turn: bool) -> Arc<Target> {
        let mut target = Target::of(Who::Task(OnceLock::new()), made_at);
        if in_turn {
            target.aborted_in_turn = Some(Object::new(false));
        }
        Arc::new(target)
    }

    /// Where the future was given to us.
    pub(super) fn made_at(&self) -> &'static Location<'static> {
        self.made_at
    }

    pub(super) fn is(&self, spawned: TaskOf) {
        if let Who::Task(task) = &self.who {
            let _ = task.set(spawned);
        }
    }

    /// The task, while its execution continues.
    fn task(&self) -> Option<(rt::Handle, TaskId)> {
        match &self.who {
            Who::Task(task) => task.get().and_then(|id| Some((id.here()?, id.task))),
            Who::Native { .. } => None,
        }
    }

    /// A thread of the operating system.
    #[track_caller]
    pub(super) fn native() -> Arc<Target> {
        Target::new(Who::native(), Location::caller())
    }

    fn new(who: Who, made_at: &'static Location<'static>) -> Arc<Target> {
        Arc::new(Target::of(who, made_at))
    }

    fn of(who: Who, made_at: &'static Location<'static>) -> Target {
        Target { who, aborted: AtomicBool::new(false), aborted_in_turn: None, made_at }
    }

    /// Wakes the task, to end at once.
    pub(super) fn abort(&self) {
        self.abort_from(self.made_at);
    }

    /// The same, for who asks for it at `place`.
    pub(super) fn abort_from(&self, place: &'static Location<'static>) {
        if matches!(self.who, Who::Native { .. }) {
            self.aborted.store(true, Ordering::Release);
        }
        if let Some(aborted) = &self.aborted_in_turn {
            aborted.update_from(place, |aborted| *aborted = true);
        }
        self.unpark_from(place);
        self.aborted.store(true, Ordering::Release);
    }

    /// Whether it was aborted, looked at in a step, if it is polled in turn with others.
    fn is_aborted_in_turn(&self) -> bool {
        self.aborted_in_turn.as_ref().is_some_and(|aborted| aborted.look_from(self.made_at, |aborted| *aborted))
    }

    /// Wakes the task when the running one makes its next step: who calls may hold locks of its own.
    fn wake(&self) {
        match self.task() {
            Some((rt, task)) => rt.wake(task, rt::site(self.made_at)),
            None => self.unpark(),
        }
    }

    /// Wakes the task, in a step.
    pub(super) fn unpark(&self) {
        self.unpark_from(self.made_at);
    }

    fn unpark_from(&self, place: &'static Location<'static>) {
        match &self.who {
            Who::Task(_) => {
                if let Some((rt, task)) = self.task() {
                    let unpark = Operation::new(OpKind::Unpark, ResourceId::NONE, rt::site(place));
                    rt.step(unpark.with_arg(u64::from(task.0)));
                }
            }
            Who::Native { woken, wakes } => {
                *woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
                wakes.notify_one();
            }
        }
    }

    /// Waits to be woken, until `deadline` at the latest; whether it was too late.
    fn park(&self, deadline: Option<Instant>) -> bool {
        match &self.who {
            Who::Task(_) => {
                // Nobody is left to be woken outside of the execution.
                let Some((rt, _)) = self.task() else { return false };
                let park = Operation::new(OpKind::Park, ResourceId::NONE, rt::site(self.made_at)).with_arg(AWAITS);
                let result = match deadline.and_then(Instant::virtual_nanos) {
                    None => rt.step(park),
                    Some(deadline) => rt.step_until(park, deadline),
                };
                result == rt::outcome::TIMED_OUT
            }
            Who::Native { woken, wakes } => {
                let mut woken = woken.lock().unwrap_or_else(PoisonError::into_inner);
                while !std::mem::take(&mut *woken) {
                    woken = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                        None => wakes.wait(woken).unwrap_or_else(PoisonError::into_inner),
                        Some(left) if left.is_zero() => return true,
                        Some(left) => wakes.wait_timeout(woken, left).unwrap_or_else(PoisonError::into_inner).0,
                    };
                }
                false
            }
        }
    }
}

impl Wake for Target {
    fn wake(self: Arc<Self>) {
        Target::wake(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Target::wake(self);
    }
}

crate::thread_local! {
    /// Whom those wake who wake the futures that the running task drives, one within the other.
    static DRIVEN: RefCell<Vec<Arc<Target>>> = const { RefCell::new(Vec::new()) };
}

/// What `look` finds in them; nothing on a thread that ends, and drops what it has kept: nobody drives there any more.
fn driven<R: Default>(look: impl FnOnce(&mut Vec<Arc<Target>>) -> R) -> R {
    DRIVEN.try_with(|driven| look(&mut driven.borrow_mut())).unwrap_or_default()
}

/// Whether the task that polls was aborted, if it is one that takes turns.
pub(super) fn is_aborted_in_turn() -> bool {
    driven(|driven| driven.last().cloned()).is_some_and(|target| target.is_aborted_in_turn())
}

/// Polls `future` until it is ready, or until it is aborted: then it is dropped, and there is no output.
/// It begins by waiting to be woken unless it is `woken` already.
pub(super) fn drive<F: Future>(future: F, target: &Arc<Target>, mut woken: bool) -> Option<F::Output> {
    let mut future = pin!(future);
    let waker = Waker::from(target.clone());
    let mut context = Context::from_waker(&waker);
    let _driven = Driven::new(target);
    loop {
        if !std::mem::take(&mut woken) {
            let deadline = timer::earliest();
            if target.park(deadline) {
                timer::fire(deadline, &waker);
            }
            if target.aborted.load(Ordering::Acquire) {
                return None;
            }
        }
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
    }
}

struct Driven;

impl Driven {
    fn new(target: &Arc<Target>) -> Driven {
        driven(|driven| driven.push(target.clone()));
        Driven
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        drop(driven(Vec::pop));
    }
}

/// Runs a future to its end on the calling task.
///
/// Tasks that it has spawned continue, as threads do; [`run`](super::run) ends them too.
///
/// ```
/// use drawloom::future;
///
/// assert_eq!(future::block_on(async { 40 + 2 }), 42);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let target = Target::here();
    let output = drive(future, &target, true);
    if driven(|driven| !driven.is_empty()) {
        // A future within a future: what has woken us may have been meant for the outer one.
        target.unpark();
    }
    // Nobody else knows the target by anything but its waker, and a waker cannot abort.
    output.expect("a future that blocks its caller is not aborted")
}
