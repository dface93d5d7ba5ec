//! Ctrl-C: the first one ends what runs and lets results be told, the second one ends it at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// How often the user has pressed it.
pub(crate) fn times() -> u32 {
    TIMES.load(Ordering::SeqCst)
}

/// Whether the user has pressed it.
pub(crate) fn requested() -> bool {
    times() > 0
}
