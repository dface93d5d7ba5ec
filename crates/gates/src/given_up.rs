//! Threads that stand still in something that is not under control: they are given up, and stopped should they come back.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drawloom_engine::{Stop, TaskId};

use crate::gate::Gate;
use crate::runtime::Baton;

thread_local! {
    /// The gate of a thread of the pool.
    static GATE: RefCell<Option<Arc<Gate>>> = const { RefCell::new(None) };
}

/// How many were given up while they ran.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// The calling thread waits at `gate`.
pub(crate) fn is_at(gate: &Arc<Gate>) {
    GATE.set(Some(Arc::clone(gate)));
}

/// Whether any thread was given up.
#[inline]
pub(crate) fn is_possible() -> bool {
    GIVEN_UP.load(Ordering::Relaxed) > 0
}

/// Nobody waits for a thread that was given up, and nobody lets it through again.
#[cold]
pub(crate) fn stop_if_so(baton: Option<Baton>) {
    let gate = GATE.with_borrow(|gate| gate.clone().filter(|gate| gate.is_given_up()));
    if let (Some(gate), Some(baton)) = (gate, baton) {
        let switch = baton.inner().foreign.switch;
        loop {
            switch(None, &gate);
        }
    }
}

impl Baton {
    /// Gives up the thread that runs, which is not the caller's: it stands still in something that is not under
    /// control. The exploration ends because of `why`. Whatever the runtime has a thread hold while it runs must be the
    /// caller's, so that the thread cannot go on meanwhile. False if it is main that runs: there is nobody else to go on.
    pub fn give_up_running(self, why: Stop) -> bool {
        let inner = self.inner();
        let stuck = inner.running;
        if stuck == TaskId::MAIN {
            return false;
        }
        let Some(gate) = inner.gates.get_mut(stuck.index()).and_then(Option::take) else { return false };
        gate.give_up();
        GIVEN_UP.fetch_add(1, Ordering::Relaxed);
        inner.leaked += 1;
        inner.engine.stop(why);
        inner.end();
        inner.engine.bury(stuck);
        inner.conductor.open();
        true
    }
}
