//! What the front end takes a piece of code to touch, for tests that hold it against what that code does.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use crate::access::{Access, Fills, Part, touched};
use crate::code::{Kind, Op};
use crate::instrument;
use crate::layout::Operands;
use crate::world::{begin_execution, world};

/// What callbacks note while that is held against the truth.
pub(crate) enum Seen {
    /// Of each instruction: its kind, and the address of an operand.
    Operands(Vec<(u8, usize)>),
    /// Of each instruction: what it touches.
    Accesses(Vec<Announced>),
}

/// What is not known of an instruction, and what is: the address of an owner, which part of it, its name or key, and
/// whether it is written.
type Announced = (Option<String>, Vec<(usize, &'static str, Option<Py<PyAny>>, bool)>);

/// Notes what is seen.
#[inline]
pub(crate) fn observed(op: &Op, operands: &Operands) {
    if world().seen.is_some() {
        note(op, operands);
    }
}

#[cold]
fn note(op: &Op, operands: &Operands) {
    let operand = match op.kind {
        Kind::CellLoad | Kind::CellStore => operands.local(usize::from(op.a)),
        Kind::GlobalLoad | Kind::GlobalStore => operands.globals,
        Kind::Return => operands.caller().map_or(std::ptr::null_mut(), |caller| caller.code),
        _ => operands.peek(usize::from(op.a)),
    };
    match &mut world().seen {
        Some(Seen::Operands(seen)) => seen.push((op.kind as u8, operand as usize)),
        Some(Seen::Accesses(_)) => {
            let announced = announcement(op, operands);
            if let Some(Seen::Accesses(seen)) = &mut world().seen {
                seen.push(announced);
            }
        }
        None => {}
    }
}

fn announcement(op: &Op, operands: &Operands) -> Announced {
    let touched = touched(op, operands);
    let known = match touched.all_of_them() {
        Ok(all) => all.map(|access| (access.owner as usize, part(access), detail(access), writes(access))).collect(),
        Err(why) => return (Some(why.to_owned()), Vec::new()),
    };
    // What is done to locks and to what each thread has its own of makes its own steps.
    (touched.lock.map(|_| "a lock, or data of a thread".to_owned()), known)
}

fn writes(access: &Access) -> bool {
    access.write || access.fills != Fills::No
}

fn part(access: &Access) -> &'static str {
    match access.part {
        Part::Name(_) => "name",
        Part::Names => "names",
        Part::Item(_) => "item",
        Part::Size => "size",
        Part::Content => "content",
        Part::All => "all",
    }
}

fn detail(access: &Access) -> Option<Py<PyAny>> {
    // SAFETY: callbacks run with the interpreter's lock; owners are live, and names are strings that are kept.
    unsafe {
        let py = Python::assume_gil_acquired();
        match access.part {
            Part::Name(name) => Some(Py::from_borrowed_ptr(py, name as *mut PyObject)),
            Part::Item(number) if pyo3::ffi::PyDict_Check(access.owner) != 0 => {
                let keys = world().keys.as_ref()?.bind(py).downcast::<pyo3::types::PyDict>().ok()?.clone();
                let is_it = |value: &Bound<'_, PyAny>| value.extract::<usize>().is_ok_and(|value| value == number);
                keys.iter().find(|(_, value)| is_it(value)).map(|(key, _)| key.unbind())
            }
            Part::Item(index) => index.into_pyobject(py).ok().map(|index| index.into_any().unbind()),
            Part::Names | Part::Size | Part::Content | Part::All => None,
        }
    }
}

/// Calls `body`, and returns what callbacks note on the way.
fn seen(body: &Bound<'_, PyAny>, nothing: Seen) -> PyResult<Seen> {
    if drawloom_gates::baton().is_some() {
        return Err(PyRuntimeError::new_err("what is seen is noted outside of explorations only"));
    }
    world().seen = Some(nothing);
    instrument::start_tracing_thread();
    let called = body.call0();
    instrument::stop_tracing_thread();
    let seen = world().seen.take();
    // What was named by its address may be gone.
    begin_execution();
    called.and_then(|_| seen.ok_or_else(|| PyRuntimeError::new_err("what is seen is noted by somebody else")))
}

/// Calls `body`, and returns what each instruction on the way worked on: its kind, and the address of an operand.
#[pyfunction]
fn observe(body: &Bound<'_, PyAny>) -> PyResult<Vec<(u8, usize)>> {
    match seen(body, Seen::Operands(Vec::new()))? {
        Seen::Operands(seen) => Ok(seen),
        Seen::Accesses(_) => Ok(Vec::new()),
    }
}

/// Calls `body`, and returns what each instruction on the way would announce.
#[pyfunction]
fn announced(body: &Bound<'_, PyAny>) -> PyResult<Vec<Announced>> {
    match seen(body, Seen::Accesses(Vec::new()))? {
        Seen::Accesses(seen) => Ok(seen),
        Seen::Operands(_) => Ok(Vec::new()),
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(observe, module)?)?;
    module.add_function(wrap_pyfunction!(announced, module)?)
}
