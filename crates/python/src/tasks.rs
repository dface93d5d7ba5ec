//! Threads, time and choices, as the Python side asks for them.

use drawloom_engine::{Budget, OpKind, Operation, ResourceId, Site, TaskId, outcome};
use drawloom_gates::{Baton, TornDown, baton};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::assumptions;
use crate::frameworks;
use crate::markers;
use crate::raise::{here, needs_threads, torn_down, unsupported};
use crate::steps::stop_if_grown;
use crate::sync::nanos;
use crate::workers;
use crate::world::{Phase, aside, place, world};

fn current() -> PyResult<Baton> {
    baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))
}

fn bare(py: Python<'_>, kind: OpKind, arg: u64) -> PyResult<u32> {
    not_within_a_loop(py, kind.word())?;
    let operation = Operation::new(kind, ResourceId::NONE, here()).with_arg(arg);
    current()?.step(operation).map_err(|_| torn_down(py))
}

/// A piece of a task of an event loop is one step: it cannot wait, nor make steps of its own.
pub(crate) fn not_within_a_loop(py: Python<'_>, what: &str) -> PyResult<()> {
    let baton = current()?;
    if baton.is_guest() && !baton.is_tearing_down() {
        return Err(needs_threads(py, baton, &format!("`{what}` of a thread within an event loop")));
    }
    Ok(())
}

/// Whether the calling thread is a task of an exploration.
#[pyfunction]
fn is_controlled() -> bool {
    baton().is_some()
}

/// The number of the running task.
#[pyfunction]
fn task() -> PyResult<u32> {
    Ok(current()?.running().0)
}

/// The line of the code under test that runs.
#[pyfunction]
#[pyo3(name = "here")]
fn line() -> (String, u32) {
    place(here()).map(|place| (place.file, place.line)).unwrap_or_default()
}

/// The number of the task whose thread runs: those of an event loop are all on main's.
#[pyfunction]
fn thread() -> PyResult<u32> {
    let baton = current()?;
    Ok(if baton.is_guest() { TaskId::MAIN.0 } else { baton.running().0 })
}

/// Starts a task that calls `body` with `arguments`; nobody waits for it in the end, if it is a daemon. Its number.
#[pyfunction]
#[pyo3(signature = (body, arguments, name, daemon = false))]
fn spawn(
    py: Python<'_>,
    body: Py<PyAny>,
    arguments: Vec<Py<PyAny>>,
    name: Option<&str>,
    daemon: bool,
) -> PyResult<u32> {
    not_within_a_loop(py, "spawn")?;
    workers::spawn(py, body, arguments, workers::New { name, site: here(), daemon, is_marked: false, is_worker: false })
}

/// Waits for a task to end; false if the time is up before.
#[pyfunction]
#[pyo3(signature = (task, timeout = None))]
fn join(py: Python<'_>, task: u32, timeout: Option<f64>) -> PyResult<bool> {
    not_within_a_loop(py, "join")?;
    let (baton, site) = (current()?, here());
    if let Some(timeout) = timeout {
        if !ends_within(baton, task, timeout, site).map_err(|_| torn_down(py))? {
            return Ok(false);
        }
    }
    let operation = Operation::new(OpKind::Join, ResourceId::NONE, site).with_arg(u64::from(task));
    baton.step(operation).map_err(|_| torn_down(py))?;
    Ok(true)
}

/// Whether a task comes to its end before the time is up. A wait for a task has no timeout in the engine, but one for
/// a permit has: whoever gets it leaves it to the next.
fn ends_within(baton: Baton, task: u32, seconds: f64, site: Site) -> Result<bool, TornDown> {
    if !world().knowledge.timed_joins {
        (world().knowledge.timed_joins, world().grown) = (true, true);
        stop_if_grown(baton)?;
    }
    let Some(end) = world().ends.get(&(task as usize)).copied() else { return Ok(true) };
    assumptions::time();
    let permit = |kind| Operation::new(kind, end, site).with_arg(1);
    let result = match seconds > 0.0 {
        true => baton.step_with_timeout(permit(OpKind::Acquire), nanos(seconds))?,
        false => baton.step(permit(OpKind::TryAcquire))?,
    };
    if result == outcome::OK {
        baton.step(permit(OpKind::Release))?;
    }
    Ok(result == outcome::OK)
}

/// Whether a task has ended.
#[pyfunction]
fn is_finished(py: Python<'_>, task: u32) -> PyResult<bool> {
    Ok(bare(py, OpKind::IsFinished, u64::from(task))? == outcome::OK)
}

/// Waits for virtual time to pass.
#[pyfunction]
fn sleep(py: Python<'_>, seconds: f64) -> PyResult<()> {
    if markers::are_on() {
        // Who sleeps has said that others may run; when they do is for the order to say.
        world().ahead += nanos(seconds);
        return Ok(());
    }
    if seconds <= 0.0 {
        return bare(py, OpKind::Yield, 0).map(|_| ());
    }
    assumptions::time();
    let now = current()?.with_engine(|engine| engine.now());
    bare(py, OpKind::Sleep, now.saturating_add(nanos(seconds))).map(|_| ())
}

/// By how many nanoseconds a reading is later than the one before, where no two are the same.
const TICK: u64 = 1_000;

/// The virtual clock, in nanoseconds.
#[pyfunction]
fn now(py: Python<'_>) -> PyResult<u64> {
    let baton = current()?;
    // When a framework does something, for its log say, is up to the framework.
    if world().phase == Phase::Parallel && frameworks::place_within().is_none() {
        assumptions::time();
        if !baton.is_guest() {
            bare(py, OpKind::Now, 0)?;
        }
        let reader = baton.running();
        world().several_readers |= world().reader.replace(reader).is_some_and(|before| before != reader);
        if world().knowledge.ticking || baton.with_engine(|engine| engine.limits().budgets[Budget::EarlyFires] > 0) {
            world().ahead += TICK;
        }
    }
    Ok(baton.with_engine(|engine| engine.now()) + world().ahead)
}

/// One of `outcomes` alternatives: a choice of the schedule.
#[pyfunction]
fn choose(py: Python<'_>, outcomes: u64) -> PyResult<u64> {
    bare(py, OpKind::Choose, outcomes)?;
    Ok(current()?.with_engine(|engine| engine.steps().last().map_or(0, |step| step.value)))
}

/// Calls `body`, which is none of the code under test.
#[pyfunction]
fn unobserved(body: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    aside(|| body.call0()).map(Bound::unbind)
}

/// Gives the exploration up; it may be made with the event loop as a thread, if that helps.
#[pyfunction]
#[pyo3(signature = (what, with_threads = false))]
fn give_up(py: Python<'_>, what: &str, with_threads: bool) -> PyResult<()> {
    Err(if with_threads { needs_threads(py, current()?, what) } else { unsupported(py, current()?, what) })
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(is_controlled, module)?)?;
    module.add_function(wrap_pyfunction!(task, module)?)?;
    module.add_function(wrap_pyfunction!(line, module)?)?;
    module.add_function(wrap_pyfunction!(thread, module)?)?;
    module.add_function(wrap_pyfunction!(spawn, module)?)?;
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(is_finished, module)?)?;
    module.add_function(wrap_pyfunction!(sleep, module)?)?;
    module.add_function(wrap_pyfunction!(now, module)?)?;
    module.add_function(wrap_pyfunction!(choose, module)?)?;
    module.add_function(wrap_pyfunction!(unobserved, module)?)?;
    module.add_function(wrap_pyfunction!(give_up, module)?)
}
