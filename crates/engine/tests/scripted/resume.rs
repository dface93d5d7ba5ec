//! An exhaustive exploration that is interrupted, again and again, comes to what it would have come to.

use std::collections::HashSet;

use drawloom_engine::exhaustive::{Exhaustive, Explorer, Header, LogError, Tally};
use drawloom_engine::strategy::Tape;
use drawloom_engine::{Engine, Limits};

use crate::driver::{ALONE, Program, canonical, run_on};

fn header() -> Header {
    Header { test: "a test".into(), configuration: 1, program: 2, first_execution: 3 }
}

/// One life of a process: takes a log up, works for a while as several workers would, and is killed.
fn live(program: &Program, log: &[u8], memory: usize, tape: &mut Tape, classes: &mut HashSet<u64>) -> (Vec<u8>, bool) {
    let budget = 3 + tape.below(60);
    let (explorer, known) = match log {
        [] => (Explorer::new(ALONE, budget), Tally::default()),
        log => {
            let restored = Explorer::restore(ALONE, log, budget).expect("a log");
            assert_eq!(restored.header, header());
            (restored.explorer, restored.tally)
        }
    };
    let explorer = explorer.with_memory(memory);
    let mut tally = known;
    let mut log = explorer.checkpoint(&header(), || tally.clone());
    let least = log.len();
    let mut engine = Engine::new();
    let workers = 1 + tape.below(3) as usize;
    let mut claimed: Vec<Exhaustive> = Vec::new();
    let mut unsettled = Vec::new();
    loop {
        let left = explorer.progress().pending > 0 && claimed.len() + unsettled.len() < workers;
        match tape.below(4) {
            0 | 1 if left => match explorer.claim() {
                Some(strategy) => claimed.push(strategy),
                None if claimed.is_empty() && unsettled.is_empty() => break,
                None => {}
            },
            _ if !claimed.is_empty() => {
                let at = tape.below(claimed.len() as u64) as usize;
                let mut strategy = claimed.swap_remove(at);
                let run = run_on(&mut engine, program, &mut strategy, &Limits::default(), 0);
                assert!(run.finding.as_deref() != Some("divergence"));
                let ticket = strategy.ticket();
                let came_to = match explorer.was_redundant(ticket) {
                    true => Tally { redundant: 1, ..Tally::default() },
                    false => {
                        classes.insert(canonical(&run));
                        Tally { executions: 1, steps: run.steps.len() as u64, ..Tally::default() }
                    }
                };
                unsettled.push((ticket, came_to));
            }
            2 => log.extend(explorer.added()),
            _ if !unsettled.is_empty() => {
                let at = tape.below(unsettled.len() as u64) as usize;
                let (ticket, came_to) = unsettled.swap_remove(at);
                explorer.settle(ticket, &came_to);
                tally.add(came_to);
            }
            _ if !left => break,
            _ => {}
        }
    }
    let done = explorer.progress().exhausted;
    if done || tape.below(3) == 0 {
        log.extend(explorer.added());
    } else {
        log.truncate(least + tape.below((log.len() - least) as u64 + 1) as usize);
    }
    (log, done)
}

#[test]
fn counts_do_not_depend_on_interruptions() {
    let programs = [
        (include_str!("../programs/readers-8.txt"), 256),
        (include_str!("../programs/lastzero-5.txt"), 64),
        (include_str!("../programs/choose-3.txt"), 48),
        (include_str!("../programs/philo-5.txt"), 31),
        (include_str!("../programs/ninc-2-3.txt"), 328),
        (include_str!("../programs/cvbuf-3.txt"), 32),
        (include_str!("../programs/fib-3.txt"), 141),
    ];
    for (text, expected) in programs {
        let program = Program::parse(text);
        let mut whole = None;
        for seed in 0..9 {
            // In two of three cases memory runs short, sooner or later.
            let memory = if seed % 3 == 0 { usize::MAX } else { 150 * seed as usize };
            let mut tape = Tape::new(seed);
            let mut classes = HashSet::new();
            let (mut log, mut done) = (Vec::new(), false);
            while !done {
                (log, done) = live(&program, &log, memory, &mut tape, &mut classes);
            }
            let restored = Explorer::restore(ALONE, &log, 1).expect("a log");
            assert!(restored.explorer.progress().exhausted && restored.explorer.claim().is_none());
            assert_eq!((restored.tally.executions, classes.len()), (expected, expected as usize), "seed {seed}");
            assert_eq!(*whole.get_or_insert(restored.tally.steps), restored.tally.steps);
        }
    }
}

fn some_log() -> Vec<u8> {
    let program = Program::parse(include_str!("../programs/ninc-2-2.txt"));
    let explorer = Explorer::new(ALONE, 20);
    let mut log = explorer.checkpoint(&header(), Tally::default);
    while let Some(mut strategy) = explorer.claim() {
        run_on(&mut Engine::new(), &program, &mut strategy, &Limits::default(), 0);
        explorer.settle(strategy.ticket(), &Tally { executions: 1, ..Tally::default() });
        log.extend(explorer.added());
    }
    log
}

#[test]
fn a_log_that_ends_too_early_is_used_as_far_as_it_goes() {
    let log = some_log();
    let mut known = 0;
    for length in 0..=log.len() {
        match Explorer::restore(ALONE, &log[..length], 1) {
            Ok(restored) => {
                assert!(restored.tally.executions >= known);
                known = restored.tally.executions;
                assert_eq!(restored.explorer.progress().executions, known);
            }
            Err(error) => assert!(error == LogError::TooShort && known == 0, "{error} at {length}"),
        }
    }
    assert_eq!(known, 20);
}

#[test]
fn a_log_that_was_altered_is_refused_or_is_as_if_it_ended_there() {
    let log = some_log();
    for at in 0..log.len() {
        let mut altered = log.clone();
        altered[at] ^= 0x40;
        if let Ok(restored) = Explorer::restore(ALONE, &altered, 1) {
            assert!(restored.tally.executions < 20, "an altered byte went unnoticed at {at}");
        }
    }
    assert!(matches!(Explorer::restore(ALONE, b"{\"version\": 1}", 1), Err(LogError::NotALog)));
}
