//! Vector clocks over a trace: what happened before what.
//!
//! Computed after the fact, from the steps and the dependence table alone, so that an execution pays
//! nothing for them. Step j inherits the clock of its task's previous step, of the step that granted
//! the wait before it, and of every earlier step that is related to it by the table. Looking at
//! earlier steps newest first finds exactly the *immediate* races: pairs of dependent steps that no
//! other chain orders.

use crate::dependence::{Relation, relation};
use crate::id::{ResourceId, TaskId};
use crate::operation::OpKind;
use crate::trace::Step;

/// For each step, how many steps of every task happened before it or are it.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    clocks: Vec<Vec<u32>>,
    /// The number of each step among its own task's, from 1.
    own: Vec<u32>,
    races: Vec<(usize, usize)>,
}

impl Causality {
    /// Computes the clocks of `steps`.
    pub fn of(steps: &[Step]) -> Self {
        let tasks = steps.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
        let mut causality = Causality::default();
        let mut last_of_task: Vec<Option<usize>> = vec![None; tasks];
        let mut by_resource: Vec<Vec<usize>> = Vec::new();
        // Steps that aim at a task (spawn, exit, join, unpark …) are few: one list holds them all.
        let mut aimed: Vec<usize> = Vec::new();
        for (j, step) in steps.iter().enumerate() {
            let task = step.task.index();
            let mut clock = match last_of_task[task] {
                Some(previous) => causality.clocks[previous].clone(),
                None => vec![0; tasks],
            };
            if step.after > 0 {
                join(&mut clock, &causality.clocks[step.after as usize - 1]);
            }
            clock[task] += 1;
            causality.own.push(clock[task]);
            let label = step.label();
            let touched = touched(step);
            let lists = touched.iter().filter_map(|r| by_resource.get(r.index())).chain([&aimed]);
            let mut earlier: Vec<usize> = lists.flatten().copied().collect();
            earlier.sort_unstable_by(|a, b| b.cmp(a));
            earlier.dedup();
            for i in earlier {
                let covered = causality.own[i] <= clock[steps[i].task.index()];
                if covered {
                    continue;
                }
                match relation(&steps[i].label(), &label) {
                    Relation::Independent => continue,
                    Relation::Dependent => causality.races.push((i, j)),
                    Relation::Enabling => {}
                }
                join(&mut clock, &causality.clocks[i]);
            }
            causality.clocks.push(clock);
            last_of_task[task] = Some(j);
            for resource in touched {
                if by_resource.len() <= resource.index() {
                    by_resource.resize(resource.index() + 1, Vec::new());
                }
                by_resource[resource.index()].push(j);
            }
            if is_aimed(step.kind) {
                aimed.push(j);
            }
        }
        causality
    }

    /// Whether step `i` happened before step `j`, or is it.
    pub fn before(&self, steps: &[Step], i: usize, j: usize) -> bool {
        i <= j && self.own[i] <= self.clocks[j][steps[i].task.index()]
    }

    /// Pairs of dependent steps of different tasks that nothing else orders.
    pub fn races(&self) -> &[(usize, usize)] {
        &self.races
    }

    /// How much of `task` step `j` knows of.
    pub fn clock(&self, j: usize, task: TaskId) -> u32 {
        self.clocks[j].get(task.index()).copied().unwrap_or(0)
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

fn touched(step: &Step) -> Vec<ResourceId> {
    let mut touched = Vec::with_capacity(2);
    if step.resource != ResourceId::NONE {
        touched.push(step.resource);
    }
    if step.kind == OpKind::CondWait {
        touched.push(ResourceId(step.arg as u32));
    }
    touched
}

fn is_aimed(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(kind, Spawn | Exit | Join | IsFinished | Park | Unpark | TimerFire | Now)
}
