//! What would have happened had the harmful steps not come into the window: the failing schedule is replayed
//! with them moved behind the window, and before it.
//!
//! A pattern that is seen in a failing execution need not be the reason; one without which the same schedule
//! passes is.

use drawloom_engine::strategy::{Script, Stretch};
use drawloom_report::explain::Explanation;
use drawloom_report::{Details, Record};

use super::Known;
use crate::exploration::Failure;
use crate::program::Program;
use crate::worker::Worker;

/// What moving steps came to.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) text: Option<String>,
    /// The execution without a finding, if there was one: as near to the failing one as can be.
    pub(super) passing: Option<Record>,
}

/// The failing schedule as steps, and the window in it.
struct Window<'a> {
    script: &'a Script,
    /// Who made each step.
    tasks: Vec<u32>,
    from: usize,
    /// The first step behind it.
    end: usize,
    owner: u32,
}

/// Moves the steps of others out of the window of `explanation`, if it has one.
pub(super) fn of<P: Program>(
    worker: &mut Worker<'_, P>,
    failure: &Failure,
    known: &Known,
    explanation: &Explanation,
) -> Moved {
    let Some(window) = Window::of(&known.script, failure, explanation) else { return Moved::default() };
    let mut moved = Moved::default();
    let mut passes = |script: Script| {
        let passes = worker.follow(&script, &known.settings) == Ok(None);
        if passes && moved.passing.is_none() {
            moved.passing = Some(worker.passing());
        }
        passes
    };
    let (behind, before) = (passes(window.others_behind()), passes(window.others_before()));
    let others = window.others_in_words();
    let whole = explanation.window.as_ref().is_some_and(|window| window.to.is_some());
    let after = if whole { format!("after step {}", window.end) } else { "after the window".to_owned() };
    let ahead = format!("before step {}", window.from + 1);
    moved.text = Some(match (behind, before) {
        (true, true) => format!("the same schedule passes with {others} {after}, and also {ahead}"),
        (true, false) => format!("the same schedule passes with {others} {after}; {ahead} it still fails"),
        (false, true) => format!("the same schedule passes with {others} {ahead}; {after} it still fails"),
        (false, false) => format!("with {others} moved out of the window the same schedule still fails"),
    });
    moved
}

impl<'a> Window<'a> {
    fn of(script: &'a Script, failure: &Failure, explanation: &Explanation) -> Option<Window<'a>> {
        let found = explanation.window.as_ref()?;
        // A data race is one in whichever order its accesses come.
        if matches!(failure.record().finding.details, Details::DataRace { .. }) {
            return None;
        }
        let tasks: Vec<u32> =
            script.stretches.iter().flat_map(|s| std::iter::repeat_n(s.task, s.count as usize)).collect();
        let steps = failure.record().steps.len().min(tasks.len());
        let window = Window {
            script,
            from: found.from as usize,
            end: found.to.map_or(steps, |to| to as usize + 1).min(steps),
            owner: found.task,
            tasks,
        };
        let others = window.from < window.end && window.others().next().is_some();
        others.then_some(window)
    }

    /// The steps of others in the window.
    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (self.from..self.end).filter(|i| self.tasks[*i] != self.owner)
    }

    /// As people number them.
    fn others_in_words(&self) -> String {
        let numbers: Vec<usize> = self.others().map(|i| i + 1).collect();
        match numbers[..] {
            [one] => format!("step {one}"),
            [first, .., last] if last - first + 1 == numbers.len() => format!("steps {first} to {last}"),
            [first, .., last] => format!("the steps of others between {first} and {last}"),
            [] => "nothing".to_owned(),
        }
    }

    fn one(&self, i: usize) -> Stretch {
        Stretch { task: self.tasks[i], count: 1 }
    }

    fn own(&self) -> impl Iterator<Item = usize> + '_ {
        (self.from..self.end).filter(|i| self.tasks[*i] == self.owner)
    }

    /// The owner goes on, to the end if the window has none, and then the others.
    fn others_behind(&self) -> Script {
        let runs_on = (self.end == self.tasks.len()).then_some(Stretch { task: self.owner, count: u64::MAX / 2 });
        let before = (0..self.from).chain(self.own()).map(|i| self.one(i)).chain(runs_on);
        self.script.with(before.chain(self.others().chain(self.end..self.tasks.len()).map(|i| self.one(i))))
    }

    fn others_before(&self) -> Script {
        let order = (0..self.from).chain(self.others()).chain(self.own()).chain(self.end..self.tasks.len());
        self.script.with(order.map(|i| self.one(i)))
    }
}
