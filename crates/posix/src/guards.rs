//! Variables of functions of C++, which are initialised once. Their guard is a byte that is not 0 when that has happened.

use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::barriers;
use crate::objects::At;

/// Defines what the linker's `--wrap` calls for functions that are in the program itself: the real one has a name of its own then, and elsewhere
/// there is none.
macro_rules! guards {
    ($($name:ident, $real:ident, $wrap:ident, ($($argument:ident: $type:ty),*) -> $result:ty |$at:ident| $body:block)*) => {$(
        #[cfg(target_arch = "x86_64")]
        std::arch::global_asm!(
            ".text", concat!(".weak __real_", stringify!($name)), concat!(stringify!($real), ":"),
            concat!("mov rax, qword ptr [rip + __real_", stringify!($name), "@GOTPCREL]"), "ret",
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::global_asm!(
            ".text", concat!(".weak __real_", stringify!($name)), concat!(stringify!($real), ":"),
            concat!("adrp x0, :got:__real_", stringify!($name)),
            concat!("ldr x0, [x0, :got_lo12:__real_", stringify!($name), "]"), "ret",
        );
        unsafe extern "C" {
            fn $real() -> *mut c_void;
        }

        #[unsafe(export_name = concat!("__wrap_", stringify!($name)))]
        extern "C" fn $wrap($($argument: $type),*) -> $result {
            if capi::drawloom_task_self() == 0 {
                // SAFETY: whoever calls this under this name was linked with `--wrap`, and has the real function.
                let real = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn($($type),*) -> $result>($real()) };
                return real($($argument),*);
            }
            let $at: At = std::ptr::null();
            $body
        }
    )*};
}

fn is_initialised(guard: *mut c_void, at: At) -> bool {
    capi::drawloom_atomic_load(guard, 1, capi::DRAWLOOM_ACQUIRE, at) != 0
}

guards! {
    __cxa_guard_acquire, real_guard_acquire, guard_acquire, (guard: *mut c_void) -> c_int |at| {
        c_int::from(!is_initialised(guard, at) && barriers::enter(guard, at))
    }
    __cxa_guard_release, real_guard_release, guard_release, (guard: *mut c_void) -> () |at| {
        capi::drawloom_atomic_store(guard, 1, 1, capi::DRAWLOOM_RELEASE, at);
        barriers::finish(guard, true, at);
    }
    __cxa_guard_abort, real_guard_abort, guard_abort, (guard: *mut c_void) -> () |at| { barriers::finish(guard, false, at) }
}
