//! Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury: ASPLOS 2025).
//!
//! Each execution draws one resource x, with a probability proportional to the accesses to it, and makes
//! all orders of the accesses to x equally likely: who accesses it next is drawn beforehand, in
//! proportion to the accesses that each task has left (the *intention*), and others who come to x are held
//! until that one has come too. All other steps follow random priorities, so every interleaving stays
//! possible. The paper's guarantee is uniformity over the orders of the chosen steps.
//!
//! We deviate in three ways, each measured: the profile is a running maximum over all executions, locks
//! are resources like others (requests count, releases do not), and the intention is dropped when its
//! task yields and after a number of steps without an access, for else a task that spins until the held
//! one goes on would spin for ever.

use super::profile::{Target, is_access};
use super::remaining::Remaining;
use super::walk::{self, Walk, at};
use super::{Strategy, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::OpKind;

/// Steps without an access to x after which the intention is dropped.
const GIVE_UP_AFTER: usize = 64;

/// The selectively uniform random walk.
#[derive(Clone, Debug)]
pub struct Surw {
    walk: Walk,
    /// By task; 0 is to be drawn.
    priorities: Vec<u64>,
    /// Accesses to x.
    accesses: Remaining,
    /// Who is to access x next.
    intention: TaskId,
    selected: Selected,
    /// The number of steps at the last access to x, or when the intention was dropped.
    last_access: usize,
}

/// The resource that this execution is about.
#[derive(Clone, Debug)]
struct Selected {
    created_at: Site,
    /// How many made at that place have yet to appear, x included.
    to_come: u32,
    /// Resources that have been looked at.
    looked_at: usize,
    id: ResourceId,
}

const UNSET: u64 = 0;
/// Below every drawn priority.
const LOWEST: u64 = 1;

impl Surw {
    /// The selectively uniform random walk.
    pub fn new() -> Self {
        Surw {
            walk: Walk::new(),
            priorities: Vec::new(),
            accesses: Remaining::default(),
            intention: TaskId::NONE,
            selected: Selected::nothing(),
            last_access: 0,
        }
    }

    /// Draws x.
    fn select(&mut self) -> Option<Target> {
        let (tape, profile) = self.walk.tape_and_profile();
        let sum: u64 = profile.targets().map(|(weight, _)| weight).sum();
        if sum == 0 {
            return None;
        }
        let mut drawn = tape.below(sum);
        for (weight, target) in profile.targets() {
            if drawn < weight {
                return Some(target);
            }
            drawn -= weight;
        }
        None
    }

    fn drop_intention(&mut self, at_step: usize) {
        self.intention = TaskId::NONE;
        self.last_access = at_step;
    }

    /// Takes note of the steps since the last choice.
    fn catch_up(&mut self, view: &View<'_>) {
        self.selected.look(view);
        let made = view.steps().len();
        for step in self.walk.new_steps(view) {
            let yields = step.kind.gives_way() && self.walk.heeded(step.task);
            *at(&mut self.priorities, step.task) = if yields { LOWEST } else { UNSET };
            if self.selected.is(step.resource, step.kind) {
                self.accesses.made(step.task);
                self.drop_intention(made);
            } else if yields && step.task == self.intention {
                self.drop_intention(made);
            }
        }
        if made - self.last_access > GIVE_UP_AFTER {
            self.drop_intention(made);
        }
        if self.walk.starves_somebody(view) {
            self.priorities.fill(UNSET);
        }
    }

    fn priority(&mut self, task: TaskId) -> u64 {
        let priority = at(&mut self.priorities, task);
        if *priority == UNSET {
            *priority = self.walk.tape.bits() | 2;
        }
        *priority
    }

    /// The task in question with the highest priority, of those that `free` lets go.
    fn highest(&mut self, free: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let mut best = None;
        for i in 0..self.walk.candidates().len() {
            let task = self.walk.candidates()[i];
            let ranked = (self.priority(task), task);
            if free(task) && best.is_none_or(|best| ranked > best) {
                best = Some(ranked);
            }
        }
        best.map(|(_, task)| task)
    }

    /// Draws who accesses x next, when `comes` has come to it.
    fn intend(&mut self, comes: TaskId) {
        let accesses = &self.accesses;
        let weight = |task: TaskId| accesses.of(task).max(u64::from(task == comes));
        self.intention = self.walk.weighted(weight);
    }
}

impl Selected {
    fn nothing() -> Self {
        Selected { created_at: Site::UNKNOWN, to_come: 0, looked_at: 0, id: ResourceId::NONE }
    }

    /// Looks for x among the resources that have appeared.
    fn look(&mut self, view: &View<'_>) {
        if self.to_come == 0 {
            return;
        }
        for (id, resource) in view.resources().iter().enumerate().skip(self.looked_at) {
            if resource.created_at == self.created_at {
                self.to_come -= 1;
                if self.to_come == 0 {
                    self.id = ResourceId(id as u32);
                    return;
                }
            }
        }
        self.looked_at = view.resources().len();
    }

    fn is(&self, resource: ResourceId, kind: OpKind) -> bool {
        resource == self.id && resource != ResourceId::NONE && is_access(kind)
    }
}

impl Default for Surw {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Surw {
    walk::learning!();

    fn begin(&mut self, seed: u64) {
        self.walk.begin(seed);
        self.priorities.clear();
        self.drop_intention(0);
        self.selected = Selected::nothing();
        let target = self.select();
        let profile = self.walk.profile();
        self.accesses.begin(profile, 1, |counts| {
            let touched = target.iter().flat_map(|target| profile.touched(target.index));
            touched.for_each(|(task, count)| counts[*task as usize] = *count);
        });
        if let Some(target) = target {
            self.selected = Selected { created_at: target.created_at, to_come: target.nth, ..Selected::nothing() };
        }
    }

    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        self.accesses.numbered(parent, ordinal);
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        let (left, share) = self.accesses.spawned(self.walk.profile(), parent, child);
        // What was intended for the parent may have been meant for what the child does.
        if self.intention == parent && left > 0 && self.walk.tape.below(left) < share {
            self.intention = child;
        }
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(task) = self.walk.survey(view) {
            return Ok(task);
        }
        self.catch_up(view);
        let selected = self.selected.clone();
        let comes_to_x = |task: TaskId| selected.is(view.pending(task).resource, view.pending(task).kind);
        if self.intention == TaskId::NONE {
            match self.highest(|_| true) {
                Some(task) if comes_to_x(task) => self.intend(task),
                Some(task) => return Ok(task),
                None => return Ok(view.ready()[0]),
            }
        }
        let intention = self.intention;
        if let Some(task) = self.highest(|task| task == intention || !comes_to_x(task)) {
            return Ok(task);
        }
        // All are held, for somebody who cannot come.
        let comes = self.walk.candidates()[0];
        self.intend(comes);
        Ok(self.intention)
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.walk.tape.below(outcomes))
    }

    fn end(&mut self, _view: &View<'_>, _ending: &Ending) {
        self.walk.end();
    }
}
