//! What `#[drawloom::test]` and [`check`](super::check) do around an exploration.

use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;

use drawloom_engine::config::Config;

use super::regressions::Store;
use super::{Exploration, output, spread};

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

/// Runs the test `name` of the crate in `manifest`, configured by `config`; called by the expansion of
/// `#[drawloom::test]`.
#[track_caller]
pub fn run_test<T: Outcome>(
    name: &'static str,
    manifest: Option<&'static str>,
    config: &'static str,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    let mut config: Config = config.parse().unwrap_or_else(|error| panic!("drawloom: {error}"));
    if config.name.is_none() {
        config = config.name(name);
    }
    check(config, manifest, move || body().judge());
}

#[track_caller]
pub(super) fn check(config: Config, manifest: Option<&'static str>, body: impl Fn() + Send + Sync + 'static) {
    let config = match config.with_environment(|variable| std::env::var(variable).ok()) {
        Ok(config) => config,
        Err(error) => panic!("drawloom: {error}"),
    };
    // Where a test has no name, its place will do.
    let place = Location::caller();
    let test = config.name.clone().unwrap_or_else(|| format!("{}:{}", place.file(), place.line()));
    let store = manifest.and_then(|manifest| Store::of(&test, manifest, &config));
    let (body, mut remarks) = (Arc::new(body), Vec::new());
    let stored = store.as_ref().and_then(|store| store.replay(&config, &body, &mut remarks));
    let mut exploration = stored.unwrap_or_else(|| spread::explore(&config, None, &body, Some(&test)));
    if let Some(store) = &store {
        store.keep(exploration.findings(), &mut remarks);
    }
    exploration.remarks.splice(0..0, remarks);
    if let Some(error) = exploration.error() {
        panic!("drawloom: {error}");
    }
    if !exploration.findings().is_empty() {
        panic!("{}", report(&exploration, config.trace));
    }
    exploration.remarks().iter().for_each(|remark| println!("drawloom: {remark}"));
    println!("drawloom: {}", exploration.summary());
}

/// Everything that a failing test prints.
fn report(exploration: &Exploration, trace: bool) -> String {
    let mut text = String::new();
    for (i, failure) in exploration.findings().iter().enumerate() {
        if exploration.findings().len() > 1 {
            let number = i + 1;
            let of = exploration.findings().len();
            text.push_str(&format!("\n━━ finding {number} of {of}, in {} executions\n", failure.occurrences()));
        }
        text.push('\n');
        let file = trace.then(|| output::keep(failure.record()));
        let (kept, problem) = match file {
            Some(Ok(kept)) => (Some(kept), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        text.push_str(&output::render(failure.record(), kept.as_ref()));
        if let Some(problem) = problem {
            text.push_str(&format!("\n(the trace could not be written: {problem})\n"));
        }
    }
    text.push_str(&format!("\n{}\n", exploration.summary()));
    exploration.remarks().iter().for_each(|remark| text.push_str(&format!("{remark}\n")));
    text
}
