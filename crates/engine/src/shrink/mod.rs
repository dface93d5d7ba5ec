//! Shrinking: the simplest schedule that still shows a finding.
//!
//! What a person has to follow in a failing execution are the preemptions, so these are what is minimised,
//! then faults, switches, data and length ([`Cost`]). A candidate is the best script so far with one edit
//! (`passes`), replayed leniently: a wish, not a schedule, since after an edit the program takes another
//! course. If the same finding shows and the cost is lower, what was *executed* is the new best. When no edit
//! helps any more, other courses without its faults are (`faults`), and random schedules with fewer preemptions or
//! without faults (`finish`): they lead out of local minima. The idea of segments is Tinertia's (Jalbert and Sen, FSE
//! 2010).
//!
//! The order of candidates is fixed and what is drawn comes from one seed: the same input gives the same
//! result. An interruption at any time leaves the best so far. Nothing here runs a program: that is the
//! [`Subject`]'s part.

mod cost;
mod faults;
mod finish;
mod passes;

use crate::behaviour::mix;
use crate::engine::Engine;
use crate::sorted::Set;
use crate::strategy::{Lenient, Preemptions, Script, Strategy};
use crate::trace::Step;

pub use cost::Cost;

/// The program whose finding is to be shrunk.
pub trait Subject {
    /// Runs it once, its choices made by `strategy`. Whether something was found that may be the finding;
    /// [`is_the_finding`](Self::is_the_finding) is asked only of those.
    fn run(&mut self, strategy: Box<dyn Strategy>) -> bool;

    /// The engine, as the last run has left it.
    fn engine(&self) -> &Engine;

    /// Whether what the last run has found is the finding that is being shrunk: of the same kind, at the
    /// same place, in tasks of the same roles.
    fn is_the_finding(&mut self) -> bool;
}

/// When to stop, however much there is left to try. None of these changes what is tried before.
pub struct Budget<'a> {
    /// Replays.
    pub replays: u64,
    /// Steps of all replays together: a few replays of long executions are as expensive as many of short
    /// ones.
    pub steps: u64,
    /// Random schedules at the end: so many with fewer preemptions, and so many without faults.
    pub random: u64,
    /// Asked before every replay.
    pub interrupted: &'a dyn Fn() -> bool,
}

impl Default for Budget<'_> {
    /// No limit, and 200 random schedules.
    fn default() -> Self {
        Budget { replays: u64::MAX, steps: u64::MAX, random: 200, interrupted: &|| false }
    }
}

/// What shrinking came to.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The simplest script that was found; replayed leniently, it shows the finding.
    pub script: Script,
    /// What it was before.
    pub before: Cost,
    /// What it is now.
    pub after: Cost,
    /// Replays made, the first of which was that of the original.
    pub replays: u64,
    /// Those made until no edit helped any more, and random schedules were tried.
    pub replays_of_edits: u64,
    /// Whether there was nothing left to try. Else the budget was spent.
    pub complete: bool,
}

/// Makes the finding that `original` shows as simple as can be; `None` if it does not show it.
pub fn shrink(subject: &mut dyn Subject, original: &Script, seed: u64, budget: &Budget<'_>) -> Option<Shrunk> {
    let preemptions = Preemptions::default();
    let shows = subject.run(Box::new(Lenient::new(original.clone(), preemptions.clone())));
    if !shows || !subject.is_the_finding() {
        return None;
    }
    let engine = subject.engine();
    let before = Cost::of(engine.steps(), preemptions.count());
    let best = Script::of(engine);
    let mut shrinker = Shrinker {
        tried: [original.hash(), best.hash()].into_iter().collect(),
        judged: [trace_hash(engine)].into_iter().collect(),
        detours: Set::default(),
        has_shown: true,
        most_faults: u64::MAX,
        cost: before,
        best,
        executed: engine.steps().to_vec(),
        replays: 1,
        steps: engine.steps().len() as u64,
        cut: false,
        polishing: false,
        subject,
        preemptions,
        budget,
    };
    shrinker.edit();
    let replays_of_edits = shrinker.replays;
    shrinker.finish(seed);
    shrinker.polishing = true;
    shrinker.edit();
    Some(Shrunk {
        before,
        after: shrinker.cost,
        replays: shrinker.replays,
        replays_of_edits,
        complete: !shrinker.cut,
        script: shrinker.best,
    })
}

struct Shrinker<'s, 'b> {
    subject: &'s mut dyn Subject,
    budget: &'s Budget<'b>,
    best: Script,
    cost: Cost,
    /// The steps of the best.
    executed: Vec<Step>,
    preemptions: Preemptions,
    /// Scripts that were replayed.
    tried: Set<u64>,
    /// Executions that were looked at.
    judged: Set<u64>,
    /// Executions from which a detour has begun.
    detours: Set<u64>,
    /// Whether the last replay has shown what may be the finding.
    has_shown: bool,
    /// An execution with more faults is not taken: during a detour.
    most_faults: u64,
    replays: u64,
    steps: u64,
    /// The budget was spent while there was something left to try.
    cut: bool,
    /// Nothing but the finest edits is left to try.
    polishing: bool,
}

impl Shrinker<'_, '_> {
    /// Tries a script, unless it was tried before. Whether it is the best now.
    fn attempt(&mut self, script: Script) -> bool {
        if !self.tried.insert(script.hash()) {
            self.cut = self.cut || (self.budget.interrupted)();
            return false;
        }
        if self.is_spent() {
            return false;
        }
        let strategy = Lenient::new(script, self.preemptions.clone());
        self.replay(Box::new(strategy)) == Replayed::Better
    }

    fn is_spent(&mut self) -> bool {
        let Budget { replays, steps, interrupted, .. } = self.budget;
        self.cut = self.cut || self.replays >= *replays || self.steps >= *steps || interrupted();
        self.cut
    }

    /// Runs the program once; what it did is the best from then on if the finding shows at a lower cost.
    fn replay(&mut self, strategy: Box<dyn Strategy>) -> Replayed {
        let shows = self.subject.run(strategy);
        self.has_shown = shows;
        let engine = self.subject.engine();
        self.replays += 1;
        self.steps += engine.steps().len() as u64;
        let cost = Cost::of(engine.steps(), self.preemptions.count());
        if !self.judged.insert(trace_hash(engine)) {
            return Replayed::Known;
        }
        let is_worse = cost >= self.cost || cost.faults > self.most_faults;
        if !shows || is_worse || !self.subject.is_the_finding() {
            return Replayed::New;
        }
        self.cost = cost;
        self.best = Script::of(self.subject.engine());
        self.executed = self.subject.engine().steps().to_vec();
        self.tried.insert(self.best.hash());
        Replayed::Better
    }
}

/// What a replay has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Replayed {
    /// The finding, at a lower cost.
    Better,
    /// An execution that nobody had seen.
    New,
    /// Nothing new.
    Known,
}

/// A number that is equal for equal executions.
fn trace_hash(engine: &Engine) -> u64 {
    engine.steps().iter().fold(engine.steps().len() as u64, |hash, step| {
        let chosen = step.chosen();
        let what = u64::from(step.task.0) << 32 | (step.kind as u64) << 16 | u64::from(step.outcome);
        mix(mix(hash, what), chosen)
    })
}
