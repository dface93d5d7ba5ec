//! Mutexes: plain ones, recursive ones, and those that check who unlocks.

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};

use crate::control::is_ok;
use crate::execution::{Data, Here, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::status::*;

/// A mutex that waits for itself where it is locked twice, which is found as a deadlock.
pub const DRAWLOOM_MUTEX_NORMAL: u32 = 0;
/// A mutex that its holder may lock again.
pub const DRAWLOOM_MUTEX_RECURSIVE: u32 = 1;
/// A mutex that says so where it is locked twice, or unlocked by somebody else.
pub const DRAWLOOM_MUTEX_ERRORCHECK: u32 = 2;

struct Mutex {
    id: ResourceId,
    kind: u32,
    mine: bool,
}

impl Here {
    #[inline(always)]
    fn mutex(&self, handle: drawloom_handle, site: Site) -> Mutex {
        let me = self.running();
        let object = self.object(handle, Kind::Mutex, site);
        match object.data {
            Data::Mutex { kind, owner, .. } => Mutex { id: object.resource, kind, mine: owner == me },
            _ => unreachable!("a mutex has a kind"),
        }
    }

    /// The resource of a mutex that is about to be given back for a wait.
    pub(crate) fn mutex_held(&self, handle: drawloom_handle, site: Site) -> ResourceId {
        let mutex = self.mutex(handle, site);
        if !mutex.mine {
            self.misuse("misuse: a wait needs a mutex that the task holds".into(), site);
        }
        mutex.id
    }

    /// How often the running task holds it; and nobody does any more.
    pub(crate) fn give_up_mutex(&self, handle: drawloom_handle, site: Site) -> u32 {
        match &mut self.object(handle, Kind::Mutex, site).data {
            Data::Mutex { owner, count, .. } => {
                *owner = TaskId::NONE;
                std::mem::take(count)
            }
            _ => 0,
        }
    }

    /// The running task has it, so often.
    #[inline(always)]
    pub(crate) fn take_mutex(&self, handle: drawloom_handle, times: u32, site: Site) {
        let me = self.running();
        if let Data::Mutex { owner, count, .. } = &mut self.object(handle, Kind::Mutex, site).data {
            (*owner, *count) = (me, times);
        }
    }

    /// Of a mutex that the running task holds already: what locking it again comes to, if that is not to wait for itself.
    #[cold]
    fn lock_again(&self, handle: drawloom_handle, kind: u32, site: Site) -> Option<drawloom_status> {
        match kind {
            DRAWLOOM_MUTEX_RECURSIVE => {
                if let Data::Mutex { count, .. } = &mut self.object(handle, Kind::Mutex, site).data {
                    *count += 1;
                }
                Some(DRAWLOOM_OK)
            }
            DRAWLOOM_MUTEX_ERRORCHECK => Some(DRAWLOOM_HELD),
            _ => None,
        }
    }

    fn lock(&self, handle: drawloom_handle, site: Site) -> drawloom_status {
        let mutex = self.mutex(handle, site);
        if mutex.mine {
            if let Some(status) = self.lock_again(handle, mutex.kind, site) {
                return status;
            }
        }
        self.control().lock(mutex.id, site);
        self.take_mutex(handle, 1, site);
        DRAWLOOM_OK
    }

    fn unlock(&self, handle: drawloom_handle, site: Site) -> drawloom_status {
        let mutex = self.mutex(handle, site);
        if !mutex.mine {
            if mutex.kind == DRAWLOOM_MUTEX_ERRORCHECK {
                return DRAWLOOM_NOT_HELD;
            }
            self.misuse("misuse: a mutex is unlocked by a task that does not hold it".into(), site);
        }
        if let Data::Mutex { owner, count, .. } = &mut self.object(handle, Kind::Mutex, site).data {
            *count -= 1;
            if *count > 0 {
                return DRAWLOOM_OK;
            }
            *owner = TaskId::NONE;
        }
        self.control().unlock(mutex.id, site);
        DRAWLOOM_OK
    }
}

/// A mutex of this kind: `DRAWLOOM_MUTEX_NORMAL`, `DRAWLOOM_MUTEX_RECURSIVE` or `DRAWLOOM_MUTEX_ERRORCHECK`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_mutex_new(kind: u32, at: *const drawloom_loc) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    if kind > DRAWLOOM_MUTEX_ERRORCHECK {
        here.misuse(format!("misuse: there is no kind {kind} of mutexes"), site(at));
    }
    let data = Data::Mutex { kind, owner: TaskId::NONE, count: 0 };
    here.add(Kind::Mutex, ResourceKind::Mutex, State::Plain, data, site(at))
}

/// Locks a mutex, and waits until it is free. `DRAWLOOM_HELD` of an error-checking one that the task holds.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_mutex_lock(mutex: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    match here() {
        Ok(here) => here.lock(mutex, site(at)),
        Err(why) => why,
    }
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_mutex_lock_for(
    mutex: drawloom_handle,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let known = here.mutex(mutex, site(at));
    if known.mine {
        if let Some(status) = here.lock_again(mutex, known.kind, site(at)) {
            return status;
        }
    }
    if here.control().step_within(Operation::new(OpKind::Lock, known.id, site(at)), nanos) == outcome::TIMED_OUT {
        return DRAWLOOM_TIMED_OUT;
    }
    here.take_mutex(mutex, 1, site(at));
    DRAWLOOM_OK
}

/// Locks a mutex if it is free: else `DRAWLOOM_BUSY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_mutex_try_lock(mutex: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let known = here.mutex(mutex, site(at));
    if known.mine && known.kind == DRAWLOOM_MUTEX_RECURSIVE {
        return here.lock_again(mutex, known.kind, site(at)).unwrap_or(DRAWLOOM_OK);
    }
    if !is_ok(here.control().step(Operation::new(OpKind::TryLock, known.id, site(at)))) {
        return DRAWLOOM_BUSY;
    }
    here.take_mutex(mutex, 1, site(at));
    DRAWLOOM_OK
}

/// Gives a mutex back. Of an error-checking one that the task does not hold, `DRAWLOOM_NOT_HELD`; of any other, a finding.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_mutex_unlock(mutex: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    match here() {
        Ok(here) => here.unlock(mutex, site(at)),
        Err(why) => why,
    }
}

/// Whoever uses the mutex from now on makes a mistake that is found. So is this, if somebody holds it.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_mutex_destroy(mutex: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if matches!(here.object(mutex, Kind::Mutex, site(at)).data, Data::Mutex { count: 1.., .. }) {
        here.misuse("misuse: a mutex is destroyed while a task holds it".into(), site(at));
    }
    here.object(mutex, Kind::Mutex, site(at)).destroyed = true;
    DRAWLOOM_OK
}
