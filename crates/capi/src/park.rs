//! Parking: each task has one token, which a park waits for and takes.

use drawloom_engine::{OpKind, Operation, ResourceId, outcome};

use crate::execution::here;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// Waits for the task's own token, and takes it. It may return without, as often as the configuration allows
/// (`spurious_wakeups`).
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_park(at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if !here.control().wakes_spuriously(site(at)) {
        here.control().step(Operation::new(OpKind::Park, ResourceId::NONE, site(at)));
    }
    DRAWLOOM_OK
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_park_for(nanos: u64, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if here.control().wakes_spuriously(site(at)) {
        return DRAWLOOM_OK;
    }
    let park = Operation::new(OpKind::Park, ResourceId::NONE, site(at));
    if here.control().step_within(park, nanos) == outcome::TIMED_OUT { DRAWLOOM_TIMED_OUT } else { DRAWLOOM_OK }
}

/// Gives `task` its token, if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_unpark(task: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    let unpark = Operation::new(OpKind::Unpark, ResourceId::NONE, site(at)).with_arg(u64::from(task.0));
    here.control().step(unpark);
    DRAWLOOM_OK
}
