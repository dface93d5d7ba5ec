//! Locks, as resources of the engine.
//!
//! A lock is a mutex of the engine, which knows its holder. One thread may take a lock of Python's and another one
//! release it, though: then it is a semaphore of one permit, from the next beginning of the exploration on.

use drawloom_engine::{OpKind, Operation, ResourceId, Site, TaskId, outcome};
use drawloom_gates::{Baton, TornDown, baton};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::assumptions;
use crate::frameworks::{self, Quiet};
use crate::guests::note;
use crate::handing;
use crate::raise::{here, here_inside, needs_threads, torn_down, used_object};
use crate::world::world;

/// What an object is in the current execution.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) epoch: u64,
    pub(crate) id: ResourceId,
}

impl Slot {
    pub(crate) const NONE: Slot = Slot { epoch: 0, id: ResourceId::NONE };
}

/// A lock; reentrant, if it was made so.
#[pyclass(module = "drawloom", weakref)]
pub(crate) struct Lock {
    slot: Slot,
    holder: TaskId,
    count: u32,
    reentrant: bool,
    /// Where it was made: all locks of one place are of one kind.
    made: Site,
    handed_over: bool,
    /// Who has it made no step to take it.
    quiet: Option<Quiet>,
    name: &'static str,
    /// What it is outside an exploration.
    native: Py<PyAny>,
}

impl Lock {
    pub(crate) fn resource(&mut self, baton: Baton) -> ResourceId {
        let epoch = world().epoch;
        if self.slot.epoch != epoch {
            let (task, site) = (baton.running(), frameworks::place_within().unwrap_or_else(here));
            self.handed_over = !self.reentrant && handing::is_known(self.made);
            let (kind, state) = handing::kind_of(self.handed_over, false);
            let id = baton.with_engine(|engine| engine.create_resource(task, kind, state, site));
            name_inside(baton, id);
            self.slot = Slot { epoch, id };
            (self.holder, self.count, self.quiet) = (TaskId::NONE, 0, None);
        }
        self.slot.id
    }

    /// Whether a task has it; if another one does, that hands it over.
    pub(crate) fn is_of(&self, baton: Baton) -> Result<bool, TornDown> {
        let is_own = self.holder == baton.running() && !self.handed_over;
        if !is_own && !baton.is_tearing_down() {
            handing::learn(baton, self.made)?;
        }
        Ok(is_own)
    }

    pub(crate) fn take(&mut self, task: TaskId, count: u32) {
        (self.holder, self.count) = (task, count);
    }

    fn take_quietly(&mut self, baton: Baton, at: Site) {
        self.take(baton.running(), 1);
        self.quiet = Some(Quiet::since_now(baton, at));
    }

    pub(crate) fn quiet(&self) -> Option<Quiet> {
        self.quiet
    }

    /// Nobody holds it now; how often it was held.
    pub(crate) fn give_up(&mut self) -> u32 {
        (self.holder, self.quiet) = (TaskId::NONE, None);
        std::mem::take(&mut self.count)
    }
}

/// What is inside of an event or a queue is called as that.
pub(crate) fn name_inside(baton: Baton, id: ResourceId) {
    if let Some(class) = used_object() {
        baton.with_engine(|engine| engine.name_resource(id, &class));
    }
}

fn acquire(lock: &Bound<'_, Lock>, blocking: bool, timeout: f64) -> PyResult<bool> {
    let py = lock.py();
    let Some(baton) = baton() else {
        let native = lock.borrow().native.clone_ref(py);
        return native.call_method1(py, "acquire", (blocking, timeout))?.extract(py);
    };
    if (timeout < 0.0 || !blocking) && timeout != -1.0 {
        let why = if blocking {
            "timeout value must be a non-negative number"
        } else {
            "can't specify a timeout for a non-blocking call"
        };
        return Err(PyValueError::new_err(why));
    }
    let (id, me, handed_over) = {
        let mut lock = lock.borrow_mut();
        let (id, me) = (lock.resource(baton), baton.running());
        if lock.reentrant && lock.holder == me {
            lock.count += 1;
            return Ok(true);
        }
        (id, me, lock.handed_over)
    };
    if baton.is_guest() {
        return acquire_within_a_loop(lock, baton, blocking);
    }
    let operation = handing::acquisition(handed_over, id, blocking && timeout != 0.0, here());
    let quiet_at = frameworks::quiet_at(baton, frameworks::place_within()).filter(|_| !handed_over);
    let (holder, quiet) = (lock.borrow().holder, lock.borrow().quiet);
    if let Some(quiet) = quiet {
        quiet.is_in_the_way(baton).map_err(|_| torn_down(py))?;
    }
    if let Some(at) = quiet_at.filter(|_| frameworks::are_quiet()) {
        if holder != TaskId::NONE {
            frameworks::keeps_out(baton, at).map_err(|_| torn_down(py))?;
        }
        lock.borrow_mut().take_quietly(baton, at);
        return Ok(true);
    }
    // Nothing is borrowed while others run.
    let result = if blocking && timeout > 0.0 {
        assumptions::time();
        baton.step_with_timeout(operation, nanos(timeout))
    } else {
        baton.step(operation)
    };
    let taken = result.map_err(|_| torn_down(py))? == outcome::OK;
    match quiet_at {
        Some(at) if taken => lock.borrow_mut().take_quietly(baton, at),
        _ if taken => lock.borrow_mut().take(me, 1),
        _ => {}
    }
    Ok(taken)
}

/// Tasks of an event loop run on one thread: who finds a lock taken would wait for ever, and all others with it.
fn acquire_within_a_loop(lock: &Bound<'_, Lock>, baton: Baton, blocking: bool) -> PyResult<bool> {
    note(lock.as_ptr(), 0, true);
    let free = lock.borrow().holder == TaskId::NONE;
    if free {
        lock.borrow_mut().take(baton.running(), 1);
    } else if blocking {
        let what = "a lock of threads that is held across an await";
        return Err(needs_threads(lock.py(), baton, what));
    }
    Ok(free)
}

/// Seconds as the engine counts time.
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}

fn release(lock: &Bound<'_, Lock>) -> PyResult<()> {
    let py = lock.py();
    let Some(baton) = baton() else {
        let (native, from_within) = (lock.borrow().native.clone_ref(py), lock.borrow().slot.epoch > 0);
        let released = native.call_method0(py, "release").map(|_| ());
        // What an execution has left over may be given back by a destructor, later.
        return if from_within { Ok(()) } else { released };
    };
    let id = lock.borrow_mut().resource(baton);
    if lock.borrow().handed_over && !baton.is_guest() {
        return match handing::release(baton, id, here()).map_err(|_| torn_down(py))? {
            true => Ok(()),
            false => Err(PyRuntimeError::new_err("release unlocked lock")),
        };
    }
    let quiet = {
        let mut lock = lock.borrow_mut();
        let me = baton.running();
        if lock.holder == TaskId::NONE || (lock.reentrant && lock.holder != me) {
            let why = if lock.reentrant { "cannot release un-acquired lock" } else { "release unlocked lock" };
            return Err(PyRuntimeError::new_err(why));
        }
        if lock.holder != me && !baton.is_guest() && !baton.is_tearing_down() {
            handing::learn(baton, lock.made).map_err(|_| torn_down(py))?;
        }
        lock.count -= 1;
        if lock.count > 0 {
            return Ok(());
        }
        lock.holder = TaskId::NONE;
        lock.quiet.take()
    };
    if baton.is_guest() {
        note(lock.as_ptr(), 0, true);
        return Ok(());
    }
    if let Some(quiet) = quiet {
        frameworks::was_held(baton, quiet).map_err(|_| torn_down(py))?;
        if frameworks::are_quiet() {
            return Ok(());
        }
    }
    baton.step(Operation::new(OpKind::Unlock, id, here())).map_err(|_| torn_down(py))?;
    Ok(())
}

#[pymethods]
impl Lock {
    #[new]
    fn new(native: Py<PyAny>, reentrant: bool) -> Lock {
        let name = if reentrant { "RLock" } else { "Lock" };
        let made = if baton().is_some() && !reentrant { here_inside() } else { Site::UNKNOWN };
        let handed_over = false;
        Lock {
            slot: Slot::NONE,
            holder: TaskId::NONE,
            count: 0,
            reentrant,
            made,
            handed_over,
            quiet: None,
            name,
            native,
        }
    }

    #[pyo3(signature = (blocking = true, timeout = -1.0))]
    fn acquire(slf: &Bound<'_, Self>, blocking: bool, timeout: f64) -> PyResult<bool> {
        acquire(slf, blocking, timeout)
    }

    fn release(slf: &Bound<'_, Self>) -> PyResult<()> {
        release(slf)
    }

    fn locked(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let py = slf.py();
        let Some(baton) = baton() else {
            return slf.borrow().native.call_method0(py, "locked")?.extract(py);
        };
        let id = slf.borrow_mut().resource(baton);
        if baton.is_guest() {
            note(slf.as_ptr(), 0, false);
            return Ok(slf.borrow().holder != TaskId::NONE);
        }
        if let Some(quiet) = slf.borrow().quiet() {
            quiet.is_in_the_way(baton).map_err(|_| torn_down(py))?;
        }
        baton.step(Operation::new(OpKind::CellRead, id, here())).map_err(|_| torn_down(py))?;
        Ok(handing::is_taken(baton, id))
    }

    /// What reports call it, in this execution.
    fn be_called(&mut self, name: &str) {
        if let Some(baton) = baton() {
            let id = self.resource(baton);
            baton.with_engine(|engine| engine.name_resource(id, name));
        }
    }

    fn __enter__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        acquire(slf, true, -1.0)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        release(slf)
    }

    /// Whether the calling thread has it. Of a lock that is not reentrant the interpreter knows only that somebody has.
    fn _is_owned(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let Some(baton) = baton() else { return Ok(true) };
        slf.borrow_mut().resource(baton);
        let (is_own, reentrant) = (slf.borrow().holder == baton.running(), slf.borrow().reentrant);
        if reentrant || (is_own && !slf.borrow().handed_over) { Ok(is_own) } else { Self::locked(slf) }
    }

    /// Whether one thread takes it and another one releases it, as far as is known.
    fn is_handed_over(slf: &Bound<'_, Self>) -> bool {
        baton().is_some_and(|baton| {
            slf.borrow_mut().resource(baton);
            slf.borrow().handed_over
        })
    }

    fn __repr__(&self) -> String {
        format!("<drawloom {}>", self.name)
    }
}
