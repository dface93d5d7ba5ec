//! Statics and several OS threads: two executions must not use one object at the same time.
//!
//! Executions run side by side, on the workers of one exploration and in tests that the harness runs
//! in parallel. What they share can only be a static, or something captured from outside. Whoever
//! meets an object that another live execution has registered gives up its own execution, which is
//! then run again with all others held back; and so are the later ones of that exploration.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use drawloom_engine::finding::FindingKind;

use super::Handle;

/// Executions that run now, by number; 0 is a free place.
static LIVE: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];
/// Held shared by executions that tolerate others beside them, and exclusively by those that do not.
static GATE: RwLock<()> = RwLock::new(());

/// Ends the running execution if the execution numbered `other` is still live.
pub(crate) fn check(rt: Handle, other: u64) {
    if LIVE.iter().any(|live| live.load(Ordering::Acquire) == other) {
        rt.abort(FindingKind::Interference);
    }
}

/// While it lives, the execution counts as live.
pub(crate) struct Admission {
    place: usize,
    _gate: Gate,
}

enum Gate {
    Shared { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl Admission {
    /// Waits until the execution numbered `epoch` may run, `alone` or beside others.
    pub(crate) fn of(epoch: u64, alone: bool) -> Admission {
        let gate = if alone {
            Gate::Alone { _guard: GATE.write().unwrap_or_else(|e| e.into_inner()) }
        } else {
            Gate::Shared { _guard: GATE.read().unwrap_or_else(|e| e.into_inner()) }
        };
        let mut place = epoch as usize % LIVE.len();
        while LIVE[place].compare_exchange(0, epoch, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            place = (place + 1) % LIVE.len();
        }
        Admission { place, _gate: gate }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        LIVE[self.place].store(0, Ordering::Release);
    }
}
