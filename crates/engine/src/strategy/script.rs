//! A script: what a lenient replay tries to follow.
//!
//! Where a [`Schedule`](crate::schedule::Schedule) is what happened, a script is a wish: a stretch of it may
//! not be possible, and is passed over then. Edits of a schedule, as shrinking makes them, are scripts.

use std::rc::Rc;

use crate::behaviour::mix;
use crate::engine::Engine;
use crate::id::{TaskId, TaskPath};
use crate::resource::Choices;
use crate::schedule::Schedule;
use crate::sorted::{self, Map};
use crate::trace::Step;

/// A stretch of steps of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Who, by index in the script's tasks.
    pub task: u32,
    /// How many steps at most: it ends before, when the task cannot go on.
    pub count: u64,
}

/// Who is to run, in order, and what choices are to come to.
#[derive(Clone, Debug)]
pub struct Script {
    /// The names of the tasks, shared by all scripts that were made from one.
    pub(crate) tasks: Rc<Tasks>,
    /// Who runs, in order. At its end each task runs as long as it can.
    pub stretches: Vec<Stretch>,
    /// What choices come to; the first outcome where nothing is said.
    pub outcomes: Outcomes,
    /// Whether it is of an execution of an exhaustive exploration ([`Strategy::is_exhaustive`](super::Strategy::is_exhaustive)).
    pub exhaustive: bool,
}

/// A step of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wish {
    /// Whose it is, and whether more are to follow it.
    pub(crate) stretch: Stretch,
    /// What its choices come to, if it has any.
    pub(crate) choices: Choices,
}

impl Wish {
    /// The step again.
    pub(crate) fn of(step: &Step) -> Wish {
        Wish { stretch: Stretch { task: step.task.0, count: 1 }, choices: step.choices() }
    }
}

/// What choices come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcomes {
    /// In the order of the execution: all that a token knows.
    InOrder(Vec<u64>),
    /// For each task of the script in its own order, so that moving one task does not give another's
    /// choices to it.
    ByTask(Vec<Vec<u64>>),
}

/// The tasks that a script speaks of.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    index: Map<TaskPath, u32>,
    hashes: Vec<u64>,
}

impl Tasks {
    fn of(paths: Vec<TaskPath>) -> Tasks {
        let part = |hash, part: &u32| mix(hash, u64::from(*part) + 1);
        let hashes = paths.iter().map(|path| path.0.iter().fold(0x51, part)).collect();
        Tasks { hashes, index: paths.into_iter().zip(0..).collect() }
    }

    /// The index of the task with this path.
    pub(crate) fn get(&self, path: &TaskPath) -> Option<u32> {
        self.index.get(path).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }
}

impl Script {
    /// What the execution that is in `engine` did.
    pub fn of(engine: &Engine) -> Script {
        let paths = (0..engine.tasks().len() as u32).map(|task| engine.path(TaskId(task))).collect();
        let tasks = Rc::new(Tasks::of(paths));
        let outcomes = Outcomes::InOrder(Vec::new());
        Script { tasks, stretches: Vec::new(), outcomes, exhaustive: engine.exhaustive }
            .of_steps(engine.steps().iter().map(Wish::of))
    }

    /// One of the same tasks, step by step.
    pub(crate) fn of_steps(&self, wishes: impl IntoIterator<Item = Wish>) -> Script {
        let mut script = self.empty();
        let mut outcomes = vec![Vec::new(); self.tasks.len()];
        for Wish { stretch, choices } in wishes {
            outcomes[stretch.task as usize].extend(choices.each().map(|(_, chosen)| chosen));
            script.push(stretch);
        }
        script.outcomes = Outcomes::ByTask(outcomes);
        script
    }

    /// The script without a wish: every task runs as long as it can.
    pub fn empty(&self) -> Script {
        Script { stretches: Vec::new(), ..self.clone() }
    }

    /// The same with other stretches; those of one task that follow each other are joined.
    pub fn with(&self, stretches: impl IntoIterator<Item = Stretch>) -> Script {
        let mut script = self.empty();
        stretches.into_iter().filter(|stretch| stretch.count > 0).for_each(|stretch| script.push(stretch));
        script
    }

    fn push(&mut self, stretch: Stretch) {
        match self.stretches.last_mut() {
            Some(last) if last.task == stretch.task => last.count = last.count.saturating_add(stretch.count),
            _ => self.stretches.push(stretch),
        }
    }

    /// A number that is equal for equal scripts.
    pub fn hash(&self) -> u64 {
        let stretch = |hash, s: &Stretch| mix(mix(hash, self.tasks.hashes[s.task as usize]), s.count);
        let hash = self.stretches.iter().fold(1, stretch);
        match &self.outcomes {
            Outcomes::InOrder(all) => all.iter().fold(hash, |hash, outcome| mix(hash, *outcome)),
            Outcomes::ByTask(all) => all.iter().zip(&self.tasks.hashes).fold(hash, |hash, (own, task)| {
                // The order of the table is that of one execution: names only.
                hash.wrapping_add(own.iter().fold(*task, |hash, outcome| mix(hash, outcome + 1)))
            }),
        }
    }
}

impl From<&Schedule> for Script {
    fn from(schedule: &Schedule) -> Script {
        let mut paths: Vec<TaskPath> = schedule.segments.iter().map(|segment| segment.task.clone()).collect();
        sorted::sort(&mut paths);
        paths.dedup();
        let tasks = Tasks::of(paths);
        let stretch = |(task, count)| Stretch { task, count };
        let stretches = schedule.segments.iter().filter_map(|s| Some((tasks.get(&s.task)?, s.count))).map(stretch);
        Script {
            stretches: stretches.collect(),
            tasks: Rc::new(tasks),
            outcomes: Outcomes::InOrder(schedule.outcomes.clone()),
            exhaustive: schedule.exhaustive,
        }
    }
}
