//! A socket of the system, outside of explorations.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use drawloom::future::facade;

use crate::context;
use crate::runtime::Handle;
use crate::task::coop;
use crate::uncontrolled::error;

/// After so long a socket that was not ready is asked again. There is no driver that would know earlier: it would be
/// one more dependency for what is outside of explorations alone.
const ASKED_AGAIN_AFTER: Duration = Duration::from_millis(1);

/// The runtime that a socket is made in by `call`.
///
/// # Errors
///
/// In an exploration, and where the runtime has ended.
#[track_caller]
pub(super) fn runtime(call: &str) -> io::Result<Handle> {
    let runtime = context::current();
    if facade::running().is_some() {
        return Err(error(call));
    }
    runtime.is_there()?;
    Ok(runtime)
}

/// A socket that never blocks, and who drives it.
#[derive(Debug)]
pub(super) struct Socket<S> {
    pub(super) system: S,
    runtime: Handle,
}

impl<S> Socket<S> {
    pub(super) fn new(system: S, runtime: Handle) -> Self {
        Socket { system, runtime }
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Does `io`, when the socket is ready for it.
    pub(super) fn poll<T>(
        &self,
        context: &mut Context<'_>,
        mut io: impl FnMut(&S) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        let budget = ready!(coop::poll_proceed(context));
        self.runtime.is_there()?;
        match io(&self.system) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                facade::wake_after(ASKED_AGAIN_AFTER, context.waker());
                Poll::Pending
            }
            done => budget.after(Poll::Ready(done)),
        }
    }

    /// As [`poll`](Self::poll), as a future.
    pub(super) async fn when_ready<T>(&self, mut io: impl FnMut(&S) -> io::Result<T>) -> io::Result<T> {
        poll_fn(|context| self.poll(context, &mut io)).await
    }
}
