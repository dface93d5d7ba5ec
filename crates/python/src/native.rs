//! Locks of the interpreter itself, made before the exploration: in a module, or by the standard library.
//!
//! Each has a shadow in the engine. An operation on the lock is first made on the shadow, as a step; then the lock
//! itself is sure to be free, or sure not to be, and the instruction goes on without waiting.

use drawloom_engine::{OpKind, Operation, ResourceId, Site, TaskId, outcome};
use drawloom_gates::{Baton, TornDown};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use crate::assumptions;
use crate::code::Op;
use crate::frameworks::{self, Quiet};
use crate::layout::Operands;
use crate::markers;
use crate::raise::unsupported;
use crate::world::{aside, world};
use crate::{guests, handing, locals};

/// What is about to be done to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockOp {
    Acquire,
    TryAcquire,
    /// Waits for so many nanoseconds at most; which argument says so, counted from the last.
    AcquireWithin(u64, usize),
    Release,
    /// Gives back a reentrant one, however often it is held; and takes it as often again.
    ReleaseAll,
    AcquireAgain,
    /// Asks whether it is taken.
    Query,
    /// The interpreter refuses it.
    Refused,
    /// What has no shadow.
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
    /// How often the holder had it before it gave it back for a while.
    saved: u32,
    handed_over: bool,
    /// Somebody had it when it was first seen, whom the engine does not know.
    from_outside: bool,
    /// Who has it made no step to take it.
    quiet: Option<Quiet>,
}

/// Makes the step on the shadow of `lock`; where a framework does it, `within` is the place of that.
pub(crate) fn step(
    baton: Baton,
    lock: *mut PyObject,
    lock_op: LockOp,
    within: Option<Site>,
    op: &Op,
    operands: &Operands,
) -> Result<(), TornDown> {
    if baton.is_guest() {
        return within_a_loop(baton, lock, lock_op);
    }
    match lock_op {
        LockOp::Local => {
            locals::touched(baton, lock);
            return Ok(());
        }
        LockOp::Refused => return Ok(()),
        LockOp::Other => {
            return give_up(baton, "an unusual operation on a lock made before the exploration");
        }
        _ => {}
    }
    let (me, site) = (baton.running(), op.site);
    let shadow = shadow_of(baton, lock, within.unwrap_or(site));
    let reentrant = is_reentrant(lock);
    let mine = reentrant && shadow.holder == me;
    match lock_op {
        LockOp::Acquire | LockOp::TryAcquire | LockOp::AcquireWithin(..) | LockOp::AcquireAgain => {
            if mine {
                note(lock, |shadow| shadow.count += 1);
                return Ok(());
            }
            let waits = lock_op != LockOp::TryAcquire;
            let operation = handing::acquisition(shadow.handed_over, shadow.id, waits, site);
            let count = if lock_op == LockOp::AcquireAgain { shadow.saved.max(1) } else { 1 };
            let quiet_at = frameworks::quiet_at(baton, within).filter(|_| !shadow.handed_over);
            if let Some(quiet) = shadow.quiet {
                quiet.is_in_the_way(baton)?;
            }
            if let Some(at) = quiet_at.filter(|_| frameworks::are_quiet()) {
                if shadow.holder != TaskId::NONE {
                    return frameworks::keeps_out(baton, at);
                }
                let quiet = Some(Quiet::since_now(baton, at));
                note(lock, |shadow| (shadow.holder, shadow.count, shadow.quiet) = (me, count, quiet));
                return Ok(());
            }
            let limit = if let LockOp::AcquireWithin(nanos, _) = lock_op { Some(nanos) } else { None };
            let result = match (limit, waits && shadow.handed_over && markers::are_on()) {
                (_, true) => markers::request(baton, operation, limit, || !is_held(lock))?,
                (Some(nanos), false) => {
                    assumptions::time();
                    baton.step_with_timeout(operation, nanos)?
                }
                (None, false) => baton.step(operation)?,
            };
            if result == outcome::OK {
                let quiet = quiet_at.map(|at| Quiet::since_now(baton, at));
                note(lock, |shadow| (shadow.holder, shadow.count, shadow.quiet) = (me, count, quiet));
            } else if let LockOp::AcquireWithin(_, argument) = lock_op {
                do_not_wait(op, operands, argument);
            }
            Ok(())
        }
        LockOp::Query => baton.step(Operation::new(OpKind::CellRead, shadow.id, site)).map(|_| ()),
        // An error is the interpreter's to raise.
        LockOp::Release | LockOp::ReleaseAll if reentrant && !mine => Ok(()),
        LockOp::Release if reentrant && shadow.count > 1 => {
            note(lock, |shadow| shadow.count -= 1);
            Ok(())
        }
        LockOp::Release if shadow.handed_over => handing::release(baton, shadow.id, site).map(|_| ()),
        LockOp::Release if shadow.holder == TaskId::NONE => Ok(()),
        LockOp::Release | LockOp::ReleaseAll => {
            if shadow.holder != me {
                handing::learn(baton, Site::UNKNOWN)?;
            }
            note(lock, |shadow| (shadow.holder, shadow.saved, shadow.quiet) = (TaskId::NONE, shadow.count, None));
            let release = Operation::new(OpKind::Unlock, shadow.id, site);
            if let Some(quiet) = shadow.quiet {
                frameworks::was_held(baton, quiet)?;
                if frameworks::are_quiet() {
                    return Ok(());
                }
            }
            baton.step(release).map(|_| ())
        }
        LockOp::Refused | LockOp::Other | LockOp::Local => Ok(()),
    }
}

/// The time is up: the interpreter is not to wait for it once more, by a clock that is none of ours.
fn do_not_wait(op: &Op, operands: &Operands, argument: usize) {
    let names = usize::from(op.c >> 2);
    if op.kind == crate::code::Kind::Call {
        // SAFETY: it is the operand that was found to be the timeout, and 0 is a number as well.
        unsafe { operands.replace(names + 1 + argument, ffi::PyLong_FromLong(0)) };
    }
}

/// What `acquire` does with these arguments; `named`, if one of them is given as the timeout by name.
pub(crate) fn acquisition(arguments: &[*mut PyObject], named: bool) -> LockOp {
    // SAFETY: live operands.
    let is_bool = |object: *mut PyObject| unsafe { ffi::PyBool_Check(object) != 0 };
    let (blocking, timeout) = match *arguments {
        [] => (None, None),
        [only] if named && !is_bool(only) => (None, Some((only, 0))),
        [only] => (Some(only), None),
        [timeout, blocking] if named && is_bool(blocking) && !is_bool(timeout) => (Some(blocking), Some((timeout, 1))),
        [blocking, timeout] => (Some(blocking), Some((timeout, 0))),
        _ => return LockOp::Refused,
    };
    // SAFETY: live operands; an object without a truth is refused by the interpreter, too.
    let waits = blocking.is_none_or(|blocking| unsafe { ffi::PyObject_IsTrue(blocking) } == 1);
    let (seconds, argument) = match timeout {
        // SAFETY: the same, of what is no number.
        Some((timeout, argument)) => unsafe {
            let seconds = ffi::PyFloat_AsDouble(timeout);
            if !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
                return LockOp::Refused;
            }
            (seconds, argument)
        },
        None => (-1.0, 0),
    };
    match (waits, seconds) {
        (true, -1.0) => LockOp::Acquire,
        (false, -1.0) | (true, 0.0) => LockOp::TryAcquire,
        (true, seconds) if seconds > 0.0 => LockOp::AcquireWithin(crate::sync::nanos(seconds), argument),
        _ => LockOp::Refused,
    }
}

/// Tasks of an event loop run on one thread: a lock is free, or waited for by all of them for ever.
fn within_a_loop(baton: Baton, lock: *mut PyObject, op: LockOp) -> Result<(), TornDown> {
    guests::note(lock, 0, true);
    if op == LockOp::Local {
        locals::touched(baton, lock);
        return Ok(());
    }
    if waits(op) && is_held(lock) && !is_reentrant(lock) {
        world().needs_threads = true;
        return give_up(baton, "a lock of threads that is held across an await");
    }
    Ok(())
}

/// The execution is over, and who is unwound does not wait for a lock that somebody else has: it gets it, so as to put
/// things in order that are there in the next execution, too.
pub(crate) fn do_not_wait_in_teardown(lock: *mut PyObject, op: LockOp) {
    if waits(op) && is_held(lock) && !(is_reentrant(lock) && is_own(lock)) {
        // SAFETY: a live object, and the interpreter's lock.
        let object = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), lock) };
        if let Err(error) = object.call_method0("_at_fork_reinit") {
            error.print(object.py());
        }
    }
}

fn waits(op: LockOp) -> bool {
    matches!(op, LockOp::Acquire | LockOp::AcquireWithin(..) | LockOp::AcquireAgain)
}

/// Whether the calling thread has a reentrant lock.
fn is_own(lock: *mut PyObject) -> bool {
    // SAFETY: a live object, and the interpreter's lock.
    let object = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), lock) };
    object.call_method0("_is_owned").and_then(|own| own.extract::<bool>()).unwrap_or(false)
}

fn is_reentrant(lock: *mut PyObject) -> bool {
    // SAFETY: a live object.
    unsafe { ffi::Py_TYPE(lock) as usize == world().types.reentrant }
}

fn is_held(lock: *mut PyObject) -> bool {
    // SAFETY: a live object, and the interpreter's lock.
    let object = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), lock) };
    // Who has a reentrant one is not told before 3.14, but by its looks.
    match is_reentrant(lock) {
        true => aside(|| object.repr()).is_ok_and(|text| !text.to_string().starts_with("<unlocked")),
        false => object.call_method0("locked").and_then(|held| held.extract::<bool>()).unwrap_or(false),
    }
}

fn note(lock: *mut PyObject, change: impl FnOnce(&mut Shadow)) {
    if let Some(shadow) = world().shadows.get_mut(&(lock as usize)) {
        change(shadow);
    }
}

fn give_up(baton: Baton, what: &str) -> Result<(), TornDown> {
    // SAFETY: callbacks run with the interpreter's lock.
    unsupported(unsafe { Python::assume_gil_acquired() }, baton, what);
    Err(TornDown)
}

fn shadow_of(baton: Baton, lock: *mut PyObject, site: Site) -> Shadow {
    if let Some(shadow) = world().shadows.get(&(lock as usize)) {
        return *shadow;
    }
    let (taken, reentrant) = (is_held(lock), is_reentrant(lock));
    let handed_over = taken || (!reentrant && handing::is_known(Site::UNKNOWN));
    let (kind, state) = handing::kind_of(handed_over, taken);
    let task = baton.running();
    let id = baton.with_engine(|engine| engine.create_resource(task, kind, state, site));
    // A reentrant one that is held can only be that of the thread that explores.
    let (holder, count) = if taken && reentrant { (TaskId::MAIN, u32::MAX / 2) } else { (TaskId::NONE, 0) };
    let shadow = Shadow { id, holder, count, saved: 0, handed_over, from_outside: taken, quiet: None };
    world().keep(lock);
    world().shadows.insert(lock as usize, shadow);
    shadow
}

/// Locks are again as they were before the execution, whoever has kept them; unless no other one has to begin alike. To be
/// called before they are forgotten.
pub(crate) fn restore() {
    let shadows: Vec<(usize, Shadow)> = world().shadows.drain().collect();
    if markers::is_run_once() {
        return;
    }
    for (lock, shadow) in shadows {
        let lock = lock as *mut PyObject;
        let held = is_held(lock);
        if held == shadow.from_outside {
            continue;
        }
        // SAFETY: locks are kept for the execution.
        let object = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), lock) };
        let restored = match held {
            true => object.call_method0("_at_fork_reinit"),
            false => object.call_method1("acquire", (false,)),
        };
        if let Err(error) = restored {
            error.print(object.py());
        }
    }
}
