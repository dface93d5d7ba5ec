//! Who is measured, and how each is asked to run a program.
//!
//! Every contestant explores randomly from the same seed on one OS thread, in its default
//! configuration; loom, which has no random strategy, explores exhaustively.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::scheduler::{RandomScheduler, Schedule, Scheduler, Task, TaskId};

use crate::floor;
#[cfg(feature = "drawloom-side")]
use crate::programs::drawloom_side;
use crate::programs::{Program, loom_side, shuttle_side};

const SEED: u64 = 1;

/// What a run did.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Executions run: as many as asked for, or a few more if the contestant cannot stop there.
    pub executions: u64,
    /// Steps in all of them together, if the contestant tells.
    pub steps: Option<u64>,
}

/// A library, or the floor.
pub struct Contestant {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    can_run: fn(Program) -> bool,
    run: fn(Program, u64) -> Tally,
}

/// Everyone compiled in, in the order in which they are shown.
pub static CONTESTANTS: &[Contestant] = &[
    #[cfg(feature = "drawloom-side")]
    Contestant { name: DRAWLOOM, can_run: |_| true, run: run_drawloom },
    Contestant { name: SHUTTLE, can_run: |_| true, run: run_shuttle },
    Contestant { name: LOOM, can_run: |program| program == Program::SMALLEST, run: run_loom },
    Contestant { name: FLOOR, can_run: |_| true, run: run_floor },
];

/// drawloom's name.
pub const DRAWLOOM: &str = "drawloom";
/// shuttle's name.
pub const SHUTTLE: &str = "shuttle";
/// loom's name.
pub const LOOM: &str = "loom";
/// The floor's name.
pub const FLOOR: &str = "floor";

impl Contestant {
    /// The contestant of that name, if it is compiled in.
    pub fn named(name: &str) -> Option<&'static Contestant> {
        CONTESTANTS.iter().find(|contestant| contestant.name == name)
    }

    /// Whether it takes part in this program. loom explores the smallest test only: it has a
    /// limit of five threads, and its cost per op depends on how much of the path is replayed.
    pub fn can_run(&self, program: Program) -> bool {
        (self.can_run)(program)
    }

    /// Runs the program `executions` times in one exploration, so that setting up the
    /// exploration is paid once.
    pub fn run(&self, program: Program, executions: u64) -> Tally {
        let tally = (self.run)(program, executions);
        assert!(tally.executions >= executions, "{} stopped early", self.name);
        if let Some(steps) = tally.steps {
            let least = tally.executions * program.ops();
            assert!(steps >= least, "{}: {steps} steps, {least} ops", self.name);
        }
        tally
    }
}

#[cfg(feature = "drawloom-side")]
fn run_drawloom(program: Program, executions: u64) -> Tally {
    let config = format!("random(iterations = {executions}, seed = {SEED}), threads = 1");
    let config: drawloom::Config = config.parse().expect("a valid configuration");
    let exploration = drawloom::explore(config, move || drawloom_side::run(program));
    assert!(exploration.findings().is_empty(), "the programs are correct");
    Tally { executions: exploration.executions(), steps: Some(exploration.steps()) }
}

fn run_shuttle(program: Program, executions: u64) -> Tally {
    let steps = Rc::new(Cell::new(0));
    let scheduler = CountingScheduler {
        inner: RandomScheduler::new_from_seed(SEED, executions as usize),
        steps: Rc::clone(&steps),
    };
    let runner = shuttle::Runner::new(scheduler, shuttle::Config::default());
    let executions = runner.run(move || shuttle_side::run(program)) as u64;
    Tally { executions, steps: Some(steps.get()) }
}

/// shuttle's random scheduler with a counter of its decisions, which shuttle does not report.
/// Costs shuttle two or three of its thousand instructions per step.
struct CountingScheduler {
    inner: RandomScheduler,
    steps: Rc<Cell<u64>>,
}

impl Scheduler for CountingScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.inner.new_execution()
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.steps.set(self.steps.get() + 1);
        self.inner.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

/// Repeats whole explorations until enough executions are run: loom looks at its limit on
/// permutations only every 20 000 executions, and the smallest test has far fewer.
fn run_loom(program: Program, executions: u64) -> Tally {
    let done = Arc::new(AtomicU64::new(0));
    while done.load(Ordering::Relaxed) < executions {
        let done = Arc::clone(&done);
        loom::model::Builder::new().check(move || {
            done.fetch_add(1, Ordering::Relaxed);
            loom_side::run(program);
        });
    }
    Tally { executions: done.load(Ordering::Relaxed), steps: None }
}

fn run_floor(program: Program, executions: u64) -> Tally {
    let steps = floor::run(program.tasks, program.ops_per_task, executions);
    Tally { executions, steps: Some(steps) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contestant_runs_all_ops_of_every_program_it_enters() {
        for program in Program::LOOPS.into_iter().chain([Program::SMALLEST]) {
            for contestant in CONTESTANTS.iter().filter(|contestant| contestant.can_run(program)) {
                contestant.run(program, 3);
            }
        }
    }

    #[test]
    fn everyone_enters_the_smallest_test() {
        assert!(CONTESTANTS.iter().all(|contestant| contestant.can_run(Program::SMALLEST)));
    }

    #[test]
    fn a_longer_run_begins_as_a_shorter_one() {
        for name in [SHUTTLE, FLOOR] {
            let contestant = Contestant::named(name).expect("always compiled in");
            let steps = |executions| contestant.run(Program::SMALLEST, executions).steps;
            assert_eq!(steps(20), steps(20));
            assert!(steps(20) < steps(21));
        }
    }
}
