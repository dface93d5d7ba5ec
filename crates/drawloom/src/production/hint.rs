//! `std::hint`, and a spin loop that tests take for a wait.

pub use std::hint::*;
use std::sync::atomic::*;

pub use crate::until::Atomic;
use crate::until::{Held, spin_natively};

/// Spins until the value of `atomic` meets `condition`, and returns that value. Under test nobody spins: see the
/// controlled face.
#[inline(always)]
pub fn spin_until<A: Atomic>(atomic: &A, order: Ordering, condition: impl Fn(A::Value) -> bool) -> A::Value {
    spin_natively(atomic, order, condition)
}

macro_rules! atomics {
    ($($Name:ident $(<$T:ident>)? = $value:ty;)*) => {$(
        impl $(<$T>)? Atomic for $Name $(<$T>)? {
            type Value = $value;
        }

        impl $(<$T>)? Held<$value> for $Name $(<$T>)? {
            #[inline(always)]
            fn peek(&self, order: Ordering) -> $value {
                self.load(order)
            }
        }
    )*};
}

atomics! {
    AtomicU8 = u8;
    AtomicU16 = u16;
    AtomicU32 = u32;
    AtomicU64 = u64;
    AtomicUsize = usize;
    AtomicI8 = i8;
    AtomicI16 = i16;
    AtomicI32 = i32;
    AtomicI64 = i64;
    AtomicIsize = isize;
    AtomicBool = bool;
    AtomicPtr<T> = *mut T;
}
