//! Locks that one thread takes and another one releases.
//!
//! Such a lock has no holder of whom the engine could know: it is a semaphore of one permit. Whether it is released
//! while nobody has it is asked by an access to it, which is a step of its own: its order with whatever others do to the
//! lock is explored, so the two steps together come to all that the one of the interpreter can.

use drawloom_engine::{OpKind, Operation, Resource, ResourceId, ResourceKind, Site, State};
use drawloom_gates::{Baton, TornDown};

use crate::markers;
use crate::steps::stop_if_grown;
use crate::world::{place, world};

/// What a lock is to the engine; `taken`, if somebody has it whom the engine does not know.
pub(crate) fn kind_of(handed_over: bool, taken: bool) -> (ResourceKind, State) {
    match handed_over || taken {
        true => (ResourceKind::Semaphore, State::Count(u64::from(!taken))),
        false => (ResourceKind::Mutex, State::Plain),
    }
}

/// How a lock is asked for.
pub(crate) fn acquisition(handed_over: bool, id: ResourceId, waits: bool, site: Site) -> Operation {
    let kind = match (handed_over, waits) {
        (true, true) => OpKind::Acquire,
        (true, false) => OpKind::TryAcquire,
        (false, true) => OpKind::Lock,
        (false, false) => OpKind::TryLock,
    };
    Operation::new(kind, id, site).with_arg(u64::from(handed_over))
}

/// Gives back a lock that is handed over; false if nobody had it.
pub(crate) fn release(baton: Baton, id: ResourceId, site: Site) -> Result<bool, TornDown> {
    if !baton.is_tearing_down() {
        baton.step(Operation::new(OpKind::CellWrite, id, site))?;
    }
    if !is_taken(baton, id) {
        return Ok(false);
    }
    let permit = |kind| Operation::new(kind, id, site).with_arg(1);
    baton.step(permit(OpKind::Release))?;
    if free(baton, id) > 1 && !baton.is_tearing_down() {
        // Somebody else was before.
        baton.step(permit(OpKind::TryAcquire))?;
        return Ok(false);
    }
    Ok(true)
}

/// Whether somebody has a lock, of either kind: the engine knows, whatever who has it is about to do.
pub(crate) fn is_taken(baton: Baton, id: ResourceId) -> bool {
    baton.with_engine(|engine| match engine.resources().get(id.index()) {
        Some(lock) if lock.kind == ResourceKind::Mutex => !lock.holders.is_empty(),
        Some(Resource { state: State::Count(free), .. }) => *free == 0,
        _ => true,
    })
}

fn free(baton: Baton, id: ResourceId) -> u64 {
    baton.with_engine(|engine| match engine.resources().get(id.index()).map(|resource| resource.state) {
        Some(State::Count(free)) => free,
        _ => 0,
    })
}

/// Whether locks made at this place are known to be handed over; where threads take turns at markers, all of them may be.
pub(crate) fn is_known(made: Site) -> bool {
    if markers::are_on() {
        return true;
    }
    let known = &world().knowledge.handed_over;
    !known.is_empty() && known.contains(&key(made))
}

/// Locks made at this place are handed over: from now on that is known.
pub(crate) fn learn(baton: Baton, made: Site) -> Result<(), TornDown> {
    if world().knowledge.handed_over.insert(key(made)) {
        world().grown = true;
    }
    stop_if_grown(baton)
}

/// A place, in words that mean the same in another process; those that were made before the exploration have none.
pub(crate) fn key(made: Site) -> String {
    let Some(place) = place(made) else { return "before".to_owned() };
    let file = place.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = file.chars().map(|c| if c.is_alphanumeric() || c == '.' { c } else { '_' }).collect();
    format!("{plain}:{}", place.line)
}
