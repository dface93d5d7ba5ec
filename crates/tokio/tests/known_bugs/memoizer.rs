//! hephbuild/heph#236: a shared computation stalls because a wake-up of its driver is thrown away.
//!
//! Several tasks wait for one computation; one of them drives it, and its waker is taken out of a cell at each wake-up.
//! A wake-up that finds the cell empty was ignored, since the driver "is awake already": but it may have polled before
//! that. The fix remembers that there was one.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};

use drawloom::object::Object;
use drawloom_tokio::spawn;

use crate::explored::{clean, found};

/// A cell for the waker of who drives the computation.
#[derive(Default)]
struct Driver {
    state: Object<(Option<Waker>, bool)>,
    remembers: bool,
}

impl Driver {
    fn wake(&self) {
        let waker = self.state.update(|(waker, missed)| {
            *missed |= self.remembers && waker.is_none();
            waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Leaves the waker, unless there was a wake-up that found none.
    fn register(&self, waker: &Waker) -> bool {
        self.state.update(|(registered, missed)| {
            *registered = Some(waker.clone());
            std::mem::take(missed)
        })
    }

    fn drive<'a>(&'a self, steps: &'a Object<u32>) -> impl Future<Output = ()> + 'a {
        poll_fn(move |context| {
            loop {
                if steps.look(|steps| *steps) == 2 {
                    return Poll::Ready(());
                }
                // Polled first, registered afterwards: a wake-up in between finds the cell empty.
                if !self.register(context.waker()) {
                    return Poll::Pending;
                }
            }
        })
    }
}

async fn two_steps(remembers: bool) {
    let driver = Arc::new(Driver { remembers, ..Driver::default() });
    let steps = Arc::new(Object::new(0));
    for _ in 0..2 {
        let (driver, steps) = (driver.clone(), steps.clone());
        spawn(async move {
            steps.update(|steps| *steps += 1);
            driver.wake();
        });
    }
    driver.drive(&steps).await;
}

#[test]
fn a_wake_up_finds_nobody_and_is_forgotten() {
    found("starvation", || two_steps(false));
}

#[test]
fn a_wake_up_that_finds_nobody_is_remembered() {
    clean(|| two_steps(true));
}
