//! The explorations of Rust programs: threads as fibers.

mod harness;
mod program;

use drawloom_engine::config::Config;
use drawloom_engine::guard::Guard;
use drawloom_engine::strategy::Strategy;
pub use drawloom_explore::{Exploration, Failure};
use drawloom_report::explain::Verification;

pub use harness::{Outcome, run_foreign_test, run_test};
use program::Fibers;

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
    explore_fibers(&config, None, &Fibers::of(body))
}

/// What makes the strategy of the user's own for each OS thread.
type Strategies = Box<dyn Fn() -> Box<dyn Strategy> + Send + Sync>;

/// From here on nothing depends on a test's own types, so that it is compiled once and not for each test.
fn explore_fibers(config: &Config, strategies: Option<Strategies>, body: &Fibers) -> Exploration {
    apart_if_panicking(|| match strategies {
        None => drawloom_explore::explore(config, body),
        Some(strategies) => drawloom_explore::explore_with(config, strategies, body),
    })
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
    explore_fibers(&config, Some(Box::new(move || Box::new(strategy()))), &Fibers::of(body))
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

/// As [`check`], with a configuration of your own. The environment overrides it.
///
/// ```
/// use drawloom::{config::Config, sync::mpsc, thread};
///
/// drawloom::check_with(Config::new().iterations(100), || {
///     let (sender, receiver) = mpsc::channel();
///     let other = thread::spawn(move || sender.send(42).unwrap());
///     assert_eq!(receiver.recv(), Ok(42));
///     other.join().unwrap();
/// });
/// ```
///
/// # Panics
///
/// As [`check`].
#[track_caller]
pub fn check_with<F>(config: Config, body: F)
where
    F: Fn() + Send + Sync + 'static,
{
    harness::check(config, body);
}

/// Tries a fix of what `token` shows: whether `body` under `guard` still fails, or fails otherwise.
///
/// ```
/// use drawloom::guard::{Guard, Region, Site};
/// use drawloom::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
///
/// fn increments() {
///     let count = Arc::new(AtomicU32::new(0));
///     let increment = |count: &AtomicU32| {
///         let seen = count.load(SeqCst); // line 11 of this example
///         count.store(seen + 1, SeqCst);
///     };
///     let theirs = count.clone();
///     let other = drawloom::thread::spawn(move || increment(&theirs));
///     increment(&count);
///     other.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2, "an update was lost");
/// }
///
/// let found = drawloom::explore(drawloom::Config::new(), increments);
/// let token = found.findings()[0].token();
/// # let record = found.findings()[0].record();
/// # let at = |operation| {
/// #     let step = record.steps.iter().find(|step| record.operation(step) == operation).unwrap();
/// #     let place = record.place(step.place).unwrap();
/// #     Site { file: place.file.clone(), line: place.line, column: 0 }
/// # };
/// # let (load, store) = (at("load"), at("store"));
/// // A lock that is held from the load to the store.
/// let lock = Guard::Lock(vec![Region { enter: load, leave: store, whole: false }]);
/// let verdict = drawloom::try_fix(drawloom::Config::new(), token, &lock, increments)?;
/// assert!(verdict.helps);
/// assert_eq!(verdict.text, "verified: all 2 schedules, none fails");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// If the token is not one of this test, or does not show a finding.
pub fn try_fix<F>(config: Config, token: &str, guard: &Guard, body: F) -> Result<Verification, String>
where
    F: Fn() + Send + Sync + 'static,
{
    try_on_fibers(&config, token, guard, &Fibers::of(body))
}

fn try_on_fibers(config: &Config, token: &str, guard: &Guard, body: &Fibers) -> Result<Verification, String> {
    apart_if_panicking(|| drawloom_explore::try_fix(config, token, guard, body))
}

/// Calls `act` on a thread that does not panic. That the calling one does, in a destructor or since a task was left behind
/// in the middle of a panic, would be taken for the tasks' doing.
fn apart_if_panicking<R: Send>(act: impl FnOnce() -> R + Send) -> R {
    if !std::thread::panicking() {
        return act();
    }
    let builder = std::thread::Builder::new().name(std::thread::current().name().unwrap_or_default().to_owned());
    let ended = std::thread::scope(|scope| builder.spawn_scoped(scope, act).map(|thread| thread.join()));
    match ended.expect("a thread to explore on") {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
