//! Tasks of an event loop: guests of main, whose pieces are steps; and what a piece touches.
//!
//! What a piece will touch is known only when it has been run, but must be announced before. The Python side foretells
//! it from earlier executions, holds it against what is noted here, and has the exploration begin anew if it was less.

use std::collections::HashSet;

use drawloom_engine::finding::Panic;
use drawloom_engine::{OpKind, Operation, Parts, ResourceId, Site, TaskId};
use drawloom_gates::{Baton, Errand, First, baton};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use crate::access::{Fills, Part, Touched};
use crate::locals;
use crate::raise::{here, needs_threads, torn_down};
use crate::world::{Phase, place, world};

/// What the running piece has touched: owner, name (0 stands for all of it), and whether it was changed.
#[derive(Default)]
pub(crate) struct Piece {
    seen: HashSet<(usize, usize, bool)>,
    /// In the order in which it came up, since the order of a set is none.
    touched: Vec<(usize, usize, bool)>,
    unknown: Option<String>,
    paused: bool,
}

/// An owner of which all attributes are looked at.
const NAMES: usize = usize::MAX;

/// Notes what an instruction touches.
pub(crate) fn note_piece(touched: &Touched, site: Site) {
    let known = world();
    if known.piece.paused {
        return;
    }
    match touched.all_of_them() {
        Err(why) => {
            if known.piece.unknown.is_none() {
                let place = place(site).map(|place| format!(", {}:{}", place.file, place.line)).unwrap_or_default();
                known.piece.unknown = Some(format!("{why}{place}"));
            }
        }
        Ok(all) => {
            for access in all {
                let (owner, name) = match access.part {
                    Part::Name(name) if known.knowledge.of_classes.contains(&name) => (std::ptr::null_mut(), name),
                    Part::Name(name) => (access.owner, name),
                    Part::Names => (access.owner, NAMES),
                    Part::Item(_) | Part::Size | Part::Content | Part::All => (access.owner, 0),
                };
                note(owner, name, access.write || access.fills != Fills::No);
            }
        }
    }
}

/// Notes that the running piece touches a part of `owner`.
pub(crate) fn note(owner: *mut PyObject, name: usize, write: bool) {
    let known = world();
    if known.piece.seen.insert((owner as usize, name, write)) {
        if !owner.is_null() {
            // Its address names it for the rest of the execution.
            known.keep(owner);
        }
        known.piece.touched.push((owner as usize, name, write));
    }
}

fn current() -> PyResult<Baton> {
    baton().ok_or_else(|| PyRuntimeError::new_err("not in an exploration"))
}

/// What a piece touches: a resource, whether it changes it, and which of its parts it reads and writes, if it has several.
type Touches = (u32, bool, u32, u32);

/// A piece that is to be announced, with what it touches. Before that it may sleep.
fn errand(piece: Option<Touches>, first: Option<First>) -> Errand {
    let Some((resource, write, reads, writes)) = piece else { return Errand::Exit };
    let parts = Parts { reads, writes };
    let kind = match (parts == Parts::default(), write) {
        (true, true) => OpKind::CellWrite,
        (true, false) => OpKind::CellRead,
        (false, _) => parts.kind(),
    };
    Errand::Piece(Operation::new(kind, ResourceId(resource), here()).with_arg(parts.operand()), first)
}

/// The place of a line, which need not be the one that runs.
fn site(place: Option<(&str, usize)>) -> Site {
    match place {
        Some((file, line)) => world().site(file, line),
        None => Site::UNKNOWN,
    }
}

/// A resource that pieces touch, with a name for reports; so have its parts, if these say more.
#[pyfunction]
fn guest_resource(name: &str, parts: Vec<String>) -> PyResult<u32> {
    let baton = current()?;
    Ok(baton.with_engine(|engine| {
        let whole = engine.create_parts(TaskId::MAIN, parts.len() as u32, Site::UNKNOWN);
        engine.name_resource(whole, name);
        for (part, name) in (whole.0 + 1..).zip(&parts).filter(|(_, name)| !name.is_empty()) {
            engine.name_resource(ResourceId(part), name);
        }
        whole.0
    }))
}

/// Names a resource that pieces touch anew, and its parts.
#[pyfunction]
fn guest_named(resource: u32, name: &str, parts: Vec<String>) -> PyResult<()> {
    current()?.with_engine(|engine| {
        engine.name_resource(ResourceId(resource), name);
        for (part, name) in (resource + 1..).zip(&parts).filter(|(_, name)| !name.is_empty()) {
            engine.name_resource(ResourceId(part), name);
        }
    });
    Ok(())
}

/// A guest, whose first piece touches `piece`; `until` is when it begins, at the earliest.
#[pyfunction]
fn guest_invite(
    py: Python<'_>,
    name: &str,
    piece: Touches,
    until: Option<u64>,
    file: &str,
    line: usize,
) -> PyResult<u32> {
    let baton = current()?;
    if !baton.is_tearing_down() && !baton.has_guests_alone() {
        return Err(needs_threads(py, baton, "a thread that was started before the event loop"));
    }
    world().phase = Phase::Parallel;
    let mut errand = errand(Some(piece), until.map(First::Sleep));
    let site = site(Some((file, line)));
    if let Errand::Piece(operation, _) = &mut errand {
        operation.site = site;
    }
    Ok(baton.invite(Some(name), site, errand).0)
}

/// What a guest does next: a piece, if it can go on; else it is over.
#[pyfunction]
fn guest_go_on(guest: u32, piece: Option<Touches>, gives_way: bool, file: &str, line: usize) -> PyResult<()> {
    let mut errand = errand(piece, gives_way.then_some(First::GiveWay));
    if let Errand::Piece(operation, _) = &mut errand {
        operation.site = site(Some((file, line)));
    }
    current()?.go_on(TaskId(guest), errand);
    Ok(())
}

/// A guest waits at a line, for another guest to end if that is known.
#[pyfunction]
fn guest_suspend(guest: u32, target: Option<u32>, file: &str, line: usize) -> PyResult<()> {
    let site = site(Some((file, line)));
    let operation = match target {
        Some(target) => Operation::new(OpKind::Join, ResourceId::NONE, site).with_arg(u64::from(target)),
        None => Operation::new(OpKind::Park, ResourceId::NONE, site).with_arg(1),
    };
    current()?.suspend(TaskId(guest), operation);
    Ok(())
}

/// The running piece has ended the wait of a guest.
#[pyfunction]
fn guest_wake(guest: u32, piece: Touches, file: &str, line: usize) -> PyResult<()> {
    let mut errand = errand(Some(piece), None);
    if let Errand::Piece(operation, _) = &mut errand {
        operation.site = site(Some((file, line)));
    }
    current()?.wake(TaskId(guest), errand);
    Ok(())
}

/// The guest whose piece is to be run; or 0, main, when the guest `join` has ended or it is `until`.
#[pyfunction]
fn guest_next(py: Python<'_>, join: Option<u32>, until: u64) -> PyResult<u32> {
    let operation = match join {
        Some(task) => Operation::new(OpKind::Join, ResourceId::NONE, Site::UNKNOWN).with_arg(u64::from(task)),
        None => Operation::new(OpKind::Sleep, ResourceId::NONE, Site::UNKNOWN).with_arg(until),
    };
    let next = current()?.next_guest(operation).map_err(|_| torn_down(py))?;
    let piece = &mut world().piece;
    piece.seen.clear();
    piece.touched.clear();
    (piece.unknown, piece.paused) = (None, false);
    Ok(next.0)
}

/// A guest fails with an exception.
#[pyfunction]
fn guest_fail(guest: u32, message: String, location: String) -> PyResult<()> {
    current()?.fail_guest(TaskId(guest), Panic { message, location, ..Panic::default() });
    Ok(())
}

/// Whose, of which name, and whether it was changed.
type Told = (Py<PyAny>, Py<PyAny>, bool);

/// What the running piece has touched: owner or none, name (none stands for all, true for all attributes), whether it
/// was changed; and what of it is not known.
#[pyfunction]
fn guest_touched(py: Python<'_>) -> (Vec<Told>, Option<String>) {
    let piece = &world().piece;
    // SAFETY: owners are kept for the execution, names for good.
    let object = |address: usize| unsafe {
        match address {
            0 => py.None(),
            NAMES => true.into_pyobject(py).map_or_else(|_| py.None(), |yes| yes.to_owned().into_any().unbind()),
            _ => Bound::from_borrowed_ptr(py, address as *mut PyObject).unbind(),
        }
    };
    let touched = piece.touched.iter().map(|(owner, name, write)| (object(*owner), object(*name), *write)).collect();
    (touched, piece.unknown.clone())
}

/// The running piece touches all of `owner`, by means that cannot be seen.
#[pyfunction]
fn guest_touch(owner: &Bound<'_, PyAny>, write: bool) {
    note(owner.as_ptr(), 0, write);
}

/// The running piece does something of which it is not known what it touches.
#[pyfunction]
fn guest_unknown(what: &str) {
    world().piece.unknown.get_or_insert_with(|| what.to_owned());
}

/// From now on, or no longer, nothing is noted. Whether that was so before.
#[pyfunction]
fn guest_pause(paused: bool) -> bool {
    std::mem::replace(&mut world().piece.paused, paused)
}

/// More is known now than the exploration has been begun with.
#[pyfunction]
fn guests_have_grown() {
    world().grown = true;
}

/// All guests have ended.
#[pyfunction]
fn guests_have_left() {
    world().phase = Phase::After;
}

/// Main is done: guests that still sleep are not waited for.
#[pyfunction]
fn guests_dismissed() -> PyResult<()> {
    current()?.dismiss_guests();
    Ok(())
}

/// What main has its own of is as it was before its guests came, who are on its thread.
#[pyfunction]
fn guests_leave_nothing() {
    locals::restore();
}

/// The virtual clock, which no step need be made to read.
#[pyfunction]
fn guest_now() -> PyResult<u64> {
    Ok(current()?.with_engine(|engine| engine.now()))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(guest_resource, module)?)?;
    module.add_function(wrap_pyfunction!(guest_named, module)?)?;
    module.add_function(wrap_pyfunction!(guest_invite, module)?)?;
    module.add_function(wrap_pyfunction!(guest_go_on, module)?)?;
    module.add_function(wrap_pyfunction!(guest_suspend, module)?)?;
    module.add_function(wrap_pyfunction!(guest_wake, module)?)?;
    module.add_function(wrap_pyfunction!(guest_next, module)?)?;
    module.add_function(wrap_pyfunction!(guest_fail, module)?)?;
    module.add_function(wrap_pyfunction!(guest_touched, module)?)?;
    module.add_function(wrap_pyfunction!(guest_touch, module)?)?;
    module.add_function(wrap_pyfunction!(guest_unknown, module)?)?;
    module.add_function(wrap_pyfunction!(guest_pause, module)?)?;
    module.add_function(wrap_pyfunction!(guests_have_grown, module)?)?;
    module.add_function(wrap_pyfunction!(guests_have_left, module)?)?;
    module.add_function(wrap_pyfunction!(guests_dismissed, module)?)?;
    module.add_function(wrap_pyfunction!(guests_leave_nothing, module)?)?;
    module.add_function(wrap_pyfunction!(guest_now, module)?)
}
