//! Condition variables. A wait may end unasked, as often as the configuration allows (`spurious_wakeups`).

use drawloom_engine::{OpKind, Operation, ResourceKind, Site, State, outcome};

use crate::execution::{Data, Here, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

impl Here {
    fn wait(&self, condvar: drawloom_handle, mutex: drawloom_handle, nanos: u64, site: Site) -> drawloom_status {
        let id = self.resource(condvar, Kind::Condvar, site);
        let lock = self.mutex_held(mutex, site);
        let mut came_to = outcome::OK;
        let times;
        if self.control().wakes_spuriously(site) {
            times = self.give_up_mutex(mutex, site);
            self.control().unlock(lock, site);
        } else {
            // Nobody else has it before the wait begins, which gives it back.
            let wait = Operation::new(OpKind::CondWait, id, site).with_arg(u64::from(lock.0));
            let deadline = match nanos {
                u64::MAX => u64::MAX,
                nanos => self.control().now_before_wait(site).saturating_add(nanos),
            };
            times = self.give_up_mutex(mutex, site);
            came_to = match deadline {
                u64::MAX => self.control().step(wait),
                deadline => self.control().step_by(wait, deadline),
            };
        }
        self.control().lock(lock, site);
        self.take_mutex(mutex, times, site);
        if came_to == outcome::TIMED_OUT { DRAWLOOM_TIMED_OUT } else { DRAWLOOM_OK }
    }
}

/// A condition variable.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_condvar_new(at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    here.add(Kind::Condvar, ResourceKind::Condvar, State::Plain, Data::Nothing, site(at))
}

/// Gives `mutex` back, waits to be notified, and locks it again.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_condvar_wait(
    condvar: drawloom_handle,
    mutex: drawloom_handle,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.wait(condvar, mutex, u64::MAX, site(at))
}

/// The same, for so many nanoseconds of virtual time at most: then it is `DRAWLOOM_TIMED_OUT`, and the mutex is locked again all
/// the same.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_condvar_wait_for(
    condvar: drawloom_handle,
    mutex: drawloom_handle,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.wait(condvar, mutex, nanos.min(u64::MAX - 1), site(at))
}

/// Wakes who has waited longest, if anybody waits.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_condvar_notify_one(condvar: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(condvar, Kind::Condvar, site(at));
    here.control().step(Operation::new(OpKind::NotifyOne, id, site(at)));
    DRAWLOOM_OK
}

/// Wakes all that wait.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_condvar_notify_all(condvar: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(condvar, Kind::Condvar, site(at));
    here.control().step(Operation::new(OpKind::NotifyAll, id, site(at)));
    DRAWLOOM_OK
}

/// Whoever uses it from now on makes a mistake that is found.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_condvar_destroy(condvar: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.object(condvar, Kind::Condvar, site(at)).destroyed = true;
    DRAWLOOM_OK
}
