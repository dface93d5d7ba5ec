//! Who opened a file descriptor: the position of a file belongs to its opener alone, unless another task uses it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// By file descriptor; 0 for nobody in particular. Those beyond are shared, to be on the safe side.
static OPENERS: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];

fn place(fd: c_int) -> Option<&'static AtomicU64> {
    usize::try_from(fd).ok().and_then(|fd| OPENERS.get(fd))
}

/// `task` has opened it, or nobody in particular.
pub(crate) fn opened(fd: c_int, task: u64) {
    if let Some(place) = place(fd) {
        place.store(task, Ordering::Relaxed);
    }
}

/// `copy` has the position of `fd`.
pub(crate) fn copied(fd: c_int, copy: c_int) {
    opened(copy, place(fd).map_or(0, |place| place.load(Ordering::Relaxed)));
}

/// Whether `task` has opened it.
pub(crate) fn is_of(fd: c_int, task: u64) -> bool {
    task != 0 && place(fd).is_some_and(|place| place.load(Ordering::Relaxed) == task)
}
