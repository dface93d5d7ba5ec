//! One-time initialisers.

use drawloom_engine::{OnceState, OpKind, Operation, ResourceKind, State, outcome};

use crate::control::is_ok;
use crate::execution::{Data, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// A one-time initialiser.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_once_new(at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    here.add(Kind::Once, ResourceKind::Once, State::Once(OnceState::New), Data::Nothing, site(at))
}

/// `DRAWLOOM_LEADER`: the initialiser is this task's to run, which calls `drawloom_once_finish` then. `DRAWLOOM_OK`: it has run.
/// While another task runs it, this one waits.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_once_enter(once: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(once, Kind::Once, site(at));
    match here.control().step(Operation::new(OpKind::OnceEnter, id, site(at))) {
        outcome::RUN | outcome::RUN_AFTER_PANIC => DRAWLOOM_LEADER,
        _ => DRAWLOOM_OK,
    }
}

/// The initialiser that was this task's to run has succeeded, if `done` is not 0; else another task may run it.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_once_finish(once: drawloom_handle, done: i32, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(once, Kind::Once, site(at));
    let runs = here.control().engine(|engine| engine.resources()[id.index()].state == State::Once(OnceState::Running));
    if !runs {
        here.misuse("misuse: a once is finished that no task runs".into(), site(at));
    }
    here.control().step(Operation::new(OpKind::OnceFinish, id, site(at)).with_arg(u64::from(done != 0)));
    DRAWLOOM_OK
}

/// `DRAWLOOM_OK` if the initialiser has run, else `DRAWLOOM_BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_once_is_done(once: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let id = here.resource(once, Kind::Once, site(at));
    if is_ok(here.control().step(Operation::new(OpKind::OnceCheck, id, site(at)))) {
        DRAWLOOM_OK
    } else {
        DRAWLOOM_BUSY
    }
}
