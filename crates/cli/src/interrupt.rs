//! Ctrl-C: the first one ends what runs and lets results be told, the second one ends it at once. A [`Stop`] is the first one
//! for what a single thread does.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::answer::INTERRUPTED;

static TIMES: AtomicU32 = AtomicU32::new(0);
static AT_WORK: AtomicU32 = AtomicU32::new(0);

/// While it lasts, Ctrl-C and SIGTERM are asked for by [`requested`]; at any other time they end the program.
pub(crate) struct AtWork(());

impl AtWork {
    /// Where signals cannot be taken over, they end the program as ever.
    pub(crate) fn begin() -> AtWork {
        static TAKEN: OnceLock<()> = OnceLock::new();
        AT_WORK.fetch_add(1, Ordering::SeqCst);
        TAKEN.get_or_init(|| {
            let _ = ctrlc::set_handler(|| {
                TIMES.fetch_add(1, Ordering::SeqCst);
                if AT_WORK.load(Ordering::SeqCst) == 0 {
                    std::process::exit(INTERRUPTED.into());
                }
            });
        });
        AtWork(())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A way to end what one thread does, and nothing else.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

thread_local! {
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// While it lasts, a stop counts in the thread that has made it.
pub(crate) struct Within(());

impl Stop {
    /// What it stands for shall end.
    pub(crate) fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// It stands for what this thread does from now on.
    pub(crate) fn in_this_thread(&self) -> Within {
        STOP.set(Some(self.clone()));
        Within(())
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        STOP.set(None);
    }
}

/// The same as pressing it: everything shall end.
pub(crate) fn request() {
    TIMES.fetch_add(1, Ordering::SeqCst);
}

/// How often the user has pressed it.
pub(crate) fn times() -> u32 {
    TIMES.load(Ordering::SeqCst)
}

/// Whether the user has pressed it, or what this thread does was stopped.
pub(crate) fn requested() -> bool {
    let stopped = || STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.0.load(Ordering::SeqCst)));
    times() > 0 || stopped()
}
