//! A cluster in an exploration: the scheduler decides.

use drawloom_engine::notes::{Happening as Noted, MOST_NODES, NODE_AT};
use drawloom_sim::{Event, Happening, Host, NodeId, Place, QueueId};

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, Site, TaskId};

/// Places further apart than so many lines may change numbers with each other.
const MOST_PLACES: u32 = 97;

/// So many places at most are numbered before the queues of streams.
const FIRST_STREAM: u32 = 1_000;

/// What reports call who makes faults.
const FAULTS: &str = "faults";

/// What may happen is a task of the environment each, or one for events that happen in turn.
pub(super) struct Choices {
    rt: Handle,
    site: Site,
    /// All events are ordered.
    is_ordered: bool,
    nodes: Vec<Named>,
    /// How many nodes other clusters of this execution had.
    first: usize,
    /// Steps up to the last event, itself included.
    steps: usize,
    queues: Vec<TaskId>,
    /// How many of them there were when the run began; and by node, how many it has made since.
    first_queues: u32,
    streams: Vec<u32>,
    /// By node: places at which it has sent something, each with its number there and the task that what is sent there is named after.
    places: Vec<Vec<(Place, u32, TaskId)>>,
    /// What was posted before anything happened: nothing may be left to happen while nodes start, since a start may choose.
    at_first: Option<Vec<Posted>>,
}

/// What was posted, and by whom or in which queue.
enum Posted {
    By(NodeId, Place, Operation),
    InTurn(QueueId, Operation),
}

/// A node, as the engine knows it.
#[derive(Clone, Copy)]
struct Named {
    /// The task that what it causes is named after.
    task: TaskId,
    resource: ResourceId,
}

impl Choices {
    pub(super) fn new(rt: Handle, site: Site, is_ordered: bool) -> Self {
        let first = rt.with_engine(|engine| engine.notes().nodes().len());
        Choices {
            rt,
            site,
            is_ordered,
            nodes: Vec::new(),
            first,
            steps: 0,
            first_queues: 0,
            streams: Vec::new(),
            queues: Vec::new(),
            places: Vec::new(),
            at_first: Some(Vec::new()),
        }
    }

    #[inline]
    fn happens(&self, at: NodeId, event: Event, place: Place) -> Operation {
        let site = place.map_or(self.site, rt::site);
        let kind = if matches!(event, Event::Fault(_)) { OpKind::Strike } else { OpKind::Happen };
        // The engine does not look into it, but for whose lane it is in.
        let lane = if kind == OpKind::Strike { self.nodes.len() } else { at.index() };
        let word = event.word() | ((self.first + lane) as u64 & u64::from(MOST_NODES)) << NODE_AT;
        Operation::new(kind, self.nodes[at.index()].resource, site).with_arg(word)
    }
}

impl Choices {
    /// What a node sends is numbered at each place on its own, and the place by its line: if a heartbeat less is sent, all else keeps its
    /// name, and a shorter execution can be told from this one.
    #[inline]
    fn post_at(&mut self, by: NodeId, place: Place, operation: Operation) {
        let places = &self.places[by.index()];
        let known = places.iter().find(|(known, ..)| *known == place).map(|(.., parent)| *parent);
        let parent = known.unwrap_or_else(|| self.know(by, place));
        self.rt.post(parent, operation);
    }

    #[cold]
    fn know(&mut self, by: NodeId, place: Place) -> TaskId {
        let places = &mut self.places[by.index()];
        let mut number = place.map_or(0, |place| place.line() % MOST_PLACES);
        while places.iter().any(|(_, taken, _)| *taken == number) {
            number += 1;
        }
        // Its queues have the first numbers, and are all there.
        let parent = self.rt.create_queue_as(self.nodes[by.index()].task, self.first_queues + 1 + number);
        places.push((place, number, parent));
        parent
    }
}

impl Host for Choices {
    fn add_node(&mut self, _: NodeId, name: &str, with: Option<NodeId>) {
        let (task, resource) = self.rt.create_node(name, self.site);
        let resource = with.map_or(resource, |with| self.nodes[with.index()].resource);
        self.nodes.push(Named { task, resource });
        self.places.push(Vec::new());
        self.streams.push(0);
    }

    fn choose(&mut self, outcomes: u64) -> u64 {
        self.rt.choose(outcomes, self.site)
    }

    fn choose_within(&mut self, outcomes: u64) -> u64 {
        if self.at_first.is_some() {
            return self.rt.choose(outcomes, self.site);
        }
        let is_mistake = !self.is_ordered && self.rt.with_engine(|engine| engine.note_unmovable_choice());
        assert!(
            !is_mistake,
            "a node chooses during an event: to explore that exhaustively, events at different nodes must be \
             ordered. Call `cluster.ordered()`, or choose in `on_start`"
        );
        self.rt.choose_within(outcomes).unwrap_or_else(|| {
            panic!("a choice of {outcomes} outcomes: a node can make 4 choices of up to 256 outcomes in one event")
        })
    }

    #[inline]
    fn post(&mut self, by: NodeId, at: NodeId, event: Event, place: Place) {
        let operation = self.happens(at, event, place);
        match &mut self.at_first {
            Some(posted) => posted.push(Posted::By(by, place, operation)),
            None => self.post_at(by, place, operation),
        }
    }

    fn queue(&mut self, by: NodeId) -> QueueId {
        let node = self.nodes[by.index()].task;
        let queue = match self.at_first {
            Some(_) => self.rt.create_queue(node),
            // Behind those that were there at first, and behind all places.
            None => {
                let streams = &mut self.streams[by.index()];
                *streams += 1;
                self.rt.create_queue_as(node, self.first_queues + FIRST_STREAM + *streams)
            }
        };
        self.queues.push(queue);
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
    fn refuses(&mut self) -> Option<String> {
        // The code of a node makes no steps of its own.
        let step = self.rt.with_engine(|engine| engine.steps().get(self.steps).copied())?;
        let at = rt::location(step.site).map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let what = step.kind.word();
        Some(format!(
            "the code of a node makes an operation that other tasks could observe: `{what}`{at}. A node is a \
             state machine without threads, locks and clocks: it receives events, and sends, stores and sets \
             timers through its `Ctx`"
        ))
    }

    #[inline]
    fn wants_notes(&self) -> bool {
        self.rt.with_engine(|engine| engine.wants_notes())
    }

    fn note(&mut self, what: Happening, from: Option<NodeId>, text: &str) {
        let what = match what {
            Happening::Arrived => Noted::Arrives,
            Happening::Lost => Noted::IsLost,
            Happening::Fired => Noted::Own,
            Happening::Struck => Noted::Fault,
            Happening::Nothing => Noted::Nothing,
        };
        let from = from.map(|from| (self.first + from.index()) as u32);
        self.rt.with_engine(|engine| engine.note_happened(what, from, text));
    }

    fn expect_faults(&mut self) {
        // They have a lane of their own.
        self.rt.create_node(FAULTS, self.site);
    }

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if self.at_first.is_some() {
            self.first_queues = self.queues.len() as u32;
        }
        for posted in self.at_first.take().into_iter().flatten() {
            match posted {
                Posted::By(by, place, operation) => self.post_at(by, place, operation),
                Posted::InTurn(queue, operation) => self.rt.post_in_turn(self.queues[queue.0 as usize], operation),
            }
        }
        let (_, word) = self.rt.serve(self.site)?;
        self.steps = self.rt.with_engine(|engine| engine.steps().len());
        Some(Event::of(word & !(u64::from(MOST_NODES) << NODE_AT)))
    }
}
