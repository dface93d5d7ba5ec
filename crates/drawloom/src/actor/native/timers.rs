//! Timers: one thread for all, from the first of them on, or one task.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use super::Native;
use super::tasks::{Runtime, Sleep};
use crate::actor::pid::AnyPid;
use crate::actor::signal::TimerRef;

pub(super) struct Timers {
    clock: Arc<Clock>,
    native: Weak<Native>,
    runtime: Option<Arc<dyn Runtime>>,
}

#[derive(Default)]
struct Clock {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    /// By the time at which they fire, and the order in which they were set.
    queue: BTreeMap<(Instant, u64), (TimerRef, AnyPid)>,
    /// Where they are in it.
    places: HashMap<TimerRef, (Instant, u64)>,
    set: u64,
    /// There is somebody who lets them fire.
    is_running: bool,
    /// If that is a task, what it is woken by.
    waker: Option<Waker>,
    closed: bool,
}

impl Clock {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does.
    fn run(&self, native: &Weak<Native>) {
        let mut pending = self.pending();
        while !pending.closed {
            let Some((&(when, _), _)) = pending.queue.first_key_value() else {
                pending = self.changed.wait(pending).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = when.saturating_duration_since(Instant::now());
            if left > Duration::ZERO {
                pending = self.changed.wait_timeout(pending, left).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            fire(pending, native);
            pending = self.pending();
        }
    }

    /// Who lets them fire looks again.
    fn look_again(&self, mut pending: MutexGuard<'_, Pending>) {
        let waker = pending.waker.take();
        drop(pending);
        self.changed.notify_one();
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The first timer fires.
fn fire(mut pending: MutexGuard<'_, Pending>, native: &Weak<Native>) {
    let Some((_, (timer, to))) = pending.queue.pop_first() else { return };
    pending.places.remove(&timer);
    // Before `cancel` can find that it has fired, the message is there.
    to.0.arrive(timer.sender());
    drop(pending);
    if let Some(native) = native.upgrade() {
        if let Some(slot) = native.slot(to.id()) {
            slot.notify(&native.quiet);
        }
    }
}

/// The task, where there is no thread.
struct Ticks {
    clock: Arc<Clock>,
    native: Weak<Native>,
    runtime: Arc<dyn Runtime>,
    sleep: Option<(Instant, Sleep)>,
}

impl Future for Ticks {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Ticks { clock, native, runtime, sleep } = &mut *self;
        loop {
            let mut pending = clock.pending();
            if pending.closed {
                return Poll::Ready(());
            }
            pending.waker = Some(context.waker().clone());
            let Some((&(when, _), _)) = pending.queue.first_key_value() else { return Poll::Pending };
            let left = when.saturating_duration_since(runtime.now());
            if left == Duration::ZERO {
                fire(pending, native);
                continue;
            }
            drop(pending);
            if sleep.as_ref().is_none_or(|(until, _)| *until != when) {
                *sleep = Some((when, runtime.sleep(left)));
            }
            let Some((_, sleeping)) = sleep else { return Poll::Pending };
            if sleeping.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            // It may wake a little too early.
            *sleep = None;
        }
    }
}

impl Timers {
    pub(super) fn new(native: Weak<Native>, runtime: Option<Arc<dyn Runtime>>) -> Timers {
        Timers { clock: Arc::default(), native, runtime }
    }

    pub(super) fn set(&self, timer: TimerRef, to: &AnyPid, delay: Duration) {
        let mut pending = self.clock.pending();
        // One that never fires stays in the mailbox as posted.
        let now = self.runtime.as_deref().map_or_else(Instant::now, Runtime::now);
        let Some(when) = now.checked_add(delay) else { return };
        if pending.closed {
            drop(pending);
            to.0.lose(timer.sender());
            return;
        }
        pending.set += 1;
        let place = (when, pending.set);
        pending.queue.insert(place, (timer, to.clone()));
        pending.places.insert(timer, place);
        let is_running = std::mem::replace(&mut pending.is_running, true);
        self.clock.look_again(pending);
        if is_running {
            return;
        }
        let (clock, native) = (Arc::clone(&self.clock), self.native.clone());
        match &self.runtime {
            Some(runtime) => {
                let ticks = Ticks { clock, native, runtime: Arc::clone(runtime), sleep: None };
                runtime.spawn(Box::pin(ticks));
            }
            None => {
                let thread = thread::Builder::new().name("timers of processes".to_owned());
                thread.spawn(move || clock.run(&native)).expect("there is a thread for timers");
            }
        }
    }

    /// The time that is left, if it has not fired.
    pub(super) fn cancel(&self, timer: TimerRef) -> Option<Duration> {
        let mut pending = self.clock.pending();
        let place = pending.places.remove(&timer)?;
        let (_, to) = pending.queue.remove(&place)?;
        drop(pending);
        to.0.lose(timer.sender());
        let now = self.runtime.as_deref().map_or_else(Instant::now, Runtime::now);
        Some(place.0.saturating_duration_since(now))
    }

    /// None fires any more.
    pub(super) fn clear(&self) {
        let mut pending = self.clock.pending();
        pending.closed = true;
        pending.places.clear();
        let lost = std::mem::take(&mut pending.queue);
        self.clock.look_again(pending);
        for (timer, to) in lost.into_values() {
            to.0.lose(timer.sender());
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.clear();
    }
}
