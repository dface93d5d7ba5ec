//! Calls of functions that are not written in Python.

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use super::attributes::{all_attributes, named};
use super::items::{dict_item, dict_read, list_item};
use super::objects::{is_dict, is_list, type_of};
use super::whole::{look_through, next, whole};
use super::{DEEP, Touched};
use crate::code::Op;
use crate::effects::{Effect, effect_of};
use crate::layout::Operands;
use crate::native::LockOp;
use crate::world::world;

pub(super) fn enter(context: *mut PyObject, touched: &mut Touched) {
    if world().types.locks.contains(&(type_of(context) as usize)) {
        touched.lock = Some((context, LockOp::Acquire));
    }
}

/// What `acquire` does with these arguments.
pub(super) fn acquisition(arguments: &[*mut PyObject]) -> LockOp {
    // SAFETY: these live as long as the interpreter.
    let (yes, no) = unsafe { (ffi::Py_True(), ffi::Py_False()) };
    match arguments {
        [] => LockOp::Acquire,
        [only] if *only == yes => LockOp::Acquire,
        [only] if *only == no => LockOp::TryAcquire,
        _ => LockOp::Other,
    }
}

pub(super) fn call(op: &Op, operands: &Operands, touched: &mut Touched) {
    let (at, count) = (usize::from(op.a), usize::from(op.b));
    let (mut callable, extra) = (operands.peek(at), usize::from(op.c >> 2));
    // Where the object of a method lies, if there is one: above the callable, or in place of it.
    let above = operands.peek(at - 1);
    let object = match op.c & 3 {
        // The callable, then its object or null.
        1 => above,
        // A method and its object; or null, and the callable.
        2 if callable.is_null() => {
            callable = above;
            std::ptr::null_mut()
        }
        2 => above,
        _ => std::ptr::null_mut(),
    };
    let arguments: Vec<*mut PyObject> = (0..count).map(|i| operands.peek(count + extra - i)).collect();
    called(callable, object, &arguments, touched);
}

pub(super) fn call_ex(callable: *mut PyObject, arguments: *mut PyObject, touched: &mut Touched) {
    // SAFETY: live operands.
    unsafe {
        if ffi::PyTuple_Check(arguments) == 0 {
            return touched.not_known("a call with arguments that are no tuple");
        }
        let size = ffi::PyTuple_GET_SIZE(arguments);
        let items: Vec<_> = (0..size).map(|i| ffi::PyTuple_GET_ITEM(arguments, i)).collect();
        called(callable, std::ptr::null_mut(), &items, touched);
    }
}

pub(super) fn called(
    callable: *mut PyObject,
    object: *mut PyObject,
    arguments: &[*mut PyObject],
    touched: &mut Touched,
) {
    let (effect, bound) = effect_of(callable);
    if effect == Effect::Pure {
        return;
    }
    // What lies where the object would is the first argument of one that is bound already, as the exit of a context is.
    let with_first = [&[object], arguments].concat();
    // Of a method that is not bound, the object is the first argument.
    let (object, arguments) = match (object.is_null(), bound.is_null(), arguments) {
        (false, false, _) => (bound, &with_first[..]),
        (false, true, rest) => (object, rest),
        (true, false, rest) => (bound, rest),
        (true, true, [first, rest @ ..]) if effect.is_of_self() => (*first, rest),
        (true, true, rest) => (object, rest),
    };
    let argument = |n: usize| arguments.get(n).copied().unwrap_or(std::ptr::null_mut());
    let read_arguments = |levels: u32, touched: &mut Touched| {
        for argument in arguments.iter().filter(|argument| !argument.is_null()) {
            look_through(*argument, levels, touched);
        }
    };
    if effect.is_of_self() && object.is_null() {
        return;
    }
    match effect {
        Effect::Pure => {}
        Effect::ReadArguments => read_arguments(1, touched),
        Effect::DeepRead => read_arguments(DEEP, touched),
        Effect::ReadSelf => {
            whole(object, false, 1, touched);
            read_arguments(1, touched);
        }
        Effect::WriteSelf => {
            whole(object, true, 1, touched);
            read_arguments(1, touched);
        }
        Effect::WriteFirst if argument(0).is_null() => {}
        Effect::WriteFirst => whole(argument(0), true, 1, touched),
        Effect::ItemGet | Effect::ItemSet if argument(0).is_null() => {}
        Effect::ItemGet if is_dict(object) => dict_read(object, argument(0), touched),
        Effect::ItemGet => whole(object, false, 1, touched),
        Effect::ItemSet if is_dict(object) => dict_item(object, argument(0), true, false, touched),
        Effect::ItemSet if is_list(object) => list_item(object, argument(0), true, false, touched),
        Effect::ItemSet | Effect::ItemChange => whole(object, true, 1, touched),
        Effect::AttrGet | Effect::AttrSet => {
            named(argument(0), argument(1), effect == Effect::AttrSet, touched);
        }
        Effect::SelfAttrGet | Effect::SelfAttrSet => {
            named(object, argument(0), effect == Effect::SelfAttrSet, touched);
        }
        Effect::WholeObject if argument(0).is_null() => {}
        Effect::WholeObject => all_attributes(argument(0), touched),
        Effect::Next if argument(0).is_null() => {}
        Effect::Next => next(argument(0), touched),
        Effect::LockAcquire => touched.lock = Some((object, acquisition(arguments))),
        Effect::LockRelease => touched.lock = Some((object, LockOp::Release)),
        Effect::LockQuery => touched.lock = Some((object, LockOp::Query)),
        Effect::LockOther => touched.lock = Some((object, LockOp::Other)),
        Effect::Unknown => touched.not_known(&name_of(callable)),
    }
}

/// A function, as people know it.
pub(super) fn name_of(callable: *mut PyObject) -> String {
    // SAFETY: a live operand, and the interpreter's lock.
    let callable = unsafe { pyo3::Bound::from_borrowed_ptr(pyo3::Python::assume_gil_acquired(), callable) };
    let name = callable.getattr("__qualname__").or_else(|_| callable.repr().map(|repr| repr.into_any()));
    name.map_or_else(|_| "a call".to_owned(), |name| format!("a call of `{name}`"))
}

impl Effect {
    fn is_of_self(self) -> bool {
        use Effect::*;
        matches!(
            self,
            ReadSelf
                | WriteSelf
                | ItemGet
                | ItemSet
                | ItemChange
                | SelfAttrGet
                | SelfAttrSet
                | LockAcquire
                | LockRelease
                | LockQuery
                | LockOther
        )
    }
}
