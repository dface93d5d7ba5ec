//! The functions that this library stands before.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next definition of a function after ours, found when it is first needed.
pub(crate) struct Real {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Real {
        Real { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address. A program that calls what its C library does not have would not have started without us.
    #[inline]
    pub(crate) fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a lookup by a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            // SAFETY: nothing can be done without it, and nobody else is harmed.
            unsafe { libc::abort() };
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// Defines functions of the C library in its place. `real` makes the call as it would have been made.
///
/// Functions with a variable number of arguments are defined with as many as are ever used: both calling conventions of
/// Linux that we are built for pass these in the same registers, and what was not passed is passed on unread.
macro_rules! define {
    ($(fn $name:ident($($arg:ident: $kind:ty),* $(,)?) -> $result:ty = |$real:ident| $body:expr;)*) => {$(
        #[allow(unused_unsafe)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $kind),*) -> $result {
            static REAL: $crate::real::Real = $crate::real::Real::new(
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                },
            );
            #[allow(unused_mut)]
            let mut $real = || -> $result {
                // SAFETY: the function of that name in the C library has this signature, and gets what we were given.
                unsafe {
                    let real: unsafe extern "C" fn($($kind),*) -> $result = std::mem::transmute(REAL.get());
                    real($($arg),*)
                }
            };
            // SAFETY: callers pass what the function itself asks for.
            unsafe { $body }
        }
    )*};
}

/// The same, for what is of concern only to an exploration: `hooks` are there only if the call is to be looked at.
macro_rules! interpose {
    ($(fn $name:ident($($arg:ident: $kind:ty),* $(,)?) -> $result:ty = |$hooks:ident, $real:ident| $body:expr;)*) => {
        $crate::real::define! {$(
            fn $name($($arg: $kind),*) -> $result = |$real| {
                let Some($hooks) = $crate::hooked::hooks() else { return $real() };
                $body
            };
        )*}
    };
}

pub(crate) use {define, interpose};
