//! What an address stands for: a lock is where the program has it. In each execution it is made at its first use, so a static initialiser
//! is enough; no choice depends on the address.

use std::collections::HashMap;
use std::ffi::c_void;

use drawloom_capi::drawloom_loc;

use crate::state;

/// Objects of different kinds may follow each other at one address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Mutex,
    Condvar,
    RwLock,
    Barrier,
    Once,
    Semaphore,
}

/// What each address stands for.
pub(crate) type Objects = HashMap<(Kind, usize), u64>;

pub(crate) type At = *const drawloom_loc;

fn with<R>(act: impl FnOnce(&mut Objects) -> R) -> R {
    state::with(|state| act(&mut state.objects))
}

/// The handle of the object at `address`, which `make` makes if there was none.
pub(crate) fn of(kind: Kind, address: *mut c_void, make: impl FnOnce() -> u64) -> u64 {
    let key = (kind, address as usize);
    if let Some(known) = with(|known| known.get(&key).copied()) {
        return known;
    }
    let made = make();
    with(|known| known.insert(key, made));
    made
}

/// There is a new object at `address`.
pub(crate) fn set(kind: Kind, address: *mut c_void, handle: u64) {
    with(|known| known.insert((kind, address as usize), handle));
}

/// There is no object at `address` any more; the one that was there.
pub(crate) fn forget(kind: Kind, address: *mut c_void) -> Option<u64> {
    with(|known| known.remove(&(kind, address as usize)))
}
