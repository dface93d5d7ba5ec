//! `std::sync::atomic`, under control.
//!
//! Every operation is a scheduling point. The memory model is sequential consistency: all orderings
//! are accepted and checked for validity as std does, but explored as `SeqCst`. Bugs that only a
//! weaker ordering shows are not found.

use std::fmt;
pub use std::sync::atomic::Ordering;

use crate::rt::{self, Handle, OpKind, Operation, ResourceKind, Seen, Slot, State, outcome};
use crate::until::{Atomic, Held};

/// The value of an atomic as the trace shows it, and back.
trait Shown: Copy {
    fn shown(self, rt: Handle) -> u64;
    fn of_shown(shown: u64, rt: Handle) -> Self;
}

macro_rules! shown_as_integer {
    ($($t:ty)*) => {$(
        impl Shown for $t {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn shown(self, _rt: Handle) -> u64 {
                self as u64
            }

            fn of_shown(shown: u64, _rt: Handle) -> Self {
                shown as $t
            }
        }
    )*};
}
shown_as_integer!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl Shown for bool {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn shown(self, _rt: Handle) -> u64 {
        self as u64
    }

    fn of_shown(shown: u64, _rt: Handle) -> Self {
        shown != 0
    }
}

impl<T> Shown for *mut T {
    /// Addresses never reach a trace: the execution numbers them as they come up.
    fn shown(self, rt: Handle) -> u64 {
        rt.number_of_address(self as usize)
    }

    /// To be compared; nothing is known of what it points to.
    fn of_shown(shown: u64, rt: Handle) -> Self {
        std::ptr::without_provenance_mut(rt.address_of_number(shown))
    }
}

/// Waits for the turn of a read, carries it out, and records the value.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn read<T: Shown>(slot: &Slot, order: Ordering, act: impl FnOnce() -> T) -> T {
    let site = rt::here();
    let Some(rt) = rt::current() else {
        return act();
    };
    rt.access(operation(rt, slot, OpKind::Load, &[order], site), || {
        let value = act();
        (value, Seen { value: value.shown(rt), other: 0, outcome: outcome::OK })
    })
}

/// The same for a store of `value`; `peek` says what was there.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn write<T: Shown>(slot: &Slot, order: Ordering, value: T, peek: impl FnOnce() -> T, act: impl FnOnce()) {
    let site = rt::here();
    let Some(rt) = rt::current() else {
        return act();
    };
    rt.access(operation(rt, slot, OpKind::Store, &[order], site), || {
        let (found, left) = (peek().shown(rt), value.shown(rt));
        (act(), Seen { value: left, other: found, outcome: outcome::OK })
    });
}

/// The same for a read-modify-write; `peek` says what it has left there.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn modify<T: Shown>(slot: &Slot, order: Ordering, peek: impl FnOnce() -> T, act: impl FnOnce() -> T) -> T {
    let site = rt::here();
    let Some(rt) = rt::current() else {
        return act();
    };
    rt.access(operation(rt, slot, OpKind::Rmw, &[order], site), || {
        let value = act();
        (value, Seen { value: value.shown(rt), other: peek().shown(rt), outcome: outcome::OK })
    })
}

/// The same for a compare-exchange of `expected` for `new`.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn exchange<T: Shown>(
    slot: &Slot,
    orders: [Ordering; 2],
    expected: T,
    new: T,
    act: impl FnOnce() -> Result<T, T>,
) -> Result<T, T> {
    let site = rt::here();
    let Some(rt) = rt::current() else {
        return act();
    };
    let expected = expected.shown(rt);
    rt.access(operation(rt, slot, OpKind::Cas, &orders, site).with_arg(expected), || {
        let result = act();
        let value = result.unwrap_or_else(|old| old).shown(rt);
        let left = new.shown(rt);
        let seen = match result {
            Ok(_) => Seen { value, other: left, outcome: outcome::OK },
            Err(_) => Seen { value, other: expected, outcome: outcome::REFUSED },
        };
        (result, seen)
    })
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn operation(rt: Handle, slot: &Slot, kind: OpKind, orders: &[Ordering], site: rt::Site) -> Operation {
    note_weaker(rt, orders, site);
    Operation::new(kind, slot.resource(rt, ResourceKind::Atomic, || State::Plain), site)
}

/// What is proved of a program that asks for less than `SeqCst` has to say so.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn note_weaker(rt: Handle, orders: &[Ordering], site: rt::Site) {
    if orders.iter().any(|order| *order != Ordering::SeqCst) {
        rt.weaker_access(site);
    }
}

/// Whether a weak compare-exchange is to fail although it need not.
#[inline]
#[track_caller]
fn weak_failure() -> bool {
    let site = rt::here();
    rt::current().is_some_and(|rt| rt.fails_spuriously(site))
}

macro_rules! common_methods {
    ($Name:ident, $value:ty $(, $T:ident)?) => {
        impl $(<$T>)? $Name $(<$T>)? {
            #[doc = concat!("As [`std::sync::atomic::", stringify!($Name), "::new`].")]
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self { slot: Slot::new(), inner: std::sync::atomic::$Name::new(value) }
            }

            /// As std's `get_mut`. No scheduling point: `&mut` proves that nobody shares it.
            pub fn get_mut(&mut self) -> &mut $value {
                self.inner.get_mut()
            }

            /// As std's `into_inner`, but not `const`: the atomic has to be dropped, or it would count as
            /// leaked.
            pub fn into_inner(self) -> $value {
                self.inner.into_inner()
            }

            /// As std's `as_ptr`. Accesses through the pointer are not under control.
            pub const fn as_ptr(&self) -> *mut $value {
                self.inner.as_ptr()
            }

            /// As std's `load`.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                read(&self.slot, order, || self.inner.load(order))
            }

            /// As std's `store`.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                write(&self.slot, order, value, || self.inner.load(Ordering::Relaxed), || self.inner.store(value, order));
            }

            /// As std's `swap`.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                modify(&self.slot, order, || self.inner.load(Ordering::Relaxed), || self.inner.swap(value, order))
            }

            /// As std's `compare_and_swap`, deprecated there too.
            #[inline]
            #[track_caller]
            #[deprecated(note = "use `compare_exchange` or `compare_exchange_weak` instead")]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                #[allow(deprecated)]
                let act = || {
                    let old = self.inner.compare_and_swap(current, new, order);
                    if old == current { Ok(old) } else { Err(old) }
                };
                exchange(&self.slot, [order, order], current, new, act).unwrap_or_else(|old| old)
            }

            /// As std's `compare_exchange`.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                exchange(&self.slot, [success, failure], current, new, || self.inner.compare_exchange(current, new, success, failure))
            }

            /// As std's `compare_exchange_weak`: it may fail although it need not, as a bounded
            /// choice of the schedule (`weak_failures`).
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if weak_failure() {
                    return Err(self.load(failure));
                }
                exchange(&self.slot, [success, failure], current, new, || self.inner.compare_exchange(current, new, success, failure))
            }

            /// As std's `fetch_update`.
            #[inline]
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.try_update(set_order, fetch_order, f)
            }

            /// As std's `try_update`.
            #[inline]
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut previous = self.load(fetch_order);
                while let Some(next) = f(previous) {
                    match self.compare_exchange_weak(previous, next, set_order, fetch_order) {
                        Ok(old) => return Ok(old),
                        Err(actual) => previous = actual,
                    }
                }
                Err(previous)
            }

            /// As std's `update`.
            #[inline]
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                let mut previous = self.load(fetch_order);
                loop {
                    match self.compare_exchange_weak(previous, f(previous), set_order, fetch_order) {
                        Ok(old) => return old,
                        Err(actual) => previous = actual,
                    }
                }
            }
        }

        impl $(<$T>)? Atomic for $Name $(<$T>)? {
            type Value = $value;
        }

        impl $(<$T>)? Held<$value> for $Name $(<$T>)? {
            fn peek(&self, order: Ordering) -> $value {
                self.inner.load(order)
            }

            fn resource(&self, rt: Handle) -> rt::ResourceId {
                self.slot.resource(rt, ResourceKind::Atomic, || State::Plain)
            }

            fn shown(value: $value, rt: Handle) -> u64 {
                value.shown(rt)
            }

            fn of_shown(shown: u64, rt: Handle) -> $value {
                Shown::of_shown(shown, rt)
            }
        }

        impl $(<$T>)? fmt::Debug for $Name $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl $(<$T>)? From<$value> for $Name $(<$T>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! fetch_methods {
    ($Name:ident, $value:ty, $($method:ident)*) => {
        impl $Name {
            $(
                #[doc = concat!("As std's `", stringify!($method), "`.")]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    modify(&self.slot, order, || self.inner.load(Ordering::Relaxed), || self.inner.$method(value, order))
                }
            )*
        }
    };
}

macro_rules! integers {
    ($($Name:ident $value:ty;)*) => {$(
        #[doc = concat!("[`std::sync::atomic::", stringify!($Name), "`], under control.")]
        pub struct $Name {
            slot: Slot,
            inner: std::sync::atomic::$Name,
        }
        common_methods!($Name, $value);
        fetch_methods!($Name, $value, fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min);
        impl Default for $Name {
            #[track_caller]
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }
    )*};
}

integers! {
    AtomicU8 u8;
    AtomicU16 u16;
    AtomicU32 u32;
    AtomicU64 u64;
    AtomicUsize usize;
    AtomicI8 i8;
    AtomicI16 i16;
    AtomicI32 i32;
    AtomicI64 i64;
    AtomicIsize isize;
}

/// [`std::sync::atomic::AtomicBool`], under control.
pub struct AtomicBool {
    slot: Slot,
    inner: std::sync::atomic::AtomicBool,
}
common_methods!(AtomicBool, bool);
fetch_methods!(AtomicBool, bool, fetch_and fetch_nand fetch_or fetch_xor);

impl AtomicBool {
    /// As std's `fetch_not`.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        modify(&self.slot, order, || self.inner.load(Ordering::Relaxed), || self.inner.fetch_not(order))
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}

/// [`std::sync::atomic::AtomicPtr`], under control.
pub struct AtomicPtr<T> {
    slot: Slot,
    inner: std::sync::atomic::AtomicPtr<T>,
}
common_methods!(AtomicPtr, *mut T, T);

impl<T> AtomicPtr<T> {
    /// Changes the address and keeps the provenance, as one step.
    #[inline]
    #[track_caller]
    fn fetch_address(&self, order: Ordering, change: impl Fn(usize) -> usize) -> *mut T {
        modify(
            &self.slot,
            order,
            || self.inner.load(Ordering::Relaxed),
            || {
                let changed = |old: *mut T| Some(old.map_addr(&change));
                self.inner.fetch_update(order, Ordering::Relaxed, changed).unwrap_or_else(|old| old)
            },
        )
    }

    /// As std's `fetch_ptr_add`.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_add(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_byte_add(value.wrapping_mul(size_of::<T>()), order)
    }

    /// As std's `fetch_ptr_sub`.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_sub(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_byte_sub(value.wrapping_mul(size_of::<T>()), order)
    }

    /// As std's `fetch_byte_add`.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_add(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_address(order, |address| address.wrapping_add(value))
    }

    /// As std's `fetch_byte_sub`.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_sub(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_address(order, |address| address.wrapping_sub(value))
    }

    /// As std's `fetch_or`.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_address(order, |address| address | value)
    }

    /// As std's `fetch_and`.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_address(order, |address| address & value)
    }

    /// As std's `fetch_xor`.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, value: usize, order: Ordering) -> *mut T {
        self.fetch_address(order, |address| address ^ value)
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// As [`std::sync::atomic::fence`]: a step of its own; everything is `SeqCst` already.
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    std::sync::atomic::fence(order);
    let site = rt::here();
    if let Some(rt) = rt::current() {
        rt.step(Operation::new(OpKind::Fence, rt::ResourceId::NONE, site));
    }
}

/// As [`std::sync::atomic::compiler_fence`]: nothing that a schedule could show.
#[inline]
pub fn compiler_fence(order: Ordering) {
    std::sync::atomic::compiler_fence(order);
}

/// As [`std::sync::atomic::spin_loop_hint`], deprecated there too: gives others their turn.
#[inline]
#[track_caller]
#[deprecated(note = "use `hint::spin_loop` instead")]
pub fn spin_loop_hint() {
    match rt::current() {
        Some(rt) => {
            rt::bare(rt, OpKind::Yield, 0);
        }
        None => std::hint::spin_loop(),
    }
}

macro_rules! initial_values {
    ($($NAME:ident $Type:ident $value:literal;)*) => {$(
        #[doc = concat!("As [`std::sync::atomic::", stringify!($NAME), "`], deprecated there too.")]
        #[allow(clippy::declare_interior_mutable_const)]
        #[deprecated(note = "use `new` instead")]
        pub const $NAME: $Type = $Type::new($value);
    )*};
}

initial_values! {
    ATOMIC_BOOL_INIT AtomicBool false;
    ATOMIC_ISIZE_INIT AtomicIsize 0;
    ATOMIC_USIZE_INIT AtomicUsize 0;
}

macro_rules! labelled {
    ($($Name:ident $(<$T:ident>)?;)*) => {$(
        impl $(<$T>)? crate::label::Labelled for $Name $(<$T>)? {
            fn id(&self, rt: Handle) -> Option<rt::ResourceId> {
                Some(self.slot.resource(rt, ResourceKind::Atomic, || State::Plain))
            }
        }
    )*};
}

labelled! {
    AtomicU8; AtomicU16; AtomicU32; AtomicU64; AtomicUsize; AtomicI8; AtomicI16; AtomicI32; AtomicI64; AtomicIsize;
    AtomicBool; AtomicPtr<T>;
}
