//! Timers outside of explorations: one thread keeps all of them, and wakes whoever has polled.
//!
//! The executor that polls need not be ours, so it cannot be trusted to look at a list of timers before it waits.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use drawloom_engine::sorted::Map;

use super::timer::new_number;
use crate::time::Instant;

#[derive(Default)]
struct Timers {
    pending: Mutex<Map<u64, (Instant, Waker)>>,
    changed: Condvar,
}

static TIMERS: OnceLock<&'static Timers> = OnceLock::new();

impl Timers {
    fn lock(&self) -> MutexGuard<'_, Map<u64, (Instant, Waker)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who is due, for ever.
    fn run(&self) {
        let mut pending = self.lock();
        loop {
            let now = Instant::now();
            let due: Vec<u64> =
                pending.iter().filter(|(_, (deadline, _))| *deadline <= now).map(|(number, _)| *number).collect();
            let wakers: Vec<Waker> =
                due.iter().filter_map(|number| pending.remove(number)).map(|(_, waker)| waker).collect();
            if !wakers.is_empty() {
                drop(pending);
                wakers.into_iter().for_each(Waker::wake);
                pending = self.lock();
                continue;
            }
            pending = match pending.values().map(|(deadline, _)| *deadline).min() {
                None => self.changed.wait(pending).unwrap_or_else(PoisonError::into_inner),
                Some(next) => {
                    let left = next.saturating_duration_since(now);
                    self.changed.wait_timeout(pending, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

fn timers() -> &'static Timers {
    TIMERS.get_or_init(|| {
        let timers: &'static Timers = Box::leak(Box::default());
        std::thread::spawn(|| timers.run());
        timers
    })
}

/// Wakes `waker` at `deadline`; `number` is that of the timer if it was registered before.
pub(super) fn register(deadline: Instant, number: Option<u64>, waker: &Waker) -> u64 {
    let timers = timers();
    let number = number.unwrap_or_else(new_number);
    let before = timers.lock().insert(number, (deadline, waker.clone()));
    timers.changed.notify_one();
    drop(before);
    number
}

/// Nobody waits for it any more; whether it was there.
pub(super) fn forget(number: u64) -> bool {
    let Some(timers) = TIMERS.get() else { return false };
    let removed = timers.lock().remove(&number);
    removed.is_some()
}
