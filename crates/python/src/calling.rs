//! What is not written in Python and calls Python code in the midst of what it does: a sort by a key, a `map`, an `extend`
//! from a generator.
//!
//! Others may run while that code runs. So what it is called by is not one step but several, one after each return:
//! whoever waits for a frame to return is known by the frame that it was called from, whose instruction it carries out.

use drawloom_engine::Site;
use drawloom_gates::{Baton, baton};

use crate::layout::{Frame, Operands};
use crate::steps::Resources;
use crate::world::world;

/// A frame, what its instruction touches, and where.
pub(crate) struct Calling {
    frame: Frame,
    resources: Resources,
    site: Site,
}

/// A frame has come to an instruction that touches `resources`, if anything, and may call Python code before it is done.
#[inline]
pub(crate) fn note(baton: Baton, operands: &Operands, resources: Option<Resources>, site: Site) {
    let (task, calling) = (baton.running().index(), &mut world().calling);
    let frame = operands.frame();
    match resources {
        None => forget(frame, calling.get_mut(task)),
        Some(resources) => {
            if calling.len() <= task {
                calling.resize_with(task + 1, Vec::new);
            }
            let of_task = &mut calling[task];
            forget(frame, Some(of_task));
            of_task.push(Calling { frame, resources, site });
        }
    }
}

/// What goes on when the frame of these operands returns, if that touches anything.
#[inline]
pub(crate) fn going_on(baton: Baton, operands: &Operands) -> Option<(Resources, Site)> {
    let of_task = world().calling.get_mut(baton.running().index()).filter(|of_task| !of_task.is_empty())?;
    forget(operands.frame(), Some(of_task));
    let caller = operands.caller()?;
    of_task.iter().rev().find(|known| known.frame == caller).map(|known| (known.resources, known.site))
}

/// A frame is left by an exception, and not heard of again: its memory is the next one's.
#[inline]
pub(crate) fn left(frame: Frame) {
    if let Some(baton) = baton() {
        forget(frame, world().calling.get_mut(baton.running().index()));
    }
}

/// Forgets a frame, and those that it has called: they have returned.
fn forget(frame: Frame, of_task: Option<&mut Vec<Calling>>) {
    if let Some(of_task) = of_task {
        if let Some(at) = of_task.iter().rposition(|known| known.frame == frame) {
            of_task.truncate(at);
        }
    }
}
