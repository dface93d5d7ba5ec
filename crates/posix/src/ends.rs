//! Calls that end the process: within a session they end an execution, as findings.

use std::ffi::{CStr, c_char, c_int, c_uint};

use drawloom_capi as capi;

use crate::objects::At;

fn exits(function: &str, status: c_int, at: At) -> ! {
    capi::fail(format!("the program called {function}({status}) within an execution"), false, at)
}

define! {
    __assert_fail/4(condition: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> () |at| {
        let _ = (file, line, function);
        // SAFETY: the macro `assert` passes a text.
        let condition = unsafe { condition.as_ref().map(|text| CStr::from_ptr(text).to_string_lossy()) };
        capi::fail(format!("assertion failed: {}", condition.unwrap_or_default()), true, at)
    }
    abort/0() -> () |at| { capi::fail("the program called abort()".into(), false, at) }
    exit/1(status: c_int) -> () |at| { exits("exit", status, at) }
    _exit/1(status: c_int) -> () |at| { exits("_exit", status, at) }
    quick_exit/1(status: c_int) -> () |at| { exits("quick_exit", status, at) }
}
