//! Timers: one thread, from the first of them on.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::Threads;
use crate::actor::pid::AnyPid;
use crate::actor::signal::TimerRef;

pub(super) struct Timers {
    clock: Arc<Clock>,
    threads: Weak<Threads>,
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
    has_thread: bool,
    closed: bool,
}

impl Clock {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does.
    fn run(&self, threads: &Weak<Threads>) {
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
            let Some((_, (timer, to))) = pending.queue.pop_first() else { continue };
            pending.places.remove(&timer);
            // Before `cancel` can find that it has fired, the message is there.
            to.0.arrive(timer.sender());
            drop(pending);
            if let Some(threads) = threads.upgrade() {
                if let Some(slot) = threads.slot(to.id()) {
                    slot.notify(&threads.quiet);
                }
            }
            drop(to);
            pending = self.pending();
        }
    }
}

impl Timers {
    pub(super) fn new(threads: Weak<Threads>) -> Timers {
        Timers { clock: Arc::default(), threads }
    }

    pub(super) fn set(&self, timer: TimerRef, to: &AnyPid, delay: Duration) {
        let mut pending = self.clock.pending();
        // One that never fires stays in the mailbox as posted.
        let Some(when) = Instant::now().checked_add(delay) else { return };
        if pending.closed {
            drop(pending);
            to.0.lose(timer.sender());
            return;
        }
        pending.set += 1;
        let place = (when, pending.set);
        pending.queue.insert(place, (timer, to.clone()));
        pending.places.insert(timer, place);
        if !pending.has_thread {
            pending.has_thread = true;
            let (clock, threads) = (Arc::clone(&self.clock), self.threads.clone());
            let thread = thread::Builder::new().name("timers of processes".to_owned());
            thread.spawn(move || clock.run(&threads)).expect("there is a thread for timers");
        }
        drop(pending);
        self.clock.changed.notify_one();
    }

    /// The time that is left, if it has not fired.
    pub(super) fn cancel(&self, timer: TimerRef) -> Option<Duration> {
        let mut pending = self.clock.pending();
        let place = pending.places.remove(&timer)?;
        let (_, to) = pending.queue.remove(&place)?;
        drop(pending);
        to.0.lose(timer.sender());
        Some(place.0.saturating_duration_since(Instant::now()))
    }

    /// None fires any more.
    pub(super) fn clear(&self) {
        let mut pending = self.clock.pending();
        pending.closed = true;
        pending.places.clear();
        let lost = std::mem::take(&mut pending.queue);
        drop(pending);
        self.clock.changed.notify_one();
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
