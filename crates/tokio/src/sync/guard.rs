//! What the guards of [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock) have in common.

use std::sync::Arc;

use drawloom::object::Object;

use super::permits::{Permits, Place, release};

/// A lock whose users hold permits.
pub trait Lock {
    #[doc(hidden)]
    fn permits(&self) -> &Permissions;
}

/// The permits of a lock.
#[doc(hidden)]
pub struct Permissions(pub(crate) Object<Permits>);

/// Permits of a lock that is kept alive; they are given back when this is dropped.
pub(crate) struct HeldOwned<L: Lock + ?Sized> {
    pub(crate) lock: Arc<L>,
    pub(crate) count: usize,
    pub(crate) place: Place,
}

impl<L: Lock + ?Sized> Drop for HeldOwned<L> {
    fn drop(&mut self) {
        release(&self.lock.permits().0, self.count, self.place);
    }
}

/// Reading through a guard with a field `data`.
macro_rules! reads {
    ([$($generics:tt)*] $guard:ty => $target:ident) => {
        impl<$($generics)*> ::std::ops::Deref for $guard {
            type Target = $target;

            fn deref(&self) -> &$target {
                // SAFETY: `data` points into the lock's value, which lives as long as the guard, and the
                // permits that the guard holds keep away everybody who could write meanwhile.
                unsafe { self.data.as_ref() }
            }
        }

        impl<$($generics)*> ::std::fmt::Debug for $guard
        where
            $target: ::std::fmt::Debug,
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($generics)*> ::std::fmt::Display for $guard
        where
            $target: ::std::fmt::Display,
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&**self, f)
            }
        }
    };
}

/// Reading and writing through a guard with a field `data`.
macro_rules! writes {
    ([$($generics:tt)*] $guard:ty => $target:ident) => {
        reads!([$($generics)*] $guard => $target);

        impl<$($generics)*> ::std::ops::DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut $target {
                // SAFETY: as in `deref`; and the permits are all there are, so nobody reads meanwhile.
                unsafe { self.data.as_mut() }
            }
        }
    };
}

/// `map` and `try_map` from a guard to one of a part of its value. The new guard has the fields `data` and
/// `held` of the old one.
macro_rules! maps {
    ([$($generics:tt)*] $guard:ty => $target:ident, $mapped:ident<$($arguments:tt),*>, $($mutable:ident)?) => {
        maps!([$($generics)*] $guard => $target, $mapped<$($arguments),*>, $($mutable)?; map, try_map);
    };
    ([$($generics:tt)*] $guard:ty => $target:ident, $mapped:ident<$($arguments:tt),*>, $($mutable:ident)?;
        $map:ident, $try_map:ident) => {
        impl<$($generics)*> $guard {
            /// A guard of a part of the value.
            #[allow(unused_mut)]
            pub fn $map<V: ?Sized, F>(mut this: Self, f: F) -> $mapped<$($arguments,)* V>
            where
                F: FnOnce(&$($mutable)? $target) -> &$($mutable)? V,
            {
                let data = ::std::ptr::NonNull::from(f(&$($mutable)? *this));
                $mapped { data, held: this.held, owns: ::std::marker::PhantomData }
            }

            /// A guard of a part of the value, if it has that part.
            #[allow(unused_mut)]
            pub fn $try_map<V: ?Sized, F>(mut this: Self, f: F) -> Result<$mapped<$($arguments,)* V>, Self>
            where
                F: FnOnce(&$($mutable)? $target) -> Option<&$($mutable)? V>,
            {
                let data = match f(&$($mutable)? *this) {
                    Some(part) => ::std::ptr::NonNull::from(part),
                    None => return Err(this),
                };
                Ok($mapped { data, held: this.held, owns: ::std::marker::PhantomData })
            }
        }
    };
}

pub(crate) use {maps, reads, writes};
