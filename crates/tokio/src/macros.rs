//! The macros: what they are made of is in the crate `drawloom-tokio-macros`.

use std::future::Future;

use crate::runtime::Builder;

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

/// Runs the body of `#[test]` or `#[main]` on a runtime.
#[track_caller]
pub fn run<F: Future>(several_threads: bool, workers: Option<usize>, paused: bool, body: F) -> F::Output {
    let mut builder = match several_threads {
        true => Builder::new_multi_thread(),
        false => Builder::new_current_thread(),
    };
    if let Some(workers) = workers {
        builder.worker_threads(workers);
    }
    let runtime = builder.enable_all().start_paused(paused).build();
    runtime.unwrap_or_else(|error| panic!("no runtime: {error}")).block_on(body)
}
