//! What is known of the running execution beside what `drawloom-capi` knows: its objects, threads and keys.

use drawloom_capi as capi;

use crate::cancel::Cleanups;
use crate::heap::Freed;
use crate::keys::Keys;
use crate::objects::Objects;
use crate::threads::Threads;

#[derive(Default)]
pub(crate) struct State {
    /// The execution that it is of.
    execution: u64,
    pub(crate) objects: Objects,
    pub(crate) threads: Threads,
    pub(crate) keys: Keys,
    pub(crate) cleanups: Cleanups,
    pub(crate) freed: Freed,
}

/// The number of the running execution.
pub(crate) fn execution() -> u64 {
    capi::drawloom_task_self() >> 32
}

/// Looks at the state of the running execution. `act` calls nobody who does the same.
pub(crate) fn with<R>(act: impl FnOnce(&mut State) -> R) -> R {
    let now = execution();
    let came_to = capi::with_front(|state: &mut State| {
        if state.execution != now {
            state.execution = now;
            state.objects.clear();
            state.threads.clear();
            state.keys.clear();
            state.cleanups.clear();
            state.freed.clear();
        }
        act(state)
    });
    came_to.expect("whoever has none calls the real function")
}
