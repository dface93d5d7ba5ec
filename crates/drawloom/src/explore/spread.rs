//! Spreads executions over OS threads, with the same result as on one.
//!
//! Executions are numbered and independent: each has a seed of its own. Workers take blocks of
//! numbers, in order, and keep what came of each block apart; at the end blocks are put together in
//! order, and what lies behind the first failure is thrown away, as if it had never been run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use drawloom_engine::config::Config;
use drawloom_engine::exhaustive::{Explorer, Tally};

use super::exploration::{Exploration, Failure};
use super::plan::Plan;
use super::resume::{Log, Start};
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

/// Explores `body`. An exhaustive exploration of the test `kept_as` can be interrupted and gone on with.
pub(super) fn explore<F: Fn() + Send + Sync + 'static>(
    config: &Config,
    body: &Arc<F>,
    kept_as: Option<&str>,
) -> Exploration {
    let plan = match Plan::of(config) {
        Ok(plan) => plan,
        Err(error) => return Exploration { error: Some(error.to_string()), ..empty(0) },
    };
    if plan.is_exhaustive() {
        return exhaust(&plan, body, kept_as.and_then(|test| Log::of(test, config)));
    }
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

/// Explores every behaviour, on as many OS threads as it is worth.
///
/// Which worker makes which execution is chance; the set of executions is not, and neither is what is
/// kept of it: of each cause the failure with the fewest preemptions and the least schedule.
fn exhaust<F: Fn() + Send + Sync + 'static>(plan: &Plan, body: &Arc<F>, log: Option<Log>) -> Exploration {
    let mut worker = Worker::new(plan, body);
    let fresh = || Start {
        explorer: Explorer::new(plan.executions).with_memory(plan.memory_budget),
        found: empty(plan.executions),
    };
    let mut remarks = Vec::new();
    let mut earlier = log.as_ref().and_then(|log| log.take_up(plan, &mut worker, &mut remarks));
    loop {
        let goes_on = earlier.is_some();
        let Start { explorer, found } = earlier.take().unwrap_or_else(fresh);
        let exploration = exhaust_from(plan, body, &mut worker, log.as_ref(), &explorer, found);
        if let Some(log) = &log {
            if goes_on && explorer.progress().diverged {
                log.start_over("the program has changed: it does not do what it did", &mut remarks);
                continue;
            }
            log.end(&explorer, &mut remarks);
        }
        return Exploration { remarks, ..exploration };
    }
}

/// Explores what `explorer` has left, and adds it to what was found before.
fn exhaust_from<F: Fn() + Send + Sync + 'static>(
    plan: &Plan,
    body: &Arc<F>,
    worker: &mut Worker<'_, F>,
    log: Option<&Log>,
    explorer: &Explorer,
    found: Exploration,
) -> Exploration {
    let deadline = plan.timeout.map(|timeout| Instant::now() + timeout);
    let made_before = found.executions + found.redundant;
    let made = AtomicU64::new(made_before);
    let found = Mutex::new(found);
    let work = |worker: &mut Worker<'_, F>| -> bool {
        let late =
            deadline.is_some_and(|deadline| made.load(Ordering::Relaxed) > made_before && Instant::now() >= deadline);
        if late {
            lock(&found).timed_out = true;
            return false;
        }
        let Some(strategy) = explorer.claim() else { return false };
        let ticket = strategy.ticket();
        let iteration = made.fetch_add(1, Ordering::Relaxed);
        let ran = worker.run_with(iteration, Box::new(strategy));
        let redundant = explorer.was_redundant(ticket);
        let tally = log.map(|_| if redundant { Tally { redundant: 1, ..Tally::default() } } else { ran.tally() });
        if let Some(log) = log.filter(|_| iteration == 0) {
            log.began_with(worker);
        }
        if redundant {
            lock(&found).redundant += 1;
        } else {
            add(&mut lock(&found), ran);
        }
        if let (Some(log), Some(tally)) = (log, tally) {
            log.settle(explorer, ticket, &tally, || lock(&found).tally());
        }
        true
    };
    std::thread::scope(|scope| {
        let began = Instant::now();
        let mut alone = plan.threads > 1;
        while work(worker) {
            if alone && began.elapsed() > WORTH_SPREADING {
                alone = false;
                for _ in 1..plan.threads {
                    scope.spawn(|| {
                        let mut worker = Worker::new(plan, body);
                        while work(&mut worker) {}
                    });
                }
            }
        }
    });
    let progress = explorer.progress();
    let mut exploration = found.into_inner().unwrap_or_else(|e| e.into_inner());
    exploration.failures.sort_by(|a, b| a.cause.cmp(&b.cause));
    exploration.pending = progress.pending;
    exploration.frugal = progress.frugal;
    exploration.timed_out &= !progress.exhausted;
    exploration.exhausted = progress.exhausted && exploration.cut == 0;
    if !exploration.had_choice && exploration.failures.is_empty() {
        exploration.failures.push(worker.nothing_explored());
    }
    exploration
}

/// Adds what one execution came to.
fn add(found: &mut Exploration, ran: Ran) {
    found.executions += 1;
    found.steps += ran.steps;
    found.leaked_tasks += ran.leaked_tasks;
    found.cut += u64::from(ran.cut);
    found.had_choice |= ran.had_choice;
    found.behaviours.extend(ran.behaviour);
    if let Some(failure) = ran.failure {
        found.failing += 1;
        keep_the_simplest(&mut found.failures, *failure);
    }
}

/// Adds a failure to those of other causes; of one cause the simplest stays.
fn keep_the_simplest(failures: &mut Vec<Failure>, failure: Failure) {
    let Some(known) = failures.iter_mut().find(|known| known.cause == failure.cause) else {
        failures.push(failure);
        return;
    };
    let occurrences = known.occurrences + 1;
    let simplicity = |f: &Failure| (f.preemptions(), f.record.steps.len(), f.record.meta.token.clone());
    if simplicity(&failure) < simplicity(known) {
        *known = failure;
    }
    known.occurrences = occurrences;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

pub(super) fn empty(planned: u64) -> Exploration {
    Exploration {
        executions: 0,
        planned,
        steps: 0,
        behaviours: BTreeSet::new(),
        failing: 0,
        timed_out: false,
        exhausted: false,
        cut: 0,
        redundant: 0,
        frugal: false,
        pending: 0,
        leaked_tasks: 0,
        failures: Vec::new(),
        error: None,
        had_choice: false,
        remarks: Vec::new(),
    }
}
