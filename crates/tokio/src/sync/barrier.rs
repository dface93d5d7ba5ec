//! [`Barrier`], as `tokio::sync::Barrier`.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use drawloom::object::{Awaited, Object};

use crate::waiting::{Until, Waiting, Wakers};

/// Lets tasks continue when so many have come, as `tokio::sync::Barrier`.
pub struct Barrier {
    parties: usize,
    state: Object<State>,
}

struct State {
    arrived: usize,
    generation: u64,
    waiting: Waiting,
}

impl Barrier {
    /// A barrier for `n` tasks; zero is as good as one.
    #[must_use]
    #[track_caller]
    pub const fn new(n: usize) -> Self {
        let state = State { arrived: 0, generation: 0, waiting: Waiting::new() };
        Barrier { parties: if n == 0 { 1 } else { n }, state: Object::new(state) }
    }

    /// Waits until all have come. Who stops waiting counts as having come.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let place = Location::caller();
        async move {
            let (mine, wakers) = self.state.update_from(place, |state| {
                state.arrived += 1;
                if state.arrived < self.parties {
                    return (Some(state.generation), Wakers::default());
                }
                state.arrived = 0;
                state.generation += 1;
                (None, state.waiting.take())
            });
            wakers.wake();
            let Some(mine) = mine else { return BarrierWaitResult(true) };
            let all_there = |state: &mut State| (state.generation != mine).then_some(());
            Until::new(&self.state, place, Awaited::Others, |state| &mut state.waiting, all_there).await;
            BarrierWaitResult(false)
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

/// Whether the caller was the last to come.
#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True for one of all that have waited together.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}
