//! Tries fixes out: the program is explored again as if the fix were there.
//!
//! A fix that only changes the order of operations is a [`Guard`], which the engine obeys without anybody
//! editing the program. Whether it helps is found out in the order in which a wrong one shows:
//!
//! - `near`: the schedule that failed, and those that differ from it by a step or two;
//! - `trial`: every behaviour, if there are few; else samples, by the strategy that found it and by others;
//! - `counterfactual`: the failing schedule with the harmful step moved out of the window, without any guard.
//!
//! All of them follow from the token of the schedule that failed: the same each time.

mod counterfactual;
mod near;
mod trial;

use std::sync::Arc;

use drawloom_engine::Settings;
use drawloom_engine::config::{Config, Shrink};
use drawloom_engine::guard::{Armed, Guard, Site};
use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::{Lenient, Preemptions, Script};
use drawloom_report::explain::{Fix, Verification};
use drawloom_report::{Explanation, Explanations, Meta, Record, StepRecord, same_bug};

use self::trial::Trial;
use super::exploration::Failure;
use super::lazy_record::replay_with;
use super::plan::Plan;
use super::program::Program;
use super::worker::{Found, Worker};

/// Chooses among what may be to blame for `failure`, by trying whether it is: a window is, if the program no longer fails
/// when nobody can come into it. Tries the fixes, and moves harmful steps out of the window.
pub(super) fn choose<P: Program>(
    worker: &mut Worker<'_, P>,
    failure: &mut Failure,
    all: Explanations,
) -> Option<Explanation> {
    let plan = worker.plan();
    // Where what is left over is leaked, every execution would leak.
    if plan.fixes == 0 || plan.shrink == Shrink::Off || plan.settings.leak || worker.has_leaked() {
        return all.best();
    }
    let Some(mut known) = Known::of(worker, failure) else { return all.best() };
    let can_be_tried = |explanation: &Explanation| explanation.fixes.iter().any(|fix| fix.guard.is_some());
    if all.windows.iter().chain(&all.otherwise).any(can_be_tried) {
        known = known.sampled(worker, failure);
    }
    let Explanations { windows, mut always, otherwise } = all;
    // Timers fire when nobody else can go on: what comes after a sleep is late in every schedule that is tried, and
    // that says nothing of others.
    let late = always.is_some() && windows.first().is_some_and(|window| waits_for_time(failure.record(), window));
    let tried = if late { always.take() } else { None };
    let mut first = None;
    let mut chosen = None;
    for mut window in windows {
        let Some(guard) = closing(&window) else {
            first = first.or(Some(window));
            continue;
        };
        // What is likeliest is tried with all its fixes: they are shown, whatever comes of it.
        if first.is_none() {
            try_all(worker, failure, &known, &mut window.fixes);
            let refuted = window.fixes.iter().filter(|fix| is_lock(fix)).find_map(|fix| fix.verified.as_ref());
            if refuted.is_none_or(|verified| !verified.refutes()) && always.is_none() {
                chosen = Some(window);
                break;
            }
            if refuted.is_some_and(|verified| verified.helps) {
                chosen = Some(window);
                break;
            }
            first = Some(window);
        } else if counterfactual::of(worker, failure, &known, &window).passing.is_some()
            && Trial::new(worker, failure, &known).of(&guard).helps
        {
            try_all(worker, failure, &known, &mut window.fixes);
            chosen = Some(window);
            break;
        }
        if worker.has_leaked() || failure.record().steps.len() > MOST_STEPS {
            break;
        }
    }
    let shown = |explanation: &mut Explanation| {
        if let Some(always) = always.as_ref().or(tried.as_ref()) {
            explanation.evidence.reasons.extend(always.evidence.reasons.iter().cloned());
        }
    };
    let mut explanation = match (chosen, always.clone()) {
        (Some(mut window), _) => {
            shown(&mut window);
            window
        }
        (None, Some(always)) if near::passing(worker, &known).is_none() => always,
        (None, _) => {
            let mut best = first.or(otherwise)?;
            try_all(worker, failure, &known, &mut best.fixes);
            if late {
                shown(&mut best);
            }
            best
        }
    };
    let moved = counterfactual::of(worker, failure, &known, &explanation);
    explanation.evidence.counterfactual = moved.text;
    failure.passing = moved.passing.or_else(|| near::passing(worker, &known)).map(Box::new);
    Some(explanation)
}

/// Whether a timer fires inside the window.
fn waits_for_time(record: &Record, explanation: &Explanation) -> bool {
    let Some(window) = &explanation.window else { return false };
    let to = window.to.map_or(record.steps.len(), |to| to as usize).min(record.steps.len());
    let timer = |step: &StepRecord| matches!(record.operation(step), "timer" | "sleep");
    record.steps.get(window.from as usize..to).is_some_and(|steps| steps.iter().any(timer))
}

/// Of a longer execution, no second explanation is tried out: that would take too long.
const MOST_STEPS: usize = 500;

/// What keeps others out of the window of an explanation.
fn closing(explanation: &Explanation) -> Option<Guard> {
    explanation.fixes.iter().find(|fix| is_lock(fix)).and_then(|fix| fix.guard.clone())
}

fn is_lock(fix: &Fix) -> bool {
    matches!(fix.guard, Some(Guard::Lock(_)))
}

/// Tries those of `fixes` that can be tried. A lock over more than is needed is left out; several ways to write the same one are
/// tried once.
fn try_all<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure, known: &Known, fixes: &mut Vec<Fix>) {
    let mut a_lock_helps = false;
    let mut tried: Vec<(Guard, Verification)> = Vec::new();
    fixes.retain_mut(|fix| {
        let Some(guard) = &fix.guard else { return true };
        let is_lock = matches!(guard, Guard::Lock(_));
        if let Some((_, verified)) = tried.iter().find(|(known, _)| known == guard) {
            fix.verified = Some(verified.clone());
            return true;
        }
        if let Some(verified) = &fix.verified {
            a_lock_helps |= is_lock && verified.helps;
            return true;
        }
        if is_lock && a_lock_helps {
            return false;
        }
        let verified = Trial::new(worker, failure, known).of(guard);
        a_lock_helps |= is_lock && verified.helps;
        tried.push((guard.clone(), verified.clone()));
        fix.verified = Some(verified);
        true
    });
}

/// Tries a fix of what `token` shows: whether `program` under `guard` still fails, or fails otherwise.
///
/// # Errors
///
/// If the token is not one of this test, or does not show a finding.
pub fn try_fix<P: Program>(config: &Config, token: &str, guard: &Guard, program: &P) -> Result<Verification, String> {
    let plan = Plan::of::<P>(config)?;
    let schedule = Schedule::from_token(token, &plan.name).map_err(|error| error.to_string())?;
    let mut worker = Worker::new(&plan, program);
    let settings = plan.replay_settings(schedule.spin_rounds);
    let found = worker.replay(Box::new(Lenient::of(&schedule)), &settings, true);
    let found = found.map_err(|stop| format!("the execution was ended before its end: {}", stop.word()))?;
    let finding = found.ok_or("nothing fails under this schedule")?;
    let failure = worker.describe(finding, 0);
    let known = Known::of(&mut worker, &failure).ok_or("the schedule does not fail each time")?;
    let known = known.sampled(&mut worker, &failure);
    Ok(Trial::new(&mut worker, &failure, &known).of(guard))
}

/// The failing schedule, which fails again when it is followed leniently.
struct Known {
    script: Script,
    /// What it is followed with.
    settings: Settings,
    /// Whether samples show the failure, too.
    shows: bool,
}

impl Known {
    fn of<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure) -> Option<Known> {
        let plan = worker.plan();
        let schedule = Schedule::from_token(failure.token(), &plan.name).ok()?;
        let mut settings = plan.replay_settings(schedule.spin_rounds);
        settings.limits.max_steps = most_steps(plan, failure);
        let finding = worker.replay(Box::new(Lenient::of(&schedule)), &settings, true).ok()??;
        let script = Script::of(worker.engine());
        let fails_again = same_bug(failure.record(), worker.describe(finding, 0).record());
        fails_again.then_some(Known { script, settings, shows: false })
    }

    /// Finds out whether samples show the failure, which verdicts on fixes rest on.
    fn sampled<P: Program>(mut self, worker: &mut Worker<'_, P>, failure: &Failure) -> Known {
        self.shows = Trial::new(worker, failure, &self).shows_without();
        self
    }

    /// The same under `guard`.
    fn under(&self, guard: &Arc<Armed>) -> Settings {
        let mut settings = self.settings.clone();
        settings.limits.guard = Some(Arc::clone(guard));
        settings
    }
}

/// Executions that are much longer than the failing one are cut, and say nothing; but tasks that only yield
/// to each other are to be found out.
fn most_steps(plan: &Plan, failure: &Failure) -> u64 {
    let limits = &plan.settings.limits;
    limits.max_steps.min(20 * failure.record().steps.len() as u64 + 4 * limits.progress_bound.min(10_000) + 1_000)
}

fn armed<P: Program>(guard: &Guard) -> Arc<Armed> {
    fn site<P: Program>(of: drawloom_engine::Site) -> Option<Site> {
        P::place(of).map(|place| Site { file: place.file, line: place.line, column: place.column })
    }
    Arc::new(Armed { guard: guard.clone(), place: site::<P> })
}

impl<P: Program> Worker<'_, P> {
    /// Follows `script` as far as the program allows.
    fn follow(&mut self, script: &Script, settings: &Settings) -> Found {
        self.replay(Box::new(Lenient::new(script.clone(), Preemptions::default())), settings, true)
    }

    /// The last execution, as one in which nothing was found.
    pub(super) fn passing(&self) -> Record {
        Record::passed(self.engine(), Meta { replay_with: replay_with(), ..self.meta(0) }, &P::place)
    }
}
