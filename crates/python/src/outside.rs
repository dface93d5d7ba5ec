//! What lies outside the program: files, peers, databases. Each is a resource by its name, and whoever calls what
//! reaches it says so here, right before.

use drawloom_engine::{IN_TRANSACTION, OpKind, Operation, ResourceId, ResourceKind, State, TaskId, outcome};
use drawloom_gates::{Baton, baton};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::assumptions;
use crate::guests::note;
use crate::markers;
use crate::raise::{here, torn_down};
use crate::steps::{of_cell, stop_if_grown};
use crate::sync::nanos;
use crate::tasks::not_within_a_loop;
use crate::world::{Phase, is_aside, world};

/// One step on what is called `name`: the caller carries out what it announces as soon as this returns. Whether it is
/// one of an exploration; else nobody else is there, or nobody looks.
#[pyfunction]
#[pyo3(signature = (name, write, in_transaction = false))]
pub(crate) fn touch(py: Python<'_>, name: &Bound<'_, PyString>, write: bool, in_transaction: bool) -> PyResult<bool> {
    let Some(baton) = baton() else { return Ok(false) };
    // Source files are read when markers are looked for, or tracebacks told, and that is none of the program's doing; nor is
    // what anybody reads while an execution is torn down.
    if (is_aside() && markers::are_on()) || (baton.is_tearing_down() && !write) {
        return Ok(false);
    }
    let unwound = |_| torn_down(py);
    if baton.is_tearing_down() {
        return baton.access_in_teardown().map(|()| false).map_err(unwound);
    }
    if world().phase != Phase::Parallel {
        return Ok(false);
    }
    if baton.is_guest() {
        // Names are told apart by what they say.
        let name = PyString::intern(py, &name.to_string_lossy());
        note(name.as_ptr(), 0, write);
        return Ok(true);
    }
    stop_if_grown(baton).map_err(unwound)?;
    let (kind, site) = (if write { OpKind::CellWrite } else { OpKind::CellRead }, here());
    let mut access = of_cell(baton, kind, resource(baton, &name.to_string_lossy()), site);
    if in_transaction && access.arg == 0 {
        access = access.with_arg(IN_TRANSACTION);
    }
    baton.step(access).map_err(unwound)?;
    Ok(true)
}

fn resource(baton: Baton, name: &str) -> ResourceId {
    if let Some(id) = world().outside.get(name) {
        return *id;
    }
    let (task, site) = (baton.running(), here());
    let id = baton.with_engine(|engine| {
        let id = engine.create_resource(task, ResourceKind::Cell, State::Plain, site);
        engine.name_resource(id, name);
        id
    });
    world().outside.insert(name.to_owned(), id);
    id
}

/// Waits until another task wakes this one; false if the time is up before. Who has been woken since it last waited does
/// not wait.
#[pyfunction]
#[pyo3(signature = (timeout = None))]
fn await_wake(py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
    not_within_a_loop(py, "a wait")?;
    let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
    let park = Operation::new(OpKind::Park, ResourceId::NONE, here());
    let result = match timeout {
        Some(timeout) => {
            assumptions::time();
            baton.step_with_timeout(park, nanos(timeout))
        }
        None => baton.step(park),
    };
    result.map(|result| result == outcome::OK).map_err(|_| torn_down(py))
}

/// Ends the wait of a task, or its next one.
#[pyfunction]
fn wake(py: Python<'_>, task: u32) -> PyResult<()> {
    let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
    let unpark = Operation::new(OpKind::Unpark, ResourceId::NONE, here()).with_arg(u64::from(TaskId(task).0));
    baton.step(unpark).map(|_| ()).map_err(|_| torn_down(py))
}

/// Whether a fact is known of what is outside. Facts belong to the knowledge that decides what is a step.
#[pyfunction]
fn is_known(fact: &str) -> bool {
    world().knowledge.facts.contains(fact)
}

/// A fact has become known: the exploration begins anew with it.
#[pyfunction]
pub(crate) fn learn(py: Python<'_>, fact: &str) -> PyResult<()> {
    let known = world();
    if known.knowledge.facts.insert(fact.to_owned()) {
        known.grown = true;
    }
    match baton() {
        Some(baton) if !baton.is_guest() && !baton.is_tearing_down() => stop_if_grown(baton).map_err(|_| torn_down(py)),
        _ => Ok(()),
    }
}

/// Something was waited for that nobody in the exploration brings about: what, for the result.
#[pyfunction]
pub(crate) fn uncontrolled(what: &str) {
    world().uncontrolled.get_or_insert_with(|| what.to_owned());
}

/// Counts executions: what was made in an earlier one is recognised by it.
#[pyfunction]
fn epoch() -> u64 {
    world().epoch
}

/// Whether tasks run side by side.
#[pyfunction]
fn is_parallel() -> bool {
    baton().is_some_and(|baton| !baton.is_tearing_down()) && world().phase == Phase::Parallel
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(touch, module)?)?;
    module.add_function(wrap_pyfunction!(await_wake, module)?)?;
    module.add_function(wrap_pyfunction!(wake, module)?)?;
    module.add_function(wrap_pyfunction!(is_known, module)?)?;
    module.add_function(wrap_pyfunction!(learn, module)?)?;
    module.add_function(wrap_pyfunction!(uncontrolled, module)?)?;
    module.add_function(wrap_pyfunction!(epoch, module)?)?;
    module.add_function(wrap_pyfunction!(is_parallel, module)?)
}
