//! What an exploration makes of executions that do not come to their end: nothing, but it says why it ended.

#[expect(dead_code, reason = "others use the rest")]
mod toy;

use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_engine::config::Config;
use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::finding::FindingKind;
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Abandoned, Ending, OpKind, Outcome, Settings, Site, Stop, TaskId};
use drawloom_explore::{Executor, Exploration, Program, SHARING, explore};
use drawloom_gates::Gates;
use drawloom_report::{Language, Place};

use toy::{TOY, Toy, cell, here, join, panic, spawn, step};

/// Two tasks, each of which reads a cell twice and writes it back. In the midst of each execution `looks` decides what
/// becomes of it, by its number.
struct Looked<F> {
    looks: F,
    executions: AtomicU64,
}

impl<F: Fn(u64) -> Toy<()> + Copy + Sync + 'static> Program for Looked<F> {
    type Executor = Gates;

    const SPREADS: bool = false;
    const DATA_RACES: bool = false;
    const LANGUAGE: Language = drawloom_report::language::RUST;

    fn executor(&self, strategy: Box<dyn Strategy>) -> Gates {
        Gates::new(TOY, strategy)
    }

    fn run(&self, gates: &mut Gates, settings: &Settings, seed: u64) -> Outcome {
        let (looks, number) = (self.looks, self.executions.fetch_add(1, Ordering::Relaxed));
        let main = move || {
            let x = cell();
            let write = move || {
                step(OpKind::CellRead, x, 10)?;
                step(OpKind::CellRead, x, 11)?;
                looks(number)?;
                step(OpKind::CellWrite, x, 12).map(|_| ())
            };
            [spawn(write)?, spawn(write)?].into_iter().try_for_each(join)
        };
        let ended = move || {
            let _: Toy<()> = main();
            None
        };
        gates.run(settings, seed, Box::new(ended))
    }

    fn place(_: Site) -> Option<Place> {
        None
    }

    fn line_of(site: Site) -> u32 {
        site.0 as u32
    }
}

fn explored<F: Fn(u64) -> Toy<()> + Copy + Sync + 'static>(config: &str, looks: F) -> Exploration {
    let config: Config = config.parse().expect("a configuration");
    explore(&config.name("toy").leaks(false), &Looked { looks, executions: AtomicU64::new(0) })
}

const ALL: [&str; 6] = [
    "auto",
    "random(iterations = 100)",
    "random(iterations = 100, keep_going = true)",
    "exhaustive",
    "exhaustive(keep_going = true)",
    "exhaustive(preemptions = 2)",
];

#[test]
fn an_exploration_that_is_stopped_says_why_and_counts_what_it_has_made() {
    for config in ALL {
        for at in [0, 1, 3] {
            let looks = move |number| if number < at { Ok(()) } else { Err(here().stop(Stop::Interrupted)) };
            let stopped = explored(config, looks);
            assert_eq!(stopped.stopped_by(), Some(&Stop::Interrupted), "{config} {at}");
            assert!(stopped.findings().is_empty(), "{config} {at}: {:?}", stopped.findings());
            assert_eq!(stopped.failing_executions(), 0, "{config} {at}");
            assert!(!stopped.exhausted() && !stopped.timed_out(), "{config} {at}: {}", stopped.summary());
            assert!(stopped.executions() <= at, "{config} {at}: {}", stopped.executions());
        }
    }
}

#[test]
fn what_was_found_before_an_exploration_is_stopped_stays_as_it_was() {
    for config in ["random(iterations = 100, keep_going = true)", "exhaustive(keep_going = true)"] {
        let looks = |number| match (number, here().running()) {
            (2.., _) => Err(here().stop(Stop::KnowsMore)),
            (_, TaskId(2)) => Err(here().fail(FindingKind::Panic(Box::new(panic("lost"))))),
            _ => Ok(()),
        };
        let stopped = explored(config, looks);
        assert_eq!(stopped.stopped_by(), Some(&Stop::KnowsMore), "{config}");
        let found: Vec<&str> = stopped.findings().iter().map(|failure| failure.kind()).collect();
        assert_eq!(found, ["panic"], "{config}");
        assert_eq!((stopped.executions(), stopped.failing_executions()), (2, 2), "{config}");
    }
}

#[test]
fn an_execution_that_is_stopped_is_left_to_be_explored() {
    let explorer = Explorer::new(SHARING, u64::MAX);
    let mut gates = Gates::new(TOY, Box::new(explorer.claim().expect("the first one")));
    let make = |gates: &mut Gates, looks: fn(u64) -> Toy<()>| {
        Looked { looks, executions: AtomicU64::new(0) }.run(gates, &Settings::default(), 0).ending
    };
    let mut executions = 0;
    loop {
        let before = explorer.progress();
        let stopped = make(&mut gates, |_| Err(here().stop(Stop::OutOfTime)));
        assert_eq!(stopped, Ending::Stopped(Stop::OutOfTime));
        let after = explorer.progress();
        assert_eq!((after.executions, after.pending), (executions, before.pending + 1));
        assert!(!after.diverged && !after.exhausted, "{after:?}");
        gates.set_strategy(Box::new(explorer.claim().expect("the same again")));
        assert!(make(&mut gates, |_| Ok(())).is_done());
        executions += 1;
        match explorer.claim() {
            Some(next) => gates.set_strategy(Box::new(next)),
            None => break,
        }
    }
    assert!(explorer.progress().exhausted);
    assert_eq!(executions, explored("exhaustive", |_| Ok(())).executions());
}

#[test]
fn an_exploration_whose_first_execution_takes_all_the_time_fails_by_that() {
    for config in ALL {
        let late = explored(config, |_| Err(here().stop(Stop::OutOfTime)));
        let found: Vec<&str> = late.findings().iter().map(|failure| failure.kind()).collect();
        assert_eq!(found, ["out of time"], "{config}");
        assert!(late.findings().iter().all(|failure| !failure.is_certain() && failure.token().is_empty()), "{config}");
    }
}

#[test]
fn an_execution_that_is_abandoned_is_made_again_and_counts_once() {
    for config in ALL {
        let plain = explored(config, |_| Ok(()));
        let again = explored(config, |number| {
            if number % 3 == 1 {
                here().with_engine(|engine| engine.abandon(Abandoned::Interference));
            }
            Ok(())
        });
        let told = |made: &Exploration| (made.executions(), made.steps(), made.summary());
        assert_eq!(told(&plain), told(&again), "{config}");
        assert_eq!(again.stopped_by(), None, "{config}");
        assert!(again.findings().is_empty(), "{config}: {:?}", again.findings());
    }
}
