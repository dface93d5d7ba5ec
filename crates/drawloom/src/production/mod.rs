//! The production face: with the feature `controlled` off, every name that std has is std's own.
//!
//! Nothing here is compiled into a program: modules are re-exported, and what exists in both faces
//! without being std's is empty and inlined. Only [`task`](crate::task), [`channel`](crate::channel), [`Latch`](crate::ext::Latch) and
//! [`hint::spin_until`] are code of their own, on std's threads, locks and atomics.

pub mod hint;

#[cfg(feature = "crossbeam")]
pub use ::crossbeam;
#[cfg(feature = "lazy_static")]
pub use ::lazy_static;
#[cfg(feature = "once_cell")]
pub use ::once_cell;
#[cfg(feature = "parking_lot")]
pub use ::parking_lot;
pub use std::{thread, thread_local, time};

/// `std::sync`, and what it lacks.
pub mod sync {
    pub use std::sync::*;

    #[doc(hidden)]
    pub use crate::latch::Latch;
}

/// `std::cell`, and the trait that tells reads of an `UnsafeCell` from writes in both faces.
pub mod cell {
    pub use std::cell::*;

    pub use crate::access::UnsafeCellExt;
}

// ── helpers of both faces: nobody schedules here, so there is nothing to choose and nobody to tell ──

/// One of `outcomes` alternatives: always the first.
///
/// # Panics
///
/// If there is nothing to choose from.
#[inline(always)]
#[track_caller]
pub fn choose(outcomes: usize) -> usize {
    assert!(outcomes > 0, "there is nothing to choose from");
    0
}

/// As [`std::thread::yield_now`].
#[inline(always)]
pub fn yield_now() {
    thread::yield_now();
}

/// Would name the running task in reports: there are none.
#[inline(always)]
pub fn name_task(_name: &str) {}

/// Would name an object in reports: there are none.
#[inline(always)]
pub fn label<T: ?Sized>(_object: &T, _name: &str) {}
