//! What an exploration tells while it goes on.

#[expect(dead_code, reason = "others use the rest")]
mod toy;

use std::sync::Mutex;

use drawloom_engine::config::Config;
use drawloom_engine::finding::FindingKind;
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{OpKind, Outcome, Settings, Site};
use drawloom_explore::{Event, Exploration, Listener, Program, explore_heard_by};
use drawloom_gates::Gates;
use drawloom_report::{Language, Place};

use toy::{TOY, Toy, cell, here, join, panic, spawn, step};

/// Two tasks that read a cell and write it back; `fails` says whether that is wrong.
struct Twice {
    fails: bool,
}

impl Program for Twice {
    type Executor = Gates;

    const SPREADS: bool = false;
    const DATA_RACES: bool = false;
    const LANGUAGE: Language = drawloom_report::language::RUST;

    fn executor(&self, strategy: Box<dyn Strategy>) -> Gates {
        Gates::new(TOY, strategy)
    }

    fn run(&self, gates: &mut Gates, settings: &Settings, seed: u64) -> Outcome {
        let fails = self.fails;
        let main = move || {
            let x = cell();
            let write = move || {
                step(OpKind::CellRead, x, 10)?;
                step(OpKind::CellWrite, x, 11).map(|_| ())
            };
            [spawn(write)?, spawn(write)?].into_iter().try_for_each(join)?;
            if fails { Err(here().fail(FindingKind::Panic(Box::new(panic("lost"))))) } else { Ok(()) }
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

/// Takes everything down, and always wants to know how far it is.
#[derive(Default)]
struct Notes(Mutex<Vec<Event>>);

impl Listener for Notes {
    fn hear(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }

    fn wants_progress(&self) -> bool {
        true
    }
}

fn heard(config: &str, fails: bool) -> (Vec<Event>, Exploration) {
    let config: Config = config.parse().expect("a configuration");
    let notes = Notes::default();
    let exploration = explore_heard_by(&config.name("toy").leaks(false), &Twice { fails }, &notes);
    (notes.0.into_inner().unwrap(), exploration)
}

fn ran(events: &[Event]) -> u64 {
    events.iter().map(|event| if let Event::Ran { executions } = event { *executions } else { 0 }).sum()
}

#[test]
fn it_begins_runs_and_ends_and_says_how_far_it_is_when_asked() {
    for (config, planned) in [("random(iterations = 40)", Some(40)), ("exhaustive", None)] {
        let (events, exploration) = heard(config, false);
        assert_eq!(events.first(), Some(&Event::Started { test: "toy".to_owned(), planned }), "{config}");
        let ended = Event::Ended { executions: exploration.executions(), failing: 0 };
        assert_eq!(events.last(), Some(&ended), "{config}");
        assert_eq!(ran(&events), exploration.executions(), "{config}");
        let follows =
            |pair: &[Event]| matches!(pair, [Event::Ran { .. }, next] if !matches!(next, Event::Progress { .. }));
        assert!(!events.windows(2).any(follows), "{config}: {events:?}");
        assert!(!events.iter().any(|event| matches!(event, Event::Found { .. })), "{config}");
    }
}

#[test]
fn what_is_found_is_told_at_once_and_before_the_end() {
    for config in ["random(iterations = 40, keep_going = true)", "exhaustive(keep_going = true)", "auto"] {
        let (events, exploration) = heard(config, true);
        let found: Vec<&Event> = events.iter().filter(|event| matches!(event, Event::Found { .. })).collect();
        assert_eq!(found.len() as u64, exploration.failing_executions(), "{config}");
        assert_eq!(found[0], &Event::Found { kind: "panic", iteration: 1 }, "{config}");
        let ended = Event::Ended { executions: exploration.executions(), failing: exploration.failing_executions() };
        assert_eq!(events.last(), Some(&ended), "{config}: what follows is no part of the exploration");
    }
}
