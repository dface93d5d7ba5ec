//! Reader–writer locks.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, outcome};

use crate::control::is_ok;
use crate::execution::{Data, Here, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// Who comes first is served first: a reader waits behind a writer that waits.
pub const DRAWLOOM_RWLOCK_FAIR: u32 = 0;
/// A reader does not wait for writers that wait.
pub const DRAWLOOM_RWLOCK_PREFER_READERS: u32 = 1;
/// A writer does not wait for readers that wait.
pub const DRAWLOOM_RWLOCK_PREFER_WRITERS: u32 = 2;

impl Here {
    fn rwlock(&self, handle: drawloom_handle, site: Site) -> (ResourceId, u64) {
        let object = self.object(handle, Kind::RwLock, site);
        match object.data {
            Data::RwLock { preference } => (object.resource, preference),
            _ => (object.resource, 0),
        }
    }

    fn ask_rwlock(&self, kind: OpKind, handle: drawloom_handle, nanos: u64, site: Site) -> drawloom_status {
        let (id, preference) = self.rwlock(handle, site);
        let operation = Operation::new(kind, id, site).with_arg(preference);
        let came_to = match nanos {
            u64::MAX => self.control().step(operation),
            nanos => self.control().step_within(operation, nanos),
        };
        match came_to {
            outcome::OK => DRAWLOOM_OK,
            outcome::TIMED_OUT => DRAWLOOM_TIMED_OUT,
            _ => DRAWLOOM_BUSY,
        }
    }
}

/// A reader–writer lock that prefers whom `preference` says.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_new(preference: u32, at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    let preference = match preference {
        DRAWLOOM_RWLOCK_FAIR => drawloom_engine::Preference::Fair,
        DRAWLOOM_RWLOCK_PREFER_READERS => drawloom_engine::Preference::Readers,
        DRAWLOOM_RWLOCK_PREFER_WRITERS => drawloom_engine::Preference::Writers,
        other => here.misuse(format!("misuse: there is no preference {other}"), site(at)),
    };
    let data = Data::RwLock { preference: preference.operand() };
    here.add(Kind::RwLock, ResourceKind::RwLock, State::Plain, data, site(at))
}

/// Locks it for reading, and waits until that can be.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_read(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.ask_rwlock(OpKind::Read, rwlock, u64::MAX, site(at))
}

/// Locks it for writing, and waits until that can be.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_write(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.ask_rwlock(OpKind::Write, rwlock, u64::MAX, site(at))
}

/// Locks it for reading, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_read_for(
    rwlock: drawloom_handle,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.ask_rwlock(OpKind::Read, rwlock, nanos.min(u64::MAX - 1), site(at))
}

/// Locks it for writing, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_write_for(
    rwlock: drawloom_handle,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.ask_rwlock(OpKind::Write, rwlock, nanos.min(u64::MAX - 1), site(at))
}

/// Locks it for reading if that can be at once: else `DRAWLOOM_BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_try_read(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.ask_rwlock(OpKind::TryRead, rwlock, u64::MAX, site(at))
}

/// Locks it for writing if that can be at once: else `DRAWLOOM_BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_try_write(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.ask_rwlock(OpKind::TryWrite, rwlock, u64::MAX, site(at))
}

/// Gives back what the task holds of it.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_unlock(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let (id, preference) = here.rwlock(rwlock, site(at));
    let me = here.running();
    let held = here.control().engine(|engine| {
        let mut mine = engine.resources()[id.index()].holders.iter().filter(|holder| holder.task == me);
        mine.next().map(|holder| holder.exclusive)
    });
    let kind = match held {
        Some(true) => OpKind::WriteUnlock,
        Some(false) => OpKind::ReadUnlock,
        None => here.misuse("misuse: a rwlock is unlocked by a task that does not hold it".into(), site(at)),
    };
    here.control().step(Operation::new(kind, id, site(at)).with_arg(preference));
    DRAWLOOM_OK
}

/// Turns the write lock that the task holds into a read lock.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_downgrade(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let (id, preference) = here.rwlock(rwlock, site(at));
    let me = here.running();
    let held = here.control().engine(|engine| engine.resources()[id.index()].holders.exclusive());
    if held != Some(me) {
        here.misuse("misuse: a rwlock is downgraded by a task that does not hold it for writing".into(), site(at));
    }
    let came_to = here.control().step(Operation::new(OpKind::Downgrade, id, site(at)).with_arg(preference));
    if is_ok(came_to) { DRAWLOOM_OK } else { DRAWLOOM_BUSY }
}

/// Whoever uses it from now on makes a mistake that is found. So is this, if somebody holds it.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_rwlock_destroy(rwlock: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let (id, _) = here.rwlock(rwlock, site(at));
    if !here.control().engine(|engine| engine.resources()[id.index()].holders.is_empty()) {
        here.misuse("misuse: a rwlock is destroyed while a task holds it".into(), site(at));
    }
    here.object(rwlock, Kind::RwLock, site(at)).destroyed = true;
    DRAWLOOM_OK
}
