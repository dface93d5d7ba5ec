//! Waiting for a value of an atomic: what both faces have in common.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An atomic whose value can be waited for ([`spin_until`](crate::hint::spin_until)): each one of
/// [`sync::atomic`](crate::sync::atomic), also behind an `Arc`, and nothing else.
///
/// ```
/// use drawloom::ext::{Atomic, spin_until};
/// use drawloom::sync::atomic::{AtomicU32, Ordering::Acquire};
///
/// /// Spins until an atomic has one of `values`.
/// fn one_of<A: Atomic<Value: PartialEq>>(atomic: &A, values: &[A::Value]) -> A::Value {
///     spin_until(atomic, Acquire, |value| values.contains(&value))
/// }
/// assert_eq!(one_of(&AtomicU32::new(2), &[1, 2]), 2);
/// ```
pub trait Atomic: Held<<Self as Atomic>::Value> {
    /// What it holds.
    type Value: Copy;
}

/// What waiting needs of an atomic. Nobody else can name it.
pub trait Held<T> {
    /// What it holds now; no scheduling point.
    fn peek(&self, order: Ordering) -> T;

    /// Itself, as the trace knows it.
    #[cfg(feature = "controlled")]
    fn resource(&self, rt: crate::rt::Handle) -> crate::rt::ResourceId;

    /// A value as the trace shows it.
    #[cfg(feature = "controlled")]
    fn shown(value: T, rt: crate::rt::Handle) -> u64;

    /// The value that the trace shows so.
    #[cfg(feature = "controlled")]
    fn of_shown(shown: u64, rt: crate::rt::Handle) -> T;
}

impl<A: Atomic> Atomic for Arc<A> {
    type Value = A::Value;
}

impl<A: Atomic> Held<A::Value> for Arc<A> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn peek(&self, order: Ordering) -> A::Value {
        A::peek(self, order)
    }

    #[cfg(feature = "controlled")]
    fn resource(&self, rt: crate::rt::Handle) -> crate::rt::ResourceId {
        A::resource(self, rt)
    }

    #[cfg(feature = "controlled")]
    fn shown(value: A::Value, rt: crate::rt::Handle) -> u64 {
        A::shown(value, rt)
    }

    #[cfg(feature = "controlled")]
    fn of_shown(shown: u64, rt: crate::rt::Handle) -> A::Value {
        A::of_shown(shown, rt)
    }
}

/// Looks until the value is as it should be.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn spin_natively<A: Atomic>(atomic: &A, order: Ordering, condition: impl Fn(A::Value) -> bool) -> A::Value {
    loop {
        let value = atomic.peek(order);
        if condition(value) {
            return value;
        }
        spin_loop();
    }
}
