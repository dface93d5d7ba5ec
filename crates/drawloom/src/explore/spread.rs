//! Spreads executions over OS threads, with the same result as on one.
//!
//! Executions are numbered and independent: each has a seed of its own. Workers take blocks of
//! numbers, in order, and keep what came of each block apart; at the end blocks are put together in
//! order, and what lies behind the first failure is thrown away, as if it had never been run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use drawloom_engine::config::Config;

use super::exploration::{Exploration, Failure};
use super::plan::Plan;
use super::worker::{Ran, Worker};

/// Executions that a worker takes at a time.
const BLOCK: u64 = 32;
/// An exploration that is shorter than this stays on the thread that it was started on.
const WORTH_SPREADING: Duration = Duration::from_millis(10);

/// What came of a block of executions.
struct Block {
    first: u64,
    executions: u64,
    steps: u64,
    leaked_tasks: u64,
    had_choice: bool,
    behaviours: Vec<u64>,
    failures: Vec<Failure>,
}

/// What workers share.
struct Shared<'a> {
    plan: &'a Plan,
    next: AtomicU64,
    /// The lowest number of an execution that failed, and ends the exploration.
    stop_after: AtomicU64,
    out_of_time: AtomicU64,
    deadline: Option<Instant>,
    blocks: Mutex<Vec<Block>>,
}

pub(super) fn explore<F: Fn() + Send + Sync + 'static>(config: &Config, body: &Arc<F>) -> Exploration {
    let plan = match Plan::of(config) {
        Ok(plan) => plan,
        Err(error) => return Exploration { error: Some(error.to_string()), ..empty(0) },
    };
    let shared = Shared {
        plan: &plan,
        next: AtomicU64::new(0),
        stop_after: AtomicU64::new(u64::MAX),
        out_of_time: AtomicU64::new(u64::MAX),
        deadline: plan.timeout.map(|timeout| Instant::now() + timeout),
        blocks: Mutex::new(Vec::new()),
    };
    let mut worker = Worker::new(&plan, body);
    std::thread::scope(|scope| {
        let began = Instant::now();
        let mut alone = plan.threads > 1;
        while shared.take_block(&mut worker) {
            if alone && began.elapsed() > WORTH_SPREADING {
                alone = false;
                for _ in 1..plan.threads {
                    let shared = &shared;
                    scope.spawn(move || {
                        let mut worker = Worker::new(shared.plan, body);
                        while shared.take_block(&mut worker) {}
                    });
                }
            }
        }
    });
    let mut exploration = put_together(shared, plan.executions);
    if !exploration.had_choice && exploration.result.failures.is_empty() && !plan.is_replay() {
        exploration.result.failures.push(worker.nothing_explored());
    }
    exploration.result
}

impl Shared<'_> {
    /// Runs the next block. False when there is none.
    fn take_block<F: Fn() + Send + Sync + 'static>(&self, worker: &mut Worker<'_, F>) -> bool {
        let first = self.next.fetch_add(BLOCK, Ordering::Relaxed);
        let last = (first + BLOCK).min(self.plan.executions);
        if first >= last || first > self.stop_after.load(Ordering::Relaxed) || self.is_out_of_time(first) {
            return false;
        }
        let mut block = Block::starting_at(first);
        for iteration in first..last {
            if iteration > self.stop_after.load(Ordering::Relaxed) || self.is_out_of_time(iteration) {
                break;
            }
            let failed = block.add(worker.run(iteration));
            if failed && !self.plan.keep_going {
                self.stop_after.fetch_min(iteration, Ordering::Relaxed);
                break;
            }
        }
        self.blocks.lock().unwrap_or_else(|e| e.into_inner()).push(block);
        true
    }

    /// Whether the budget is spent; the lowest execution that was not made for that reason is kept.
    fn is_out_of_time(&self, iteration: u64) -> bool {
        let late = self.deadline.is_some_and(|deadline| iteration > 0 && Instant::now() >= deadline);
        if late {
            self.out_of_time.fetch_min(iteration, Ordering::Relaxed);
        }
        late
    }
}

impl Block {
    fn starting_at(first: u64) -> Block {
        Block {
            first,
            executions: 0,
            steps: 0,
            leaked_tasks: 0,
            had_choice: false,
            behaviours: Vec::new(),
            failures: Vec::new(),
        }
    }

    fn add(&mut self, ran: Ran) -> bool {
        self.executions += 1;
        self.steps += ran.steps;
        self.leaked_tasks += ran.leaked_tasks;
        self.had_choice |= ran.had_choice;
        self.behaviours.extend(ran.behaviour);
        let failed = ran.failure.is_some();
        self.failures.extend(ran.failure.map(|failure| *failure));
        failed
    }
}

struct PutTogether {
    result: Exploration,
    had_choice: bool,
}

fn put_together(shared: Shared<'_>, planned: u64) -> PutTogether {
    let stop_after = shared.stop_after.into_inner();
    let out_of_time = shared.out_of_time.into_inner();
    let mut blocks = shared.blocks.into_inner().unwrap_or_else(|e| e.into_inner());
    blocks.sort_by_key(|block| block.first);
    let mut put = PutTogether { result: empty(planned), had_choice: false };
    for block in blocks.into_iter().filter(|block| block.first <= stop_after) {
        put.had_choice |= block.had_choice;
        let result = &mut put.result;
        result.executions += block.executions;
        result.steps += block.steps;
        result.leaked_tasks += block.leaked_tasks;
        result.behaviours.extend(block.behaviours);
        for failure in block.failures {
            result.failing += 1;
            match result.failures.iter_mut().find(|known| known.cause == failure.cause) {
                Some(known) => known.occurrences += 1,
                None => result.failures.push(failure),
            }
        }
    }
    put.result.timed_out = out_of_time <= stop_after && out_of_time != u64::MAX;
    put
}

fn empty(planned: u64) -> Exploration {
    Exploration {
        executions: 0,
        planned,
        steps: 0,
        behaviours: BTreeSet::new(),
        failing: 0,
        timed_out: false,
        leaked_tasks: 0,
        failures: Vec::new(),
        error: None,
    }
}
