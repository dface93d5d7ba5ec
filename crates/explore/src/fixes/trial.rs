//! The trial of one fix, and its verdict.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drawloom_engine::exhaustive::{Explorer, hash};
use drawloom_engine::finding::{Finding, FindingKind};
use drawloom_engine::guard::{Armed, Guard, NEW_LOCK};
use drawloom_engine::strategy::{Auto, Pos, Profile, Random, Strategy, Surw};
use drawloom_engine::{Settings, Stop};
use drawloom_report::explain::{DOES_NOT_HELP, Verification};
use drawloom_report::{BlockedRecord, Details, Record, TURN, same_bug};

use super::{Known, armed, most_steps, near};
use crate::exploration::{Failure, grouped};
use crate::program::Program;
use crate::sharing::SHARING;
use crate::worker::{Found, Worker};

/// Steps that the trial of one fix may take, unless executions are so long that this would be too few of them.
const MOST_STEPS: u64 = 200_000;
/// Steps of the failing execution, times this, are allowed in any case.
const MOST_EXECUTIONS_WORTH: u64 = 30;
/// In case that steps are slow. A trial that comes to it claims nothing, since a clock must not decide what helps.
const MOST_TIME: Duration = Duration::from_secs(30);
/// Of a deadlock, so many waits are told.
const MOST_WAITS: usize = 3;
/// Of fewer schedules than this, unless they are all, nothing is claimed.
const LEAST: u64 = 20;
/// Executions that are learned from: by then the profile is known.
const LEARN_FROM: u64 = 32;
/// A task that is passed over for so long is let run.
const STARVATION_BOUND: u64 = 10_000;

/// Executions under a guard.
pub(super) struct Trial<'t, 'w, P: Program> {
    worker: &'t mut Worker<'w, P>,
    failure: &'t Failure,
    known: &'t Known,
    began: Instant,
    schedules: u64,
    steps: u64,
    /// Executions that were cut since they were too long.
    cut: u64,
    /// Somebody has come to where the guard is.
    met: bool,
    /// The schedule that failed, by number, and how.
    failed: Option<(u64, Failure)>,
    /// One failed in a way that says nothing of the guard.
    untold: bool,
    /// It was given up, since it took too long.
    late: bool,
    /// An execution was stopped: nobody knows what it would have come to, nor any other.
    stopped: Option<Stop>,
}

impl<'t, 'w, P: Program> Trial<'t, 'w, P> {
    pub(super) fn new(worker: &'t mut Worker<'w, P>, failure: &'t Failure, known: &'t Known) -> Trial<'t, 'w, P> {
        let began = Instant::now();
        Trial {
            worker,
            failure,
            known,
            began,
            schedules: 0,
            steps: 0,
            cut: 0,
            met: false,
            failed: None,
            untold: false,
            late: false,
            stopped: None,
        }
    }

    /// Whether samples show the failure at all, as many as a fix is tried with. Else that none of them fails under
    /// a fix says little.
    pub(super) fn shows_without(mut self) -> bool {
        self.sample(None);
        self.failed.is_some() || self.late || self.stopped.is_some()
    }

    /// Whether `guard` helps.
    pub(super) fn of(mut self, guard: &Guard) -> Verification {
        let armed = armed::<P>(guard);
        self.near(&armed);
        let exhausted = self.goes_on() && self.exhaust(&armed);
        if !exhausted {
            self.sample(Some(&armed));
        }
        self.verdict(exhausted)
    }

    /// Whether there is more to be made.
    fn goes_on(&mut self) -> bool {
        self.late |= self.schedules > 0 && self.began.elapsed() > MOST_TIME;
        // Where a task was leaked in the middle of a panic, another one must not panic.
        self.failed.is_none()
            && !self.untold
            && !self.worker.has_leaked()
            && self.schedules < self.worker.plan().fixes
            && self.steps < MOST_STEPS.max(MOST_EXECUTIONS_WORTH * self.failure.record().steps.len() as u64)
            && !self.late
            && self.stopped.is_none()
    }

    /// Takes note of what an execution came to.
    fn add(&mut self, found: Found) {
        let finding = match found {
            Ok(finding) => finding,
            Err(stop) => {
                self.stopped = Some(stop);
                return;
            }
        };
        self.schedules += 1;
        self.steps += self.worker.engine().steps().len() as u64;
        self.met |= self.worker.engine().has_met_guard();
        let same_kind = |finding: &Finding| finding.kind.word() == self.failure.finding.kind.word();
        match finding {
            None => {}
            Some(finding) if finding.kind == FindingKind::StepLimit && !same_kind(&finding) => self.cut += 1,
            Some(_) if self.worker.engine().guard_was_cut() => self.untold = true,
            Some(finding) => {
                let failed = self.worker.describe(finding, 0);
                match waits_for_its_turn(failed.record()) {
                    true => self.untold = true,
                    false => self.failed = Some((self.schedules, failed)),
                }
            }
        }
    }

    /// The schedule that failed, and those near it.
    fn near(&mut self, guard: &Arc<Armed>) {
        let settings = self.known.under(guard);
        for script in near::schedules(&self.known.script) {
            if !self.goes_on() {
                return;
            }
            let found = self.worker.follow(&script, &settings);
            self.add(found);
        }
    }

    /// Every behaviour, if that takes no more than what is left of the budget. Whether it did.
    fn exhaust(&mut self, guard: &Arc<Armed>) -> bool {
        let plan = self.worker.plan();
        let before = (self.schedules, self.steps);
        let most = plan.fixes.saturating_sub(self.schedules);
        let mut settings = plan.to_exhaust(4 * self.failure.record().steps.len() as u64 + 64).settings;
        settings.limits.guard = Some(Arc::clone(guard));
        let explorer = Explorer::new(SHARING, most);
        let unprepared = Arc::new(Profile::default());
        while self.goes_on() {
            let Some(strategy) = explorer.claim() else {
                let exhausted = explorer.progress().exhausted;
                // What was made before is among them.
                self.schedules -= if exhausted { before.0 } else { 0 };
                return exhausted;
            };
            let ticket = strategy.ticket();
            let found = self.worker.draw(Box::new(strategy), &settings, self.schedules, &unprepared);
            let cut = matches!(&found, Ok(Some(finding)) if finding.kind == FindingKind::StepLimit);
            if cut
                || !self.worker.engine().guard_is_exact()
                || self.worker.engine().spins_were_cut()
                || explorer.was_redundant(ticket)
                || explorer.take_divergence().is_some()
            {
                break;
            }
            self.add(found);
            if self.schedules - before.0 + explorer.progress().pending > most {
                break;
            }
        }
        // It was in vain: what is sampled instead has the budget.
        if self.failed.is_none() {
            (self.schedules, self.steps) = before;
        }
        false
    }

    /// Samples, by the strategy that found the failure and by others.
    fn sample(&mut self, guard: Option<&Arc<Armed>>) {
        let plan = self.worker.plan();
        let mut settings: Settings = plan.settings.clone();
        let limits = &mut settings.limits;
        limits.max_steps = most_steps(plan, self.failure);
        (limits.starvation_bound, limits.run_on, limits.spin_rounds) = (STARVATION_BOUND, false, None);
        limits.guard = guard.cloned();
        let first = hash(self.failure.token().as_bytes()) >> 1;
        let mut profile = Arc::new(Profile::default());
        let mut number = 0;
        while self.goes_on() {
            let strategy: Box<dyn Strategy> = match number % 4 {
                0 | 1 if plan.strategy.is_randomised() || plan.custom.is_some() => plan.strategy(),
                0 | 1 => Box::new(Auto::new()),
                2 => Box::new(Surw::new()),
                _ if number % 8 == 3 => Box::new(Random::new()),
                _ => Box::new(Pos::new()),
            };
            let found = self.worker.draw(strategy, &settings, first.wrapping_add(number), &profile);
            self.add(found);
            if number < LEARN_FROM {
                self.worker.learn(Arc::make_mut(&mut profile));
            }
            number += 1;
        }
    }

    fn verdict(self, exhausted: bool) -> Verification {
        let Trial { schedules, cut, met, .. } = self;
        let verification = |helps, text| Verification { helps, schedules, exhausted: exhausted && helps, text };
        if let Some((number, failed)) = &self.failed {
            let how = how_it_fails(self.failure.record(), failed.record());
            return verification(
                false,
                format!("{DOES_NOT_HELP}: {} in schedule {}{}", how.0, grouped(*number), how.1),
            );
        }
        if let Some(stop) = self.stopped {
            return verification(false, format!("not verified: {}", stop.word()));
        }
        if self.untold {
            return verification(false, "not tried: a task awaits inside, and lets others run".to_owned());
        }
        if !met {
            return verification(false, "not tried: no execution reaches its place".to_owned());
        }
        if cut == schedules {
            return verification(false, "not verified: no execution finishes".to_owned());
        }
        let made = match schedules {
            1 => "1 schedule".to_owned(),
            n => format!("{} schedules", grouped(n)),
        };
        if self.late {
            let after = MOST_TIME.as_secs();
            return verification(
                false,
                format!("not verified: stopped after {after} s and {made}, none of which fails"),
            );
        }
        let enough = LEAST.min(self.worker.plan().fixes);
        if !exhausted && schedules - cut < enough {
            let why = format!("not verified: executions are so long that only {} were made", schedules - cut);
            return verification(false, why);
        }
        if exhausted && schedules == 1 {
            return verification(true, "verified: only 1 schedule is left, and it does not fail".to_owned());
        }
        let all = if exhausted { "all " } else { "" };
        let long = match cut {
            0 => String::new(),
            n => format!("; {} of them did not end", grouped(n)),
        };
        if !exhausted && !self.known.shows {
            let text = format!("seems to help: none of {made} fails{long}, but the failure is too rare to be sure");
            return verification(true, text);
        }
        verification(true, format!("verified: {all}{made}, none fails{long}"))
    }
}

/// Whether tasks of one thread wait for each other since one of them keeps the thread while it waits for the new lock: a lock of
/// async code would let others have it.
fn waits_for_its_turn(record: &Record) -> bool {
    let Details::Deadlock { blocked, .. } = &record.finding.details else { return false };
    let name = |b: &BlockedRecord| record.resources.get(b.resource? as usize)?.name.clone();
    blocked.iter().any(|b| name(b).as_deref() == Some(TURN))
        || (blocked.iter().any(|b| name(b).as_deref() == Some(NEW_LOCK))
            && record.resources.iter().any(|resource| resource.name.as_deref() == Some(TURN)))
}

/// How an execution under a fix fails: a verb, and what more there is to say.
fn how_it_fails(original: &Record, record: &Record) -> (String, String) {
    if same_bug(original, record) {
        return ("still fails".to_owned(), String::new());
    }
    match &record.finding.details {
        Details::Deadlock { blocked, cycle, .. } => {
            let involved = |b: &&BlockedRecord| {
                if cycle.is_empty() { b.operation != "join" } else { cycle.contains(&b.task) }
            };
            let all: Vec<&BlockedRecord> = blocked.iter().filter(involved).collect();
            let mut text: Vec<String> = all.iter().take(MOST_WAITS).map(|b| waits(record, b)).collect();
            text.extend((all.len() > MOST_WAITS).then(|| format!("{} more wait", all.len() - MOST_WAITS)));
            ("deadlocks".to_owned(), format!(": {}", text.join("; ")))
        }
        Details::Livelock { .. } | Details::StepLimit { .. } => ("never ends".to_owned(), String::new()),
        _ => {
            let message = record.finding.message.lines().next().unwrap_or_default();
            ("fails otherwise".to_owned(), format!(": {}: {message}", record.finding.kind))
        }
    }
}

/// What a task waits for, and where.
fn waits(record: &Record, blocked: &BlockedRecord) -> String {
    let task = record.tasks.get(blocked.task as usize).map_or("?", |task| task.path.as_str());
    let resource = blocked.resource.and_then(|resource| record.resources.get(resource as usize));
    let what = match resource {
        Some(resource) => match &resource.name {
            Some(name) => format!(" for {name}"),
            None if resource.kind == "object" => match blocked.noun() {
                Some(noun) => format!(" for a {noun}"),
                None => " for an object".to_owned(),
            },
            None => format!(" for a {}", resource.kind),
        },
        None => format!(" in {}", blocked.operation),
    };
    let place = record.place(blocked.place).map(|place| format!(" at {place}")).unwrap_or_default();
    format!("{task} waits{what}{place}")
}
