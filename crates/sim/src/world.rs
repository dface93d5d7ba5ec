//! The state of one run.

use std::any::Any;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;
use std::panic::Location;

use crate::clock::{Clock, TimerId, Timers};
use crate::cluster::{Corrupter, Factory, Goal, Invariant, Rule};
use crate::ctx::Ctx;
use crate::drift::Zone;
use crate::event::Event;
use crate::fault::Action;
use crate::files::Disk;
use crate::host::{Host, QueueId};
use crate::id::NodeId;
use crate::log::{Log, What};
use crate::midway::Faltering;
use crate::network::{Envelope, InFlight};
use crate::node::Node;
use crate::partition::Mode;
use crate::random::Stream;
use crate::store::Store;
use crate::stream::Connection;

/// `1 node: n0`, `3 nodes: n0 to n2`
pub(crate) fn nodes_of(many: usize) -> String {
    match many {
        1 => "1 node: n0".to_owned(),
        _ => format!("{many} nodes: n0 to n{}", many - 1),
    }
}

/// Messages can be long, and the chart has all of them.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A node, as it stands.
pub(crate) struct NodeState<M> {
    pub(crate) name: String,
    pub(crate) factory: Factory<M>,
    pub(crate) is_client: bool,
    /// Its code; none while it is down, or runs.
    pub(crate) code: Option<Box<dyn Node<M>>>,
    pub(crate) is_up: bool,
    pub(crate) is_paused: bool,
    pub(crate) starts: u32,
    pub(crate) timers: Timers,
    /// Where its ticks are posted.
    pub(crate) ticks: QueueId,
    pub(crate) random: Stream,
    pub(crate) store: Store,
    pub(crate) disk: Disk,
    pub(crate) wall_offset_ms: i64,
    /// Whom it does not hear, how often that was said, and what becomes of messages.
    pub(crate) deaf_to: Vec<(NodeId, Mode)>,
    /// What has arrived and waits for the node to resume, or for a link to heal.
    pub(crate) held: Vec<Envelope<M>>,
    /// What waits for the rule of the test.
    pub(crate) held_by_rule: Vec<Envelope<M>>,
    pub(crate) ticks_held: u32,
    /// What its next messages meet.
    pub(crate) duplicates: u32,
    pub(crate) losses: u32,
    pub(crate) corruptions: u32,
    pub(crate) resets: u32,
    /// It will break off in the midst of what it does.
    pub(crate) falters: Option<Faltering>,
    /// Ports that it listens to, and where it was told to.
    pub(crate) listens: Vec<(u16, &'static Location<'static>)>,
}

/// The state of one run: what an invariant sees, and what is left in the end.
pub struct World<M> {
    pub(crate) nodes: Vec<NodeState<M>>,
    pub(crate) in_flight: InFlight<M>,
    pub(crate) connections: Vec<Connection<M>>,
    pub(crate) clock: Clock,
    /// Where clocks drift within a bound: the times that events can have had.
    pub(crate) zone: Option<RefCell<Zone>>,
    pub(crate) most_timers: u32,
    /// Timers that were set beyond that, and never fire.
    pub(crate) timers_left_out: u64,
    /// Under one clock for all: when what is set.
    pub(crate) next_deadlines: BinaryHeap<Reverse<(u64, NodeId, TimerId)>>,
    pub(crate) now: u64,
    pub(crate) most_events: u64,
    pub(crate) events: u64,
    pub(crate) invariants: Vec<Invariant<M>>,
    pub(crate) corrupter: Option<Corrupter<M>>,
    pub(crate) rule: Option<Rule<M>>,
    pub(crate) goal: Option<Goal<M>>,
    /// When faults stopped.
    pub(crate) healed: Option<u64>,
    pub(crate) actions: Vec<(NodeId, Action)>,
    pub(crate) log: Log<M>,
}

// What tests ask.
impl<M> World<M> {
    /// The code of a node, if it is up.
    ///
    /// # Panics
    ///
    /// If it is of another type.
    #[track_caller]
    pub fn get<N: Node<M>>(&self, node: NodeId) -> Option<&N> {
        let code: &dyn Any = self.nodes[node.index()].code.as_deref()?;
        let code = code.downcast_ref::<N>();
        Some(code.unwrap_or_else(|| {
            panic!("node `{}` is no `{}`", self.name(node), std::any::type_name::<N>());
        }))
    }

    /// All nodes of a type that are up.
    pub fn all<N: Node<M>>(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.nodes.iter().enumerate().filter_map(|(at, state)| {
            let code: &dyn Any = state.code.as_deref()?;
            Some((NodeId::from_index(at), code.downcast_ref::<N>()?))
        })
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// Whether a node is up.
    pub fn is_up(&self, node: NodeId) -> bool {
        self.nodes[node.index()].is_up
    }

    /// The value that a node has stored under a name.
    ///
    /// # Panics
    ///
    /// If it is of another type.
    #[track_caller]
    pub fn stored<T: Any + Clone>(&self, node: NodeId, name: &'static str) -> Option<T> {
        self.nodes[node.index()].store.read(name)
    }

    /// How many events there have been.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Timers that were set beyond `Cluster::timers`, and never fired.
    pub fn timers_left_out(&self) -> u64 {
        self.timers_left_out
    }

    /// The same without that anybody reads it.
    pub(crate) fn shown(&self, node: NodeId) -> u64 {
        match &self.zone {
            Some(zone) => self.nodes[node.index()].timers.now.max(zone.borrow().shown()),
            None => self.now(node),
        }
    }

    /// What a node takes the time to be, in nanoseconds.
    #[inline]
    pub(crate) fn now(&self, node: NodeId) -> u64 {
        match self.clock {
            Clock::Elastic => self.nodes[node.index()].timers.now,
            Clock::Virtual => self.now,
            Clock::Bounded { .. } => {
                let read = self.zone.as_ref().map_or(0, |zone| zone.borrow_mut().read());
                self.nodes[node.index()].timers.now.max(read)
            }
        }
    }

    /// The `number`-th event, from 0, in words; the first 1,000 are available.
    pub fn tell(&self, number: usize) -> Option<String>
    where
        M: Debug,
    {
        self.log.tell(number, &|node| self.name(node).to_owned())
    }
}

// What happens.
impl<M: Clone + Debug + 'static> World<M> {
    /// Until nothing is left that could happen; or until something is wrong, and what.
    pub(crate) fn run(&mut self, host: &mut dyn Host) -> Result<(), String> {
        self.check()?;
        self.let_time_pass(host);
        loop {
            while let Some(event) = host.next() {
                self.happen(event, host)?;
            }
            if self.has_arrived(host)? {
                return Ok(());
            }
        }
    }

    pub(crate) fn happen(&mut self, event: Event, host: &mut dyn Host) -> Result<(), String> {
        self.events += 1;
        if self.events > self.most_events {
            let most = self.most_events;
            return Err(format!(
                "the cluster is still active after {most} events: raise `events`, or set fewer timers"
            ));
        }
        match event {
            Event::Message(slot) => self.arrive(slot, host),
            Event::Tick(node) => self.tick(node, host),
            Event::Rejected(slot) => self.reject(slot, host),
            Event::Chunk(end) => self.chunk_arrives(end, host),
            Event::Release(node) => {
                self.note(host, node, || What::Released);
                self.let_go(node, host);
            }
            Event::Fault(number) => self.strike(number, host),
        }
        self.let_time_pass(host);
        match host.refuses() {
            Some(why) => Err(why),
            None => self.check(),
        }
    }

    /// Takes note of what has happened.
    #[inline]
    pub(crate) fn note(&mut self, host: &mut dyn Host, at: NodeId, what: impl FnOnce() -> What<M>) {
        if !host.wants_notes() {
            return self.log.note(at, what);
        }
        let what = what();
        let (sort, from, text) = what.parts(at, &|node| self.name(node).to_owned());
        host.note(sort, from, &text);
        self.log.note(at, || what);
    }

    /// Runs code of a node.
    #[inline]
    pub(crate) fn with_code(
        &mut self,
        me: NodeId,
        host: &mut dyn Host,
        act: impl FnOnce(&mut dyn Node<M>, &mut Ctx<'_, M>),
    ) {
        let Some(mut code) = self.nodes[me.index()].code.take() else { return };
        if self.nodes[me.index()].falters.is_some() {
            return self.with_faltering_code(me, code, host, act);
        }
        act(&mut *code, &mut Ctx { world: self, host, me });
        self.nodes[me.index()].code = Some(code);
    }

    pub(crate) fn start(&mut self, node: NodeId, host: &mut dyn Host) {
        let state = &mut self.nodes[node.index()];
        state.code = Some((state.factory)());
        (state.is_up, state.starts) = (true, state.starts + 1);
        self.with_code(node, host, |code, cx| code.on_start(cx));
    }

    /// Which invariant is broken, if one is.
    pub(crate) fn check(&self) -> Result<(), String> {
        for invariant in &self.invariants {
            if let Some(what) = (invariant.check)(self) {
                let (name, number) = (&invariant.name, self.events);
                let last = (number as usize).checked_sub(1).and_then(|last| self.tell(last));
                let what = if what.is_empty() { String::new() } else { format!(": {what}") };
                let last = last.map(|last| shortened(&last));
                let after = last.map_or("at the beginning".to_owned(), |last| format!("after \"{last}\""));
                return Err(format!("invariant \"{name}\" is broken {after}{what}"));
            }
        }
        Ok(())
    }

    /// Whether a node is a client.
    pub fn is_client(&self, node: NodeId) -> bool {
        self.nodes[node.index()].is_client
    }
}
