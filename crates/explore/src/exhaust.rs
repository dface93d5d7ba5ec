//! Explores every behaviour, on as many OS threads as it is worth.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use drawloom_engine::exhaustive::{self, Tally, Ticket, least_preemptions};
use drawloom_engine::finding::FindingKind;
use drawloom_engine::sorted;

use super::crew::{Crew, Explorer, Threads};
use super::events::{self, Event, Listener};
use super::exploration::{Exploration, Failure};
use super::levels;
use super::memory;
use super::pipeline;
use super::plan::Plan;
use super::program::Program;
use super::resume::{Log, Start};
use super::spread::{empty, lock};
use super::worker::{Executed, Worker};

/// An exploration that is shorter than this stays on the thread that it was started on.
const WORTH_SPREADING: Duration = Duration::from_millis(1);

/// So many executions are shown one by one, and then as many at a time: what shows them is shared by all workers.
const SHOW_EACH: u64 = 64;
const SHOW_EVERY: u64 = 8;

/// What has a piece of memory to itself: where workers write it, the others' caches lose nothing else.
#[repr(align(128))]
struct Apart<T>(T);

/// Explores every behaviour.
///
/// Which worker makes which execution is chance; the set of executions is not, and neither is what is
/// kept of it: of each cause the failure with the fewest preemptions and the least schedule.
pub(super) fn exhaust<P: Program>(plan: &Plan, program: &P, log: Option<Log>, listener: &dyn Listener) -> Exploration {
    if let Some(most) = plan.preemptions {
        return levels::exhaust(plan, program, most, listener);
    }
    let timed = &mut plan.clone();
    timed.start_clock();
    let plan = &*timed;
    let mut worker = Worker::new(plan, program);
    let fresh = || Start {
        explorer: memory::explorer(plan.executions).with_memory(plan.memory_budget),
        found: empty(plan.executions),
    };
    let mut remarks = Vec::new();
    let mut earlier = log.as_ref().and_then(|log| log.take_up(plan, &mut worker, &mut remarks));
    loop {
        let goes_on = earlier.is_some();
        let Start { explorer, found } = earlier.take().unwrap_or_else(fresh);
        let exploration = exhaust_from(plan, program, &mut worker, log.as_ref(), &explorer, found, listener);
        if let Some(log) = &log {
            if goes_on && explorer.progress().diverged {
                log.start_over("the program has changed: it no longer behaves as recorded", &mut remarks);
                continue;
            }
            log.end(&explorer, &mut remarks);
        }
        let mut exploration = Exploration { remarks, ..exploration };
        pipeline::work_out(&mut worker, &mut exploration.failures);
        // Its strategy has the explorer, too.
        drop(worker);
        memory::keep_explorer(explorer);
        return exploration;
    }
}

/// Explores what `explorer` has left, and adds it to what was found before.
pub(super) fn exhaust_from<P: Program>(
    plan: &Plan,
    program: &P,
    worker: &mut Worker<'_, P>,
    log: Option<&Log>,
    explorer: &exhaustive::Explorer,
    found: Exploration,
    listener: &dyn Listener,
) -> Exploration {
    let made_before = found.executions + found.redundant;
    let tree = Tree {
        plan,
        explorer,
        log,
        listener,
        made_before,
        made: Apart(AtomicU64::new(made_before)),
        shares: Shares::default(),
        found: Mutex::new(Some(found)),
        over: AtomicBool::new(false),
        spent: AtomicBool::new(false),
    };
    listener.hear(&Event::Started { test: plan.name.clone(), planned: None });
    let crew = Threads { most: plan.threads, worth_spreading: WORTH_SPREADING };
    crew.work(&tree, worker, plan, program);
    let Tree { shares, over, spent, .. } = tree;
    if spent.into_inner() {
        worker.give_up();
    }
    let progress = explorer.progress();
    let mut exploration = shares.put_together();
    let Exploration { executions, failing, .. } = exploration;
    listener.hear(&Event::Ended { executions, failing });
    sorted::sort_by(&mut exploration.failures, |a, b| a.cause().cmp(b.cause()));
    exploration.frugal = progress.frugal;
    let complete = progress.exhausted && !over.into_inner();
    exploration.timed_out &= !complete;
    exploration.stopped = !complete;
    exploration.estimate = (exploration.stopped && plan.preemptions.is_none()).then(|| explorer.estimate());
    let diverged = |failure: &Failure| matches!(failure.finding.kind, FindingKind::Divergence(_));
    exploration.exhausted = complete && exploration.cut == 0 && !exploration.failures.iter().any(diverged);
    if !exploration.had_choice && exploration.found_nothing() && !plan.allow_no_choice {
        exploration.failures.push(worker.nothing_explored());
    }
    exploration
}

/// Decides on everything that is left: the leaves of the engine's tree.
struct Tree<'a> {
    plan: &'a Plan,
    explorer: &'a exhaustive::Explorer,
    log: Option<&'a Log>,
    listener: &'a dyn Listener,
    made_before: u64,
    made: Apart<AtomicU64>,
    shares: Shares,
    /// What was found before; the first worker adds to it.
    found: Mutex<Option<Exploration>>,
    /// An execution did not come to its end, and none is made any more.
    over: AtomicBool,
    /// A task had to be left in it.
    spent: AtomicBool,
}

/// What a worker has of the tree.
struct Seat {
    /// The tree as it sees it; none if it is the first, whose view is the explorer's own.
    own: Option<exhaustive::Explorer>,
    share: Arc<Mutex<Exploration>>,
}

/// An execution to make: what to settle it with, and its number.
struct Claim {
    ticket: Ticket,
    iteration: u64,
}

impl Tree<'_> {
    fn seen_by<'t>(&'t self, seat: &'t Seat) -> &'t exhaustive::Explorer {
        seat.own.as_ref().unwrap_or(self.explorer)
    }

    /// Tells of an execution.
    fn tell(&self, iteration: u64, failure: Option<&Failure>, explorer: &exhaustive::Explorer) {
        let shown = match iteration {
            first if first < SHOW_EACH => 1,
            later if later % SHOW_EVERY == 0 => SHOW_EVERY,
            _ => 0,
        };
        if let Some(failure) = failure {
            self.listener.hear(&Event::Found { kind: failure.kind(), iteration: failure.iteration() });
        }
        if shown > 0 || failure.is_some() {
            events::ran(self.listener, shown, || explorer.estimate().saturating_sub(self.made_before));
        }
    }
}

impl<P: Program> Explorer<P> for Tree<'_> {
    type Order = Claim;
    type Seat = Seat;

    fn seat(&self, worker: &mut Worker<'_, P>, is_first: bool) -> Seat {
        let own = (!is_first).then(|| self.explorer.clone());
        let found = lock(&self.found).take().unwrap_or_else(|| empty(self.plan.executions));
        let seat = Seat { own, share: self.shares.begin_with(found) };
        worker.set_strategy(Box::new(self.seen_by(&seat).strategy()));
        seat
    }

    fn next(&self, seat: &mut Seat) -> Option<Claim> {
        let is_late = |deadline| self.made.0.load(Ordering::Relaxed) > self.made_before && Instant::now() >= deadline;
        if self.plan.settings.deadline.is_some_and(is_late) {
            lock(&seat.share).timed_out = true;
            return None;
        }
        if self.over.load(Ordering::Relaxed) {
            return None;
        }
        let ticket = self.seen_by(seat).claim_ahead()?;
        Some(Claim { ticket, iteration: self.made.0.fetch_add(1, Ordering::Relaxed) })
    }

    fn run(&self, Claim { ticket, iteration }: Claim, seat: &mut Seat, worker: &mut Worker<'_, P>) -> bool {
        let mut ran = worker.run(iteration);
        if ran.stopped.is_some() || ran.failure.as_ref().is_some_and(|failure| !failure.comes_back()) {
            // It was not over, so nobody knows what it would have led to.
            self.over.store(true, Ordering::Relaxed);
        }
        if worker.is_spent() {
            self.over.store(true, Ordering::Relaxed);
            self.spent.store(true, Ordering::Relaxed);
        }
        if let Some(stop) = ran.stopped {
            lock(&seat.share).stop(stop);
            return false;
        }
        let explorer = self.seen_by(seat);
        let (redundant, divergence) = explorer.take_outcome(ticket);
        if let Some(divergence) = divergence {
            ran.failure = Some(Box::new(worker.diverged(divergence, iteration)));
        }
        if let (Some(most), Some(failure)) = (self.plan.preemptions, &mut ran.failure) {
            failure.needs = least_preemptions(worker.engine(), most);
        }
        self.tell(iteration, ran.failure.as_deref(), explorer);
        let tally = self.log.map(|_| if redundant { Tally { redundant: 1, ..Tally::default() } } else { ran.tally() });
        if let Some(log) = self.log.filter(|_| iteration == 0) {
            log.began_with(worker);
        }
        if redundant {
            lock(&seat.share).redundant += 1;
        } else {
            add(&mut lock(&seat.share), ran, self.plan.spin_rounds);
        }
        if let (Some(log), Some(tally)) = (self.log, tally) {
            log.settle(explorer, ticket, &tally, || self.shares.tally());
        }
        true
    }

    /// What it would have made next is left to others.
    fn leave(&self, seat: Seat) {
        self.seen_by(&seat).give_back();
    }
}

/// What each worker has found. Each has a share of its own, so that none waits for another, or for the memory
/// that another has written.
#[derive(Default)]
struct Shares(Mutex<Vec<Arc<Mutex<Exploration>>>>);

impl Shares {
    /// The share of another worker.
    fn begin_with(&self, found: Exploration) -> Arc<Mutex<Exploration>> {
        let share = Arc::new(Mutex::new(found));
        lock(&self.0).push(Arc::clone(&share));
        share
    }

    /// What all of them came to so far.
    fn tally(&self) -> Tally {
        let mut whole = Tally::default();
        lock(&self.0).iter().for_each(|share| whole.add(lock(share).tally()));
        whole
    }

    /// All of them together, in the first one's place.
    fn put_together(&self) -> Exploration {
        let shares = std::mem::take(&mut *lock(&self.0));
        let all = shares.iter().map(|share| std::mem::replace(&mut *lock(share), empty(0)));
        all.reduce(|mut whole, share| {
            whole.executions += share.executions;
            whole.steps += share.steps;
            whole.leaked_tasks += share.leaked_tasks;
            whole.cut += share.cut;
            whole.spins_cut = whole.spins_cut.or(share.spins_cut);
            whole.redundant += share.redundant;
            whole.had_choice |= share.had_choice;
            whole.timed_out |= share.timed_out;
            whole.stopped_by = whole.stopped_by.or(share.stopped_by);
            whole.behaviours.extend(share.behaviours);
            whole.failing += share.failing;
            share.failures.into_iter().for_each(|failure| keep_the_simplest(&mut whole.failures, failure));
            whole
        })
        .unwrap_or_else(|| empty(0))
    }
}

/// Adds what one execution came to.
pub(super) fn add(found: &mut Exploration, ran: Executed, spin_rounds: u32) {
    found.executions += 1;
    found.steps += ran.steps;
    found.leaked_tasks += ran.leaked_tasks;
    found.cut += u64::from(ran.cut);
    found.spins_cut = found.spins_cut.or(ran.spins_cut.then_some(spin_rounds));
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
    let occurrences = known.occurrences + failure.occurrences;
    let needs = known.needs.into_iter().chain(failure.needs).min();
    let simplicity = |f: &Failure| (f.preemptions(), f.record().steps.len(), f.token().to_owned());
    if simplicity(&failure) < simplicity(known) {
        *known = failure;
    }
    (known.occurrences, known.needs) = (occurrences, needs);
}
