//! What there is in a cluster, and what may happen to it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::Location;
use std::time::Duration;

use crate::clock::Clock;
use crate::fault::Faults;
use crate::host::Host;
use crate::id::NodeId;
use crate::invariant::Holds;
use crate::node::{Isolate, Node};
use crate::world::World;

pub(crate) type Factory<M> = Box<dyn Fn() -> Box<dyn Node<M>>>;
pub(crate) type Check<M> = Box<dyn Fn(&World<M>) -> Option<String>>;
pub(crate) type Rule<M> = Box<dyn Fn(NodeId, NodeId, &M) -> Verdict>;
pub(crate) type Corrupter<M> = Box<dyn Fn(&mut M, &mut dyn FnMut(u64) -> u64)>;

/// The decision of a [rule](Cluster::rule) about a message that is about to arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It arrives.
    Deliver,
    /// It is lost.
    Drop,
    /// It arrives, and once more at any time after.
    Duplicate,
    /// It is lost, and from now on so is everything over this link, in this direction.
    Cut,
    /// It waits until a message that meets [`Release`](Self::Release) lets it go, or until faults have stopped
    /// ([`Cluster::converges`]). If nobody does, it never arrives.
    Hold,
    /// It arrives, and lets go all that the rule holds at this node, now or by the time that word of it gets there: each message of
    /// it arrives at any time after that, and the rule is not asked again.
    Release(NodeId),
}

/// What must come true when faults have stopped.
pub(crate) struct Goal<M> {
    pub(crate) name: String,
    pub(crate) within: Duration,
    pub(crate) check: Check<M>,
}

/// A node to be.
pub(crate) struct Member<M> {
    pub(crate) name: String,
    pub(crate) factory: Factory<M>,
    pub(crate) is_client: bool,
}

/// A fact that must hold after every event.
pub(crate) struct Invariant<M> {
    pub(crate) name: String,
    pub(crate) check: Check<M>,
}

/// A cluster: its nodes, possible faults, and invariants.
pub struct Cluster<M> {
    pub(crate) members: Vec<Member<M>>,
    /// What nodes are called, and where they were added.
    names: BTreeMap<String, &'static Location<'static>>,
    pub(crate) faults: Faults,
    /// Where that was said.
    pub(crate) faults_at: Option<&'static Location<'static>>,
    pub(crate) clock: Clock,
    pub(crate) most_timers: u32,
    pub(crate) most_events: u64,
    pub(crate) invariants: Vec<Invariant<M>>,
    pub(crate) is_ordered: bool,
    pub(crate) clients_are_ordered: bool,
    pub(crate) corrupter: Option<Corrupter<M>>,
    pub(crate) survives: Option<u32>,
    pub(crate) rule: Option<Rule<M>>,
    pub(crate) goal: Option<Goal<M>>,
}

impl<M> Default for Cluster<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Cluster<M> {
    /// A cluster without nodes.
    pub fn new() -> Cluster<M> {
        Cluster {
            members: Vec::new(),
            names: BTreeMap::new(),
            faults: Faults::none(),
            faults_at: None,
            clock: Clock::default(),
            most_timers: 16,
            most_events: 1_000_000,
            invariants: Vec::new(),
            is_ordered: false,
            clients_are_ordered: false,
            corrupter: None,
            survives: None,
            rule: None,
            goal: None,
        }
    }

    /// Adds a node, whose code `make` makes: when the run begins, and whenever the node restarts.
    ///
    /// `make` can capture only what is `Copy`, so that no node holds the memory of another one. For all else there is
    /// [`node_with`](Self::node_with).
    ///
    /// ```compile_fail
    /// use std::{cell::RefCell, rc::Rc};
    /// use drawloom_sim::{Cluster, Ctx, Node, NodeId};
    ///
    /// struct Counter(Rc<RefCell<u32>>);
    /// impl Node<()> for Counter {
    ///     fn on_message(&mut self, _: NodeId, _: (), _: &mut Ctx<'_, ()>) {
    ///         *self.0.borrow_mut() += 1;
    ///     }
    /// }
    ///
    /// let shared = Rc::new(RefCell::new(0)); // the memory of both: no cluster has that
    /// let mut cluster = Cluster::new();
    /// let (of_a, of_b) = (shared.clone(), shared);
    /// cluster.node("a", move || Counter(of_a.clone())); // error: the closure is not `Copy`
    /// cluster.node("b", move || Counter(of_b.clone()));
    /// ```
    ///
    /// # Panics
    ///
    /// If another node has that name; so do the other functions that add one.
    #[track_caller]
    pub fn node<N: Node<M>>(&mut self, name: impl Into<String>, make: impl Fn() -> N + Copy + 'static) -> NodeId {
        self.add(name.into(), Box::new(move || Box::new(make())), false)
    }

    /// As [`node`](Self::node), with a configuration, of which every start gets a copy that shares nothing.
    #[track_caller]
    pub fn node_with<N: Node<M>, C: Isolate>(
        &mut self,
        name: impl Into<String>,
        config: C,
        make: impl Fn(C) -> N + Copy + 'static,
    ) -> NodeId {
        self.add(name.into(), Box::new(move || Box::new(make(config.isolate()))), false)
    }

    /// As [`node`](Self::node), of a client: no fault of nodes or links hits it, unless it is named.
    #[track_caller]
    pub fn client<N: Node<M>>(&mut self, name: impl Into<String>, make: impl Fn() -> N + Copy + 'static) -> NodeId {
        self.add(name.into(), Box::new(move || Box::new(make())), true)
    }

    /// As [`node_with`](Self::node_with), of a client.
    #[track_caller]
    pub fn client_with<N: Node<M>, C: Isolate>(
        &mut self,
        name: impl Into<String>,
        config: C,
        make: impl Fn(C) -> N + Copy + 'static,
    ) -> NodeId {
        self.add(name.into(), Box::new(move || Box::new(make(config.isolate()))), true)
    }

    /// The node that is added next.
    pub fn next_id(&self) -> NodeId {
        NodeId::from_index(self.members.len())
    }

    #[track_caller]
    fn add(&mut self, name: String, factory: Factory<M>, is_client: bool) -> NodeId {
        if let Some(at) = self.names.insert(name.clone(), Location::caller()) {
            panic!("two nodes are called `{name}`: the other one was added at {}:{}", at.file(), at.line());
        }
        let id = self.next_id();
        self.members.push(Member { name, factory, is_client });
        id
    }

    /// Sets the faults that may strike.
    #[track_caller]
    pub fn faults(&mut self, faults: Faults) -> &mut Self {
        (self.faults, self.faults_at) = (faults, Some(Location::caller()));
        self
    }

    /// The protocol is said to survive so many nodes that are down at once: a larger budget of crashes is refused.
    pub fn survives(&mut self, crashes: u32) -> &mut Self {
        self.survives = Some(crashes);
        self
    }

    /// How time passes. By default a timer may fire at any time.
    pub fn clock(&mut self, clock: Clock) -> &mut Self {
        self.clock = clock;
        self
    }

    /// The most timers that fire at each node, under an elastic clock; 16 by default.
    pub fn timers(&mut self, most: u32) -> &mut Self {
        self.most_timers = most;
        self
    }

    /// The most events in a run, 1,000,000 by default: a run with more counts as endless.
    pub fn events(&mut self, most: u64) -> &mut Self {
        self.most_events = most;
        self
    }

    /// A fact that holds after every event, of the state of all nodes at that moment.
    ///
    /// Events at different nodes are then ordered: an exhaustive exploration would else look at one of many orders of events that
    /// commute, and miss moments. If the fact, once broken, stays broken, [`stable_invariant`](Self::stable_invariant) explores less.
    pub fn invariant<H: Holds>(
        &mut self,
        name: impl Into<String>,
        holds: impl Fn(&World<M>) -> H + 'static,
    ) -> &mut Self {
        self.is_ordered = true;
        self.stable_invariant(name, holds)
    }

    /// A fact that holds after every event and that, once broken, stays broken: of decisions that were made, entries that were
    /// committed, replies that were given. Then it is enough to look at one of the orders of events that commute.
    pub fn stable_invariant<H: Holds>(
        &mut self,
        name: impl Into<String>,
        holds: impl Fn(&World<M>) -> H + 'static,
    ) -> &mut Self {
        let check = Box::new(move |world: &World<M>| holds(world).broken());
        self.invariants.push(Invariant { name: name.into(), check });
        self
    }

    /// When everything has happened that may, faults stop for good: links heal, nodes resume, and those that are down restart. From then on all
    /// nodes have one clock, and each message arrives before any timer fires. The fact must come true `within` this simulated time; it is
    /// looked at whenever only time is left to pass.
    ///
    /// So a protocol that gets stuck, or that needs a message that was lost, is found, which no invariant says. Timers may fire as often as
    /// nodes set them, whatever [`timers`](Self::timers) says.
    pub fn converges<H: Holds>(
        &mut self,
        name: impl Into<String>,
        within: Duration,
        holds: impl Fn(&World<M>) -> H + 'static,
    ) -> &mut Self {
        let check = Box::new(move |world: &World<M>| holds(world).broken());
        self.goal = Some(Goal { name: name.into(), within, check });
        self
    }

    /// How a message is [corrupted](Faults::corruptions): `corrupt` changes it, and draws what it needs from the function that it is given,
    /// which chooses one of so many outcomes.
    pub fn corrupts(&mut self, corrupt: impl Fn(&mut M, &mut dyn FnMut(u64) -> u64) + 'static) -> &mut Self {
        self.corrupter = Some(Box::new(corrupt));
        self
    }

    /// A rule for messages that are about to arrive, for scripted tests: from whom, to whom, what.
    ///
    /// It should look at nothing else: what it remembers of messages to other nodes depends on the order of events that commute.
    ///
    /// ```
    /// # use drawloom_sim::{Cluster, NodeId, Verdict};
    /// # #[derive(Clone, Debug)] enum Message { Append, Elected }
    /// # fn scripted(cluster: &mut Cluster<Message>, follower: NodeId, leader: NodeId) {
    /// // The entry reaches the follower after the election, not before.
    /// cluster.rule(move |_, to, message| match message {
    ///     Message::Append if to == follower => Verdict::Hold,
    ///     Message::Elected if to == leader => Verdict::Release(follower),
    ///     _ => Verdict::Deliver,
    /// });
    /// # }
    /// ```
    pub fn rule(&mut self, rule: impl Fn(NodeId, NodeId, &M) -> Verdict + 'static) -> &mut Self {
        self.rule = Some(Box::new(rule));
        self
    }

    /// Events at different nodes are ordered: an exhaustive exploration makes an execution for each of their orders. Needed if nodes
    /// [choose](crate::Ctx::choose) in the midst of events.
    pub fn ordered(&mut self) -> &mut Self {
        self.is_ordered = true;
        self
    }

    /// Events at different clients are ordered with each other, as by [`ordered`](Self::ordered); those at other nodes are not.
    pub fn order_clients(&mut self) -> &mut Self {
        self.clients_are_ordered = true;
        self
    }

    /// Whether events at different nodes have to be ordered, since an invariant looks at all of them at once, or clocks are bound to each
    /// other.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered || self.clock.is_bounded()
    }

    /// One run, in which `host` decides what happens, until nothing is left that could.
    ///
    /// # Panics
    ///
    /// If an invariant is broken, or there is no end; and where a node panics.
    #[track_caller]
    pub fn run_on(self, host: &mut dyn Host) -> World<M>
    where
        M: Clone + Debug + 'static,
    {
        let mut world = World::new(self, host);
        if let Err(wrong) = world.run(host) {
            panic!("{wrong}");
        }
        world
    }
}
