//! A Python program: a callable, whose threads are let through one at a time.

use std::sync::{Arc, Mutex};

use drawloom_engine::finding::{About, Panic};
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Ending, Engine, Outcome, Settings, Site, Stop, TaskId};
use drawloom_explore::{Executor, Program};
use drawloom_gates::{Baton, Foreign, Gate, Gates, serve};
use drawloom_report::{Language, Place};
use pyo3::exceptions::{PyAssertionError, PySystemExit, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

use crate::core::{Together, follow};
use crate::instrument::{is_tracing_thread, start_tracing_thread, stop_tracing_thread};
use crate::locals;
use crate::markers;
use crate::names::name_resources;
use crate::unending;
use crate::waits;
use crate::watch;
use crate::world::{aside, begin_execution, line_of, place, world};

/// What every execution runs.
pub(crate) struct Threads {
    body: Py<PyAny>,
    together: Mutex<Together>,
}

impl Threads {
    pub(crate) fn new(body: Py<PyAny>) -> Threads {
        Threads { body, together: Mutex::new(Together::new()) }
    }

    pub(crate) fn body(&self) -> &Py<PyAny> {
        &self.body
    }
}

/// An executor, which is used again by the next worker.
pub(crate) struct Pooled(Option<Gates>);

struct Waiting(Vec<Gates>);

// SAFETY: an executor between executions is used by whoever has it, and who takes one from here has it alone.
unsafe impl Send for Waiting {}

static POOL: Mutex<Waiting> = Mutex::new(Waiting(Vec::new()));

/// How Python's threads are switched and started.
const PYTHON: Foreign = Foreign { switch, start_thread, waits: waits::known };

fn switch(next: Option<&Gate>, own: &Gate) {
    unending::calm();
    // SAFETY: the caller runs Python code, and so holds the interpreter's lock, which is given up before the next
    // thread is let through: it finds it free.
    unsafe {
        let state = ffi::PyEval_SaveThread();
        if let Some(next) = next {
            watch::hands_over();
            next.open();
        }
        own.wait();
        watch::runs_here();
        ffi::PyEval_RestoreThread(state);
    }
}

struct Sent(Baton);

// SAFETY: the thread touches nothing through it before it is let through.
unsafe impl Send for Sent {}

fn start_thread(baton: Baton, gate: Arc<Gate>) {
    let sent = Sent(baton);
    // SAFETY: who spawns runs Python code.
    let py = unsafe { Python::assume_gil_acquired() };
    let started = PyCFunction::new_closure(py, None, None, move |_, _| {
        let sent = &sent;
        start_tracing_thread();
        serve(PYTHON, sent.0, &gate);
        stop_tracing_thread();
    })
    .and_then(|run| py.import("_thread")?.call_method1("start_new_thread", (run, ())));
    if let Err(error) = started {
        error.print(py);
        std::process::abort();
    }
}

impl Program for Threads {
    type Executor = Pooled;

    const SPREADS: bool = false;
    /// Libraries that are loaded beside the interpreter read the clock without a step.
    const EARLY_TIMERS_ARE_STEPS: bool = false;
    const DATA_RACES: bool = false;
    const LANGUAGE: Language = drawloom_report::language::PYTHON;

    fn executor(&self, strategy: Box<dyn Strategy>) -> Pooled {
        let pooled = POOL.lock().unwrap_or_else(|e| e.into_inner()).0.pop();
        let mut gates = match pooled {
            Some(gates) => gates,
            None => return Pooled(Some(Gates::new(PYTHON, strategy))),
        };
        gates.set_strategy(strategy);
        Pooled(Some(gates))
    }

    fn run(&self, executor: &mut Pooled, settings: &Settings, seed: u64) -> Outcome {
        if let Some(stop) = is_over() {
            return in_vain(executor.gates(), settings, seed, stop);
        }
        begin_execution();
        unending::begin_execution();
        self.together.lock().unwrap_or_else(|e| e.into_inner()).begin_execution();
        // SAFETY: explorations are started by Python code.
        let py = unsafe { Python::assume_gil_acquired() };
        collect_garbage(py);
        let body = self.body.clone_ref(py);
        let gates = executor.gates();
        watch::watched(Some(gates.baton()));
        let outcome = gates.run(settings, seed, Box::new(move || call(&body, &[], false)));
        watch::watched(None);
        unending::calm();
        let is_made = matches!(outcome.ending, Ending::Done | Ending::Failed(_));
        world().made += u64::from(is_made && !world().rehearsing);
        if markers::are_on() && (!world().grown || world().rehearsing) {
            let in_the_way = gates.baton().were_in_the_way();
            markers::ended(py, &self.body, gates.engine(), &outcome.ending, in_the_way);
            return outcome;
        }
        if !outcome.ending.is_done() {
            name_resources(gates.baton());
        }
        outcome
    }

    fn place(site: Site) -> Option<Place> {
        place(site)
    }

    fn line_of(site: Site) -> u32 {
        line_of(site)
    }
}

/// Executions after which what refers to itself is looked for.
const COLLECTED_EACH: u64 = 64;

/// Garbage is collected between executions, never within: destructors would run whenever it pleases the interpreter.
fn collect_garbage(py: Python<'_>) {
    world().uncollected += 1;
    if world().uncollected % COLLECTED_EACH == 0 {
        let _ = py.import("gc").and_then(|gc| gc.call_method0("collect"));
    }
}

/// Why no execution is made any more, if none is.
fn is_over() -> Option<Stop> {
    let world = world();
    if watch::is_interrupted() {
        return Some(Stop::Interrupted);
    }
    let lost = world.unending.as_deref().map(|told| Stop::Stuck(told.into()));
    let lost = lost.or_else(|| world.unsupported.as_deref().map(|what| Stop::Unsupported(what.into())));
    let knows_more = (world.grown && !world.rehearsing).then_some(Stop::KnowsMore);
    let has_enough = world.markers.as_ref().is_some_and(|markers| markers.enough);
    lost.or(knows_more).or(has_enough.then_some(Stop::Enough))
}

/// An execution that is not made, since the exploration is over.
fn in_vain(gates: &mut Gates, settings: &Settings, seed: u64, why: Stop) -> Outcome {
    let stop = || {
        drawloom_gates::baton()?.stop(why);
        None
    };
    gates.run(settings, seed, Box::new(stop))
}

/// Calls `body`; what it raises is what its task fails with, unless it is unwound.
pub(crate) fn call(body: &Py<PyAny>, arguments: &[Py<PyAny>], is_worker: bool) -> Option<Panic> {
    follow();
    // SAFETY: tasks run with the interpreter's lock.
    let py = unsafe { Python::assume_gil_acquired() };
    let arguments = pyo3::types::PyTuple::new(py, arguments.iter().map(|a| a.bind(py))).ok()?;
    let me = drawloom_gates::baton().map_or(TaskId::NONE, |baton| baton.running());
    let is_main = me == TaskId::MAIN;
    // Whoever ran on this thread before may have ended it.
    start_tracing_thread();
    let called = locals::in_own_context(py, is_main, || body.bind(py).call1(arguments));
    if world().probe.as_ref().map(|probe| probe.clone_ref(py)).is_some_and(|probe| !is_tracing_thread(probe.bind(py))) {
        world().unsupported.get_or_insert_with(|| "a trace function that replaces drawloom's".to_owned());
    }
    if !is_main {
        locals::empty(py, me);
        locals::forget(py);
    }
    let called = called.and_then(|returned| if is_worker { refuse_coroutine(&returned) } else { Ok(()) });
    let error = called.err()?;
    let unwound = world().torn_down.as_ref().is_some_and(|class| error.matches(py, class).unwrap_or(false));
    if unwound || (!is_main && is_plain_exit(py, &error)) {
        return None;
    }
    Some(describe(py, &error))
}

/// A worker whose coroutine nobody awaits has done nothing: that nothing was found then says nothing.
fn refuse_coroutine(returned: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: it is an object, which is only asked for its type.
    if unsafe { ffi::PyCoro_CheckExact(returned.as_ptr()) } == 0 {
        return Ok(());
    }
    returned.call_method0("close")?;
    let what = "a worker returned a coroutine that is never awaited: pass the `async def` function itself, or one that \
                awaits: `async def worker(state): await state.pay(30)`";
    Err(PyTypeError::new_err(what))
}

/// Whether a thread has asked to be ended, and for nothing else.
fn is_plain_exit(py: Python<'_>, error: &PyErr) -> bool {
    let plain = |code: Bound<'_, PyAny>| code.is_none() || code.extract::<i64>().is_ok_and(|code| code == 0);
    error.is_instance_of::<PySystemExit>(py) && error.value(py).getattr("code").is_ok_and(plain)
}

/// An exception as a finding has it.
fn describe(py: Python<'_>, error: &PyErr) -> Panic {
    let told = world().describe.as_ref().map(|describe| describe.clone_ref(py));
    // An exception that no Python code has caught does not know where it comes from.
    if let Some(traceback) = error.traceback(py) {
        let _ = error.value(py).setattr("__traceback__", traceback);
    }
    let told = told.and_then(|describe| aside(|| describe.call1(py, (error.value(py),))).ok());
    let told = told.and_then(|told| told.extract::<(String, String)>(py).ok());
    let (message, location) = told.unwrap_or_else(|| (error.to_string(), String::new()));
    let about = if error.is_instance_of::<PyAssertionError>(py) { About::Assertion } else { About::Anything };
    Panic { message, location, about, ..Panic::default() }
}

impl Pooled {
    fn gates(&mut self) -> &mut Gates {
        self.0.as_mut().expect("it is given back only when it is dropped")
    }
}

impl Executor for Pooled {
    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        self.gates().replace_strategy(strategy)
    }

    fn with_strategy<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        self.gates().with_strategy(act)
    }

    fn engine(&self) -> &Engine {
        self.0.as_ref().expect("as above").engine()
    }

    fn has_leaked(&self) -> bool {
        self.0.as_ref().is_some_and(Gates::has_leaked)
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if let Some(gates) = self.0.take() {
            if gates.has_leaked() {
                // Threads that are held for good still know of it.
                std::mem::forget(gates);
            } else {
                POOL.lock().unwrap_or_else(|e| e.into_inner()).0.push(gates);
            }
        }
    }
}
