//! Locks of the interpreter itself, made before the exploration: in a module, or by the standard library.
//!
//! Each has a shadow in the engine. An operation on the lock is first made on the shadow, as a step; then the lock
//! itself is sure to be free, or sure not to be, and the instruction goes on without waiting.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};
use drawloom_gates::{Baton, TornDown};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use crate::guests;
use crate::raise::unsupported;
use crate::world::world;

/// What is about to be done to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockOp {
    Acquire,
    TryAcquire,
    Release,
    /// Asks whether it is taken.
    Query,
    /// What has no shadow: waits that end by time, say.
    Other,
    /// It is no lock, but what each thread has its own of.
    Local,
}

/// What the engine knows of a lock.
#[derive(Clone, Copy)]
pub(crate) struct Shadow {
    id: ResourceId,
    holder: TaskId,
    count: u32,
}

/// Makes the step on the shadow of `lock`.
pub(crate) fn step(baton: Baton, lock: *mut PyObject, op: LockOp, site: Site) -> Result<(), TornDown> {
    if baton.is_guest() {
        return within_a_loop(baton, lock, op);
    }
    let me = baton.running();
    if op == LockOp::Local {
        return give_up(baton, "thread-local data made before the exploration");
    }
    let Some(shadow) = shadow_of(baton, lock, site) else { return give_up(baton, "a lock that is held already") };
    // SAFETY: a live object.
    let reentrant = unsafe { pyo3::ffi::Py_TYPE(lock) as usize } == world().types.reentrant;
    let kind = match op {
        LockOp::Local | LockOp::Other => {
            return give_up(baton, "a lock made before the exploration, and waited for with a timeout");
        }
        LockOp::Acquire | LockOp::TryAcquire if reentrant && shadow.holder == me => {
            return note(lock, |shadow| shadow.count += 1);
        }
        LockOp::Acquire => OpKind::Lock,
        LockOp::TryAcquire => OpKind::TryLock,
        LockOp::Query => OpKind::CellRead,
        // An error is the interpreter's to raise.
        LockOp::Release if shadow.holder == TaskId::NONE || (reentrant && shadow.holder != me) => return Ok(()),
        LockOp::Release if shadow.holder != me => {
            return give_up(baton, "a lock that is released by another thread than the one that took it");
        }
        LockOp::Release if shadow.count > 1 => return note(lock, |shadow| shadow.count -= 1),
        LockOp::Release => OpKind::Unlock,
    };
    if op == LockOp::Release {
        note(lock, |shadow| shadow.holder = TaskId::NONE)?;
    }
    let result = baton.step(Operation::new(kind, shadow.id, site))?;
    if matches!(op, LockOp::Acquire | LockOp::TryAcquire) && result == outcome::OK {
        note(lock, |shadow| (shadow.holder, shadow.count) = (me, 1))?;
    }
    Ok(())
}

/// Tasks of an event loop run on one thread: a lock is free, or waited for by all of them for ever.
fn within_a_loop(baton: Baton, lock: *mut PyObject, op: LockOp) -> Result<(), TornDown> {
    guests::note(lock, 0, true);
    if op == LockOp::Acquire && is_held(lock) {
        return give_up(baton, "a lock of threads that is held across an await");
    }
    Ok(())
}

fn is_held(lock: *mut PyObject) -> bool {
    // SAFETY: a live object, and the interpreter's lock.
    let object = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), lock) };
    object.call_method0("locked").and_then(|held| held.extract::<bool>()).unwrap_or(false)
}

fn note(lock: *mut PyObject, change: impl FnOnce(&mut Shadow)) -> Result<(), TornDown> {
    if let Some(shadow) = world().shadows.get_mut(&(lock as usize)) {
        change(shadow);
    }
    Ok(())
}

fn give_up(baton: Baton, what: &str) -> Result<(), TornDown> {
    // SAFETY: callbacks run with the interpreter's lock.
    unsupported(unsafe { Python::assume_gil_acquired() }, baton, what);
    Err(TornDown)
}

/// The shadow of a lock; none, if somebody who has none holds it.
fn shadow_of(baton: Baton, lock: *mut PyObject, site: Site) -> Option<Shadow> {
    if let Some(shadow) = world().shadows.get(&(lock as usize)) {
        return Some(*shadow);
    }
    if is_held(lock) {
        return None;
    }
    let task = baton.running();
    let id = baton.with_engine(|engine| engine.create_resource(task, ResourceKind::Mutex, State::Plain, site));
    let shadow = Shadow { id, holder: TaskId::NONE, count: 0 };
    world().keep(lock);
    world().shadows.insert(lock as usize, shadow);
    Some(shadow)
}
