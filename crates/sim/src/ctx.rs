//! What the code of a node can do.

use std::any::Any;
use std::panic::Location;
use std::time::Duration;

use crate::clock::{Clock, TimerId};
use crate::event::Event;
use crate::host::Host;
use crate::id::NodeId;
use crate::network::Envelope;
use crate::random::Stream;
use crate::world::{NodeState, World, nodes_of};

/// The context through which a node handles an event: it sends, sets timers and stores.
///
/// All of it takes effect at once and together: nothing else happens before the code returns.
pub struct Ctx<'a, M> {
    pub(crate) world: &'a mut World<M>,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) me: NodeId,
}

impl<M> Ctx<'_, M> {
    fn state(&mut self) -> &mut NodeState<M> {
        &mut self.world.nodes[self.me.index()]
    }

    /// This node.
    #[inline]
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// All nodes of the cluster, this one included, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<M> {
        (0..self.world.nodes.len()).map(NodeId::from_index)
    }

    /// How often this node has started, this time included.
    pub fn starts(&self) -> u32 {
        self.world.nodes[self.me.index()].starts
    }

    /// Sends a datagram. It may arrive at any time, before or after others; and if there are such faults, twice, damaged, or never.
    ///
    /// # Panics
    ///
    /// If the cluster has no such node.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, to: NodeId, message: M) {
        if to.index() >= self.world.nodes.len() {
            self.unknown(to);
        }
        if !self.does() {
            return;
        }
        let slot = self.world.in_flight.put(Envelope { from: self.me, to, message, was_held: false });
        self.host.post(self.me, to, Event::Message(slot), Some(Location::caller()));
    }

    /// Sends the same to each of these, but not to this node itself.
    #[track_caller]
    pub fn send_all<'n>(&mut self, to: impl IntoIterator<Item = &'n NodeId>, message: &M)
    where
        M: Clone,
    {
        for to in to {
            if *to != self.me {
                self.send(*to, message.clone());
            }
        }
    }

    #[cold]
    #[track_caller]
    fn unknown(&self, to: NodeId) -> ! {
        let (me, all) = (self.world.name(self.me), nodes_of(self.world.nodes.len()));
        panic!("`{me}` sends to node {to}, but the cluster has only {all}")
    }

    /// The time of this node since the run began. It never runs backwards.
    #[inline]
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.world.now(self.me))
    }

    /// The wall clock of this node, since an epoch: it may jump ([`Faults::clock_jumps`](crate::Faults::clock_jumps)).
    pub fn wall_clock(&self) -> Duration {
        let state = &self.world.nodes[self.me.index()];
        let wall = i128::from(self.world.now(self.me)) + i128::from(state.wall_offset_ms) * 1_000_000;
        Duration::from_nanos(u64::try_from(wall.max(0)).unwrap_or(u64::MAX))
    }

    /// A timer fires `after` that time, with this tag. Under an elastic clock that may be at any moment; but the timers of a node fire in
    /// the order of their deadlines.
    #[track_caller]
    pub fn set_timer(&mut self, after: Duration, tag: u64) -> TimerId {
        let after = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let deadline = self.world.shown(self.me).saturating_add(after);
        let most = self.world.most_timers;
        let (me, clock) = (self.me, self.world.clock);
        let state = self.state();
        let id = state.timers.set(deadline, tag);
        match clock {
            Clock::Elastic if state.timers.posted < most => {
                state.timers.posted += 1;
                let queue = state.ticks;
                self.host.post_in_turn(queue, me, Event::Tick(me), Some(Location::caller()));
            }
            Clock::Bounded { .. } if state.timers.posted < most => {
                state.timers.posted += 1;
                if let Some(zone) = &mut self.world.zone {
                    zone.get_mut().set(me, id, after, deadline);
                }
            }
            Clock::Elastic | Clock::Bounded { .. } => self.world.timers_left_out += 1,
            Clock::Virtual => self.world.next_deadlines.push(std::cmp::Reverse((deadline, me, id))),
        }
        id
    }

    /// The timer does not fire any more. Whether it was still to.
    pub fn cancel_timer(&mut self, timer: TimerId) -> bool {
        if let Some(zone) = &mut self.world.zone {
            zone.get_mut().cancel(self.me, timer);
        }
        self.state().timers.cancel(timer)
    }

    /// One of `outcomes`, each of which an exploration tries. An exhaustive one has to order all events for it, unless it is in
    /// [`on_start`](crate::Node::on_start) when the run begins: [`Cluster::ordered`](crate::Cluster::ordered).
    ///
    /// # Panics
    ///
    /// If there are none.
    #[track_caller]
    pub fn choose(&mut self, outcomes: usize) -> usize {
        assert!(outcomes > 0, "a choice among no outcomes");
        if outcomes == 1 { 0 } else { self.host.choose_within(outcomes as u64) as usize }
    }

    /// Random numbers of this node: the same stream in every run, and no choices.
    pub fn random(&mut self) -> &mut Stream {
        &mut self.state().random
    }

    /// Stores a value, durably: no crash loses it (but one that loses [everything](crate::Loss::Everything)).
    pub fn save<T: Any + Clone>(&mut self, name: &'static str, value: T) {
        if !self.does() {
            return;
        }
        let store = &mut self.state().store;
        store.write(name, value);
        store.sync();
    }

    /// Writes a value that may be lost in a crash ([`Loss::Unsynced`](crate::Loss::Unsynced)) until it is [synced](Self::sync).
    pub fn write<T: Any + Clone>(&mut self, name: &'static str, value: T) {
        if !self.does() {
            return;
        }
        self.state().store.write(name, value);
    }

    /// Everything written so far is durable now.
    pub fn sync(&mut self) {
        if !self.does() {
            return;
        }
        self.state().store.sync();
    }

    /// The value last stored under a name.
    ///
    /// # Panics
    ///
    /// If it is of another type.
    #[track_caller]
    pub fn load<T: Any + Clone>(&self, name: &'static str) -> Option<T> {
        self.world.nodes[self.me.index()].store.read(name)
    }
}
