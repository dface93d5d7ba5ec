//! Objects that stand for others: what is done to them is done to what they stand for.
//!
//! A weak proxy is another name for its object, a read-only view one for its dict. Objects of C have memory, which other
//! objects may have as well, by way of pointers and casts: all of it is one thing.

use std::ffi::CStr;

use pyo3::ffi::{self, PyObject, PyTypeObject};

use super::objects::{method_of, type_of};
use super::{Access, Part, Touched};
use crate::world::world;

/// What a weak proxy stands for, if it is one and its object lives; else the object itself.
pub(super) fn behind(object: *mut PyObject) -> *mut PyObject {
    #[repr(C)]
    struct Reference {
        head: [usize; 2],
        object: *mut PyObject,
    }
    if !world().types.proxies.contains(&(type_of(object) as usize)) {
        return object;
    }
    // SAFETY: a live proxy, which is laid out so; of one whose object is gone it says None.
    let behind = unsafe { (*object.cast::<Reference>()).object };
    // SAFETY: a constant of the interpreter.
    if behind.is_null() || behind == unsafe { ffi::Py_None() } { object } else { behind }
}

/// The mapping that a read-only view shows, if this is one.
pub(super) fn shown_by(view: *mut PyObject) -> Option<*mut PyObject> {
    #[repr(C)]
    struct View {
        head: [usize; 2],
        mapping: *mut PyObject,
    }
    // SAFETY: a live view, which is laid out so.
    (type_of(view) as usize == world().types.mapping_proxy).then(|| unsafe { (*view.cast::<View>()).mapping })
}

/// Whether objects of this type have memory of C.
fn has_memory(kind: *mut PyTypeObject) -> bool {
    let types = &world().types;
    // SAFETY: live types.
    let is = |base: usize| base != 0 && unsafe { ffi::PyType_IsSubtype(kind, base as *mut PyTypeObject) != 0 };
    is(types.c_data) && !is(types.c_function)
}

/// Touches the memory of `object`, if it has some.
pub(super) fn memory(object: *mut PyObject, write: bool, touched: &mut Touched) -> bool {
    let has = has_memory(type_of(object));
    if has {
        touched.add(Access::new(world().types.c_data as *mut PyObject, Part::All, write));
    }
    has
}

/// The same of an attribute, if it is one that lies there: what a class has a descriptor for.
pub(super) fn memory_of_attribute(object: *mut PyObject, name: usize, write: bool, touched: &mut Touched) -> bool {
    let kind = type_of(object);
    if !has_memory(kind) {
        return false;
    }
    // SAFETY: names are live strings, which end with a zero.
    let text = unsafe { ffi::PyUnicode_AsUTF8(name as *mut PyObject) };
    if text.is_null() {
        // SAFETY: with the interpreter's lock.
        unsafe { ffi::PyErr_Clear() };
        return false;
    }
    // SAFETY: as above.
    let found = method_of(kind, unsafe { CStr::from_ptr(text) });
    // SAFETY: what was found is live as long as its type.
    let lies_there = !found.is_null() && unsafe { (*ffi::Py_TYPE(found)).tp_descr_set.is_some() };
    lies_there && memory(object, write, touched)
}
