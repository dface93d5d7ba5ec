//! Items that a dict makes when it is asked for them: a `defaultdict`.
//!
//! Where they are made by code in Python others may run meanwhile, and ask for the same item. So the look is one step, and
//! the store is another one: in between, what makes items is called here, since where the interpreter does all of it
//! there is no instruction before the store. The instruction itself then finds the item.

use drawloom_gates::Baton;
use pyo3::exceptions::PyKeyError;
use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;

use super::items::is_plain;
use super::objects::inherits;
use super::{Access, Fills, Part, Touched};
use crate::code::Op;
use crate::containers::{CHANGED, FILLED};
use crate::effects::{Effect, effect_of, runs_python};
use crate::steps::{NotDone, one_access};
use crate::world::{call_seen, world};

/// Whether who asks for an item adds it, and how.
pub(super) fn fills(dict: *mut PyObject, touched: &mut Touched) -> Fills {
    if !inherits(dict, c"__missing__") {
        return Fills::No;
    }
    // SAFETY: callbacks run with the interpreter's lock; operands are live objects.
    let (py, object) = unsafe {
        let py = Python::assume_gil_acquired();
        (py, Bound::from_borrowed_ptr(py, dict))
    };
    let Some(factory) = factory_of(py, &object) else { return Fills::AtOnce };
    let makes = factory.as_ptr();
    if runs_python(makes) {
        if !inherits(dict, c"__setitem__") {
            touched.not_known_of("an item that is made when it is asked for, of an object of type", dict);
        }
        return Fills::ByPython;
    }
    if !matches!(effect_of(makes).0, Effect::Pure | Effect::Begin | Effect::ReadArguments | Effect::DeepRead) {
        touched.not_known_of("what makes the items of a dict, of type", makes);
    }
    Fills::AtOnce
}

fn factory_of<'py>(py: Python<'py>, dict: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    dict.getattr(intern!(py, "default_factory")).ok().filter(|factory| !factory.is_none())
}

/// Adds the item that the instruction `op` asks for, unless there is one.
#[cold]
pub(crate) fn fill(baton: Baton, dict: *mut PyObject, key: *mut PyObject, op: &Op) -> Result<(), NotDone> {
    // SAFETY: as above; the frame that runs `op` keeps both of them until it is carried out.
    let (py, dict, key) = unsafe {
        let py = Python::assume_gil_acquired();
        (py, Bound::from_borrowed_ptr(py, dict), Bound::from_borrowed_ptr(py, key))
    };
    let Some(value) = made(py, &dict, &key).map_err(NotDone::Raised)? else { return Ok(()) };
    let part = if is_plain(key.as_ptr()) { Part::Item(world().number_of(key.as_ptr())) } else { Part::All };
    let store = Access { facts: CHANGED | FILLED, ..Access::new(dict.as_ptr(), part, true) };
    one_access(baton, &store, op)?;
    dict.set_item(key, value).map_err(NotDone::Raised)
}

/// What is to be added, if anything: made by code that is seen as any other.
fn made<'py>(
    py: Python<'py>,
    dict: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: a live dict and a live key.
    let is_there = unsafe { ffi::PyDict_Contains(dict.as_ptr(), key.as_ptr()) };
    match (is_there, factory_of(py, dict)) {
        (0, Some(factory)) => call_seen(&factory).map(Some),
        (0, None) | (1, _) => Ok(None),
        _ => Err(PyErr::take(py).unwrap_or_else(|| PyKeyError::new_err(key.clone().unbind()))),
    }
}
