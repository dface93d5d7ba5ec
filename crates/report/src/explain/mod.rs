//! Explanations: why an execution failed, worked out from its record and from what other executions have shown.
//!
//! In the order of work:
//! - `accesses`: what tasks do to shared state, and which locks they hold; `acts`: the same of what libraries are made of;
//! - `pattern`: accesses between which another task's falls, so that no order of whole operations would do the same;
//! - `choose`: which of them is to blame; `witness` tells what only shows the harm;
//! - `classify`: what kind of mistake that is (`flow` asks the source what rests on what); `order` (`parting` compares
//!   with executions that pass), `blocked` (`wakeups` looks for missed notifications, `wakers` asks who would have
//!   sent one) and `busy` do the same for failures
//!   without such a window;
//! - `trace`, `state`, `checkpoints`, `fixes`: what is shown of it;
//! - `knowledge`: what other executions have shown; `beyond`: what tasks would have done next, by that;
//! - `class`, `explanation`: the result.

mod accesses;
mod acts;
mod awaits;
mod beyond;
mod blocked;
mod busy;
mod case;
mod checkpoints;
mod choose;
mod class;
mod classify;
mod dropped;
mod explanation;
mod fixes;
mod flow;
mod handmade;
mod knowledge;
mod order;
mod parting;
mod pattern;
mod state;
mod stored;
mod trace;
mod wakers;
mod wakeups;
mod witness;

pub use class::Class;
pub use explanation::{
    Accessor, Basis, Checkpoint, DOES_NOT_HELP, EXPLANATION, Effect, Effort, Evidence, Explanation, Fix, GuardCell,
    Item, Line, Mark, RaceWindow, SharedState, Stack, Taken, Verification,
};
pub use knowledge::Knowledge;

use case::{Blame, Case};

use crate::record::{Details, Record, Window};
use crate::source::Sources;

/// A longer execution has nothing to say on guards that others have not.
const MOST_TALLIED: usize = 100_000;

/// Explains `record`, with what is known from other executions, and source files as `sources` reads them.
///
/// None of a finding that no order of steps has brought about: a leak, say, or a replay that left its path.
pub fn explain(
    record: &Record,
    knowledge: &Knowledge,
    sources: &dyn Fn(&str) -> Option<String>,
) -> Option<Explanation> {
    explain_all(record, knowledge, sources).best()
}

/// As [`explain`], with everything that may be to blame: to try out whether it is.
pub fn explain_all(record: &Record, knowledge: &Knowledge, sources: &dyn Fn(&str) -> Option<String>) -> Explanations {
    let sources = Sources::of(record, sources);
    let mut knowledge = knowledge.clone();
    if record.steps.len() <= MOST_TALLIED {
        knowledge.tally(record, &sources);
    }
    let whole = beyond::beyond(record, knowledge.others(), &sources);
    let case = Case::of(record, whole.as_ref().unwrap_or(record), &knowledge, &sources);
    let told = |blame: Blame| explanation(&case, &blame);
    match &record.finding.details {
        Details::Panic { waiting, .. } => Explanations {
            windows: {
                let torn = choose::choose(&case);
                let torn = torn.iter().map(|pattern| classify::classify(&case, pattern));
                dropped::dropped(&case).into_iter().chain(torn).map(told).collect()
            },
            always: knowledge.always().filter(|_| waiting.is_empty()).map(|tried| told(order::always(&case, tried))),
            // A panic that is looked after leaves others waiting: then that is the failure.
            otherwise: Some(told(match waiting.as_slice() {
                [] => order::order(&case),
                waiting => blocked::blocked(&case, waiting, &[]),
            })),
        },
        details => Explanations { otherwise: without_window(&case, details).map(told), ..Explanations::default() },
    }
}

/// What may be to blame for a failure.
#[derive(Clone, Debug, Default)]
pub struct Explanations {
    /// Windows into which a step of another task fell, the likeliest first.
    pub windows: Vec<Explanation>,
    /// That no other schedule has passed, either.
    pub always: Option<Explanation>,
    /// If it is none of these.
    pub otherwise: Option<Explanation>,
}

impl Explanations {
    /// The best one, by what the execution shows.
    pub fn best(self) -> Option<Explanation> {
        self.always.or_else(|| self.windows.into_iter().next()).or(self.otherwise)
    }
}

fn explanation(case: &Case<'_>, blame: &Blame) -> Explanation {
    let steps = blame.opens.iter().chain(&blame.intrudes).chain(&blame.closes).map(|a| a.step);
    Explanation {
        schema: EXPLANATION.to_owned(),
        target: case.record.meta.test.clone(),
        sentence: blame.sentence.clone(),
        class: blame.class,
        subkind: blame.subkind.map(str::to_owned),
        evidence: Evidence {
            pattern: blame.pattern.clone(),
            steps: steps.filter(|i| *i < case.end()).collect(),
            reasons: blame.reasons.clone(),
            counterfactual: None,
        },
        window: blame.window.clone(),
        trace: trace::trace(case, blame),
        stacks: blame.stacks.clone(),
        shared: state::shared(case, blame),
        basis: case.knowledge.basis(),
        checkpoints: checkpoints::checkpoints(case, blame),
        fixes: fixes::fixes(case, blame),
    }
}

/// What is to blame for a finding that is no panic.
fn without_window(case: &Case<'_>, details: &Details) -> Option<Blame> {
    match details {
        Details::Deadlock { blocked, cycle, .. } => Some(blocked::blocked(case, blocked, cycle)),
        Details::DataRace { resource, earlier, later } => Some(busy::data_race(case, *resource, earlier, later)),
        Details::Livelock { .. } => Some(busy::livelock(case)),
        Details::StepLimit { limit } => Some(busy::step_limit(case, *limit)),
        // No order of steps is to blame, or the details say it all.
        _ => None,
    }
}

impl Record {
    /// Keeps an explanation with the record; the viewer shades its window.
    pub fn explained(&mut self, explanation: Explanation) {
        let last = (self.steps.len() as u32).saturating_sub(1);
        self.window = explanation.window.as_ref().map(|w| Window {
            from: w.from,
            to: w.to.unwrap_or(last).clamp(w.from, last),
            resource: w.resource,
        });
        self.explanation = Some(Box::new(explanation));
    }
}
