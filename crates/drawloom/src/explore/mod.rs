//! Explorations: many executions of one program, until the strategy is done, a budget is spent or
//! something is found.
//!
//! - `plan` turns a [`Config`] into what an executor is run with;
//! - `worker` runs single executions and judges them;
//! - `spread` spreads executions over OS threads, with the same result as on one;
//! - `exhaust` explores every behaviour;
//! - `levels` explores what needs few preemptions before what needs more;
//! - `progress` shows how far it has come;
//! - `rounds` says what each execution is drawn with;
//! - `shrink` makes the schedule of a finding as simple as can be;
//! - `understand` finds out why an execution failed;
//! - `fixes` tries out what could be done about it;
//! - `regressions` keeps failing schedules, and replays them first;
//! - `corpus` keeps executions that have shown something new, for the next run;
//! - `resume` goes on where an earlier process stopped;
//! - `attempt` is what `auto` does where a program is small;
//! - `saturation` says when behaviours repeat themselves;
//! - `verdict` is what may be claimed when nothing was found;
//! - `telling` puts a finding into words, when asked;
//! - `exploration` is what comes of it;
//! - `output` prints findings and keeps their traces;
//! - `passing` records a replay in which nothing was found;
//! - `results` tells other programs what a test came to;
//! - `harness` is what `#[drawloom::test]` calls.

mod attempt;
mod corpus;
mod exhaust;
mod exploration;
mod fixes;
mod harness;
mod levels;
mod output;
mod passing;
mod plan;
mod progress;
mod regressions;
mod results;
mod resume;
mod rounds;
mod saturation;
mod shrink;
mod spread;
mod telling;
mod understand;
mod verdict;
mod worker;

use drawloom_engine::config::Config;
use drawloom_engine::strategy::Strategy;

pub use exploration::{Exploration, Failure};
pub use fixes::try_fix;
pub use harness::{Outcome, run_foreign_test, run_test};

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
    spread::explore(&config, None, &std::sync::Arc::new(body), None)
}

/// As [`explore`], with the choices of a strategy of your own: `strategy` makes one for each OS thread.
/// The configuration says how many executions there are, and everything else but the strategy.
///
/// ```
/// use drawloom::strategy::{Divergence, Strategy, TaskId, Tape, View};
/// use drawloom::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
///
/// /// Lets one task run as long as it can, and then any of the others.
/// struct Bursts(Tape);
///
/// impl Strategy for Bursts {
///     fn begin(&mut self, seed: u64) {
///         self.0 = Tape::new(seed); // all of its randomness: else nothing could be reproduced
///     }
///     fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
///         let go_on = view.is_ready(view.current()) && self.0.below(4) > 0;
///         Ok(if go_on { view.current() } else { view.ready()[self.0.below(view.ready().len() as u64) as usize] })
///     }
/// }
///
/// let exploration = drawloom::explore_with(drawloom::Config::new().iterations(100), || Bursts(Tape::new(0)), || {
///     let count = Arc::new(AtomicU32::new(0));
///     let theirs = count.clone();
///     let other = drawloom::thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
///     count.store(count.load(SeqCst) + 1, SeqCst);
///     other.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2, "an update was lost");
/// });
/// assert!(exploration.findings()[0].message().contains("an update was lost"));
/// ```
pub fn explore_with<S, F>(config: Config, strategy: impl Fn() -> S + Send + Sync + 'static, body: F) -> Exploration
where
    S: Strategy + 'static,
    F: Fn() + Send + Sync + 'static,
{
    let make: plan::MakeStrategy = std::sync::Arc::new(move || Box::new(strategy()));
    spread::explore(&config, Some(make), &std::sync::Arc::new(body), None)
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
    harness::check(Config::new(), None, body);
}
