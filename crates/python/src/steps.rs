//! From what an instruction touches to a step of the engine, as far as anybody could notice it.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Several, Site, State, Stop, known_as};
use drawloom_gates::{Baton, TornDown, baton};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use crate::access::{Access, Fills, Part, Touched, fill, touched};
use crate::assumptions;
use crate::calling;
use crate::code::{Kind, Op};
use crate::containers::{FILLED, Facts, REMOVED, STRUCTURE, Use, WHOLE};
use crate::guests::note_piece;
use crate::layout::Operands;
use crate::leftovers;
use crate::markers;
use crate::native;
use crate::raise::{here, torn_down};
use crate::watch;
use crate::world::{Known, Phase, place, world};

/// The part of an owner that stands for all of it.
const ALL: usize = usize::MAX;

/// What the instruction `op` is about to do is announced, and its turn awaited.
#[inline]
pub(crate) fn instruction(op: &Op, operands: &Operands) -> Result<(), NotDone> {
    let Some(baton) = baton() else { return Ok(()) };
    if baton.is_tearing_down() {
        baton.access_in_teardown()?;
        in_teardown(op, operands);
        return Ok(());
    }
    goes_on(baton, op)?;
    if markers::are_on() {
        return markers::instruction(baton, op, operands);
    }
    let touched = touched(op, operands);
    if let Some((lock, lock_op)) = touched.lock {
        return Ok(native::step(baton, lock, lock_op, None, op, operands)?);
    }
    if world().phase != Phase::Parallel {
        // Nobody else is there; but what is looked at in the end tells what matters.
        if world().phase == Phase::After {
            look_in_the_end(&touched);
        }
        return Ok(stop_if_grown(baton)?);
    }
    leftovers::look(&touched, op.site);
    assumptions::life(&touched, op.site);
    if baton.is_guest() {
        note_piece(&touched, op.site);
        return Ok(());
    }
    let resources = resources_of(&touched, op);
    if world().grown {
        stop_if_grown(baton)?;
    }
    if world().rehearsing && resources.is_none() {
        go_round(baton, op.site)?;
    }
    calling::note(baton, operands, resources.filter(|_| !touched.at_first && op.kind.calls()), op.site);
    if let Some(resources) = resources {
        access_step(baton, resources, op.site)?;
    }
    match touched.asked {
        Some((dict, key)) => fill(baton, dict, key, op),
        None => Ok(()),
    }
}

/// Nobody has asked for the end; and what the task is about to call is known, should it not return.
pub(crate) fn goes_on(baton: Baton, op: &Op) -> Result<(), TornDown> {
    if watch::is_interrupted() {
        return Err(baton.stop(Stop::Interrupted));
    }
    if op.kind == Kind::Call {
        watch::calls_at(op.site);
    }
    Ok(())
}

/// Instructions in a row, none of them a step, after which others are let run in a rehearsal.
const LONGEST_STRETCH: u32 = 20_000;

/// In a rehearsal it is not known yet what others write: who waits for that by asking again and again makes no step. So
/// whoever has not made one for long lets others run.
fn go_round(baton: Baton, site: Site) -> Result<(), TornDown> {
    world().stretch += 1;
    if world().stretch < LONGEST_STRETCH {
        return Ok(());
    }
    world().stretch = 0;
    baton.step(Operation::new(OpKind::Yield, ResourceId::NONE, site)).map(|_| ())
}

/// Why an instruction is not carried out.
pub(crate) enum NotDone {
    TornDown,
    /// What it does was done for it, and has raised this.
    Raised(PyErr),
}

impl From<TornDown> for NotDone {
    fn from(_: TornDown) -> NotDone {
        NotDone::TornDown
    }
}

impl NotDone {
    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        match self {
            NotDone::TornDown => torn_down(py),
            NotDone::Raised(error) => error,
        }
    }
}

/// What an instruction does besides is announced, and its turn awaited.
pub(crate) fn one_access(baton: Baton, access: &Access, op: &Op) -> Result<(), TornDown> {
    let resource = key_of(access, Use { site: op.site, nth: op.nth, besides: false });
    stop_if_grown(baton)?;
    match resource {
        Some(resource) => access_step(baton, resource.into(), op.site),
        None => Ok(()),
    }
}

/// Python code returns to what has called it; where that is no Python code, it goes on with what it touches.
#[inline]
pub(crate) fn returned(operands: &Operands) -> Result<(), TornDown> {
    let Some(baton) = baton() else { return Ok(()) };
    let Some((resources, site)) = calling::going_on(baton, operands) else { return Ok(()) };
    if baton.is_tearing_down() || world().phase != Phase::Parallel {
        return Ok(());
    }
    stop_if_grown(baton)?;
    access_step(baton, resources, site)
}

/// What tasks can conflict on: a part of an owner; and whether it is written.
#[derive(Clone, Copy)]
pub(crate) struct Resource {
    owner: *mut PyObject,
    part: usize,
    /// The part is a name, by its address.
    is_named: bool,
    write: bool,
}

impl Resource {
    fn is_same(&self, other: &Resource) -> bool {
        (self.owner, self.part) == (other.owner, other.part)
    }
}

const EVERYTHING: Resource = Resource { owner: std::ptr::null_mut(), part: 0, is_named: false, write: true };

/// What one step touches: a resource, and in few cases others.
#[derive(Clone, Copy)]
pub(crate) struct Resources {
    first: Resource,
    others: [Option<Resource>; Several::MOST - 1],
}

impl From<Resource> for Resources {
    #[inline]
    fn from(first: Resource) -> Resources {
        Resources { first, others: [None; Several::MOST - 1] }
    }
}

impl Resources {
    /// Takes note of one more; false if that are too many.
    fn add(&mut self, resource: Resource) -> bool {
        if resource.is_same(&self.first) {
            self.first.write |= resource.write;
            return true;
        }
        let place = self.others.iter_mut().find(|other| other.is_none_or(|other| other.is_same(&resource)));
        let Some(place) = place else { return false };
        let write = resource.write || place.is_some_and(|known| known.write);
        *place = Some(Resource { write, ..resource });
        true
    }
}

/// The resources that an instruction touches; none, if nobody can notice it.
#[inline]
fn resources_of(touched: &Touched, op: &Op) -> Option<Resources> {
    let mut at = Use { site: op.site, nth: op.nth, besides: false };
    let all = match touched.all_of_them() {
        Ok(all) => all,
        Err(why) => {
            not_known(why, op.site);
            return Some(EVERYTHING.into());
        }
    };
    if world().knowledge.opaque.is_some() {
        return of_everything(all, at).map(Resources::from);
    }
    let mut resources: Option<Resources> = None;
    for access in all {
        match (key_of(access, at), &mut resources) {
            (None, _) => {}
            (Some(resource), None) => resources = Some(resource.into()),
            (Some(resource), Some(known)) => {
                if !known.add(resource) {
                    not_known("an operation that touches many objects at once", op.site);
                    return Some(EVERYTHING.into());
                }
            }
        }
        at.besides = true;
    }
    resources
}

/// The same while everything is one resource: what people know it as is what is written, or else what comes first.
fn of_everything<'a>(all: impl Iterator<Item = &'a Access>, at: Use) -> Option<Resource> {
    let mut only: Option<Resource> = None;
    for access in all {
        let resource = key_of(access, at)?;
        match &only {
            Some(known) if known.write || !resource.write => {}
            _ => only = Some(resource),
        }
    }
    only
}

/// What an access touches, as people know it.
fn in_words(access: &Access) -> Resource {
    let part = match access.part {
        Part::Name(name) => name,
        Part::Item(item) => item + 1,
        Part::Names | Part::Size | Part::Content | Part::All => ALL,
    };
    let is_named = matches!(access.part, Part::Name(_));
    Resource { owner: access.owner, part, is_named, write: access.write || access.fills != Fills::No }
}

/// The order in which things were added is there to be seen when all is over, too.
fn look_in_the_end(touched: &Touched) {
    let Ok(all) = touched.all_of_them() else {
        world().grown |= world().knowledge.containers.all_in_order();
        return;
    };
    for access in all {
        match access.part {
            Part::Names => look_at_whole_objects(),
            Part::All => {
                let containers = &mut world().knowledge.containers;
                if let Some(family) = containers.family_if_touched(access.owner) {
                    if containers.facts(family) & STRUCTURE != 0 {
                        learn(family, WHOLE);
                    }
                }
            }
            Part::Name(_) | Part::Item(_) | Part::Size | Part::Content => {}
        }
    }
}

/// Nobody waits any more, and that goes for locks of the interpreter, too.
#[cold]
pub(crate) fn in_teardown(op: &Op, operands: &Operands) {
    if matches!(op.kind, Kind::Call | Kind::CallEx | Kind::Enter) {
        if let Some((lock, lock_op)) = touched(op, operands).lock {
            native::do_not_wait_in_teardown(lock, lock_op);
        }
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
pub(crate) fn stop_if_grown(baton: Baton) -> Result<(), TornDown> {
    let world = world();
    if !world.grown || world.rehearsing {
        return Ok(());
    }
    Err(baton.stop(Stop::KnowsMore))
}

/// The resource of an access. None, if nobody can notice it.
fn key_of(access: &Access, at: Use) -> Option<Resource> {
    let known = world();
    let knowledge = &mut known.knowledge;
    if let Part::Name(name) = access.part {
        if access.write && knowledge.written.insert(name) {
            known.grown = true;
        }
    }
    if knowledge.opaque.is_some() {
        return Some(in_words(access));
    }
    let some = |owner, part| Some(Resource { owner, part, is_named: part != ALL, write: access.write });
    match access.part {
        Part::Name(name) if !knowledge.any_name && !knowledge.written.contains(&name) => None,
        Part::Name(name) if knowledge.of_classes.contains(&name) => some(std::ptr::null_mut(), name),
        Part::Name(_) if knowledge.whole_objects => some(access.owner, ALL),
        Part::Name(name) => some(access.owner, name),
        Part::Names => {
            if access.write && !(knowledge.any_name && knowledge.whole_objects) {
                (knowledge.any_name, knowledge.whole_objects, known.grown) = (true, true, true);
            }
            look_at_whole_objects();
            if world().knowledge.whole_objects { some(access.owner, ALL) } else { None }
        }
        Part::Item(_) | Part::Size | Part::Content | Part::All => within_container(access, at),
    }
}

/// The same of an access to a container, as finely as its family allows.
fn within_container(access: &Access, at: Use) -> Option<Resource> {
    let known = world();
    let found = known.knowledge.containers.family_of(access.owner, at);
    known.grown |= found.grown;
    if found.is_new {
        // Its address names it for the rest of the execution.
        known.keep(access.owner);
    }
    let family = found.family;
    let mut facts = learn(family, access.facts);
    let is_seen = match access.part {
        Part::Size => facts & STRUCTURE != 0,
        Part::All | Part::Content => access.write || facts != 0,
        _ => false,
    };
    if is_seen {
        facts = learn(family, WHOLE);
    }
    let write = access.write || (access.fills == Fills::AtOnce && facts & (FILLED | REMOVED) != 0);
    let part = match access.part {
        _ if facts & WHOLE != 0 => ALL,
        Part::Item(item) if facts != 0 => item + 1,
        _ => return None,
    };
    Some(Resource { owner: access.owner, part, is_named: false, write })
}

/// What is known of a family, and this besides.
fn learn(family: usize, facts: Facts) -> Facts {
    let known = world();
    known.grown |= known.knowledge.containers.learn(family, facts);
    known.knowledge.containers.facts(family)
}

fn access_step(baton: Baton, resources: Resources, site: Site) -> Result<(), TornDown> {
    let site = if world().passed_on.contains(&site.0) { here() } else { site };
    let Resources { first, others } = resources;
    let id = id_of(baton, first, site);
    // Those that are known to be one have one step.
    if others[0].is_some() && world().knowledge.opaque.is_none() {
        return several_step(baton, (id, first.write), others, site);
    }
    let kind = if first.write { OpKind::CellWrite } else { OpKind::CellRead };
    baton.step(of_cell(baton, kind, id, site)).map(|_| ())
}

/// A step that touches several resources, which nobody comes between.
#[cold]
fn several_step(
    baton: Baton,
    first: (ResourceId, bool),
    others: [Option<Resource>; Several::MOST - 1],
    site: Site,
) -> Result<(), TornDown> {
    let mut touched = vec![first];
    touched.extend(others.into_iter().flatten().map(|other| (id_of(baton, other, site), other.write)));
    match Several::new(&touched) {
        Some(several) => baton.step(several.operation(site)).map(|_| ()),
        None => {
            not_known("an operation on more objects than can be distinguished", site);
            stop_if_grown(baton)?;
            let all = everything(baton, site);
            baton.step(Operation::new(OpKind::CellWrite, all, site)).map(|_| ())
        }
    }
}

fn id_of(baton: Baton, resource: Resource, site: Site) -> ResourceId {
    let known = world().resources.get(&(resource.owner as usize, resource.part)).copied();
    known.unwrap_or_else(|| new_resource(baton, resource, site))
}

/// An access to a cell: to the one that everything is, while it is not known what is touched, but known to people as `id`.
pub(crate) fn of_cell(baton: Baton, kind: OpKind, id: ResourceId, site: Site) -> Operation {
    if world().knowledge.opaque.is_none() {
        return Operation::new(kind, id, site);
    }
    let all = everything(baton, site);
    Operation::new(kind, all, site).with_arg(if id == all { 0 } else { known_as(id) })
}

/// The one resource that everything is while it is not known what is touched.
fn everything(baton: Baton, site: Site) -> ResourceId {
    let known = world().resources.get(&(0, 0)).copied();
    known.unwrap_or_else(|| new_resource(baton, EVERYTHING, site))
}

#[cold]
fn new_resource(baton: Baton, resource: Resource, site: Site) -> ResourceId {
    let Resource { owner, part, is_named, .. } = resource;
    let task = baton.running();
    let id = baton.with_engine(|engine| engine.create_resource(task, ResourceKind::Cell, State::Plain, site));
    let known = world();
    if !owner.is_null() {
        known.keep(owner);
    }
    known.resources.insert((owner as usize, part), id);
    known.known.push(Known { id, owner: owner as usize, part, is_named });
    id
}
