//! Counting semaphores.

use drawloom_engine::{OpKind, Operation, ResourceKind, State, outcome};

use crate::control::is_ok;
use crate::execution::{Data, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// The most permits that a semaphore can have.
const MOST: u64 = u64::MAX / 4;

/// A semaphore with so many permits.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_new(permits: u64, at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    if permits > MOST {
        here.misuse("misuse: more permits than a semaphore can have".into(), site(at));
    }
    here.add(Kind::Semaphore, ResourceKind::Semaphore, State::Count(permits), Data::Nothing, site(at))
}

/// Takes `permits`, and waits until they are there.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_acquire(
    semaphore: drawloom_handle,
    permits: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(semaphore, Kind::Semaphore, site(at));
    here.control().step(Operation::new(OpKind::Acquire, id, site(at)).with_arg(permits));
    DRAWLOOM_OK
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_acquire_for(
    semaphore: drawloom_handle,
    permits: u64,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(semaphore, Kind::Semaphore, site(at));
    let operation = Operation::new(OpKind::Acquire, id, site(at)).with_arg(permits);
    if here.control().step_within(operation, nanos) == outcome::TIMED_OUT { DRAWLOOM_TIMED_OUT } else { DRAWLOOM_OK }
}

/// Takes `permits` if they are there: else `DRAWLOOM_BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_try_acquire(
    semaphore: drawloom_handle,
    permits: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(semaphore, Kind::Semaphore, site(at));
    let came_to = here.control().step(Operation::new(OpKind::TryAcquire, id, site(at)).with_arg(permits));
    if is_ok(came_to) { DRAWLOOM_OK } else { DRAWLOOM_BUSY }
}

/// Gives `permits`, whoever had them.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_release(
    semaphore: drawloom_handle,
    permits: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if permits > MOST {
        return DRAWLOOM_E_RANGE;
    }
    let id = here.resource(semaphore, Kind::Semaphore, site(at));
    here.control().step(Operation::new(OpKind::Release, id, site(at)).with_arg(permits));
    DRAWLOOM_OK
}

/// How many permits there are, into `*permits`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_value(
    semaphore: drawloom_handle,
    permits: *mut u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if permits.is_null() {
        return DRAWLOOM_E_NULL;
    }
    let id = here.resource(semaphore, Kind::Semaphore, site(at));
    // To take none is to look: such a step is ordered with all that change the number.
    here.control().step(Operation::new(OpKind::TryAcquire, id, site(at)));
    let free = here.control().engine(|engine| engine.steps().last().map_or(0, |step| step.value));
    // SAFETY: the caller vouches for the pointer, which is not null.
    unsafe { *permits = free };
    DRAWLOOM_OK
}

/// Whoever uses it from now on makes a mistake that is found.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_semaphore_destroy(semaphore: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.object(semaphore, Kind::Semaphore, site(at)).destroyed = true;
    DRAWLOOM_OK
}
