//! Nodes of a cluster: what happens at one of them, and the task that serves them.
//!
//! A message that arrives, a timer that fires, a fault that strikes: each is a step of a task of the environment, on the node
//! where it happens. The node's code runs in the task that *serves* it: one that has announced [`Serve`](OpKind::Serve), and is let
//! look whenever something has happened, before the next choice. So an event and all that the node does about it are one step, and
//! costs no switch where the task that serves is the one that has stopped.
//!
//! Everything that happens is on one node: steps at one node are ordered, steps at different nodes commute. What touches several nodes
//! (a partition) is a step at each of them, one after the other. What an event brings about comes after it, since the tasks of the
//! environment that it creates are [granted](crate::trace::Step::after) by it.
//!
//! Nothing here is ever disabled. A message to a node that is down arrives, and is lost; a timer that was cancelled fires, and nobody
//! cares. Else an order in which it had come earlier would never be found.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::Trail;
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::task::Status;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const USES: T = T::COMPETES.with(T::GIVES).with(T::UNATTENDED).with(T::SAME_ANYWHERE).with(T::CHOOSES);
    match kind {
        OpKind::Happen => Facts::on(ResourceKind::Node, "happens", &[USES]),
        OpKind::Strike => Facts::on(ResourceKind::Node, "strikes", &[USES]),
        OpKind::Serve => Facts::of("serve", &[T::NEEDS_ENABLING, T::SILENT]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it is something that happens at a node.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn happens(self) -> bool {
        matches!(self, OpKind::Happen | OpKind::Strike)
    }

    /// Whether it serves nodes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn serves(self) -> bool {
        matches!(self, OpKind::Serve)
    }
}

/// The rules of nodes.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        engine.progress(|engine| {
            if operation.kind.happens() {
                engine.happens(task, operation);
            } else {
                engine.serving = TaskId::NONE;
            }
            Committed::Done(outcome::OK)
        })
    }

    fn announce(&self, engine: &mut Engine, task: TaskId) {
        engine.serving = task;
        engine.disable(task);
    }

    fn is_enabled(&self, _: &Engine, _: TaskId) -> bool {
        false
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        match a.kind.happens() && b.kind.happens() {
            true => Relation::Dependent,
            false => Relation::Independent,
        }
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        if step.kind.happens() { trail.ordered(hash) } else { hash }
    }
}

impl Engine {
    /// Registers a node, whose code runs in the task `served_by`. What it creates is named after it: after a task of the environment
    /// that never does anything. Call it as [`spawn`](Self::spawn).
    pub fn create_node(
        &mut self,
        served_by: TaskId,
        name: &str,
        created_at: Site,
        strategy: &mut dyn Strategy,
    ) -> (TaskId, ResourceId) {
        let stands_for = self.create_environment(served_by, &[], None, Some(name.into()), strategy);
        let state = State::Served(served_by);
        let id = self.create_resource(served_by, ResourceKind::Node, state, created_at);
        self.name_resource(id, name);
        // Nobody owns it.
        self.drop_resource(id);
        self.notes.add_node(stands_for);
        (stands_for, id)
    }

    /// What has happened last, and nobody has been told of: by which task of the environment, and what.
    #[inline]
    pub fn take_happened(&mut self) -> Option<(TaskId, u64)> {
        self.happened.take()
    }

    fn happens(&mut self, task: TaskId, operation: &Operation) {
        let State::Served(by) = self.resources[operation.resource.index()].state else { return };
        let t = &self.tasks[by.index()];
        if t.pending.kind.serves() && t.status == Status::Disabled {
            self.happened = Some((task, operation.arg));
            self.have_look(by);
        }
    }

    /// Nothing is left that could happen: lets the task go on that has served so far. Whether there is one.
    pub(crate) fn end_service(&mut self) -> bool {
        let Some(t) = self.tasks.get(self.serving.index()) else { return false };
        let serves = t.pending.kind.serves() && t.status == Status::Disabled;
        if serves {
            self.enable(self.serving);
        }
        serves
    }
}
