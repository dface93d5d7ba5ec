//! Calls of functions that are not written in Python.

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use super::attributes::{all_attributes, local_of, named};
use super::formats::format;
use super::items::{Use, dict_item, list_item, seek};
use super::objects::{is_dict, is_list, is_own, is_slice, method_of, type_of};
use super::whole::{begin, called_back, look_through, looked_up, next, referents, size, whole};
use super::{Access, DEEP, Part, Touched};
use crate::code::Op;
use crate::effects::{Effect, effect_of, method_function};
use crate::layout::Operands;
use crate::native::{LockOp, acquisition};
use crate::raise::is_by_program;
use crate::world::{aside, world};

/// A `with` calls a method of its context; from 3.14 on that is a call like any other.
pub(super) fn enter(context: *mut PyObject, operands: &Operands, touched: &mut Touched) {
    let method = method_of(type_of(context), c"__enter__");
    if !method.is_null() {
        called(method, context, &[], Passed { frame: Some(operands), names_timeout: false }, touched);
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
    called(callable, object, &arguments, Passed { frame: Some(operands), names_timeout: op.name != 0 }, touched);
    if touched.substituted {
        let slot = if op.c & 3 == 2 && operands.peek(at).is_null() { at - 1 } else { at };
        substitute(slot, operands);
    }
}

pub(super) fn call_ex(op: &Op, operands: &Operands, touched: &mut Touched) {
    let at = usize::from(op.a);
    let (callable, arguments) = (operands.peek(at), operands.peek(usize::from(op.b)));
    // SAFETY: live operands.
    unsafe {
        let mut items: Vec<_> = if ffi::PyTuple_Check(arguments) != 0 {
            (0..ffi::PyTuple_GET_SIZE(arguments)).map(|i| ffi::PyTuple_GET_ITEM(arguments, i)).collect()
        } else if is_list(arguments) {
            look_through(arguments, 1, Some(operands), touched);
            (0..ffi::PyList_GET_SIZE(arguments)).map(|i| ffi::PyList_GET_ITEM(arguments, i)).collect()
        } else if effect_of(callable).0 == Effect::Pure {
            // Code in Python is seen, whatever it is given: `f(*(g(x) for x in items))`.
            look_through(arguments, 1, Some(operands), touched);
            Vec::new()
        } else {
            return touched.not_known("a call with arguments that are neither a tuple nor a list");
        };
        if op.c == 1 {
            // The names of arguments, and these.
            let named = operands.peek(usize::from(op.b) - 1);
            look_through(named, 1, Some(operands), touched);
            if !named.is_null() && is_dict(named) {
                referents(named, |inner| items.push(inner));
            }
        }
        called(callable, std::ptr::null_mut(), &items, Passed { frame: None, names_timeout: false }, touched);
        if touched.substituted {
            substitute(at, operands);
        }
    }
}

/// What others do not obey, such as the clock, gives way to what they do.
fn substitute(slot: usize, operands: &Operands) {
    // SAFETY: callbacks run with the interpreter's lock, and operands are live.
    let py = unsafe { pyo3::Python::assume_gil_acquired() };
    // SAFETY: as above.
    let callable = unsafe { pyo3::Bound::from_borrowed_ptr(py, operands.peek(slot)) };
    let Some(substitute) = world().substitute.as_ref().map(|substitute| substitute.clone_ref(py)) else { return };
    match aside(|| substitute.call1(py, (callable,))) {
        // SAFETY: it is called in the same way.
        Ok(instead) => unsafe { operands.replace(slot, instead.into_ptr()) },
        Err(error) => error.print(py),
    }
}

/// How the arguments of a call are passed.
pub(super) struct Passed<'a> {
    /// On the stack of this frame; none, if in a tuple.
    frame: Option<&'a Operands>,
    /// One of them is called `timeout`.
    names_timeout: bool,
}

impl Passed<'_> {
    /// How many references to `object` are the caller's own.
    fn count(&self, object: *mut PyObject) -> usize {
        self.frame.map_or(1, |frame| frame.count(object))
    }
}

pub(super) fn called(
    callable: *mut PyObject,
    object: *mut PyObject,
    arguments: &[*mut PyObject],
    passed: Passed<'_>,
    touched: &mut Touched,
) {
    let (effect, bound) = effect_of(callable);
    if touched.only_locks && !effect.is_of_locks() {
        return;
    }
    if effect == Effect::Pure || asks_for_type(callable, arguments) {
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
    if touched.only_locks && effect.is_of_attribute() {
        local_of(if effect.is_of_self() { object } else { argument(0) }, touched);
        return;
    }
    let read_arguments = |levels: u32, touched: &mut Touched| {
        for argument in arguments.iter().filter(|argument| !argument.is_null()) {
            look_through(*argument, levels, passed.frame, touched);
        }
    };
    if effect.is_of_self() && object.is_null() {
        return;
    }
    touched.at_first = match effect {
        Effect::AttrGet | Effect::AttrSet | Effect::SelfAttrGet | Effect::SelfAttrSet | Effect::Size => true,
        // It sorts a copy.
        Effect::ReadArguments | Effect::DeepRead => callable as usize == world().types.sorted,
        _ => false,
    };
    // SAFETY: live operands.
    let is_function = |argument: &*mut PyObject| unsafe { ffi::PyCallable_Check(*argument) != 0 };
    if arguments.iter().any(is_function) && calls_arguments(effect, callable) {
        arguments.iter().for_each(|argument| {
            called_back(*argument, touched);
        });
    }
    match effect {
        Effect::Pure => {}
        Effect::Begin => arguments.iter().for_each(|argument| begin(*argument, passed.frame, touched)),
        Effect::ReadArguments => read_arguments(1, touched),
        Effect::DeepRead | Effect::Lookup | Effect::Format => {
            if effect != Effect::DeepRead {
                arguments.iter().for_each(|argument| looked_up(*argument, touched));
            }
            look_through(object, DEEP, passed.frame, touched);
            read_arguments(DEEP, touched);
            if effect == Effect::Format {
                format(object, arguments, name_of(callable).contains("format_map"), touched);
            }
        }
        Effect::ReadSelf => {
            look_through(object, 1, passed.frame, touched);
            read_arguments(1, touched);
        }
        Effect::Seek => seek(object, argument(0), true, passed.frame, touched),
        Effect::StoreSelf => whole(object, true, 1, touched),
        Effect::WriteSelf => {
            whole(object, true, 1, touched);
            read_arguments(1, touched);
        }
        Effect::WriteDeep => {
            whole(object, true, DEEP, touched);
            read_arguments(DEEP, touched);
        }
        Effect::WriteFirst if argument(0).is_null() => {}
        Effect::WriteFirst => {
            whole(argument(0), true, DEEP, touched);
            arguments[1..].iter().for_each(|argument| look_through(*argument, DEEP, passed.frame, touched));
        }
        Effect::Size if argument(0).is_null() => {}
        Effect::Size => size(argument(0), touched),
        Effect::ItemGet | Effect::ItemLoad | Effect::ItemSet | Effect::ItemRemove if argument(0).is_null() => {}
        Effect::ItemGet if is_dict(object) => dict_item(object, argument(0), Use::Get, touched),
        Effect::ItemLoad if is_dict(object) => dict_item(object, argument(0), Use::Load, touched),
        Effect::ItemGet | Effect::ItemLoad => whole(object, false, 1, touched),
        Effect::ItemSet if is_dict(object) => dict_item(object, argument(0), Use::Set, touched),
        Effect::ItemSet if is_list(object) => {
            list_item(object, argument(0), Use::Set, touched);
            // What a slice becomes is looked through.
            if is_slice(argument(0)) {
                look_through(argument(1), 1, passed.frame, touched);
            }
        }
        Effect::ItemRemove if is_dict(object) => dict_item(object, argument(0), Use::Remove, touched),
        Effect::ItemSet | Effect::ItemRemove => whole(object, true, 1, touched),
        Effect::AttrGet | Effect::AttrSet => {
            named(argument(0), argument(1), effect == Effect::AttrSet, touched);
        }
        Effect::SelfAttrGet | Effect::SelfAttrSet => {
            named(object, argument(0), effect == Effect::SelfAttrSet, touched);
        }
        Effect::WholeObject => {
            let object = if object.is_null() { argument(0) } else { object };
            if !object.is_null() {
                all_attributes(object, touched);
                // Of what has no attributes, its content.
                look_through(object, 1, passed.frame, touched);
            }
        }
        Effect::Next if argument(0).is_null() => {}
        Effect::Next => next(argument(0), passed.count(argument(0)), touched),
        Effect::NextSelf => next(object, passed.count(object), touched),
        Effect::LockAcquire => touched.lock = Some((object, acquisition(arguments, passed.names_timeout))),
        Effect::LockRelease => touched.lock = Some((object, LockOp::Release)),
        Effect::LockReleaseAll => touched.lock = Some((object, LockOp::ReleaseAll)),
        Effect::LockAcquireAgain => touched.lock = Some((object, LockOp::AcquireAgain)),
        Effect::LockQuery => touched.lock = Some((object, LockOp::Query)),
        Effect::LockOther => touched.lock = Some((object, LockOp::Other)),
        Effect::Cached => {
            world().remember_to_forget(cache_of(callable));
            touched.add(Access::new(cache_of(callable), Part::All, true));
        }
        Effect::Foreign if arguments.iter().all(|argument| is_own(*argument, passed.frame)) => {}
        Effect::Substituted => touched.substituted = true,
        Effect::Foreign | Effect::Unknown => {
            // SAFETY: a live operand.
            touched.of_life = unsafe { ffi::PyWeakref_CheckRef(callable) != 0 };
            // What libraries keep track of by weak references is up to them.
            if !touched.of_life || is_by_program() {
                touched.not_known(&name_of(callable));
            }
        }
    }
}

/// What remembers, be it called as a method.
fn cache_of(callable: *mut PyObject) -> *mut PyObject {
    // SAFETY: a live operand.
    unsafe {
        if ffi::Py_TYPE(callable) as usize == world().types.cached { callable } else { method_function(callable) }
    }
}

/// Whether it is asked of what type an object is: that does not change.
fn asks_for_type(callable: *mut PyObject, arguments: &[*mut PyObject]) -> bool {
    callable == (&raw mut ffi::PyType_Type).cast() && arguments.len() == 1
}

/// Whether a function may call what it is given: a key to sort by, say.
fn calls_arguments(effect: Effect, callable: *mut PyObject) -> bool {
    match effect {
        Effect::ReadArguments | Effect::DeepRead | Effect::WriteFirst => true,
        Effect::WriteDeep => name_of(callable).contains("sort"),
        _ => false,
    }
}

/// A function, as people know it.
pub(super) fn name_of(callable: *mut PyObject) -> String {
    // SAFETY: a live operand, and the interpreter's lock.
    let callable = unsafe { pyo3::Bound::from_borrowed_ptr(pyo3::Python::assume_gil_acquired(), callable) };
    // Not as it shows itself: that says where it lies.
    let name = callable.getattr("__qualname__").or_else(|_| callable.getattr("__name__"));
    match name.or_else(|_| callable.get_type().qualname().map(|kind| kind.into_any())) {
        Ok(name) => format!("a call of `{name}`"),
        Err(_) => "a call".to_owned(),
    }
}

impl Effect {
    /// Whether it may be about a lock, or what each thread has its own of; or something else is to be called.
    fn is_of_locks(self) -> bool {
        use Effect::*;
        self.is_of_attribute()
            || matches!(
                self,
                LockAcquire | LockRelease | LockReleaseAll | LockAcquireAgain | LockQuery | LockOther | Substituted
            )
    }

    fn is_of_attribute(self) -> bool {
        matches!(self, Effect::AttrGet | Effect::AttrSet | Effect::SelfAttrGet | Effect::SelfAttrSet)
    }

    fn is_of_self(self) -> bool {
        use Effect::*;
        matches!(
            self,
            ReadSelf
                | Seek
                | WriteSelf
                | StoreSelf
                | WriteDeep
                | Format
                | ItemGet
                | ItemLoad
                | ItemSet
                | ItemRemove
                | SelfAttrGet
                | SelfAttrSet
                | NextSelf
                | LockAcquire
                | LockRelease
                | LockReleaseAll
                | LockAcquireAgain
                | LockQuery
                | LockOther
        )
    }
}
