//! Explores one scenario by itself: does it fail in the way that is looked for?

use std::time::{Duration, Instant};

use drawloom_engine::config::Shrink;
use drawloom_engine::exhaustive::{Explorer, hash};
use drawloom_engine::finding::Divergence;
use drawloom_engine::strategy::{Lenient, Outcomes, Pct, Pos, Preemptions, Profile, Script, Strategy, View};
use drawloom_engine::{Ending, Settings, Site, TaskId};
use drawloom_report::same_bug;

use super::layout::{Fixed, Layout, Lists};
use crate::exploration::Failure;
use crate::program::Program;
use crate::sharing::SHARING;
use crate::worker::{Found, Worker};

/// Scenarios of so many operations are explored to the end, as far as that takes no longer than it should.
const SMALL: usize = 4;

/// How much may be done.
struct Budget {
    /// Executions that are drawn of one scenario, and of a small one, which is explored to the end afterwards.
    drawn: u64,
    drawn_of_small: u64,
    /// Executions that it takes at most to explore it to the end.
    exhaustive: u64,
    /// Steps of all executions together.
    steps: u64,
    /// In case that steps are slow: the time can only cut what is found, never change it otherwise.
    time: Duration,
}

const HURRIED: Budget =
    Budget { drawn: 60, drawn_of_small: 20, exhaustive: 300, steps: 500_000, time: Duration::from_secs(4) };
const PATIENT: Budget =
    Budget { drawn: 2_000, drawn_of_small: 100, exhaustive: 20_000, steps: u64::MAX, time: Duration::MAX };

/// What explores candidates, one after the other.
pub(super) struct Candidates<'c, 'w, P: Program> {
    worker: &'c mut Worker<'w, P>,
    failure: &'c Failure,
    layout: Layout,
    settings: Settings,
    budget: &'static Budget,
    seed: u64,
    executions: u64,
    steps: u64,
    began: Instant,
}

impl<'c, 'w, P: Program> Candidates<'c, 'w, P> {
    /// Looks for `failure` in other scenarios than its own.
    pub(super) fn new(worker: &'c mut Worker<'w, P>, failure: &'c Failure, layout: Layout, settings: Settings) -> Self {
        let budget = if worker.plan().shrink == Shrink::Full { &PATIENT } else { &HURRIED };
        let seed = hash(failure.token().as_bytes());
        Candidates { worker, failure, layout, settings, budget, seed, executions: 1, steps: 0, began: Instant::now() }
    }

    pub(super) fn executions(&self) -> u64 {
        self.executions
    }

    /// Whether nothing more may be done.
    pub(super) fn is_spent(&self) -> bool {
        self.steps > self.budget.steps || self.began.elapsed() >= self.budget.time || self.worker.has_leaked()
    }

    /// The first of these scenarios that is seen to fail, and how.
    pub(super) fn first_that_fails(&mut self, scenarios: impl Iterator<Item = Lists>) -> Option<(Lists, Failure)> {
        for lists in scenarios {
            if self.is_spent() {
                break;
            }
            let is_small = lists.iter().map(Vec::len).sum::<usize>() <= SMALL;
            let drawn = self.draw(&lists, if is_small { self.budget.drawn_of_small } else { self.budget.drawn });
            let failure = drawn.or_else(|| if is_small { self.exhaust(&lists) } else { None });
            if let Some(failure) = failure {
                return Some((lists, failure));
            }
        }
        None
    }

    /// Draws so many schedules.
    fn draw(&mut self, lists: &Lists, executions: u64) -> Option<Failure> {
        (0..executions).find_map(|number| {
            if self.is_spent() {
                return None;
            }
            let schedule: Box<dyn Strategy> = match number % 2 {
                0 => Box::new(Pos::new()),
                _ => Box::new(Pct::new(1 + (number / 2 % 3) as u32)),
            };
            let given = Given { site: self.layout.site, choices: self.layout.choices(lists), at: 0, schedule };
            let found = self.worker.sample(Box::new(given), &self.settings, self.seed.wrapping_add(number));
            self.judge(found)
        })
    }

    /// Explores every behaviour. The scenario is fixed meanwhile, as there would be others to explore if it were chosen.
    fn exhaust(&mut self, lists: &Lists) -> Option<Failure> {
        let plan = self.worker.plan().to_exhaust(self.settings.limits.max_steps);
        let mut worker = Worker::new(&plan, self.worker.program());
        let explorer = Explorer::new(SHARING, self.budget.exhaustive);
        let kind = self.failure.finding.kind.word();
        while let Some(strategy) = explorer.claim().filter(|_| !self.is_spent()) {
            let found = {
                let _fixed = Fixed::on(lists);
                worker.sample(Box::new(strategy), &plan.settings, 0)
            };
            self.executions += 1;
            self.steps += worker.engine().steps().len() as u64;
            // If it is stopped, so is the next one.
            let finding = found.ok()?;
            if finding.is_some_and(|finding| finding.kind.word() == kind) {
                let failure = self.chosen(lists, Script::of(worker.engine()));
                if failure.is_some() {
                    return failure;
                }
            }
        }
        None
    }

    /// The execution of a fixed scenario, with the scenario chosen.
    fn chosen(&mut self, lists: &Lists, mut script: Script) -> Option<Failure> {
        let choices = self.layout.choices(lists);
        // Whoever runs first makes them before all else.
        script.stretches.first_mut()?.count += choices.len() as u64;
        if let Outcomes::ByTask(outcomes) = &mut script.outcomes {
            outcomes.first_mut()?.splice(0..0, choices);
        }
        let mut settings = self.worker.plan().replay_settings(Some(self.worker.plan().spin_rounds));
        settings.limits.max_steps = self.settings.limits.max_steps;
        let found = self.worker.replay(Box::new(Lenient::new(script, Preemptions::default())), &settings, false);
        self.judge(found)
    }

    /// What the worker's last execution came to, if it is what is looked for.
    fn judge(&mut self, found: Found) -> Option<Failure> {
        self.executions += 1;
        self.steps += self.worker.engine().steps().len() as u64;
        let seen = self.worker.describe(found.ok()??, self.failure.iteration() - 1);
        same_bug(self.failure.record(), seen.record()).then_some(seen)
    }
}

/// Makes the choices of a scenario as they are given, and all others by another strategy.
struct Given {
    site: Site,
    choices: Vec<u64>,
    at: usize,
    schedule: Box<dyn Strategy>,
}

impl Strategy for Given {
    fn prepare(&mut self, number: u64, profile: &std::sync::Arc<Profile>) {
        self.schedule.prepare(number, profile);
    }

    fn begin(&mut self, seed: u64) {
        self.at = 0;
        self.schedule.begin(seed);
    }

    fn is_exhaustive(&self) -> bool {
        self.schedule.is_exhaustive()
    }

    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        self.schedule.numbered(parent, ordinal);
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        self.schedule.spawned(parent, child);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        self.schedule.pick(view)
    }

    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        self.schedule.passes_over(task, view)
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        if view.pending(view.current()).site != self.site {
            return self.schedule.choose(outcomes, view);
        }
        self.at += 1;
        Ok(self.choices.get(self.at - 1).map_or(0, |choice| (*choice).min(outcomes - 1)))
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) {
        self.schedule.end(view, ending);
    }
}
