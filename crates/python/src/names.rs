//! What resources are called in reports.

use drawloom_gates::Baton;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

use crate::world::{Known, world};

unsafe extern "C" {
    static mut PyCell_Type: ffi::PyTypeObject;
}

/// Names the resources of the execution that has just ended.
pub(crate) fn name_resources(baton: Baton) {
    // SAFETY: explorations are started by Python code.
    let py = unsafe { Python::assume_gil_acquired() };
    let mut named = Vec::new();
    for known in &world().known {
        named.push((known.id, name(py, known)));
    }
    baton.with_engine(|engine| named.iter().for_each(|(id, name)| engine.name_resource(*id, name)));
}

pub(crate) fn name(py: Python<'_>, known: &Known) -> String {
    if known.owner == 0 {
        return match known.part {
            0 => "C code".to_owned(),
            name => format!("*.{}", text(py, name)),
        };
    }
    // SAFETY: owners are kept for the execution.
    let owner = unsafe { Bound::from_borrowed_ptr(py, known.owner as *mut PyObject) };
    let kind = owner.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    if known.owner == world().types.c_data {
        return "memory of C".to_owned();
    }
    // SAFETY: as above.
    if unsafe { ffi::Py_TYPE(owner.as_ptr()) as usize } == world().types.cached {
        return owner.getattr("__name__").map_or(kind, |name| format!("cache of {name}"));
    }
    if known.part == usize::MAX {
        return kind;
    }
    if !known.is_named {
        if owner.is_instance_of::<pyo3::types::PyList>() {
            return format!("list[{}]", known.part - 1);
        }
        let key = world().keys.as_ref().and_then(|keys| {
            let keys = keys.bind(py).downcast::<PyDict>().ok()?;
            keys.iter().find(|(_, n)| n.extract::<usize>().is_ok_and(|n| n + 1 == known.part)).map(|(key, _)| key)
        });
        return key.map_or(kind, |key| format!("dict[{key:?}]"));
    }
    if let Some(module) = owner.downcast::<PyDict>().ok().and_then(|names| names.get_item("__name__").ok()?) {
        return format!("{module}.{}", text(py, known.part));
    }
    // SAFETY: a live object.
    if unsafe { ffi::Py_TYPE(owner.as_ptr()) == &raw mut PyCell_Type } {
        return text(py, known.part);
    }
    if owner.is_instance_of::<PyModule>() || owner.is_instance_of::<pyo3::types::PyType>() {
        let own = owner.getattr("__name__").map_or(kind, |name| name.to_string());
        return format!("{own}.{}", text(py, known.part));
    }
    format!("{kind}.{}", text(py, known.part))
}

/// A name, by its address.
fn text(py: Python<'_>, name: usize) -> String {
    // SAFETY: names are kept for good.
    unsafe { Bound::from_borrowed_ptr(py, name as *mut PyObject) }.to_string()
}
