//! A Rust program: a closure, whose executions run as fibers.

use std::sync::{Arc, Mutex};

use drawloom_engine::sorted::Set;
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Abandoned, Ending, Engine, Outcome, Settings, Site};
use drawloom_explore::{Executor, Program};
use drawloom_report::{Language, Place};

use crate::rt::interference::Admission;
use crate::rt::{line_of, location};

/// What runs in each execution.
type Body = dyn Fn() + Send + Sync;

/// A closure to be explored. It has no type of its own here: all that explores would be compiled again for each test.
pub(super) struct Fibers {
    body: Arc<Body>,
    /// Where it asks for weaker orderings than `SeqCst`: file, line and column, each once.
    weaker: Mutex<Set<(&'static str, u32, u32)>>,
}

impl Fibers {
    pub(super) fn of(body: impl Fn() + Send + Sync + 'static) -> Self {
        drawloom_explore::ask_for_columns(drawloom_fiber::columns);
        Fibers { body: Arc::new(body), weaker: Mutex::default() }
    }
}

/// The executor of one worker.
pub(super) struct OneThread {
    fibers: drawloom_fiber::Executor,
    /// What is to be explored. Each execution holds on to it, by a count that no other worker writes to.
    body: Arc<Arc<Body>>,
    /// Other executions are held back while ours run: they share a static.
    alone: bool,
    /// Weaker accesses that the program knows of.
    known: usize,
}

impl Program for Fibers {
    type Executor = OneThread;

    const SPREADS: bool = true;
    const LANGUAGE: Language = drawloom_report::language::RUST;

    fn executor(&self, strategy: Box<dyn Strategy>) -> OneThread {
        let body = Arc::new(Arc::clone(&self.body));
        OneThread { fibers: drawloom_fiber::Executor::new(strategy), body, alone: false, known: 0 }
    }

    fn run(&self, executor: &mut OneThread, settings: &Settings, seed: u64) -> Outcome {
        let body = Arc::clone(&executor.body);
        let epoch = executor.fibers.reserve_epoch();
        let _admission = Admission::of(epoch, executor.alone);
        let outcome = executor.fibers.run(settings, seed, move || body());
        executor.alone |= matches!(outcome.ending, Ending::Abandoned(Abandoned::Interference));
        let weaker = executor.fibers.weaker_accesses();
        if weaker.len() > executor.known {
            let new = weaker[executor.known..].iter().filter_map(|site| location(*site));
            let mut all = self.weaker.lock().unwrap_or_else(|e| e.into_inner());
            all.extend(new.map(|place| (place.file(), place.line(), place.column())));
            executor.known = weaker.len();
        }
        outcome
    }

    fn weaker_accesses(&self) -> u64 {
        self.weaker.lock().unwrap_or_else(|e| e.into_inner()).len() as u64
    }

    fn place(site: Site) -> Option<Place> {
        location(site).map(|l| Place { file: file_of(l).to_owned(), line: l.line(), column: l.column() })
    }

    fn line_of(site: Site) -> u32 {
        line_of(site)
    }
}

impl Executor for OneThread {
    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        self.fibers.replace_strategy(strategy)
    }

    fn with_strategy<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        self.fibers.with_strategy(act)
    }

    fn engine(&self) -> &Engine {
        self.fibers.engine()
    }

    fn is_spent(&self) -> bool {
        self.fibers.is_spent()
    }

    fn has_leaked(&self) -> bool {
        self.fibers.leaked_fibers() > 0
    }
}

/// The file of a place. std's own is named from the library that it belongs to: a call that std makes,
/// from within an iterator say, has no place in the user's code.
fn file_of(location: &'static std::panic::Location<'static>) -> &'static str {
    let file = location.file();
    let in_std = file.starts_with("/rustc/").then(|| file.split_once("/library/")).flatten();
    in_std.map_or(file, |(_, within)| within)
}
