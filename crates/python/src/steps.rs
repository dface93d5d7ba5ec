//! From what an instruction touches to a step of the engine, as far as anybody could notice it.

use drawloom_engine::finding::{Divergence, FindingKind};
use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State};
use drawloom_gates::{Baton, TornDown, baton};
use pyo3::ffi::PyObject;

use crate::access::{Access, Part, grain_of, touched};
use crate::code::Op;
use crate::guests::note_piece;
use crate::layout::Operands;
use crate::native;
use crate::world::{Grain, Known, Phase, place, world};

/// The part of an owner that stands for all of it.
const ALL: usize = usize::MAX;

/// What the instruction `op` is about to do is announced, and its turn awaited.
#[inline]
pub(crate) fn instruction(op: &Op, operands: &Operands) -> Result<(), TornDown> {
    let Some(baton) = baton() else { return Ok(()) };
    if baton.is_tearing_down() {
        return baton.access_in_teardown();
    }
    let touched = touched(op, operands);
    if let Some((lock, lock_op)) = touched.lock {
        return native::step(baton, lock, lock_op, op.site);
    }
    if world().phase != Phase::Parallel {
        // Nobody else is there; but what is looked at in the end tells what matters.
        if let (Ok(Some(Access { part: Part::Names, .. })), Phase::After) = (touched.one(), world().phase) {
            look_at_whole_objects();
        }
        return stop_if_grown(baton);
    }
    if baton.is_guest() {
        note_piece(&touched, op.site);
        return Ok(());
    }
    let access = match touched.one() {
        Ok(None) if world().grown => return stop_if_grown(baton),
        Ok(None) => return Ok(()),
        Ok(Some(access)) => access,
        Err(why) => {
            not_known(why, op.site);
            Access { owner: std::ptr::null_mut(), part: Part::Unknown, write: true, structure: false }
        }
    };
    let key = key_of(&access);
    stop_if_grown(baton)?;
    match key {
        Some((owner, part)) => access_step(baton, owner, part, access.write, op.site),
        None => Ok(()),
    }
}

fn not_known(why: &str, site: Site) {
    let world = world();
    if world.knowledge.opaque.is_none() {
        let place = place(site).map(|place| format!(", {}:{}", place.file, place.line)).unwrap_or_default();
        world.knowledge.opaque = Some(format!("{why}{place}"));
        world.grown = true;
    }
}

fn look_at_whole_objects() {
    let world = world();
    if !world.knowledge.whole_objects && !world.knowledge.written.is_empty() {
        world.knowledge.whole_objects = true;
        world.grown = true;
    }
}

/// Ends an execution that was not made with all that is known now.
fn stop_if_grown(baton: Baton) -> Result<(), TornDown> {
    let world = world();
    if !world.grown || world.rehearsing {
        return Ok(());
    }
    let again = "the exploration begins anew, with more known of what is shared".to_owned();
    let divergence = Divergence { step: 0, expected: again.clone(), found: again, task: None };
    Err(baton.fail(FindingKind::Divergence(Box::new(divergence))))
}

/// The resource of an access: its owner and part. None, if nobody can notice it.
fn key_of(access: &Access) -> Option<(*mut PyObject, usize)> {
    let known = world();
    let knowledge = &mut known.knowledge;
    if let Part::Name(name) = access.part {
        if access.write && knowledge.written.insert(name) {
            known.grown = true;
        }
    }
    if knowledge.opaque.is_some() {
        return Some((std::ptr::null_mut(), 0));
    }
    match access.part {
        Part::Unknown => Some((std::ptr::null_mut(), 0)),
        Part::Name(name) if !knowledge.any_name && !knowledge.written.contains(&name) => None,
        Part::Name(name) if knowledge.of_classes.contains(&name) => Some((std::ptr::null_mut(), name)),
        Part::Name(_) if knowledge.whole_objects => Some((access.owner, ALL)),
        Part::Name(name) => Some((access.owner, name)),
        Part::Names => {
            if access.write && !(knowledge.any_name && knowledge.whole_objects) {
                (knowledge.any_name, knowledge.whole_objects, known.grown) = (true, true, true);
            }
            look_at_whole_objects();
            world().knowledge.whole_objects.then_some((access.owner, ALL))
        }
        Part::Item(item) => {
            let grain = grain_of(access);
            grow(grain, if access.write { Grain::Items } else { Grain::Untouched });
            match *grain {
                Grain::Untouched => None,
                Grain::Items => Some((access.owner, item + 1)),
                Grain::Whole => Some((access.owner, ALL)),
            }
        }
        Part::All => {
            let grain = grain_of(access);
            let least = if access.write || *grain != Grain::Untouched { Grain::Whole } else { Grain::Untouched };
            grow(grain, least);
            (*grain == Grain::Whole).then_some((access.owner, ALL))
        }
    }
}

fn grow(grain: &mut Grain, least: Grain) {
    if *grain < least {
        *grain = least;
        world().grown = true;
    }
}

fn access_step(baton: Baton, owner: *mut PyObject, part: usize, write: bool, site: Site) -> Result<(), TornDown> {
    let known = world();
    let id = match known.resources.get(&(owner as usize, part)) {
        Some(id) => *id,
        None => new_resource(baton, owner, part, site),
    };
    let kind = if write { OpKind::CellWrite } else { OpKind::CellRead };
    baton.step(Operation::new(kind, id, site)).map(|_| ())
}

#[cold]
fn new_resource(baton: Baton, owner: *mut PyObject, part: usize, site: Site) -> ResourceId {
    let task = baton.running();
    let id = baton.with_engine(|engine| engine.create_resource(task, ResourceKind::Cell, State::Plain, site));
    let known = world();
    if !owner.is_null() {
        known.keep(owner);
    }
    known.resources.insert((owner as usize, part), id);
    known.known.push(Known { id, owner: owner as usize, part });
    id
}
