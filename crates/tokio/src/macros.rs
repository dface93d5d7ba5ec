//! The macros: what they are made of is in the crate `drawloom-tokio-macros`.

use std::future::Future;
use std::task::{Context, Poll};

use crate::runtime::{Builder, LocalOptions};
use crate::task::coop;

/// Waits for the first of several futures, and drops the others, as `tokio::select!`.
///
/// Which branch is polled first is a choice of the schedule, unless it is `biased;`.
#[macro_export]
macro_rules! select {
    ($($branches:tt)*) => {
        $crate::__private::select!([$crate] $($branches)*)
    };
}

/// Waits for all of several futures, as `tokio::join!`.
#[macro_export]
macro_rules! join {
    ($($futures:tt)*) => {
        $crate::__private::join!([$crate] $($futures)*)
    };
}

/// Waits for all of several futures, or for the first that fails, as `tokio::try_join!`.
#[macro_export]
macro_rules! try_join {
    ($($futures:tt)*) => {
        $crate::__private::try_join!([$crate] $($futures)*)
    };
}

/// Pins values to the stack, as `tokio::pin!`.
#[macro_export]
macro_rules! pin {
    ($($name:ident),* $(,)?) => {
        $(let mut $name = ::core::pin::pin!($name);)*
    };
    ($(let $name:ident = $value:expr;)*) => {
        $(let mut $name = ::core::pin::pin!($value);)*
    };
}

/// The branch of `select!` to poll first: a choice among those that are enabled.
#[track_caller]
pub fn first_branch(disabled: u64, count: usize) -> usize {
    let enabled = |branch: &usize| disabled & (1 << branch) == 0;
    match (0..count).filter(enabled).count() {
        0 | 1 => 0,
        several => {
            let chosen = drawloom::choose(several);
            (0..count).filter(enabled).nth(chosen).unwrap_or(0)
        }
    }
}

/// Whether `select!` may poll its branches: a task without budget yields first.
pub fn poll_budget(context: &mut Context<'_>) -> Poll<()> {
    match coop::has_budget_remaining() {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

/// Runs the body of `#[test]` or `#[main]` on a runtime.
#[track_caller]
pub fn run<F: Future>(on: &On<'_>, body: F) -> F::Output {
    let mut builder = match on.flavor {
        Flavor::MultiThread => Builder::new_multi_thread(),
        Flavor::CurrentThread | Flavor::Local => Builder::new_current_thread(),
    };
    if let Some(workers) = on.workers {
        builder.worker_threads(workers);
    }
    if let Some(name) = on.name {
        builder.name(name);
    }
    builder.enable_all().start_paused(on.paused);
    match on.flavor {
        Flavor::Local => built(builder.build_local(LocalOptions::default())).block_on(body),
        Flavor::CurrentThread | Flavor::MultiThread => built(builder.build()).block_on(body),
    }
}

#[track_caller]
fn built<T>(runtime: std::io::Result<T>) -> T {
    runtime.unwrap_or_else(|error| panic!("no runtime: {error}"))
}

/// What `#[test]` or `#[main]` says of its runtime.
#[derive(Debug)]
pub struct On<'a> {
    /// As `flavor`.
    pub flavor: Flavor,
    /// As `worker_threads`.
    pub workers: Option<usize>,
    /// As `start_paused`.
    pub paused: bool,
    /// As `name`.
    pub name: Option<&'a str>,
}

/// The flavors of a runtime.
#[derive(Debug, Clone, Copy)]
pub enum Flavor {
    /// One thread.
    CurrentThread,
    /// Several threads.
    MultiThread,
    /// One thread, with tasks that need not be `Send`.
    Local,
}
