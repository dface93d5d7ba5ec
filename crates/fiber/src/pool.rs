//! Runtimes that wait, with their stacks, for the next executor on their OS thread.
//!
//! A short exploration takes less time than mapping and unmapping the stacks that it needs.

use std::cell::RefCell;
use std::rc::Rc;

use drawloom_engine::strategy::Sequential;

use crate::runtime::{Handle, Runtime};

/// Runtimes that wait at most, on each OS thread: an exploration seldom needs more at a time.
const MOST_RUNTIMES: usize = 2;
/// A runtime that has more stacks than this, or a longer trace, is given back to the system.
const MOST_FIBERS: usize = 64;
const MOST_STEPS: usize = 10_000;

thread_local! {
    static WAITING: RefCell<Vec<Rc<Runtime>>> = const { RefCell::new(Vec::new()) };
}

/// One that waits, if there is one.
pub(crate) fn take() -> Option<Rc<Runtime>> {
    // A thread that ends has none any more.
    WAITING.try_with(|waiting| waiting.borrow_mut().pop()).ok().flatten()
}

/// Lets a runtime wait whose executor is gone, unless it is large. No task of it may be left over.
pub(crate) fn keep(runtime: &Rc<Runtime>) {
    let handle = Handle::new(runtime);
    // A strategy may be the user's, who does not expect it to live on.
    drop(std::mem::replace(&mut handle.inner().strategy, Box::new(Sequential)));
    let inner = handle.inner();
    if inner.fibers.len() > MOST_FIBERS || inner.engine.steps().len() > MOST_STEPS {
        return;
    }
    let _ = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        if waiting.len() < MOST_RUNTIMES {
            waiting.push(Rc::clone(runtime));
        }
    });
}
