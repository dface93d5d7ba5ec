//! Condition variables, as resources of the engine.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, State, outcome};
use drawloom_gates::{Baton, baton};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::assumptions;
use crate::frameworks;
use crate::raise::{here, torn_down};
use crate::sync::{Lock, Slot, name_inside, nanos};
use crate::tasks::not_within_a_loop;
use crate::world::world;

/// What tasks wait at for a notification.
#[pyclass(module = "drawloom")]
pub(crate) struct CondVar {
    slot: Slot,
    /// How many tasks wait at it.
    waiting: usize,
}

impl CondVar {
    fn resource(&mut self, baton: Baton) -> ResourceId {
        let epoch = world().epoch;
        if self.slot.epoch != epoch {
            let (task, site) = (baton.running(), frameworks::place_within().unwrap_or_else(here));
            let make = |engine: &mut drawloom_engine::Engine| {
                engine.create_resource(task, ResourceKind::Condvar, State::Plain, site)
            };
            let id = baton.with_engine(make);
            name_inside(baton, id);
            (self.slot, self.waiting) = (Slot { epoch, id }, 0);
        }
        self.slot.id
    }
}

#[pymethods]
impl CondVar {
    #[new]
    fn new() -> CondVar {
        CondVar { slot: Slot::NONE, waiting: 0 }
    }

    /// Gives `lock` back, waits to be notified, and takes it again; false if the time was up before.
    #[pyo3(signature = (lock, timeout = None))]
    fn wait(slf: &Bound<'_, Self>, lock: &Bound<'_, Lock>, timeout: Option<f64>) -> PyResult<bool> {
        let py = slf.py();
        let baton = baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))?;
        let (id, mutex) = (slf.borrow_mut().resource(baton), lock.borrow_mut().resource(baton));
        // A mutex of the engine is given back by who has it.
        if !lock.borrow().is_of(baton).map_err(|_| torn_down(py))? {
            return Err(torn_down(py));
        }
        if baton.is_guest() && !baton.is_tearing_down() {
            return wait_within_a_loop(py, baton, id, timeout);
        }
        let quiet = lock.borrow().quiet();
        if let Some(quiet) = quiet {
            quiet.is_in_the_way(baton).map_err(|_| torn_down(py))?;
        }
        let count = lock.borrow_mut().give_up();
        let operation = match timeout {
            // No time to wait: the lock is given back for a moment, that is all.
            Some(timeout) if timeout <= 0.0 => Operation::new(OpKind::Unlock, mutex, here()),
            _ => Operation::new(OpKind::CondWait, id, here()).with_arg(u64::from(mutex.0)),
        };
        slf.borrow_mut().waiting += 1;
        let result = match timeout {
            Some(timeout) if timeout <= 0.0 => baton.step(operation).map(|_| outcome::TIMED_OUT),
            Some(timeout) => {
                assumptions::time();
                baton.step_with_timeout(operation, nanos(timeout))
            }
            None => baton.step(operation),
        };
        slf.borrow_mut().waiting -= 1;
        let me = baton.running();
        let result = match result {
            Ok(result) => result,
            Err(_) => {
                // Whoever unwinds releases what it seems to hold.
                lock.borrow_mut().take(me, count);
                return Err(torn_down(py));
            }
        };
        let again = baton.step(Operation::new(OpKind::Lock, mutex, here()));
        lock.borrow_mut().take(me, count);
        again.map_err(|_| torn_down(py))?;
        Ok(result == outcome::OK)
    }

    /// Wakes the longest waiter, or all of them.
    fn notify(slf: &Bound<'_, Self>, all: bool) -> PyResult<()> {
        // A destructor may come late.
        let Some(baton) = baton() else { return Ok(()) };
        let id = slf.borrow_mut().resource(baton);
        if baton.is_guest() && !baton.is_tearing_down() {
            // If all are tasks of one loop, none of them waits: that would be the end of all of them.
            return match baton.has_guests_alone() {
                true => Ok(()),
                false => not_within_a_loop(slf.py(), "notify"),
            };
        }
        let kind = if all { OpKind::NotifyAll } else { OpKind::NotifyOne };
        let notification = Operation::new(kind, id, here());
        // Nobody is there to hear of it, and who comes later does so under the framework's lock.
        if !baton.is_tearing_down() && slf.borrow().waiting == 0 && frameworks::place_within().is_some() {
            return Ok(());
        }
        baton.step(notification).map_err(|_| torn_down(slf.py()))?;
        Ok(())
    }
}

/// A task of an event loop waits as threads do, and the loop with it. Where its tasks are all there is, nobody can notify
/// it then; how long it would wait, only threads can tell.
fn wait_within_a_loop(py: Python<'_>, baton: Baton, id: ResourceId, timeout: Option<f64>) -> PyResult<bool> {
    match timeout {
        Some(timeout) if timeout <= 0.0 => Ok(false),
        None if baton.has_guests_alone() => {
            baton.with_engine(|engine| engine.mention(STANDS_STILL));
            baton.stand_still(Operation::new(OpKind::CondWait, id, here()));
            Err(torn_down(py))
        }
        _ => not_within_a_loop(py, "wait").map(|()| false),
    }
}

const STANDS_STILL: &str = "this is a wait of threads, not an await: it stops the event loop and all of its tasks";
