//! Spreads executions over OS threads, with the same result as on one.
//!
//! Executions are numbered and independent: each has a seed of its own. Workers take blocks of
//! numbers, in order, and keep what came of each block apart; at the end blocks are put together in
//! order, and what lies behind the first failure is thrown away, as if it had never been run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use drawloom_engine::Stop;
use drawloom_engine::config::{Config, StrategySpec};
use drawloom_engine::sorted;
use drawloom_engine::strategy::{Kept, Profile};

use super::attempt::Attempt;
use super::corpus::Corpus;
use super::crew::{Crew, Explorer, Threads};
use super::events::{self, Event, Listener};
use super::exhaust::exhaust;
use super::exploration::{Exploration, Failure};
use super::following;
use super::memory;
use super::pipeline;
use super::plan::{MakeStrategy, Plan};
use super::program::Program;
use super::resume::Log;
use super::rounds::{Assignment, Rounds, Turn};
use super::saturation::Saturation;
use super::shrink;
use super::verdict::{Evidence, claim, novelty};
use super::worker::{Executed, Worker};

/// An exploration that is shorter than this stays on the thread that it was started on.
const WORTH_SPREADING: Duration = Duration::from_millis(3);

/// What came of a block of executions.
struct Block {
    first: u64,
    executions: u64,
    steps: u64,
    leaked_tasks: u64,
    had_choice: bool,
    behaviours: Vec<u64>,
    failures: Vec<Failure>,
    /// The most tasks and the most choices of an execution that was learned from.
    tasks: u64,
    choices: u64,
}

/// What workers share: decides on samples.
struct Shared<'a, P> {
    plan: &'a Plan,
    program: &'a P,
    rounds: Rounds,
    /// The lowest number of an execution that failed, and ends the exploration.
    stop_after: AtomicU64,
    out_of_time: AtomicU64,
    deadline: Option<Instant>,
    blocks: Mutex<Vec<Block>>,
    listener: &'a dyn Listener,
    /// The attempt to explore everything.
    attempt: Mutex<Attempt>,
    saturation: Mutex<Saturation>,
    saturated: AtomicU64,
    /// What ended it in the midst of an execution.
    stopped_by: Mutex<Option<Stop>>,
    /// A task had to be left.
    spent: AtomicBool,
    /// The last execution of a worker was cut since the time was over.
    cut: AtomicBool,
}

/// Explores `program`. An exhaustive exploration of the test `kept_as` can be interrupted and gone on with.
pub(super) fn explore<P: Program>(
    config: &Config,
    custom: Option<MakeStrategy>,
    program: &P,
    kept_as: Option<&str>,
    listener: &dyn Listener,
) -> Exploration {
    let exploration = match config.strategy {
        StrategySpec::Replay { .. } if custom.is_none() => {
            following::replay(config, |config| explore_once(config, None, program, kept_as, listener))
        }
        _ => explore_once(config, custom, program, kept_as, listener),
    };
    Exploration { weaker_accesses: program.weaker_accesses(), ..exploration }
}

fn explore_once<P: Program>(
    config: &Config,
    custom: Option<MakeStrategy>,
    program: &P,
    kept_as: Option<&str>,
    listener: &dyn Listener,
) -> Exploration {
    let mut plan = match (Plan::of::<P>(config), custom) {
        (Ok(plan), None) => plan,
        (Ok(plan), Some(make)) => plan.with(make, config),
        (Err(error), _) => return Exploration { error: Some(error), ..empty(0) },
    };
    if plan.is_exhaustive() {
        return exhaust(&plan, program, kept_as.and_then(|test| Log::of(test, config)), listener);
    }
    let deadline = plan.start_clock();
    let mut worker = Worker::new(&plan, program);
    let mut remarks = Vec::new();
    let mut corpus = kept_as.filter(|_| plan.keeps()).map(Corpus::of);
    let stored = corpus.as_mut().map(|corpus| corpus.load(&mut remarks)).unwrap_or_default();
    let shared = Shared {
        plan: &plan,
        program,
        rounds: if plan.keeps() {
            Rounds::keeping(Kept::from_stored(stored), plan.executions)
        } else {
            Rounds::new(plan.executions, worker.learns())
        },
        stop_after: AtomicU64::new(u64::MAX),
        out_of_time: AtomicU64::new(u64::MAX),
        deadline,
        blocks: Mutex::new(Vec::new()),
        listener,
        attempt: Mutex::new(Attempt::new(&plan)),
        saturation: Mutex::default(),
        saturated: AtomicU64::new(u64::MAX),
        stopped_by: Mutex::default(),
        spent: AtomicBool::new(false),
        cut: AtomicBool::new(false),
    };
    listener.hear(&Event::Started { test: plan.name.clone(), planned: Some(plan.executions) });
    let crew = Threads { most: plan.threads, worth_spreading: WORTH_SPREADING };
    crew.work(&shared, &mut worker, &plan, program);
    if shared.spent.load(Ordering::Relaxed) {
        worker.give_up();
    }
    let known = corpus.is_some().then(|| shared.rounds.known(shared.stop_after.load(Ordering::Relaxed)));
    // What is left of it is no execution to compare with.
    let cut = shared.cut.load(Ordering::Relaxed);
    let mut exploration = put_together(shared, plan.executions);
    let Exploration { executions, failing, .. } = exploration.result;
    listener.hear(&Event::Ended { executions, failing });
    if let (Some(corpus), Some(kept)) = (&corpus, known.as_ref().and_then(|known| known.kept())) {
        corpus.store(kept, exploration.result.executions, &mut remarks);
    }
    exploration.result.remarks = remarks;
    if exploration.sampled <= plan.compared && !plan.is_replay() && !cut {
        exploration.compare(&mut worker);
    }
    let needs_choice = !plan.is_replay() && !plan.allow_no_choice;
    if !exploration.had_choice && exploration.result.found_nothing() && needs_choice {
        exploration.result.failures.push(worker.nothing_explored());
    }
    pipeline::work_out(&mut worker, &mut exploration.result.failures);
    drop(worker);
    memory::keep_guide(plan.guide.take());
    exploration.result
}

impl<P: Program> Explorer<P> for Shared<'_, P> {
    type Order = Turn;
    type Seat = ();

    fn seat(&self, _: &mut Worker<'_, P>, _: bool) {}

    fn next(&self, (): &mut ()) -> Option<Turn> {
        self.rounds.take()
    }

    fn run(&self, turn: Turn, (): &mut (), worker: &mut Worker<'_, P>) -> bool {
        match turn {
            Turn::Block(assignment) => self.make_block(worker, assignment),
            Turn::Between(number, profile) => {
                self.rounds.done_between(self.go_on_with_attempt(number, &profile));
                true
            }
        }
    }
}

impl<P: Program> Shared<'_, P> {
    /// Tries to explore everything, before execution `number`. How many executions that took.
    fn go_on_with_attempt(&self, number: u64, profile: &Profile) -> u64 {
        let mut attempt = lock(&self.attempt);
        if self.is_over(number) {
            return 0;
        }
        let (made_before, found_before) = (attempt.found.executions, attempt.found.failures.len());
        attempt.look_at_guide(number);
        if attempt.is_due(number) {
            attempt.go_on(number, self.plan, self.program, profile, || self.is_out_of_time(number));
        }
        if let Some(stop) = attempt.found.stopped_by.take() {
            self.stop(stop, number - 1);
        }
        if attempt.spent {
            self.spent.store(true, Ordering::Relaxed);
        }
        if attempt.settles(self.plan.keep_going) {
            self.stop_after.fetch_min(number - 1, Ordering::Relaxed);
        }
        let made = attempt.found.executions - made_before;
        for failure in &attempt.found.failures[found_before..] {
            self.listener.hear(&Event::Found { kind: failure.kind(), iteration: failure.iteration() });
        }
        if made > 0 {
            events::ran(self.listener, made, || self.plan.executions);
        }
        made
    }

    /// Makes a block of executions. False if there was none to make.
    fn make_block(&self, worker: &mut Worker<'_, P>, assignment: Assignment) -> bool {
        let Assignment { first, last, profile, alone } = assignment;
        worker.know(profile);
        let mut learned: Option<Profile> = None;
        let mut block = Block::starting_at(first);
        for iteration in first..last {
            if self.is_over(iteration) {
                break;
            }
            let ran = worker.run(iteration);
            if let Some(stop) = ran.stopped {
                self.cut.store(true, Ordering::Relaxed);
                self.stop(stop, iteration);
                break;
            }
            let failed = block.add(ran);
            if worker.is_spent() {
                self.spent.store(true, Ordering::Relaxed);
            }
            if failed && !self.plan.keep_going || worker.is_spent() {
                self.stop_after.fetch_min(iteration, Ordering::Relaxed);
                break;
            }
            if alone {
                worker.learn_at_once();
            } else if self.rounds.learns_from(iteration) {
                worker.learn(learned.get_or_insert_default());
            }
        }
        let known = worker.known();
        let shown = if alone { Some(&*known) } else { learned.as_ref() };
        (block.tasks, block.choices) = shown.map_or((0, 0), |shown| (shown.tasks(), shown.choices()));
        if alone {
            self.rounds.done_alone(known);
        } else {
            self.rounds.done(first, learned);
        }
        let made = block.executions > 0;
        if made {
            for failure in &block.failures {
                self.listener.hear(&Event::Found { kind: failure.kind(), iteration: failure.iteration() });
            }
            events::ran(self.listener, block.executions, || self.plan.executions);
            self.look_for_saturation(&block);
            lock(&self.blocks).push(block);
        }
        made
    }

    fn look_for_saturation(&self, block: &Block) {
        if self.plan.until_saturated {
            if let Some(executions) = lock(&self.saturation).add(block.first, &block.behaviours) {
                self.stop_after.fetch_min(executions - 1, Ordering::Relaxed);
                self.saturated.fetch_min(executions, Ordering::Relaxed);
            }
        }
    }

    /// Execution `iteration` was stopped, and no later one is made.
    fn stop(&self, why: Stop, iteration: u64) {
        match why {
            Stop::OutOfTime => self.out_of_time.fetch_min(iteration, Ordering::Relaxed),
            _ => self.stop_after.fetch_min(iteration, Ordering::Relaxed),
        };
        lock(&self.stopped_by).get_or_insert(why);
    }

    /// Whether execution `iteration` is not to be made any more.
    fn is_over(&self, iteration: u64) -> bool {
        iteration > self.stop_after.load(Ordering::Relaxed) || self.is_out_of_time(iteration)
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
            tasks: 0,
            choices: 0,
        }
    }

    fn add(&mut self, ran: Executed) -> bool {
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
    /// Executions made, but for those of an attempt to explore everything.
    sampled: u64,
}

fn put_together<P>(shared: Shared<'_, P>, planned: u64) -> PutTogether {
    let stop_after = shared.stop_after.into_inner();
    let out_of_time = shared.out_of_time.into_inner();
    let mut attempt = shared.attempt.into_inner().unwrap_or_else(|e| e.into_inner());
    // The last of all executions may have been the last one that there is.
    attempt.look_at_guide(u64::MAX);
    let mut blocks = shared.blocks.into_inner().unwrap_or_else(|e| e.into_inner());
    sorted::sort_by_key(&mut blocks, |block| block.first);
    let mut put = PutTogether { result: empty(planned), had_choice: false, sampled: 0 };
    let mut behaviours = Vec::new();
    let (mut sampled, mut tasks, mut choices) = (0, 0, 0);
    for mut block in blocks.into_iter().filter(|block| block.first <= stop_after) {
        let attempted = attempt.made_before(block.first);
        block.failures.iter_mut().for_each(|failure| failure.comes_after(attempted));
        (sampled, tasks, choices) = (sampled + block.executions, tasks.max(block.tasks), choices.max(block.choices));
        behaviours.append(&mut block.behaviours);
        put.had_choice |= block.had_choice;
        let result = &mut put.result;
        result.executions += block.executions;
        result.steps += block.steps;
        result.leaked_tasks += block.leaked_tasks;
        for failure in block.failures {
            result.failing += 1;
            keep_the_first(&mut result.failures, failure);
        }
    }
    // Sorted first: a set is then made at once, and what it takes depends on its size alone.
    behaviours.sort_unstable();
    let once = behaviours.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).count() as u64;
    put.result.behaviours = behaviours.into_iter().collect();
    put.result.seen_once = once;
    put.add_attempt(attempt);
    put.sampled = sampled;
    shared.rounds.end();
    let result = &mut put.result;
    result.stopped_by = shared.stopped_by.into_inner().unwrap_or_else(|e| e.into_inner());
    result.timed_out = out_of_time <= stop_after && out_of_time != u64::MAX;
    result.saturated = shared.saturated.into_inner() == sampled;
    if result.failing > 0 {
        return put;
    }
    let plan = shared.plan;
    let custom = plan.custom.is_some();
    let evidence = Evidence { strategy: &plan.strategy, custom, executions: sampled, tasks, choices };
    result.claims.extend(claim(&evidence));
    if sampled > 1 {
        result.claims.push(novelty(once, sampled));
    }
    put
}

impl PutTogether {
    /// No execution has been made twice yet: makes the last one, or one that has failed. If it is not the same again,
    /// nothing is known. What was found in the first execution, or is not to be replayed, stands for itself.
    fn compare<P: Program>(&mut self, worker: &mut Worker<'_, P>) {
        if worker.is_spent() {
            return;
        }
        let (result, replays) = (&mut self.result, shrink::is_wanted(worker.plan()));
        let failure = match result.failures.first() {
            None => worker.compare_last(self.sampled.saturating_sub(1)),
            Some(failure) if failure.iteration() > 1 && replays => worker.compare_failed(failure),
            Some(_) => None,
        };
        if let Some(failure) = failure {
            (result.exhausted, result.exhausted_instead) = (false, None);
            result.failing = result.failing.max(1);
            result.failures.insert(0, failure);
        }
    }

    fn add_attempt(&mut self, attempt: Attempt) {
        let explored = attempt.explored();
        let Attempt { found, exhausted, .. } = attempt;
        let result = &mut self.result;
        self.had_choice |= found.had_choice;
        result.executions += found.executions;
        result.steps += found.steps;
        result.leaked_tasks += found.leaked_tasks;
        result.behaviours.extend(found.behaviours);
        result.failing += found.failing;
        for failure in found.failures {
            keep_the_first(&mut result.failures, failure);
        }
        sorted::sort_by_key(&mut result.failures, Failure::iteration);
        result.exhausted = exhausted;
        result.spins_cut = found.spins_cut;
        result.exhausted_instead = exhausted.then_some(explored);
    }
}

/// Adds a failure to those of other causes; of one cause the one that was found first stays.
fn keep_the_first(failures: &mut Vec<Failure>, failure: Failure) {
    let Some(known) = failures.iter_mut().find(|known| known.cause() == failure.cause()) else {
        failures.push(failure);
        return;
    };
    let occurrences = known.occurrences + failure.occurrences;
    if failure.iteration() < known.iteration() {
        *known = failure;
    }
    known.occurrences = occurrences;
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

pub(super) fn empty(planned: u64) -> Exploration {
    Exploration {
        executions: 0,
        planned,
        steps: 0,
        behaviours: BTreeSet::new(),
        seen_once: 0,
        failing: 0,
        timed_out: false,
        stopped_by: None,
        exhausted: false,
        spins_cut: None,
        cut: 0,
        redundant: 0,
        frugal: false,
        stopped: false,
        estimate: None,
        up_to: None,
        leaked_tasks: 0,
        failures: Vec::new(),
        error: None,
        had_choice: false,
        exhausted_instead: None,
        saturated: false,
        claims: Vec::new(),
        remarks: Vec::new(),
        departure: None,
        weaker_accesses: 0,
    }
}
