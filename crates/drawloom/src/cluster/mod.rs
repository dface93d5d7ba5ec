//! Clusters: nodes, networks, clocks, storage and faults, whose events are choices of the schedule.
//!
//! A [`Node`] is a state machine without I/O: it is told what has happened, and says what it does about it. A message in flight, a
//! timer, a crash, a partition is a choice like any other: strategies order them, exhaustive exploration goes through all orders that make a
//! difference, a failure is replayed and minimised.
//!
//! ```
//! use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId};
//!
//! #[derive(Clone, Debug)]
//! enum Message {
//!     Add(u32),
//!     Sum(u32),
//! }
//!
//! #[derive(Default)]
//! struct Counter(u32);
//!
//! impl Node<Message> for Counter {
//!     fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
//!         if let Message::Add(n) = message {
//!             self.0 += n; // nothing remembers which requests were served already
//!             cx.send(from, Message::Sum(self.0));
//!         }
//!     }
//! }
//!
//! struct Client(NodeId);
//!
//! impl Node<Message> for Client {
//!     fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
//!         cx.send(self.0, Message::Add(1));
//!     }
//!     fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
//!         assert!(matches!(message, Message::Sum(1)), "added twice: {message:?}");
//!     }
//! }
//!
//! let exploration = drawloom::explore(drawloom::Config::new(), || {
//!     let mut cluster = Cluster::new();
//!     let counter = cluster.node("counter", || Counter(0));
//!     cluster.client("client", move || Client(counter));
//!     cluster.faults(Faults::none().duplicates(1));
//!     cluster.run();
//! });
//! assert!(exploration.findings()[0].message().contains("added twice: Sum(2)"));
//! ```
//!
//! # What is a choice
//!
//! - Each message in flight is one: it may arrive at any time, so reordering is free; and so is loss, as far as safety goes, since a
//!   message that arrives after everything else is as good as lost.
//! - Each timer that is set is one under an [elastic](Clock::Elastic) clock, the default: a timeout may come before the reply. The timers
//!   of one node fire in the order of their deadlines.
//! - Each fault of the [budget](Faults) is one. Which node or link it hits is chosen first; when it strikes is a choice among all
//!   others. A fault that comes last did not happen.
//! - [`Ctx::choose`] is one.
//!
//! An event and all that the node does about it is one step. Events at different nodes commute, so that an exhaustive exploration makes
//! one execution for all their orders.
//!
//! # Ordinary code
//!
//! What is no state machine runs as a [pod](pods): tasks with blocking calls, in which each operation is a choice.
//!
//! # Outside an exploration
//!
//! A cluster that runs in an ordinary test takes everything as it comes: messages in the order in which they were sent, timers when
//! nothing else is left, no faults.

mod direct;
mod host;
pub mod pods;
#[cfg(feature = "check")]
pub mod workload;

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use drawloom_sim::{
    Clock, Ctx, DiskError, Event, Faults, Happening, Harm, Holds, Host, Isolate, Loss, Mode, Node, NodeId, Place,
    Probe, QueueId, Shape, Stream, StreamEvent, StreamId, Timer, TimerId, Verdict, World,
};

#[cfg(feature = "check")]
use crate::history::{Model, Watch};
use crate::rt;

#[cfg(feature = "check")]
impl<H: Model + 'static> Isolate for Watch<H> {
    /// The same watch: it is meant to be shared.
    fn isolate(&self) -> Self {
        self.clone()
    }
}

/// A cluster: its nodes, possible faults, and invariants. It has all methods of [`drawloom_sim::Cluster`].
///
/// ```
/// use drawloom::cluster::{Cluster, Ctx, Node, NodeId};
///
/// struct Echo;
///
/// impl Node<String> for Echo {
///     fn on_message(&mut self, from: NodeId, message: String, cx: &mut Ctx<'_, String>) {
///         cx.send(from, message);
///     }
/// }
///
/// let mut cluster = Cluster::new();
/// cluster.node("echo", || Echo);
/// cluster.run(); // nobody sends anything
/// ```
pub struct Cluster<M>(drawloom_sim::Cluster<M>);

impl<M> Default for Cluster<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Cluster<M> {
    /// A cluster without nodes.
    pub fn new() -> Cluster<M> {
        Cluster(drawloom_sim::Cluster::new())
    }

    /// One run in which something else than an exploration decides what happens.
    #[track_caller]
    pub fn run_on(self, host: &mut dyn Host) -> World<M>
    where
        M: Clone + Debug + 'static,
    {
        self.0.run_on(host)
    }

    /// Watches what clients see: the first return that `model` does not explain is a finding. Nodes that are added with
    /// [`client_with`](drawloom_sim::Cluster::client_with) take the watch, and each start of one makes a
    /// [client](crate::history::Watch::client) of its own.
    ///
    /// Whether an operation returned before another one was called matters then, so events at clients are ordered with each other.
    #[cfg(feature = "check")]
    pub fn history<H: Model + Clone>(&mut self, model: H) -> Watch<H> {
        self.0.order_clients();
        Watch::of_events(model)
    }

    /// Runs until nothing is left that could happen; what is left then can be looked at.
    ///
    /// # Panics
    ///
    /// If an invariant is broken, or there is no end; and where a node panics.
    #[track_caller]
    pub fn run(self) -> World<M>
    where
        M: Clone + Debug + 'static,
    {
        match rt::current() {
            Some(rt) => {
                let mut host = host::Choices::new(rt, rt::site(Location::caller()), self.0.is_ordered());
                self.0.run_on(&mut host)
            }
            None => self.0.run_on(&mut direct::AsItComes::default()),
        }
    }
}

impl<M> Deref for Cluster<M> {
    type Target = drawloom_sim::Cluster<M>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<M> DerefMut for Cluster<M> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
