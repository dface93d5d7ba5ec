//! Lenient replay: follows a script as far as the program allows.
//!
//! A stretch ends when it is used up, or when its task cannot go on: it waits or has exited. A
//! stretch whose task cannot even begin is passed over. Steps that nobody could choose are counted where
//! they fit. Behind the last stretch the sequential strategy goes on. So a script may have been edited, or
//! be that of a program that has changed since; one that was recorded from an execution repeats it.

use std::cell::RefCell;
use std::rc::Rc;

use super::script::{Outcomes, Script};
use super::{Strategy, View, sequential};
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::operation::OpKind;
use crate::schedule::Schedule;

/// No task of the script.
const UNKNOWN: u32 = u32::MAX;

/// Follows a script, leniently.
#[derive(Debug)]
pub struct Lenient {
    script: Script,
    /// The stretch that the next step belongs to, and the steps of it that were made.
    at: usize,
    used: u64,
    /// Steps that are counted.
    seen: usize,
    /// By task of the execution, its index in the script, and the other way round.
    names: Vec<u32>,
    ids: Vec<TaskId>,
    /// Choices made, by task of the script; the first of them is all, if they are in order.
    chosen: Vec<usize>,
    preemptions: Preemptions,
}

/// The preemptions of an execution: the steps, by index, with which a task was let run although the one that
/// ran before could have gone on and did not yield.
///
/// A task that waits for its ticket cannot go on, and neither can one that waits for a task to end, for a
/// token or for a time. The environment preempts nobody (a timer that fires): what counts is who runs after it.
#[derive(Clone, Debug, Default)]
pub struct Preemptions {
    steps: Rc<RefCell<Vec<u32>>>,
}

impl Preemptions {
    /// The steps, in order.
    pub fn steps(&self) -> Vec<u32> {
        self.steps.borrow().clone()
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.steps.borrow().len() as u64
    }

    /// Takes note of the choice of `task`.
    pub(crate) fn note(&self, task: TaskId, view: &View<'_>) {
        let last = last_runner(view);
        let yielded = || view.steps().last().is_some_and(|step| step.kind.gives_way());
        if !view.is_environment(task) && task != last && view.is_ready(last) && !yielded() {
            self.steps.borrow_mut().push(view.steps().len() as u32);
        }
    }

    pub(crate) fn clear(&self) {
        self.steps.borrow_mut().clear();
    }
}

/// The task of the program that made the last step.
pub(crate) fn last_runner(view: &View<'_>) -> TaskId {
    if !view.is_environment(view.current()) {
        return view.current();
    }
    let by_task = |step: &&crate::trace::Step| !view.is_environment(step.task);
    view.steps().iter().rev().find(by_task).map_or(TaskId::MAIN, |step| step.task)
}

impl Lenient {
    /// A replay of `script`, which notes the preemptions that it makes.
    pub fn new(script: Script, preemptions: Preemptions) -> Self {
        let tasks = script.tasks.len();
        Lenient {
            script,
            at: 0,
            used: 0,
            seen: 0,
            names: Vec::new(),
            ids: vec![TaskId::NONE; tasks],
            chosen: vec![0; tasks.max(1)],
            preemptions,
        }
    }

    /// A replay of what a token says.
    pub fn of(schedule: &Schedule) -> Self {
        Lenient::new(Script::from(schedule), Preemptions::default())
    }

    fn learn_names(&mut self, view: &View<'_>) {
        for task in self.names.len()..view.engine.tasks().len() {
            let name = self.script.tasks.get(&view.path(TaskId(task as u32))).unwrap_or(UNKNOWN);
            if let Some(id) = self.ids.get_mut(name as usize) {
                *id = TaskId(task as u32);
            }
            self.names.push(name);
        }
    }

    /// Counts the steps that were made since the last choice.
    fn catch_up(&mut self, view: &View<'_>) {
        self.learn_names(view);
        // What a guard adds is nobody's wish.
        for at in (self.seen..view.steps().len()).filter(|at| !view.engine.is_of_guard(*at)) {
            let step = &view.steps()[at];
            let name = self.names[step.task.index()];
            let stretches = &self.script.stretches;
            let is_of = |at: usize| stretches.get(at).is_some_and(|stretch| stretch.task == name);
            let used_up = stretches.get(self.at).is_some_and(|stretch| self.used >= stretch.count);
            if used_up || (self.used > 0 && !is_of(self.at)) {
                (self.at, self.used) = (self.at + 1, 0);
            }
            // One that has not begun may yet come to it: it is passed over only for its successor.
            if !is_of(self.at) && is_of(self.at + 1) {
                self.at += 1;
            }
            self.used += u64::from(is_of(self.at));
        }
        self.seen = view.steps().len();
    }

    fn wanted(&mut self, view: &View<'_>) -> Option<TaskId> {
        loop {
            let stretch = self.script.stretches.get(self.at)?;
            let task = self.ids[stretch.task as usize];
            if self.used < stretch.count && view.is_ready(task) {
                return Some(task);
            }
            (self.at, self.used) = (self.at + 1, 0);
        }
    }
}

/// Who goes on where nothing is wished: faults come last, so that a run that is cut short has fewer of them.
fn fill(view: &View<'_>) -> TaskId {
    let strikes = |task: TaskId| view.pending(task).kind == OpKind::Strike;
    let first = sequential::fill(view);
    if !strikes(first) {
        return first;
    }
    let others = view.ready().iter().copied().filter(|task| !strikes(*task));
    others.min_by_key(|task| view.path(*task)).unwrap_or(first)
}

impl Strategy for Lenient {
    fn is_exhaustive(&self) -> bool {
        self.script.exhaustive
    }

    fn begin(&mut self, _seed: u64) {
        (self.at, self.used, self.seen) = (0, 0, 0);
        self.names.clear();
        self.ids.fill(TaskId::NONE);
        self.chosen.fill(0);
        self.preemptions.clear();
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        self.catch_up(view);
        let last = last_runner(view);
        let filled = || if view.is_ready(last) { last } else { fill(view) };
        let task = self.wanted(view).unwrap_or_else(filled);
        self.preemptions.note(task, view);
        Ok(task)
    }

    /// Unless the script has it go on.
    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        self.catch_up(view);
        let name = self.names[task.index()];
        !self.script.stretches.get(self.at).is_some_and(|stretch| stretch.task == name && self.used < stretch.count)
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        self.learn_names(view);
        let name = match self.script.outcomes {
            Outcomes::InOrder(_) => 0,
            Outcomes::ByTask(_) => self.names[view.current().index()] as usize,
        };
        let Some(chosen) = self.chosen.get_mut(name) else { return Ok(0) };
        let wished = match &self.script.outcomes {
            Outcomes::InOrder(all) => all.get(*chosen),
            Outcomes::ByTask(all) => all[name].get(*chosen),
        };
        *chosen += 1;
        Ok(wished.copied().filter(|outcome| *outcome < outcomes).unwrap_or(0))
    }
}
