//! Explorations: many executions of one program, until the strategy is done, a budget is spent or
//! something is found.
//!
//! - `plan` turns a [`Config`] into what an executor is run with;
//! - `worker` runs single executions and judges them;
//! - `spread` spreads executions over OS threads, with the same result as on one;
//! - `resume` goes on where an earlier process stopped;
//! - `exploration` is what comes of it;
//! - `output` prints findings and keeps their traces;
//! - `harness` is what `#[drawloom::test]` calls.

mod exploration;
mod harness;
mod output;
mod plan;
mod resume;
mod spread;
mod worker;

use drawloom_engine::config::Config;

pub use exploration::{Exploration, Failure};
pub use harness::{Outcome, run_test};

/// Explores `body` as `config` says. Never panics because of what it finds.
///
/// ```
/// use drawloom::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
/// use drawloom::thread;
///
/// let exploration = drawloom::explore("random(iterations = 100)".parse()?, || {
///     let count = Arc::new(AtomicU32::new(0));
///     let theirs = count.clone();
///     let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
///     count.store(count.load(SeqCst) + 1, SeqCst);
///     other.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2, "an update was lost");
/// });
/// assert!(exploration.findings()[0].message().contains("an update was lost"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explore<F>(config: Config, body: F) -> Exploration
where
    F: Fn() + Send + Sync + 'static,
{
    spread::explore(&config, &std::sync::Arc::new(body), None)
}

/// Explores `body` with the default configuration, and panics with a report if it fails.
///
/// The environment variables `DRAWLOOM_STRATEGY`, `DRAWLOOM_SEED`, `DRAWLOOM_ITERATIONS` and
/// `DRAWLOOM_REPLAY` override the configuration, as they do for `#[drawloom::test]`.
///
/// ```
/// use drawloom::{sync::mpsc, thread};
///
/// drawloom::check(|| {
///     let (sender, receiver) = mpsc::channel();
///     let other = sender.clone();
///     let workers = [thread::spawn(move || sender.send(40).unwrap()), thread::spawn(move || other.send(2).unwrap())];
///     assert_eq!(receiver.iter().sum::<i32>(), 42, "whoever comes first");
///     workers.into_iter().for_each(|worker| worker.join().unwrap());
/// });
/// ```
///
/// # Panics
///
/// If anything is found, or if the environment asks for something that cannot be done.
#[track_caller]
pub fn check<F>(body: F)
where
    F: Fn() + Send + Sync + 'static,
{
    harness::check(Config::new(), body);
}
