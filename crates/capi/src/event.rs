//! Events: set once, for all who wait.

use drawloom_engine::{OpKind, Operation, ResourceKind, State, outcome};

use crate::control::is_ok;
use crate::execution::{Data, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// An event that has not happened.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_event_new(at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    here.add(Kind::Event, ResourceKind::Latch, State::Count(1), Data::Nothing, site(at))
}

/// It happens: all who wait go on, and who waits later need not. `DRAWLOOM_BUSY` if it had happened before.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_event_set(event: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(event, Kind::Event, site(at));
    let came_to = here.control().step(Operation::new(OpKind::CountDown, id, site(at)).with_arg(1));
    if is_ok(came_to) { DRAWLOOM_OK } else { DRAWLOOM_BUSY }
}

/// Waits until it has happened.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_event_wait(event: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(event, Kind::Event, site(at));
    here.control().step(Operation::new(OpKind::LatchWait, id, site(at)));
    DRAWLOOM_OK
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_event_wait_for(
    event: drawloom_handle,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(event, Kind::Event, site(at));
    let came_to = here.control().step_within(Operation::new(OpKind::LatchWait, id, site(at)), nanos);
    if came_to == outcome::TIMED_OUT { DRAWLOOM_TIMED_OUT } else { DRAWLOOM_OK }
}

/// `DRAWLOOM_OK` if it has happened, else `DRAWLOOM_BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_event_is_set(event: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(event, Kind::Event, site(at));
    if is_ok(here.control().step(Operation::new(OpKind::LatchCheck, id, site(at)))) {
        DRAWLOOM_OK
    } else {
        DRAWLOOM_BUSY
    }
}
