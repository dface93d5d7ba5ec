//! A worker: runs executions on one OS thread and judges each.

use std::sync::{Arc, OnceLock};

use drawloom_engine::finding::{DataRace, Divergence, Finding, FindingKind, Leak};
use drawloom_engine::race::Races;
use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::{Profile, Replay, Strategy, Tape};
use drawloom_engine::{Ending, Engine, ResourceKind, Settings, Step, Stop, TaskId};
use drawloom_report::Meta;

use super::exploration::Failure;
use super::lazy_record::LazyRecord;
use super::plan::{GUIDED, Plan};
use super::program::{Executor, Program};

/// What an execution that came to its end has shown, if anything; or why it did not, and the exploration is to end.
pub(super) type Found = Result<Option<Finding>, Stop>;

/// What one execution came to.
pub(super) struct Executed {
    pub(super) steps: u64,
    /// Its behaviour hash, where behaviours are counted.
    pub(super) behaviour: Option<u64>,
    pub(super) had_choice: bool,
    pub(super) leaked_tasks: u64,
    /// It was cut, as asked for, before it was over.
    pub(super) cut: bool,
    /// A spin loop was cut in it.
    pub(super) spins_cut: bool,
    /// It was stopped before it was over, and the exploration with it: it is none of those that were made.
    pub(super) stopped: Option<Stop>,
    pub(super) failure: Option<Box<Failure>>,
}

pub(super) struct Worker<'a, P: Program> {
    plan: &'a Plan,
    program: &'a P,
    executor: P::Executor,
    races: Races,
    /// No need to look for choices any more: there was one.
    seen_choice: bool,
    /// A task had to be left, here or on another OS thread: no executions are made any more.
    spent: bool,
    /// What the executions are drawn with; none before the first.
    profile: Option<Arc<Profile>>,
}

impl<'a, P: Program> Worker<'a, P> {
    pub(super) fn new(plan: &'a Plan, program: &'a P) -> Self {
        Worker {
            plan,
            program,
            executor: program.executor(plan.strategy()),
            races: Races::default(),
            seen_choice: false,
            spent: false,
            profile: None,
        }
    }

    /// Whether its strategy wants to know what earlier executions have shown.
    pub(super) fn learns(&mut self) -> bool {
        self.executor.with_strategy(|strategy| strategy.learns())
    }

    /// From now on executions are drawn with `profile`.
    pub(super) fn know(&mut self, profile: Arc<Profile>) {
        self.profile = Some(profile);
    }

    /// What executions were drawn with, with all that was learned [at once](Self::learn_at_once).
    pub(super) fn known(&mut self) -> Arc<Profile> {
        self.profile.take().unwrap_or_default()
    }

    /// Adds the last execution to what the next one is drawn with.
    pub(super) fn learn_at_once(&mut self) {
        let mut profile = self.known();
        self.learn(Arc::make_mut(&mut profile));
        self.profile = Some(profile);
    }

    /// Adds the last execution to what is known.
    pub(super) fn learn(&mut self, profile: &mut Profile) {
        let (contested, drawn) = self.executor.with_strategy(|strategy| (strategy.contested(), strategy.drawn()));
        profile.learn(self.executor.engine(), contested);
        if let Some(drawn) = drawn {
            profile.keep(self.executor.engine(), &drawn);
        }
    }

    /// Runs execution number `iteration`.
    pub(super) fn run(&mut self, iteration: u64) -> Executed {
        let (found, leaked_tasks) = self.execute(&self.plan.settings_of(iteration), iteration);
        let mut finding = match found {
            Ok(finding) => finding,
            // The exploration has failed by that: nothing else is known.
            Err(Stop::OutOfTime) if iteration == 0 => Some(self.out_of_time()),
            Err(stop) => return Executed { stopped: Some(stop), ..self.ran(None, iteration, leaked_tasks, false) },
        };
        let cut =
            matches!(&finding, Some(Finding { kind: FindingKind::StepLimit, .. }) if !self.plan.cuts_are_failures);
        if cut {
            finding = None;
        }
        if iteration == self.plan.compared && finding.is_none() && !cut && !self.plan.is_replay() {
            finding = self.run_again_and_compare(iteration);
        }
        if matches!(&finding, Some(Finding { kind: FindingKind::Divergence(_), .. })) && self.is_guided(iteration) {
            finding = self.differs_without_guide().or(finding);
        }
        if finding.is_none() {
            finding = self.race();
        }
        if finding.is_none() && self.plan.leaks && !suspected_leaks(self.executor.engine()).is_empty() {
            // What seems to be leaked may be a static that was met for the first time: then it is
            // known when the same execution is run again.
            // If it is stopped nothing is known.
            finding =
                self.execute_again(iteration).map_or(None, |found| found.or_else(|| leak(self.executor.engine())));
        }
        if finding.is_none() && self.plan.unjoined {
            finding = unjoined(self.executor.engine());
        }
        self.ran(finding, iteration, leaked_tasks, cut)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn ran(&mut self, finding: Option<Finding>, iteration: u64, leaked_tasks: u64, cut: bool) -> Executed {
        let engine = self.executor.engine();
        self.seen_choice = self.seen_choice || engine.choices() > 0;
        Executed {
            steps: engine.steps().len() as u64,
            behaviour: engine.limits().behaviour.then(|| engine.behaviour()),
            had_choice: self.seen_choice,
            leaked_tasks,
            cut,
            spins_cut: engine.spins_were_cut(),
            stopped: None,
            failure: finding.map(|finding| Box::new(self.describe(finding, iteration))),
        }
    }

    /// Whether no execution is made any more.
    pub(super) fn is_spent(&self) -> bool {
        self.spent || self.executor.is_spent()
    }

    /// A task had to be left elsewhere: makes no more executions, since that would happen again.
    pub(super) fn give_up(&mut self) {
        self.spent = true;
    }

    pub(super) fn plan(&self) -> &'a Plan {
        self.plan
    }

    pub(super) fn program(&self) -> &'a P {
        self.program
    }

    /// Whether a task of any execution had to be leaked.
    pub(super) fn has_leaked(&self) -> bool {
        self.executor.has_leaked()
    }

    /// The engine, as the last execution has left it.
    pub(super) fn engine(&self) -> &Engine {
        self.executor.engine()
    }

    /// One execution; again, for as long as it is abandoned.
    fn execute(&mut self, settings: &Settings, iteration: u64) -> (Found, u64) {
        if self.is_spent() {
            return (Err(Stop::OutOfTime), 0);
        }
        loop {
            let seed = Tape::seed_of(self.plan.seed, iteration);
            let profile = self.profile.get_or_insert_default();
            self.executor.with_strategy(|strategy| strategy.prepare(iteration, profile));
            let outcome = self.program.run(&mut self.executor, settings, seed);
            let found = match outcome.ending {
                Ending::Done => Ok(None),
                Ending::Failed(finding) => Ok(Some(finding)),
                Ending::Stopped(stop) => Err(stop),
                Ending::Abandoned(_) => continue,
            };
            return (found, outcome.leaked_tasks as u64);
        }
    }

    /// Whether a guide may have made some of the choices of execution `iteration`.
    fn is_guided(&self, iteration: u64) -> bool {
        self.plan.guide.is_some() && (1..GUIDED).contains(&iteration)
    }

    /// The same execution once more.
    fn execute_again(&mut self, iteration: u64) -> Found {
        // How it began is not in its seed.
        if self.plan.is_exhaustive() || self.is_guided(iteration) {
            return self.follow_again(iteration);
        }
        self.execute(&self.plan.settings, iteration).0
    }

    /// The same execution once more, by its schedule.
    fn follow_again(&mut self, iteration: u64) -> Found {
        let schedule = Schedule::of(self.executor.engine(), &self.plan.name, P::line_of);
        let settings = match self.plan.is_exhaustive() {
            true => &self.plan.settings,
            false => &self.plan.replay_settings(schedule.spin_rounds),
        };
        let kept = self.executor.replace_strategy(Box::new(Replay::new(schedule, P::line_of)));
        let found = self.execute(settings, iteration).0;
        self.executor.set_strategy(kept);
        found
    }

    /// One execution with the choices of `strategy`, and what it comes to; what is looked for after an
    /// execution that seems to be in order is, if `thorough`.
    pub(super) fn replay(&mut self, strategy: Box<dyn Strategy>, settings: &Settings, thorough: bool) -> Found {
        self.executor.set_strategy(strategy);
        let found = self.execute(settings, 0).0?;
        Ok(if found.is_some() || !thorough { found } else { self.found_afterwards() })
    }

    /// One execution with the choices of `strategy`, drawn with `number` and what `profile` knows, and what it
    /// comes to, with all that is looked for afterwards.
    pub(super) fn draw(
        &mut self,
        strategy: Box<dyn Strategy>,
        settings: &Settings,
        number: u64,
        profile: &Arc<Profile>,
    ) -> Found {
        self.profile = Some(Arc::clone(profile));
        self.executor.set_strategy(strategy);
        Ok(self.execute(settings, number).0?.or_else(|| self.found_afterwards()))
    }

    /// What is looked for after an execution that seems to be in order.
    fn found_afterwards(&mut self) -> Option<Finding> {
        let race = self.race();
        let engine = self.executor.engine();
        race.or_else(|| leak(engine).filter(|_| self.plan.leaks))
            .or_else(|| unjoined(engine).filter(|_| self.plan.unjoined))
    }

    fn race(&mut self) -> Option<Finding> {
        P::DATA_RACES.then(|| self.races.of(self.executor.engine()).map(DataRace::finding)).flatten()
    }

    /// One execution with the choices of `strategy`, drawn with `seed`, and what it comes to at once.
    pub(super) fn sample(&mut self, strategy: Box<dyn Strategy>, settings: &Settings, seed: u64) -> Found {
        self.executor.set_strategy(strategy);
        self.execute(settings, seed).0
    }

    /// As [`run`](Self::run), with the choices of `strategy`.
    pub(super) fn run_with(&mut self, iteration: u64, strategy: Box<dyn Strategy>) -> Executed {
        self.set_strategy(strategy);
        self.run(iteration)
    }

    /// From now on choices are made by `strategy`.
    pub(super) fn set_strategy(&mut self, strategy: Box<dyn Strategy>) {
        self.executor.set_strategy(strategy);
    }

    /// The same choices must lead to the same steps; if they do not, nothing that is found could be
    /// reproduced.
    fn run_again_and_compare(&mut self, iteration: u64) -> Option<Finding> {
        self.compare_with(|worker| worker.execute_again(iteration))
    }

    /// The last execution of an exploration, which may have learned from it since, has to make the same steps again.
    pub(super) fn compare_last(&mut self, iteration: u64) -> Option<Failure> {
        let finding = self.compare_with(|worker| worker.follow_again(iteration))?;
        Some(self.describe(finding, iteration))
    }

    /// What is found instead when the schedule of `failure` is replayed: a divergence, if it is not the same again.
    pub(super) fn compare_failed(&mut self, failure: &Failure) -> Option<Failure> {
        let schedule = Schedule::from_token(failure.token(), &self.plan.name).ok()?;
        let settings = self.plan.replay_settings(schedule.spin_rounds);
        let finding = self.replay(Box::new(Replay::new(schedule, P::line_of)), &settings, true).ok()?;
        match &finding {
            Some(again) if again.kind.word() == failure.kind() => return None,
            Some(Finding { kind: FindingKind::Divergence(_), .. }) => {}
            _ => {
                let differs = difference::<P>(failure.record.steps(), self.executor.engine(), finding.as_ref());
                return Some(self.describe(differs, failure.iteration() - 1));
            }
        }
        finding.map(|finding| self.describe(finding, failure.iteration() - 1))
    }

    /// The program was not what a guide knew it to be: how it differs from itself, in words that name the operations.
    fn differs_without_guide(&mut self) -> Option<Finding> {
        // What was guided once is not guided again.
        self.execute(&self.plan.settings, 0).0.ok()?;
        self.compare_with(|worker| worker.execute(&worker.plan.settings, 0).0)
    }

    fn compare_with(&mut self, again: impl FnOnce(&mut Self) -> Found) -> Option<Finding> {
        let first: Vec<Step> = self.executor.engine().steps().to_vec();
        // If it is stopped nothing is known of the rest.
        let finding = again(self).ok()?;
        // It says more than that the two differ.
        if matches!(&finding, Some(Finding { kind: FindingKind::Stuck(_), .. })) {
            return finding;
        }
        let engine = self.executor.engine();
        if finding.is_some() || first.len() != engine.steps().len() || !first.iter().zip(engine.steps()).all(same) {
            return Some(difference::<P>(&first, engine, finding.as_ref()));
        }
        None
    }

    pub(super) fn describe(&self, finding: Finding, iteration: u64) -> Failure {
        let record = LazyRecord::of::<P>(self.executor.engine(), &finding, self.meta(iteration));
        Failure { finding, record, cause: OnceLock::new(), occurrences: 1, needs: None, original: None, passing: None }
    }

    /// What a record of execution `iteration` says of itself; but for the token and the way to replay it.
    pub(super) fn meta(&self, iteration: u64) -> Meta {
        Meta {
            test: self.plan.name.clone(),
            strategy: self.plan.strategy_text.clone(),
            seed: self.plan.strategy.is_randomised().then_some(self.plan.seed),
            iteration: iteration + 1,
            executions: iteration + 1,
            token: String::new(),
            replay_with: None,
            minimised: None,
            language: P::LANGUAGE,
            command: None,
            package: None,
            target: None,
            own: true,
        }
    }

    /// The failure of an execution that did not keep to its schedule, found when it was over.
    pub(super) fn diverged(&self, divergence: Divergence, iteration: u64) -> Failure {
        let step = divergence.step;
        let finding = Finding { kind: FindingKind::Divergence(Box::new(divergence)), task: TaskId::MAIN, step };
        self.describe(finding, iteration)
    }

    /// What is found if the first execution takes all the time there is.
    fn out_of_time(&self) -> Finding {
        let engine = self.executor.engine();
        Finding { kind: FindingKind::OutOfTime, task: engine.current(), step: engine.steps().len() as u64 }
    }

    /// The failure of an exploration in which nobody ever had a choice.
    pub(super) fn nothing_explored(&self) -> Failure {
        let finding = Finding { kind: FindingKind::NothingExplored, task: TaskId::MAIN, step: 0 };
        self.describe(finding, 0)
    }
}

/// Whether two steps are the same as far as that must be reproducible. Values are not compared: an
/// address that a program keeps in an integer differs from run to run and does no harm by that.
fn same((a, b): (&Step, &Step)) -> bool {
    (a.task, a.kind, a.resource, a.site, a.outcome) == (b.task, b.kind, b.resource, b.site, b.outcome)
}

fn difference<P: Program>(first: &[Step], engine: &Engine, finding: Option<&Finding>) -> Finding {
    let second = engine.steps();
    let at = first.iter().zip(second).position(|pair| !same(pair)).unwrap_or(first.len().min(second.len()));
    let show = |steps: &[Step]| match steps.get(at) {
        None => "the end of the execution".to_owned(),
        Some(step) => {
            let place =
                P::place(step.site).map(|place| format!(" at {}:{}", place.file, place.line)).unwrap_or_default();
            let task = (step.task.index() < engine.tasks().len()).then(|| engine.path(step.task).to_string());
            let resource = engine.resources().get(step.resource.index());
            let object = resource.map(|r| format!(" of {} number {}", r.kind.word(), step.resource.0 + 1));
            let (object, task) = (object.unwrap_or_default(), task.unwrap_or_else(|| "?".into()));
            format!("`{}`{object} by task {task}{place}", step.kind.word())
        }
    };
    let task = second.get(at).map_or(TaskId::MAIN, |step| step.task);
    let found = match finding.filter(|_| at >= second.len()) {
        Some(Finding { kind: FindingKind::Panic(panic), .. }) => format!("a panic: {}", panic.message),
        Some(other) => format!("a {}", other.kind.word()),
        None => show(second),
    };
    let divergence = Divergence { step: at as u64, expected: show(first), found, task: Some(engine.path(task)) };
    Finding { kind: FindingKind::Divergence(Box::new(divergence)), task, step: at as u64 }
}

/// Objects of this execution that nobody has dropped.
///
/// Statics that are initialised anew in each execution are never dropped, and neither is what is in
/// them: where there is one, nothing can be said.
fn suspected_leaks(engine: &Engine) -> Vec<Leak> {
    let lazy_static = |r: &&drawloom_engine::Resource| r.kind == ResourceKind::Once && !r.dropped;
    if engine.resources().iter().any(|r| lazy_static(&r)) {
        return Vec::new();
    }
    engine
        .resources()
        .iter()
        .filter(|r| !r.dropped && !r.from_outside)
        .map(|r| Leak { created_at: r.created_at, references: 1 })
        .collect()
}

fn leak(engine: &Engine) -> Option<Finding> {
    let leaks = suspected_leaks(engine);
    let finding =
        |leaks| Finding { kind: FindingKind::Leak(leaks), task: TaskId::MAIN, step: engine.steps().len() as u64 };
    (!leaks.is_empty()).then(|| finding(leaks))
}

fn unjoined(engine: &Engine) -> Option<Finding> {
    let tasks = engine.unjoined();
    let task = *tasks.first()?;
    Some(Finding { kind: FindingKind::Unjoined(tasks), task, step: engine.steps().len() as u64 })
}
