//! Makes the schedule of a finding as simple as can be, by replaying simpler ones.
//!
//! It happens where the exploration ran, on the same worker. What is shown in the end was replayed strictly,
//! twice; if that does not show the same finding, or nothing simpler was found, the finding stays as it was.

use std::time::{Duration, Instant};

use drawloom_engine::Settings;
use drawloom_engine::config::Shrink;
use drawloom_engine::exhaustive::hash;
use drawloom_engine::finding::{Finding, FindingKind};
use drawloom_engine::schedule::Schedule;
use drawloom_engine::shrink::{Budget, Shrunk, Subject, shrink};
use drawloom_engine::strategy::{Lenient, Preemptions, Replay, Script, Strategy};
use drawloom_engine::{Engine, Step};
use drawloom_report::{Minimised, same_bug};

use super::exploration::Failure;
use super::plan::Plan;
use super::program::Program;
use super::scenario::{self, Smaller};
use super::worker::Worker;

/// The budget, unless there is none.
const MOST_REPLAYS: u64 = 500;
/// The same for long executions: about as much work.
const MOST_STEPS: u64 = 5_000_000;
/// In case that steps are slow: the time can only cut what is found, never change it otherwise.
const MOST_TIME: Duration = Duration::from_secs(2);

/// Whether what is found is to be replayed, to minimise it.
pub(super) fn is_wanted(plan: &Plan) -> bool {
    match plan.shrink {
        Shrink::Off => false,
        // Where what is left over is leaked, every replay would leak.
        Shrink::Within => !plan.is_replay() && !plan.settings.leak,
        Shrink::Full => true,
    }
}

/// The simplest schedule of the smallest scenario, if there is a scenario and a smaller one.
pub(super) fn in_a_smaller_scenario<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure) -> Option<Failure> {
    let Smaller { failure: smaller, before, executions } = scenario::smallest(worker, failure)?;
    let mut simpler = one(worker, &smaller)?;
    if let Some(minimised) = &mut simpler.record.meta_mut().minimised {
        failure.token().clone_into(&mut minimised.original);
        minimised.before = before.into();
        minimised.replays += executions;
        minimised.replays_of_edits += executions;
    }
    simpler.cause = failure.cause().to_owned().into();
    simpler.occurrences = failure.occurrences;
    simpler.original = Some(Box::new(failure.record().clone()));
    Some(simpler)
}

/// The simplest schedule that shows the same, if a simpler one was found.
pub(super) fn one<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure) -> Option<Failure> {
    let plan = worker.plan();
    // What cannot be replayed has no token.
    let schedule = Schedule::from_token(failure.token(), &plan.name).ok()?;
    let settings = plan.replay_settings(schedule.spin_rounds);
    let mut subject = Replayed { settings: short(&settings, failure), worker, failure, finding: None };
    let began = Instant::now();
    let late = || began.elapsed() >= MOST_TIME;
    let budget = match plan.shrink {
        Shrink::Full => Budget::default(),
        Shrink::Within | Shrink::Off => {
            Budget { replays: MOST_REPLAYS, steps: MOST_STEPS, interrupted: &late, ..Budget::default() }
        }
    };
    let seed = hash(failure.token().as_bytes());
    let shrunk = shrink(&mut subject, &Script::from(&schedule), seed, &budget)?;
    subject.settings = settings;
    subject.confirmed(&shrunk)
}

/// Executions that run on for much longer than the original are not worth the while: a loop without a wait
/// would cost a million steps each time.
fn short(settings: &Settings, failure: &Failure) -> Settings {
    let mut settings = settings.clone();
    if !matches!(failure.finding.kind, FindingKind::StepLimit) {
        let long = 4 * failure.record().steps.len() as u64 + 1_000;
        settings.limits.max_steps = settings.limits.max_steps.min(long);
    }
    settings
}

/// The program, and the finding that is to be kept.
struct Replayed<'r, 'w, P: Program> {
    worker: &'r mut Worker<'w, P>,
    failure: &'r Failure,
    settings: Settings,
    /// What the last run came to.
    finding: Option<Finding>,
}

impl<P: Program> Replayed<'_, '_, P> {
    /// The failure with the simpler schedule, if that shows the finding whenever it is replayed.
    fn confirmed(&mut self, shrunk: &Shrunk) -> Option<Failure> {
        let preemptions = Preemptions::default();
        if !self.run(Box::new(Lenient::new(shrunk.script.clone(), preemptions.clone()))) {
            return None;
        }
        let steps: Vec<Step> = self.engine().steps().to_vec();
        let schedule = Schedule::of(self.engine(), &self.worker.plan().name, P::line_of);
        for _ in 0..2 {
            let shows = self.run(Box::new(Replay::new(schedule.clone(), P::line_of)));
            if !shows || !self.is_the_finding() || self.engine().steps().len() != steps.len() {
                return None;
            }
        }
        let minimised = Minimised {
            original: self.failure.token().to_owned(),
            before: shrunk.before.into(),
            after: shrunk.after.into(),
            replays: shrunk.replays,
            replays_of_edits: shrunk.replays_of_edits,
            complete: shrunk.complete,
            preempting: preemptions.steps(),
        };
        let finding = self.finding.clone()?;
        let mut simpler = self.worker.describe(finding, self.failure.iteration() - 1);
        simpler.record.meta_mut().minimised = Some(minimised);
        simpler.cause = self.failure.cause().to_owned().into();
        simpler.occurrences = self.failure.occurrences;
        simpler.original = Some(Box::new(self.failure.record().clone()));
        Some(simpler)
    }
}

impl<P: Program> Subject for Replayed<'_, '_, P> {
    fn run(&mut self, strategy: Box<dyn Strategy>) -> bool {
        let kind = &self.failure.finding.kind;
        self.finding = self.worker.replay(strategy, &self.settings, kind.is_found_afterwards()).ok().flatten();
        self.finding.as_ref().is_some_and(|finding| finding.kind.word() == kind.word())
    }

    fn engine(&self) -> &Engine {
        self.worker.engine()
    }

    fn is_the_finding(&mut self) -> bool {
        let Some(finding) = self.finding.clone() else { return false };
        let found = self.worker.describe(finding, 0);
        same_bug(self.failure.record(), found.record())
    }
}
