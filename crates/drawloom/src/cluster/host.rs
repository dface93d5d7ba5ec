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
    /// What was posted before anything happened: nothing may be left to happen while nodes start, since a start may choose.
    at_first: Option<Vec<Posted>>,
}

/// What was posted, and by whom or in which queue.
enum Posted {
    By(NodeId, Operation),
    InTurn(QueueId, Operation),
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
        Choices { rt, site, is_ordered, nodes: Vec::new(), queues: Vec::new(), at_first: Some(Vec::new()) }
    }

    #[inline]
    fn happens(&self, at: NodeId, event: Event, place: Place) -> Operation {
        let site = place.map_or(self.site, rt::site);
        Operation::new(OpKind::Happen, self.nodes[at.index()].resource, site).with_arg(event.word())
    }
}

impl Host for Choices {
    fn add_node(&mut self, _: NodeId, name: &str, with: Option<NodeId>) {
        let (task, resource) = self.rt.create_node(name, self.site);
        let resource = with.map_or(resource, |with| self.nodes[with.index()].resource);
        self.nodes.push(Named { task, resource });
    }

    fn choose(&mut self, outcomes: u64) -> u64 {
        self.rt.choose(outcomes, self.site)
    }

    fn choose_within(&mut self, outcomes: u64) -> u64 {
        if self.at_first.is_some() {
            return self.rt.choose(outcomes, self.site);
        }
        let is_exhaustive = self.rt.with_engine(|engine| engine.limits().spin_rounds.is_some());
        assert!(
            self.is_ordered || !is_exhaustive,
            "a node chooses in the midst of an event: to go through all of that, events at different nodes have to be ordered. \
             Say `cluster.ordered()`, or choose in `on_start`"
        );
        self.rt.choose_within(outcomes).unwrap_or_else(|| {
            panic!("a choice of {outcomes} outcomes: a node can make 4 choices of up to 256 outcomes in one event")
        })
    }

    #[inline]
    fn post(&mut self, by: NodeId, at: NodeId, event: Event, place: Place) {
        let operation = self.happens(at, event, place);
        match &mut self.at_first {
            Some(posted) => posted.push(Posted::By(by, operation)),
            None => drop(self.rt.post(self.nodes[by.index()].task, operation)),
        }
    }

    fn queue(&mut self, by: NodeId) -> QueueId {
        self.queues.push(self.rt.create_queue(self.nodes[by.index()].task));
        QueueId(self.queues.len() as u32 - 1)
    }

    fn post_in_turn(&mut self, queue: QueueId, at: NodeId, event: Event, place: Place) {
        let operation = self.happens(at, event, place);
        match &mut self.at_first {
            Some(posted) => posted.push(Posted::InTurn(queue, operation)),
            None => self.rt.post_in_turn(self.queues[queue.0 as usize], operation),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Event> {
        for posted in self.at_first.take().into_iter().flatten() {
            match posted {
                Posted::By(by, operation) => drop(self.rt.post(self.nodes[by.index()].task, operation)),
                Posted::InTurn(queue, operation) => self.rt.post_in_turn(self.queues[queue.0 as usize], operation),
            }
        }
        let (_, word) = self.rt.serve(self.site)?;
        Some(Event::of(word))
    }
}
