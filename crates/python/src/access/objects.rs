//! What kind of object an operand is.

use std::ffi::CStr;

use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::{Py, PyAny, Python};

use super::whole::referents;
use crate::layout::Operands;
use crate::world::world;

pub(super) fn type_of(object: *mut PyObject) -> *mut PyTypeObject {
    // SAFETY: operands are live objects.
    unsafe { ffi::Py_TYPE(object) }
}

pub(super) fn is_list(object: *mut PyObject) -> bool {
    // SAFETY: as above.
    unsafe { ffi::PyList_Check(object) != 0 }
}

pub(super) fn is_dict(object: *mut PyObject) -> bool {
    // SAFETY: as above.
    unsafe { ffi::PyDict_Check(object) != 0 }
}

pub(super) fn is_slice(object: *mut PyObject) -> bool {
    type_of(object) == &raw mut ffi::PySlice_Type
}

pub(super) fn is_text(object: *mut PyObject) -> bool {
    // SAFETY: as above.
    unsafe { ffi::PyUnicode_Check(object) != 0 || ffi::PyBytes_Check(object) != 0 }
}

pub(super) fn is_container(object: *mut PyObject) -> bool {
    is_list(object) || is_dict(object) || is_other_container(object)
}

pub(super) fn is_other_container(object: *mut PyObject) -> bool {
    let kind = type_of(object);
    world().types.containers.contains(&(kind as usize)) || (is_python_type(kind) && is_other_base(kind))
}

/// An iterator or a view: what it refers to is what it reads.
pub(super) fn is_view(object: *mut PyObject) -> bool {
    world().types.views.contains(&(type_of(object) as usize))
}

/// Whoever goes on with it runs its code, and finds it running if somebody else does already.
pub(super) fn is_generator(object: *mut PyObject) -> bool {
    // SAFETY: as above.
    !object.is_null() && unsafe { ffi::PyGen_Check(object) != 0 }
}

/// A class written in Python that is a set or a deque.
pub(super) fn is_other_base(mut kind: *mut PyTypeObject) -> bool {
    while !kind.is_null() {
        if world().types.containers.contains(&(kind as usize)) {
            return true;
        }
        // SAFETY: bases of a live type are live.
        kind = unsafe { (*kind).tp_base };
    }
    false
}

/// Whether a class is written in Python: what its methods do is seen when they do it.
pub(crate) fn is_python_type(kind: *mut PyTypeObject) -> bool {
    let probe = world().types.probe as *mut PyTypeObject;
    // SAFETY: both are live types.
    unsafe { !probe.is_null() && (*kind).tp_dealloc.map(|f| f as usize) == (*probe).tp_dealloc.map(|f| f as usize) }
}

/// The class that one in Python inherits from, at last, and that is not.
pub(crate) fn base_of(mut kind: *mut ffi::PyTypeObject) -> *mut ffi::PyTypeObject {
    // SAFETY: bases of a live type are live.
    while is_python_type(kind) && !unsafe { (*kind).tp_base }.is_null() {
        // SAFETY: as above.
        kind = unsafe { (*kind).tp_base };
    }
    kind
}

/// Whether a container whose class is written in Python has this method from what it inherits from: one of its kind
/// that is written in Python is enough for it to be found by its name.
pub(super) fn inherits(container: *mut PyObject, method: &CStr) -> bool {
    if !is_container(container) {
        return false;
    }
    let found = method_of(type_of(container), method);
    // SAFETY: what was found is live as long as its type.
    !found.is_null() && unsafe { ffi::Py_TYPE(found) != &raw mut ffi::PyFunction_Type }
}

/// What a class or what it inherits from has by this name; or null.
pub(crate) fn method_of(kind: *mut PyTypeObject, method: &CStr) -> *mut PyObject {
    // SAFETY: a live type; the name is a new reference, given back.
    unsafe {
        let name = ffi::PyUnicode_InternFromString(method.as_ptr());
        let found = _PyType_Lookup(kind, name);
        ffi::Py_DECREF(name);
        found
    }
}

/// What an object has by this name, if it takes no code in Python to get it; `Err` if it does.
pub(super) fn plain_attribute(object: *mut PyObject, name: *mut PyObject) -> Result<Option<Py<PyAny>>, ()> {
    // SAFETY: a live object and a live string; what is found is live as long as the type, and the value is a new reference.
    unsafe {
        let found = _PyType_Lookup(type_of(object), name);
        let of_python =
            !found.is_null() && is_python_type(ffi::Py_TYPE(found)) && (*ffi::Py_TYPE(found)).tp_descr_get.is_some();
        if of_python || (!found.is_null() && ffi::Py_TYPE(found) == &raw mut ffi::PyProperty_Type) {
            return Err(());
        }
        let value = ffi::PyObject_GenericGetAttr(object, name);
        if value.is_null() {
            // There may be a method in Python for what is missing.
            ffi::PyErr_Clear();
            return Ok(None);
        }
        Ok(Some(Py::from_owned_ptr(Python::assume_gil_acquired(), value)))
    }
}

unsafe extern "C" {
    fn _PyType_Lookup(kind: *mut PyTypeObject, name: *mut PyObject) -> *mut PyObject;
}

/// Who alone has a reference to `object` is the stack: nobody else can touch it. Where the operands of `frame` only borrow
/// it, somebody else has it.
pub(super) fn is_private(object: *mut PyObject, frame: Option<&Operands>) -> bool {
    // SAFETY: as above.
    let has_one = unsafe { ffi::Py_REFCNT(object) == 1 };
    has_one && !frame.is_some_and(|frame| frame.borrows(object))
}

/// An argument of a function of a C library that nobody else can get at: it never changes, or nothing but the frame
/// that runs has it, and it leads to nothing else. Of a reference to something, what it refers to must be so.
pub(super) fn is_own(object: *mut PyObject, frame: Option<&Operands>) -> bool {
    if object.is_null() || world().types.pure.contains(&(type_of(object) as usize)) {
        return true;
    }
    // SAFETY: as above; a new reference is given back.
    unsafe {
        if CStr::from_ptr((*type_of(object)).tp_name) != c"CArgObject" {
            return is_of_frame_alone(object, 0, frame);
        }
        let inner = ffi::PyObject_GetAttrString(object, c"_obj".as_ptr());
        if inner.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        // Besides, the reference has it, and so have we.
        let own = is_private(object, frame) && is_of_frame_alone(inner, 2, frame);
        ffi::Py_DECREF(inner);
        own
    }
}

/// Whether nobody has `object` but the frame that runs and `others` that are known, and it leads to nothing else.
unsafe fn is_of_frame_alone(object: *mut PyObject, others: usize, frame: Option<&Operands>) -> bool {
    // SAFETY: as above.
    unsafe {
        let references = usize::try_from(ffi::Py_REFCNT(object)).unwrap_or(usize::MAX);
        // Of what the garbage collector does not know it cannot be told where it leads.
        let is_told = ffi::PyByteArray_CheckExact(object) != 0 || ffi::PyObject_IS_GC(object) != 0;
        let mut leads_on = false;
        referents(object, |inner| leads_on |= ffi::PyType_Check(inner) == 0);
        is_told && !leads_on && frame.is_some_and(|frame| frame.count(object) + others == references)
    }
}
