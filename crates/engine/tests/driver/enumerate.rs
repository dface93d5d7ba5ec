//! Every schedule of a program, and the canonical form of a trace.

use std::hash::{DefaultHasher, Hash, Hasher};

use drawloom_engine::causality::Causality;
use drawloom_engine::finding::Divergence;
use drawloom_engine::strategy::{Sequential, Strategy, View};
use drawloom_engine::{Engine, Limits, OpKind, TaskId};

use super::machine::{Run, run_on};
use super::program::Program;

/// Makes every combination of choices once: an odometer whose last wheel turns fastest.
#[derive(Default)]
pub struct Enumerate {
    /// What was chosen, out of how many.
    wheels: Vec<(u64, u64)>,
    at: usize,
    /// Whether an exit may be one of two things: somebody is killed.
    exits_are_choices: bool,
}

impl Enumerate {
    /// What is chosen next, out of so many.
    pub fn turn(&mut self, options: u64) -> u64 {
        if self.at == self.wheels.len() {
            self.wheels.push((0, options));
        }
        let (chosen, known) = self.wheels[self.at];
        assert_eq!(known, options, "the same choices must lead to the same state");
        self.at += 1;
        chosen
    }

    /// Moves on to the next combination; false if there is none.
    pub fn advance(&mut self) -> bool {
        while let Some((chosen, options)) = self.wheels.pop() {
            if chosen + 1 < options {
                self.wheels.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}

impl Strategy for Enumerate {
    fn begin(&mut self, _seed: u64) {
        self.at = 0;
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        // Steps that commute with everything that could go instead are no choice: only with this do
        // the numbers of interleavings agree with those of a model in which they are no steps.
        let silent = |t: &&TaskId| match view.pending(**t).kind {
            OpKind::Exit => !self.exits_are_choices || **t == TaskId::MAIN,
            OpKind::Join => !self.exits_are_choices,
            _ => false,
        };
        if let Some(task) = view.ready().iter().find(silent) {
            return Ok(*task);
        }
        let chosen = self.turn(view.ready().len() as u64);
        Ok(view.ready()[chosen as usize])
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.turn(outcomes))
    }
}

/// Calls `visit` with the run of every schedule of `program`; says how many there were.
pub fn every_run(program: &Program, visit: impl FnMut(&Run)) -> u64 {
    every_run_within(program, &Limits::default(), visit)
}

/// As [`every_run`], under `limits`.
pub fn every_run_within(program: &Program, limits: &Limits, visit: impl FnMut(&Run)) -> u64 {
    up_to(u64::MAX, program, limits, visit).expect("nobody has that many")
}

/// As [`every_run_within`], but gives up after `most` schedules.
pub fn up_to(most: u64, program: &Program, limits: &Limits, mut visit: impl FnMut(&Run)) -> Option<u64> {
    let mut engine = Engine::new();
    let mut strategy = Enumerate { exits_are_choices: program.kills(), ..Enumerate::default() };
    for runs in 1..=most {
        let run = run_on(&mut engine, program, &mut strategy, limits, 0);
        visit(&run);
        if !strategy.advance() {
            return Some(runs);
        }
    }
    None
}

/// Lets the named tasks make the first steps, one each, then goes on sequentially.
pub struct InOrder {
    order: Vec<TaskId>,
    rest: Sequential,
}

impl InOrder {
    /// `order` names threads of `program`, separated by blanks. Main exits first, unmentioned.
    pub fn new(program: &Program, order: &str) -> Self {
        let order = order.split_whitespace().map(|name| {
            let at = program.threads.iter().position(|thread| thread.name == name).expect("a thread");
            TaskId(at as u32 + 2)
        });
        InOrder { order: std::iter::once(TaskId::MAIN).chain(order).collect(), rest: Sequential }
    }
}

impl Strategy for InOrder {
    fn begin(&mut self, _seed: u64) {}

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let Some(task) = self.order.get(view.steps().len()) else {
            return self.rest.pick(view);
        };
        assert!(view.is_ready(*task), "step {}: task {} is not ready", view.steps().len(), view.path(*task));
        Ok(*task)
    }
}

/// What of a trace does not depend on the order of steps that commute: for every task, by path, its
/// steps, each with what it came to and with how much of every other task happened before it.
pub fn canonical(run: &Run) -> u64 {
    let causality = Causality::of(&run.steps);
    let mut order: Vec<usize> = (0..run.paths.len()).collect();
    order.sort_by(|a, b| run.paths[*a].cmp(&run.paths[*b]));
    let mut by_task: Vec<Vec<usize>> = vec![Vec::new(); run.paths.len()];
    for (j, step) in run.steps.iter().enumerate() {
        by_task[step.task.index()].push(j);
    }
    let mut hasher = DefaultHasher::new();
    for &task in &order {
        run.paths[task].hash(&mut hasher);
        for &j in &by_task[task] {
            let step = &run.steps[j];
            step.kind.hash(&mut hasher);
            if step.kind == OpKind::Choose {
                step.value.hash(&mut hasher);
            }
            for &other in &order {
                causality.clock(j, TaskId(other as u32)).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
