//! What main does in an execution with threads: makes the state, has the workers run on it, and looks at it in the end.

use drawloom_engine::finding::Panic;
use drawloom_engine::{Engine, OpKind, Operation, ResourceId, ResourceKind, Site, State};
use drawloom_gates::baton;
use pyo3::exceptions::{PyAssertionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::markers;
use crate::outside;
use crate::program::call;
use crate::raise::{here, torn_down};
use crate::world::{Phase, aside, world};

/// A fact: somebody looks at which threads there are. And what is touched by it, and by who starts one.
const COUNTED: &str = "threads";

/// The tasks of the workers that were started so far.
#[pyfunction]
pub(crate) fn workers() -> Vec<u32> {
    world().workers.clone()
}

/// Workers, what they run on, and what must hold in the end.
#[pyclass(module = "drawloom", frozen)]
pub(crate) struct Workers {
    setup: Py<PyAny>,
    workers: Vec<Py<PyAny>>,
    names: Vec<Option<String>>,
    invariant: Option<Py<PyAny>>,
    /// What says why a state breaks it.
    broken: Py<PyAny>,
}

#[pymethods]
impl Workers {
    #[new]
    fn new(
        setup: Py<PyAny>,
        workers: Vec<Py<PyAny>>,
        names: Vec<Option<String>>,
        invariant: Option<Py<PyAny>>,
        broken: Py<PyAny>,
    ) -> Workers {
        Workers { setup, workers, names, invariant, broken }
    }

    /// One execution. It is native, since instructions of our own would be traced as any other.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.setup.call0(py)?;
        let site = here();
        let mut tasks = Vec::with_capacity(self.workers.len());
        for (worker, name) in self.workers.iter().zip(&self.names) {
            if world().knowledge.facts.contains(COUNTED) {
                outside::touch(py, &PyString::new(py, COUNTED), true, false)?;
            }
            let new = New { name: name.as_deref(), site, daemon: false, is_marked: false, is_worker: true };
            tasks.push(spawn(py, worker.clone_ref(py), vec![state.clone_ref(py)], new)?);
            world().workers.clone_from(&tasks);
        }
        for task in &tasks {
            let operation = Operation::new(OpKind::Join, ResourceId::NONE, site).with_arg(u64::from(*task));
            let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
            baton.step(operation).map_err(|_| torn_down(py))?;
        }
        if world().tasks == tasks.len() {
            world().phase = Phase::After;
        }
        let Some(invariant) = &self.invariant else { return Ok(()) };
        match is_broken(invariant.call1(py, (state.clone_ref(py),))?.bind(py))? {
            true => Err(PyAssertionError::new_err(aside(|| self.broken.call1(py, (state,)))?)),
            false => Ok(()),
        }
    }
}

/// Whether what an invariant has returned says that something is wrong: whatever is false does, but one that returns
/// nothing would have raised.
#[pyfunction]
pub(crate) fn is_broken(returned: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!returned.is_none() && !returned.is_truthy()?)
}

/// What a new task is called, where it is started, whether nobody waits for it in the end, whether it stops at markers, and
/// whether it is a worker.
pub(crate) struct New<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) site: Site,
    pub(crate) daemon: bool,
    pub(crate) is_marked: bool,
    pub(crate) is_worker: bool,
}

/// Starts a task that calls `body` with `arguments`. Its number.
pub(crate) fn spawn(py: Python<'_>, body: Py<PyAny>, arguments: Vec<Py<PyAny>>, new: New<'_>) -> PyResult<u32> {
    let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
    world().phase = Phase::Parallel;
    world().tasks += 1;
    let (is_marked, is_worker) = (new.is_marked, new.is_worker);
    let run = move || match markers::begins(drawloom_gates::baton()?, is_marked) {
        Ok(_) => run(&body, &arguments, is_worker),
        Err(_) => None,
    };
    let child = baton.spawn(new.name, new.site, Box::new(run)).map_err(|_| torn_down(py))?;
    if new.daemon {
        baton.with_engine(|engine| engine.make_daemon(child));
    }
    if world().knowledge.timed_joins {
        let permits = State::Count(0);
        let make = |engine: &mut Engine| engine.create_resource(child, ResourceKind::Semaphore, permits, Site::UNKNOWN);
        world().ends.insert(child.index(), baton.with_engine(make));
    }
    baton.take_another_turn(new.site).map_err(|_| torn_down(py))?;
    Ok(child.0)
}

/// Runs a task. That it has ended is told to those who wait for that for a while only.
fn run(body: &Py<PyAny>, arguments: &[Py<PyAny>], is_worker: bool) -> Option<Panic> {
    let panic = call(body, arguments, is_worker);
    if let Some(baton) = baton().filter(|_| panic.is_none()) {
        if let Some(end) = world().ends.get(&baton.running().index()) {
            let _ = baton.step(Operation::new(OpKind::Release, *end, Site::UNKNOWN).with_arg(1));
        }
    }
    panic
}
