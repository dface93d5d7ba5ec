//! What an address stands for: a lock is where the program has it. In each execution it is made at its first use, so a static initialiser
//! is enough; no choice depends on the address.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;

use drawloom_capi as capi;

use capi::drawloom_loc;

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

#[derive(Default)]
struct Objects {
    /// The execution that they are of.
    execution: u64,
    known: HashMap<(Kind, usize), u64>,
}

thread_local! {
    static OBJECTS: RefCell<Objects> = RefCell::new(Objects::default());
}

pub(crate) type At = *const drawloom_loc;

/// The number of the running execution.
pub(crate) fn execution() -> u64 {
    capi::drawloom_task_self() >> 32
}

fn with<R>(act: impl FnOnce(&mut HashMap<(Kind, usize), u64>) -> R) -> R {
    OBJECTS.with_borrow_mut(|objects| {
        let now = execution();
        if objects.execution != now {
            objects.execution = now;
            objects.known.clear();
        }
        act(&mut objects.known)
    })
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
