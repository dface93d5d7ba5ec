//! Values of threads, by key. At the end of a thread the destructors run of those that are not null.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};

use drawloom_capi as capi;

use crate::real::EINVAL;
use crate::state;

pub(crate) type Destructor = extern "C" fn(*mut c_void);

/// A destructor may set a value again; so often they are called at most.
const ROUNDS: usize = 4;

#[derive(Default)]
pub(crate) struct Keys {
    /// None for a key that is no more.
    all: Vec<Option<Option<Destructor>>>,
    /// By thread and key.
    values: BTreeMap<(u64, c_uint), usize>,
}

impl Keys {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.values.clear();
    }
}

/// Keys are numbers from here on: those that were made outside of a session are lower, and are made known at their first use.
fn with<R>(act: impl FnOnce(&mut Keys) -> R) -> R {
    state::with(|state| act(&mut state.keys))
}

pub(crate) fn create(destructor: Option<Destructor>) -> c_uint {
    with(|keys| {
        keys.all.push(Some(destructor));
        FIRST + (keys.all.len() - 1) as c_uint
    })
}

/// The C library has no more keys than this.
const FIRST: c_uint = 1 << 16;

pub(crate) fn delete(key: c_uint) -> c_int {
    let place = key.wrapping_sub(FIRST) as usize;
    with(|keys| match keys.all.get_mut(place) {
        Some(known) if known.is_some() => {
            *known = None;
            keys.values.retain(|(_, other), _| *other != key);
            0
        }
        _ => EINVAL,
    })
}

pub(crate) fn get(key: c_uint) -> *mut c_void {
    let me = capi::drawloom_task_self();
    with(|keys| keys.values.get(&(me, key)).map_or(std::ptr::null_mut(), |value| *value as *mut c_void))
}

pub(crate) fn set(key: c_uint, value: *const c_void) -> c_int {
    let me = capi::drawloom_task_self();
    with(|keys| {
        keys.values.insert((me, key), value as usize);
    });
    0
}

/// Calls the destructors of the running thread.
pub(crate) fn end_thread() {
    let me = capi::drawloom_task_self();
    for _ in 0..ROUNDS {
        let mut after = 0;
        let mut called = false;
        // One at a time: a destructor may set others, and may never come back.
        while let Some((key, value, destructor)) = with(|keys| {
            let range = keys.values.range_mut((me, after)..=(me, c_uint::MAX));
            let all = &keys.all;
            range.filter(|(_, value)| **value != 0).find_map(|((_, key), value)| {
                let destructor = all.get(key.wrapping_sub(FIRST) as usize).copied().flatten().flatten()?;
                Some((*key, std::mem::take(value), destructor))
            })
        }) {
            destructor(value as *mut c_void);
            (after, called) = (key + 1, true);
        }
        if !called {
            return;
        }
    }
}

define! {
    pthread_key_create/2(key: *mut c_uint, destructor: Option<Destructor>) -> c_int |_at| {
        if key.is_null() {
            return EINVAL;
        }
        // SAFETY: it is not null, and the caller vouches for it.
        unsafe { *key = create(destructor) };
        0
    }
    pthread_key_delete/1(key: c_uint) -> c_int |_at| { delete(key) }
    pthread_getspecific/1(key: c_uint) -> *mut c_void |_at| { get(key) }
    pthread_setspecific/2(key: c_uint, value: *const c_void) -> c_int |_at| { set(key, value) }
}
