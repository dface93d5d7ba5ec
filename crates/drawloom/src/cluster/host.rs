//! A cluster in an exploration: the scheduler decides.

use drawloom_sim::{Event, Host, NodeId, Place, QueueId};

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, Site, TaskId};

/// What may happen is a task of the environment each, or one for events that happen in turn.
pub(super) struct Choices {
    rt: Handle,
    site: Site,
    /// All events are ordered.
    is_ordered: bool,
    nodes: Vec<Named>,
    queues: Vec<TaskId>,
    /// By which task the last event has happened; main, before there was any.
    by: TaskId,
}

/// A node, as the engine knows it.
#[derive(Clone, Copy)]
struct Named {
    /// The task that what it brings about is named after.
    task: TaskId,
    resource: ResourceId,
}

impl Choices {
    pub(super) fn new(rt: Handle, site: Site, is_ordered: bool) -> Self {
        Choices { rt, site, is_ordered, nodes: Vec::new(), queues: Vec::new(), by: rt.running() }
    }

    #[inline]
    fn happens(&self, at: NodeId, event: Event, place: Place) -> Operation {
        let site = place.map_or(self.site, rt::site);
        Operation::new(OpKind::Happen, self.nodes[at.index()].resource, site).with_arg(event.word())
    }
}

impl Host for Choices {
    fn add_node(&mut self, _: NodeId, name: &str) {
        let (task, resource) = self.rt.create_node(name, self.site);
        let resource = self.nodes.first().filter(|_| self.is_ordered).map_or(resource, |first| first.resource);
        self.nodes.push(Named { task, resource });
    }

    fn choose(&mut self, outcomes: u64) -> u64 {
        self.rt.choose(outcomes, self.site)
    }

    fn choose_within(&mut self, outcomes: u64) -> u64 {
        self.rt.choose_within(self.by, outcomes, self.site)
    }

    #[inline]
    fn post(&mut self, by: NodeId, at: NodeId, event: Event, place: Place) {
        self.rt.post(self.nodes[by.index()].task, self.happens(at, event, place));
    }

    fn queue(&mut self, by: NodeId) -> QueueId {
        self.queues.push(self.rt.create_queue(self.nodes[by.index()].task));
        QueueId(self.queues.len() as u32 - 1)
    }

    fn post_in_turn(&mut self, queue: QueueId, at: NodeId, event: Event, place: Place) {
        self.rt.post_in_turn(self.queues[queue.0 as usize], self.happens(at, event, place));
    }

    #[inline]
    fn next(&mut self) -> Option<Event> {
        let (by, word) = self.rt.serve(self.site)?;
        self.by = by;
        Some(Event::of(word))
    }
}
