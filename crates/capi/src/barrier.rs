//! Barriers, which can be used again.

use drawloom_engine::{OpKind, Operation, ResourceKind, State, outcome};

use crate::execution::{Data, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// A barrier for so many tasks.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_barrier_new(tasks: u64, at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    if tasks == 0 {
        here.misuse("misuse: a barrier for no task".into(), site(at));
    }
    let state = State::Barrier { size: tasks, arrived: 0 };
    here.add(Kind::Barrier, ResourceKind::Barrier, state, Data::Nothing, site(at))
}

/// Arrives, and waits for the others. One of them is `DRAWLOOM_LEADER`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_barrier_wait(barrier: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(barrier, Kind::Barrier, site(at));
    let came_to = here.control().step(Operation::new(OpKind::Arrive, id, site(at)));
    if came_to == outcome::LEADER { DRAWLOOM_LEADER } else { DRAWLOOM_OK }
}

/// Whoever uses it from now on makes a mistake that is found.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_barrier_destroy(barrier: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.object(barrier, Kind::Barrier, site(at)).destroyed = true;
    DRAWLOOM_OK
}
