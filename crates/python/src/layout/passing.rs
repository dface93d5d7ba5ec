//! Arguments that a caller keeps till it is returned to.
//!
//! From 3.11 on a function takes its arguments from the stack of the frame that calls it. Up to 3.10 it gets references
//! of its own, and those on the stack are dropped when it has returned: nobody works with them any more.

use pyo3::ffi::{self, PyObject};

use super::{Inner, Slot};
use crate::code::{Kind, code_at};

/// How a code object begins.
#[repr(C)]
struct CodeHead {
    _head: [usize; 2],
    arguments: i32,
    /// Those of them that have no names for their callers.
    _by_position: i32,
    arguments_by_name: i32,
}

/// How many references to `object` the caller of `callee` keeps as arguments of the call that `callee` carries out, and
/// for nothing else.
pub(super) fn kept_by_caller(callee: &Inner, object: *mut PyObject) -> usize {
    // SAFETY: a frame that waits for another one to return is live.
    let Some(caller) = (unsafe { callee.previous.as_ref() }) else { return 0 };
    let op = code_at(caller.code.object()).op(caller.lasti as usize);
    // Of code that is not under test it is not known how many operands there are. A generator is none that was called,
    // but one that is resumed, by whoever.
    if op.kind != Kind::Call || op.depth < op.a || !callee.generator.is_null() {
        return 0;
    }
    // SAFETY: so many operands lie on the stack before a call, all of them till it is over. When it is, and an argument
    // dies, something may be called that has the same caller: it has none of those arguments as a parameter of its own.
    unsafe {
        let top = caller.valuestack.add(usize::from(op.depth));
        let mut arguments = usize::from(op.a) - 1;
        if (*top.sub(arguments + 1)).object().is_null() {
            // The form of a method that was none: the callable lies above.
            arguments -= 1;
        }
        let parameters = std::slice::from_raw_parts(callee.localsplus.as_ptr(), parameters(callee));
        if !carries_out(callee, parameters, (*top.sub(arguments + 1)).object()) {
            return 0;
        }
        let passed = (1..=arguments).filter(|n| (*top.sub(*n)).object() == object).count();
        passed.min(parameters.iter().filter(|slot| slot.object() == object).count())
    }
}

/// Whether `callee` carries out the call of what lies in the place of the callable: its function; or, while a bound
/// method is called, the object of that.
unsafe fn carries_out(callee: &Inner, parameters: &[Slot], called: *mut PyObject) -> bool {
    // SAFETY: what is called is live till the call is over.
    unsafe {
        let is_function = ffi::Py_TYPE(called) == &raw mut ffi::PyFunction_Type;
        let is_object = || parameters.first().is_some_and(|first| first.object() == called);
        (is_function && ffi::PyFunction_GetCode(called) == callee.code.object()) || is_object()
    }
}

/// How many variables of a frame are parameters that take one argument each: they come first.
fn parameters(frame: &Inner) -> usize {
    // SAFETY: a frame has a code.
    let code = unsafe { &*frame.code.object().cast::<CodeHead>() };
    (code.arguments + code.arguments_by_name) as usize
}
