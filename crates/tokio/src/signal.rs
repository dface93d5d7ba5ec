//! `tokio::signal`: signals come when the test says so.

use std::future::Future;
use std::io;
use std::panic::Location;

use drawloom::object::{Awaited, Object};
use drawloom::sync::LazyLock;

use crate::waiting::{Until, Waiting};

struct State {
    raised: u64,
    waiting: Waiting,
}

/// Anew in each execution.
static CTRL_C: LazyLock<Object<State>> = LazyLock::new(|| Object::new(State { raised: 0, waiting: Waiting::new() }));

/// Waits for the next [`raise_ctrl_c`] after the first poll.
#[track_caller]
pub fn ctrl_c() -> impl Future<Output = io::Result<()>> {
    let place = Location::caller();
    async move {
        let seen = CTRL_C.look_from(place, |state| state.raised);
        let raised = move |state: &mut State| (state.raised != seen).then_some(());
        Until::new(&CTRL_C, place, Awaited::Change, |state| &mut state.waiting, raised).await;
        Ok(())
    }
}

/// Sends what the user would by pressing Ctrl-C: all who wait in [`ctrl_c`] go on.
#[track_caller]
pub fn raise_ctrl_c() {
    let waiting = CTRL_C.update(|state| {
        state.raised += 1;
        state.waiting.take()
    });
    waiting.wake();
}
