//! Explores every behaviour, on as many OS threads as it is worth.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use drawloom_engine::exhaustive::{Explorer, Tally, least_preemptions};

use super::exploration::{Exploration, Failure};
use super::levels;
use super::plan::Plan;
use super::program::Program;
use super::progress::Progress;
use super::resume::{Log, Start};
use super::shrink;
use super::spread::{WORTH_SPREADING, empty, lock};
use super::worker::{Ran, Worker};

/// Explores every behaviour.
///
/// Which worker makes which execution is chance; the set of executions is not, and neither is what is
/// kept of it: of each cause the failure with the fewest preemptions and the least schedule.
pub(super) fn exhaust<P: Program>(plan: &Plan, program: &P, log: Option<Log>) -> Exploration {
    if let Some(most) = plan.preemptions {
        return levels::exhaust(plan, program, most);
    }
    let mut worker = Worker::new(plan, program);
    let fresh = || Start {
        explorer: Explorer::new(plan.executions).with_memory(plan.memory_budget),
        found: empty(plan.executions),
    };
    let mut remarks = Vec::new();
    let mut earlier = log.as_ref().and_then(|log| log.take_up(plan, &mut worker, &mut remarks));
    loop {
        let goes_on = earlier.is_some();
        let Start { explorer, found } = earlier.take().unwrap_or_else(fresh);
        let exploration = exhaust_from(plan, program, &mut worker, log.as_ref(), &explorer, found);
        if let Some(log) = &log {
            if goes_on && explorer.progress().diverged {
                log.start_over("the program has changed: it does not do what it did", &mut remarks);
                continue;
            }
            log.end(&explorer, &mut remarks);
        }
        let mut exploration = Exploration { remarks, ..exploration };
        shrink::all(&mut worker, &mut exploration.failures);
        return exploration;
    }
}

/// Explores what `explorer` has left, and adds it to what was found before.
pub(super) fn exhaust_from<P: Program>(
    plan: &Plan,
    program: &P,
    worker: &mut Worker<'_, P>,
    log: Option<&Log>,
    explorer: &Explorer,
    found: Exploration,
) -> Exploration {
    let deadline = plan.timeout.map(|timeout| Instant::now() + timeout);
    let made_before = found.executions + found.redundant;
    let made = AtomicU64::new(made_before);
    let found = Mutex::new(found);
    let progress = Progress::new(plan);
    let work = |worker: &mut Worker<'_, P>, explorer: &Explorer| -> bool {
        let late =
            deadline.is_some_and(|deadline| made.load(Ordering::Relaxed) > made_before && Instant::now() >= deadline);
        if late {
            lock(&found).timed_out = true;
            return false;
        }
        let Some(strategy) = explorer.claim() else { return false };
        let ticket = strategy.ticket();
        let iteration = made.fetch_add(1, Ordering::Relaxed);
        let mut ran = worker.run_with(iteration, Box::new(strategy));
        if let Some(divergence) = explorer.take_divergence() {
            ran.failure = Some(Box::new(worker.diverged(divergence, iteration)));
        }
        if let (Some(most), Some(failure)) = (plan.preemptions, &mut ran.failure) {
            failure.needs = least_preemptions(worker.engine(), most);
        }
        progress.made(1, u64::from(ran.failure.is_some()), || explorer.estimate().saturating_sub(made_before));
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
        while work(worker, explorer) {
            if alone && began.elapsed() > WORTH_SPREADING {
                alone = false;
                for _ in 1..plan.threads {
                    scope.spawn(|| {
                        let (mut worker, explorer) = (Worker::new(plan, program), explorer.clone());
                        while work(&mut worker, &explorer) {}
                    });
                }
            }
        }
    });
    drop(progress);
    let progress = explorer.progress();
    let mut exploration = found.into_inner().unwrap_or_else(|e| e.into_inner());
    exploration.failures.sort_by(|a, b| a.cause().cmp(b.cause()));
    exploration.stopped = !progress.exhausted;
    exploration.estimate = (exploration.stopped && plan.preemptions.is_none()).then(|| explorer.estimate());
    exploration.frugal = progress.frugal;
    exploration.timed_out &= !progress.exhausted;
    exploration.exhausted = progress.exhausted && exploration.cut == 0;
    if !exploration.had_choice && exploration.failures.is_empty() {
        exploration.failures.push(worker.nothing_explored());
    }
    exploration
}

/// Adds what one execution came to.
pub(super) fn add(found: &mut Exploration, ran: Ran) {
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
pub(super) fn keep_the_simplest(failures: &mut Vec<Failure>, failure: Failure) {
    let Some(known) = failures.iter_mut().find(|known| known.cause() == failure.cause()) else {
        failures.push(failure);
        return;
    };
    let occurrences = known.occurrences + 1;
    let needs = known.needs.into_iter().chain(failure.needs).min();
    let simplicity = |f: &Failure| (f.preemptions(), f.record().steps.len(), f.token().to_owned());
    if simplicity(&failure) < simplicity(known) {
        *known = failure;
    }
    (known.occurrences, known.needs) = (occurrences, needs);
}
