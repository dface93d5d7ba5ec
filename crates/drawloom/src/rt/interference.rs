//! Statics and several OS threads: two executions must not use one object at the same time.
//!
//! Executions run side by side, on the workers of one exploration and in tests that the harness runs
//! in parallel. What they share can only be a static, or something captured from outside. Whoever
//! meets an object that another live execution has registered gives up its own execution, which is
//! then run again with all others held back; and so are the later ones of that exploration.

//!
//! Every execution passes here, so it has a place of its own to say that it runs, and looks at nothing that
//! others write: whoever wants to be alone has to look at all the places.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use drawloom_engine::Abandoned;
use drawloom_fiber::EPOCHS;

use super::Handle;

/// Where an execution says that it runs: its number; 0 if nobody does.
#[repr(align(64))]
struct Place(AtomicU64);

static LIVE: [Place; 256] = [const { Place(AtomicU64::new(0)) }; 256];
/// Somebody wants to be alone, or is.
static CLOSED: AtomicBool = AtomicBool::new(false);
/// Held by whoever wants to be alone, or is.
static ALONE: Mutex<()> = Mutex::new(());

/// Ends the running execution if the execution numbered `other` is still live.
pub(crate) fn check(rt: Handle, other: u64) {
    if LIVE.iter().any(|live| live.0.load(Ordering::Acquire) == other) {
        rt.abandon(Abandoned::Interference);
    }
}

/// While it lives, the execution counts as live.
pub(crate) struct Admission {
    place: &'static Place,
    alone: Option<MutexGuard<'static, ()>>,
}

impl Admission {
    /// Waits until the execution numbered `epoch` may run, `alone` or beside others.
    pub(crate) fn of(epoch: u64, alone: bool) -> Admission {
        if !alone {
            loop {
                let place = take_place(epoch);
                // Either we see that it is closed, or whoever closes it sees us.
                if !CLOSED.load(Ordering::SeqCst) {
                    return Admission { place, alone: None };
                }
                place.0.store(0, Ordering::Release);
                drop(wait_for_turn());
            }
        }
        let guard = wait_for_turn();
        CLOSED.store(true, Ordering::SeqCst);
        while LIVE.iter().any(|live| live.0.load(Ordering::SeqCst) != 0) {
            std::thread::sleep(Duration::from_micros(50));
        }
        Admission { place: take_place(epoch), alone: Some(guard) }
    }
}

fn wait_for_turn() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Numbers of one worker that follow each other have the same place, as long as nobody is in their way.
fn take_place(epoch: u64) -> &'static Place {
    let mut at = (epoch / EPOCHS) as usize;
    loop {
        let place = &LIVE[at % LIVE.len()];
        if place.0.compare_exchange(0, epoch, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
            return place;
        }
        at += 1;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if self.alone.is_some() {
            CLOSED.store(false, Ordering::SeqCst);
        }
        self.place.0.store(0, Ordering::Release);
    }
}
