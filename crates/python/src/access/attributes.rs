//! Attributes, by name and all together.

use pyo3::ffi::{self, PyObject};

use super::aliases::{behind, memory_of_attribute};
use super::items::is_globals;
use super::objects::{is_dict, plain_attribute, type_of};
use super::whole::whole;
use super::{Access, DEEP, Part, Touched};
use crate::native::LockOp;
use crate::world::world;

/// Whether objects of this type are what each thread has its own of.
fn is_local(kind: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: types are live as long as their objects; most have no other base than all have.
    unsafe {
        let is_one = |kind: *mut ffi::PyTypeObject| world().types.locals.contains(&(kind as usize));
        let base = (*kind).tp_base;
        is_one(kind) || (!base.is_null() && base != &raw mut ffi::PyBaseObject_Type && is_one(base))
    }
}

/// Whether `object` is what each thread has its own of, which is noted.
pub(super) fn local_of(object: *mut PyObject, touched: &mut Touched) -> bool {
    let is_one = !object.is_null() && is_local(type_of(object));
    if is_one {
        touched.lock = Some((object, LockOp::Local));
    }
    is_one
}

/// An attribute of `object`.
pub(crate) fn attribute(named: *mut PyObject, name: usize, write: bool, touched: &mut Touched) {
    let object = behind(named);
    touched.of_life |= object != named;
    if memory_of_attribute(object, name, write, touched) {
        return;
    }
    let known = world();
    // SAFETY: names are live strings, operands live objects.
    let dunder = unsafe { is_dunder(name as *mut PyObject) };
    if let Some(dunder) = dunder {
        match dunder {
            "__dict__" if write => return touched.not_known("an assignment to __dict__"),
            "__dict__" => return all_attributes(object, touched),
            "__class__" if write => return touched.not_known("an assignment to __class__"),
            _ => {}
        }
    }
    let kind = type_of(object);
    if kind as usize == known.types.cell {
        return touched.not_known("an attribute of a cell");
    }
    if local_of(object, touched) {
        return;
    }
    // SAFETY: as above.
    unsafe {
        if ffi::PyModule_Check(object) != 0 {
            return touched.name(ffi::PyModule_GetDict(object), name, write);
        }
        if ffi::PyType_Check(object) != 0 && write {
            known.class_is_written(name);
        }
    }
    touched.name(object, name, write);
}

/// The text of a name that begins and ends with two underscores.
pub(super) unsafe fn is_dunder<'a>(name: *mut PyObject) -> Option<&'a str> {
    // SAFETY: the caller has a live string.
    unsafe {
        let mut length = 0;
        let text = ffi::PyUnicode_AsUTF8AndSize(name, &raw mut length);
        if text.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        let text = std::str::from_utf8(std::slice::from_raw_parts(text.cast::<u8>(), length as usize)).ok()?;
        (text.starts_with("__") && text.ends_with("__")).then_some(text)
    }
}

/// All attributes of `object`; from now on its dict stands for it.
pub(super) fn all_attributes(object: *mut PyObject, touched: &mut Touched) {
    let object = behind(object);
    // SAFETY: as above. Who has no dict has no attributes that could be looked at so.
    unsafe {
        if ffi::PyType_Check(object) != 0 {
            return touched.not_known("the __dict__ of a class");
        }
        if ffi::PyModule_Check(object) != 0 {
            // Its names are those of its dict.
            let (known, dict) = (world(), ffi::PyModule_GetDict(object));
            known.attributes_of.insert(dict as usize, dict as usize);
            return known.keep(dict);
        }
        let dict = ffi::PyObject_GenericGetDict(object, std::ptr::null_mut());
        if dict.is_null() {
            // It may have slots.
            ffi::PyErr_Clear();
        } else {
            let known = world();
            known.attributes_of.insert(dict as usize, object as usize);
            known.keep(object);
            known.keep(dict);
            ffi::Py_DECREF(dict);
        }
    }
    touched.add(Access::new(object, Part::Names, false));
}

/// An attribute whose name is text, and what it is.
pub(super) fn shown_by(object: *mut PyObject, name: &str, touched: &mut Touched) {
    // SAFETY: callbacks run with the interpreter's lock.
    let name = pyo3::types::PyString::new(unsafe { pyo3::Python::assume_gil_acquired() }, name);
    named(object, name.as_ptr(), false, touched);
    match plain_attribute(object, name.as_ptr()) {
        Ok(None) => {}
        // Others have it, too: it is kept by its object.
        Ok(Some(value)) => whole(value.as_ptr(), false, DEEP, touched),
        Err(()) => touched.not_known("an attribute that a format shows, and code in Python makes"),
    }
}

/// An attribute whose name is an object.
pub(super) fn named(object: *mut PyObject, name: *mut PyObject, write: bool, touched: &mut Touched) {
    // SAFETY: live operands.
    unsafe {
        if object.is_null() || name.is_null() || ffi::PyUnicode_CheckExact(name) == 0 {
            return touched.not_known("an attribute whose name is no string");
        }
        let mut interned = name;
        ffi::Py_INCREF(interned);
        ffi::PyUnicode_InternInPlace(&raw mut interned);
        // Kept for good, as the names in codes are: it is known by its address.
        let known = world();
        if !known.names.insert(interned as usize) {
            ffi::Py_DECREF(interned);
        }
        match is_dict(object) && is_globals(object) {
            true => touched.name(object, interned as usize, write),
            false => attribute(object, interned as usize, write, touched),
        }
    }
}
