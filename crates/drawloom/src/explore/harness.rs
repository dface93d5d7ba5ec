//! What `#[drawloom::test]` and [`check`](super::check) do around an exploration.

use std::fmt::Debug;
use std::panic::Location;

use drawloom_engine::config::Config;
use drawloom_explore::{Choices, Crate, Test};

use super::apart_if_panicking;
use super::program::Fibers;

/// What the body of a test may return.
pub trait Outcome {
    /// Panics if the value says that the test has failed.
    fn judge(self);
}

impl Outcome for () {
    fn judge(self) {}
}

impl<T: Outcome, E: Debug> Outcome for Result<T, E> {
    #[track_caller]
    fn judge(self) {
        match self {
            Ok(value) => value.judge(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Runs the test `name` of `krate`, configured by `config`; called by the expansion of
/// `#[drawloom::test]`.
#[track_caller]
pub fn run_test<T: Outcome>(
    name: &'static str,
    krate: Option<Crate>,
    config: &'static str,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    run(name, krate, config, Choices::Needed, body);
}

/// As [`run_test`], for tests that were not written to be explored: one without a choice passes.
#[track_caller]
pub fn run_foreign_test<T: Outcome>(
    name: &'static str,
    krate: Option<Crate>,
    config: &'static str,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    run(name, krate, config, Choices::Welcome, body);
}

#[track_caller]
fn run<T: Outcome>(
    name: &'static str,
    krate: Option<Crate>,
    config: &'static str,
    choices: Choices,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    run_fibers(name, krate, config, choices, &Fibers::of(move || body().judge()));
}

/// As for all that follows: compiled once, and not for each test.
#[track_caller]
fn run_fibers(name: &'static str, krate: Option<Crate>, config: &'static str, choices: Choices, body: &Fibers) {
    let mut config: Config = config.parse().unwrap_or_else(|error| panic!("drawloom: {error}"));
    if config.name.is_none() {
        config = config.name(name);
    }
    // The harness leaves the crate out.
    let path = name.split_once("::").map_or(name, |(_, path)| path);
    let test = Test { name: name.to_owned(), path: Some(path), krate, choices };
    check_fibers(config, Some(test), body);
}

#[track_caller]
pub(super) fn check(config: Config, body: impl Fn() + Send + Sync + 'static) {
    check_fibers(config, None, &Fibers::of(body));
}

#[track_caller]
fn check_fibers(config: Config, known: Option<Test>, body: &Fibers) {
    // Where a test has no name, its place will do.
    let place = Location::caller();
    let name = format!("{}:{}", place.file(), place.line());
    let test = known.unwrap_or(Test { name, path: None, krate: None, choices: Choices::Needed });
    match apart_if_panicking(|| drawloom_explore::check(config, &test, body)) {
        Ok(lines) => lines.iter().for_each(|line| println!("{line}")),
        // Where a task was left behind in the middle of a panic, this one would be taken for the second.
        Err(report) if std::thread::panicking() => {
            eprintln!("{report}");
            std::panic::resume_unwind(Box::new(report));
        }
        Err(report) => panic!("{report}"),
    }
}
