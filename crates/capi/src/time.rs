//! Virtual time: nanoseconds since the execution began. It passes when nobody else can go on; to wait costs nothing.

use drawloom_engine::{OpKind, Operation, ResourceId, Site};

use crate::execution::{Data, Object, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// The virtual clock, into `*nanos`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_now_ns(nanos: *mut u64, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if nanos.is_null() {
        return DRAWLOOM_E_NULL;
    }
    let now = here.control().now(site(at));
    // SAFETY: the caller vouches for the pointer, which is not null.
    unsafe { *nanos = now };
    DRAWLOOM_OK
}

/// Sleeps for so many nanoseconds of virtual time; for none, as `drawloom_task_yield`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_sleep_ns(nanos: u64, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let operation = match nanos {
        0 => Operation::new(OpKind::Yield, ResourceId::NONE, site(at)),
        _ => {
            let deadline = here.control().now_before_wait(site(at)).saturating_add(nanos);
            Operation::new(OpKind::Sleep, ResourceId::NONE, site(at)).with_arg(deadline)
        }
    };
    here.control().step(operation);
    DRAWLOOM_OK
}

/// A timer for a select, due in so many nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_timer_new(nanos: u64, at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    let deadline = here.control().now(site(at)).saturating_add(nanos);
    let data = Data::Timer { deadline };
    here.add_object(Object { resource: ResourceId::NONE, kind: Kind::Timer, destroyed: false, data })
}

/// The timer is due in so many nanoseconds from now.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_timer_reset(timer: drawloom_handle, nanos: u64, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.object(timer, Kind::Timer, site(at));
    let deadline = here.control().now(site(at)).saturating_add(nanos);
    here.object(timer, Kind::Timer, site(at)).data = Data::Timer { deadline };
    DRAWLOOM_OK
}

/// The timer is never due. A timer is its task's own: no other may reset or stop it.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_timer_stop(timer: drawloom_handle) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.object(timer, Kind::Timer, Site::UNKNOWN).data = Data::Timer { deadline: u64::MAX };
    DRAWLOOM_OK
}
