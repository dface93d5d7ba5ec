//! Locks and condition variables, as resources of the engine.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, State, TaskId, outcome};
use drawloom_gates::{Baton, baton};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::guests::note;
use crate::raise::{here, torn_down, unsupported};
use crate::world::world;

/// What an object is in the current execution.
#[derive(Clone, Copy)]
struct Slot {
    epoch: u64,
    id: ResourceId,
}

impl Slot {
    const NONE: Slot = Slot { epoch: 0, id: ResourceId::NONE };
}

/// A lock; reentrant, if it was made so.
#[pyclass(module = "drawloom", weakref)]
pub(crate) struct Lock {
    slot: Slot,
    holder: TaskId,
    count: u32,
    reentrant: bool,
    name: &'static str,
    /// What it is outside an exploration.
    native: Py<PyAny>,
}

impl Lock {
    fn resource(&mut self, baton: Baton) -> ResourceId {
        let epoch = world().epoch;
        if self.slot.epoch != epoch {
            let task = baton.running();
            let site = here();
            let id = baton.with_engine(|engine| engine.create_resource(task, ResourceKind::Mutex, State::Plain, site));
            self.slot = Slot { epoch, id };
            (self.holder, self.count) = (TaskId::NONE, 0);
        }
        self.slot.id
    }

    fn take(&mut self, task: TaskId) {
        (self.holder, self.count) = (task, 1);
    }
}

fn acquire(lock: &Bound<'_, Lock>, blocking: bool, timeout: f64) -> PyResult<bool> {
    let py = lock.py();
    let Some(baton) = baton() else {
        let native = lock.borrow().native.clone_ref(py);
        return native.call_method1(py, "acquire", (blocking, timeout))?.extract(py);
    };
    let (id, me) = {
        let mut lock = lock.borrow_mut();
        let (id, me) = (lock.resource(baton), baton.running());
        if lock.reentrant && lock.holder == me {
            lock.count += 1;
            return Ok(true);
        }
        (id, me)
    };
    if baton.is_guest() {
        return acquire_within_a_loop(lock, baton, blocking);
    }
    let kind = if blocking && timeout != 0.0 { OpKind::Lock } else { OpKind::TryLock };
    let operation = Operation::new(kind, id, here());
    // Nothing is borrowed while others run.
    let result = if kind == OpKind::Lock && timeout > 0.0 {
        baton.step_with_timeout(operation, nanos(timeout))
    } else {
        baton.step(operation)
    };
    let taken = result.map_err(|_| torn_down(py))? == outcome::OK;
    if taken {
        lock.borrow_mut().take(me);
    }
    Ok(taken)
}

/// Tasks of an event loop run on one thread: who finds a lock taken would wait for ever, and all others with it.
fn acquire_within_a_loop(lock: &Bound<'_, Lock>, baton: Baton, blocking: bool) -> PyResult<bool> {
    note(lock.as_ptr(), 0, true);
    let free = lock.borrow().holder == TaskId::NONE;
    if free {
        lock.borrow_mut().take(baton.running());
    } else if blocking {
        let what = "a lock of threads that is held across an await";
        return Err(unsupported(lock.py(), baton, what));
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
        let native = lock.borrow().native.clone_ref(py);
        return native.call_method0(py, "release").map(|_| ());
    };
    let id = {
        let mut lock = lock.borrow_mut();
        let (id, me) = (lock.resource(baton), baton.running());
        if lock.holder == TaskId::NONE || (lock.reentrant && lock.holder != me) {
            let why = if lock.reentrant { "cannot release un-acquired lock" } else { "release unlocked lock" };
            return Err(PyRuntimeError::new_err(why));
        }
        if lock.holder != me && !baton.is_tearing_down() {
            return Err(unsupported(py, baton, "a lock that is released by another thread than the one that took it"));
        }
        lock.count -= 1;
        if lock.count > 0 {
            return Ok(());
        }
        lock.holder = TaskId::NONE;
        id
    };
    if baton.is_guest() {
        note(lock.as_ptr(), 0, true);
        return Ok(());
    }
    baton.step(Operation::new(OpKind::Unlock, id, here())).map_err(|_| torn_down(py))?;
    Ok(())
}

#[pymethods]
impl Lock {
    #[new]
    fn new(native: Py<PyAny>, reentrant: bool) -> Lock {
        let name = if reentrant { "RLock" } else { "Lock" };
        Lock { slot: Slot::NONE, holder: TaskId::NONE, count: 0, reentrant, name, native }
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
        baton.step(Operation::new(OpKind::CellRead, id, here())).map_err(|_| torn_down(py))?;
        Ok(slf.borrow().holder != TaskId::NONE)
    }

    fn __enter__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        acquire(slf, true, -1.0)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        release(slf)
    }

    fn _is_owned(slf: &Bound<'_, Self>) -> bool {
        match baton() {
            Some(baton) => {
                slf.borrow_mut().resource(baton);
                slf.borrow().holder == baton.running()
            }
            None => true,
        }
    }

    fn __repr__(&self) -> String {
        format!("<drawloom {}>", self.name)
    }
}

/// What tasks wait at for a notification.
#[pyclass(module = "drawloom")]
pub(crate) struct CondVar {
    slot: Slot,
}

impl CondVar {
    fn resource(&mut self, baton: Baton) -> ResourceId {
        let epoch = world().epoch;
        if self.slot.epoch != epoch {
            let (task, site) = (baton.running(), here());
            let make = |engine: &mut drawloom_engine::Engine| {
                engine.create_resource(task, ResourceKind::Condvar, State::Plain, site)
            };
            self.slot = Slot { epoch, id: baton.with_engine(make) };
        }
        self.slot.id
    }
}

#[pymethods]
impl CondVar {
    #[new]
    fn new() -> CondVar {
        CondVar { slot: Slot::NONE }
    }

    /// Gives `lock` back, waits to be notified, and takes it again; false if the time was up before.
    #[pyo3(signature = (lock, timeout = None))]
    fn wait(slf: &Bound<'_, Self>, lock: &Bound<'_, Lock>, timeout: Option<f64>) -> PyResult<bool> {
        let py = slf.py();
        let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
        let (id, mutex) = (slf.borrow_mut().resource(baton), lock.borrow_mut().resource(baton));
        let count = std::mem::take(&mut lock.borrow_mut().count);
        lock.borrow_mut().holder = TaskId::NONE;
        let operation = Operation::new(OpKind::CondWait, id, here()).with_arg(u64::from(mutex.0));
        let result = match timeout {
            Some(timeout) => baton.step_with_timeout(operation, nanos(timeout)),
            None => baton.step(operation),
        };
        let me = baton.running();
        let result = match result {
            Ok(result) => result,
            Err(_) => {
                // Whoever unwinds releases what it seems to hold.
                (lock.borrow_mut().holder, lock.borrow_mut().count) = (me, count);
                return Err(torn_down(py));
            }
        };
        let again = baton.step(Operation::new(OpKind::Lock, mutex, here()));
        (lock.borrow_mut().holder, lock.borrow_mut().count) = (me, count);
        again.map_err(|_| torn_down(py))?;
        Ok(result == outcome::OK)
    }

    /// Wakes the longest waiter, or all of them.
    fn notify(slf: &Bound<'_, Self>, all: bool) -> PyResult<()> {
        let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
        let id = slf.borrow_mut().resource(baton);
        let kind = if all { OpKind::NotifyAll } else { OpKind::NotifyOne };
        baton.step(Operation::new(kind, id, here())).map_err(|_| torn_down(slf.py()))?;
        Ok(())
    }
}
