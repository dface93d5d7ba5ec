//! The state of one run.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use crate::clock::{Clock, TimerId, Timers};
use crate::cluster::{Cluster, Corrupter, Factory, Goal, Invariant, Rule, Verdict};
use crate::ctx::Ctx;
use crate::event::Event;
use crate::fault::{Action, Fault, LEFT, Loss};
use crate::host::{Host, QueueId};
use crate::id::NodeId;
use crate::log::{Log, What};
use crate::network::{Envelope, InFlight};
use crate::node::Node;
use crate::partition::Mode;
use crate::random::Stream;
use crate::store::Store;

/// `1 node: n0`, `3 nodes: n0 to n2`
pub(crate) fn nodes_of(many: usize) -> String {
    match many {
        1 => "1 node: n0".to_owned(),
        _ => format!("{many} nodes: n0 to n{}", many - 1),
    }
}

/// What happens to a message that arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Arrives,
    Lost(&'static str),
    Waits,
    IsRejected,
}

/// A node, as it stands.
pub(crate) struct NodeState<M> {
    name: String,
    factory: Factory<M>,
    is_client: bool,
    /// Its code; none while it is down, or runs.
    code: Option<Box<dyn Node<M>>>,
    is_up: bool,
    is_paused: bool,
    pub(crate) starts: u32,
    pub(crate) timers: Timers,
    /// Where its ticks are posted.
    pub(crate) ticks: QueueId,
    pub(crate) random: Stream,
    pub(crate) store: Store,
    pub(crate) wall_offset_ms: i64,
    /// Whom it does not hear, how often that was said, and what becomes of messages.
    deaf_to: Vec<(NodeId, Mode)>,
    /// What has arrived and waits for the node to resume, or for a link to heal.
    held: Vec<Envelope<M>>,
    ticks_held: u32,
    /// What its next messages meet.
    duplicates: u32,
    losses: u32,
    corruptions: u32,
}

/// The state of one run: what an invariant sees, and what is left in the end.
pub struct World<M> {
    pub(crate) nodes: Vec<NodeState<M>>,
    pub(crate) in_flight: InFlight<M>,
    pub(crate) clock: Clock,
    pub(crate) most_timers: u32,
    /// Timers that were set beyond that, and never fire.
    pub(crate) timers_left_out: u64,
    /// Under one clock for all: when what is set.
    pub(crate) next_deadlines: BinaryHeap<Reverse<(u64, NodeId, TimerId)>>,
    now: u64,
    most_events: u64,
    events: u64,
    invariants: Vec<Invariant<M>>,
    corrupter: Option<Corrupter<M>>,
    rule: Option<Rule<M>>,
    goal: Option<Goal<M>>,
    /// When faults stopped.
    healed: Option<u64>,
    actions: Vec<(NodeId, Action)>,
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

    /// What a node has stored under a name.
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

    /// Timers that were set beyond [`Cluster::timers`], and never fired.
    pub fn timers_left_out(&self) -> u64 {
        self.timers_left_out
    }

    /// What a node takes the time to be, in nanoseconds.
    #[inline]
    pub(crate) fn now(&self, node: NodeId) -> u64 {
        match self.clock {
            Clock::Elastic => self.nodes[node.index()].timers.now,
            Clock::Virtual => self.now,
        }
    }

    /// What the `number`-th event was, from 0, in words; the first 1,000 are kept.
    pub fn tell(&self, number: usize) -> Option<String>
    where
        M: Debug,
    {
        self.log.tell(number, &|node| self.name(node).to_owned())
    }
}

// The beginning.
impl<M: Clone + Debug + 'static> World<M> {
    #[track_caller]
    pub(crate) fn new(cluster: Cluster<M>, host: &mut dyn Host) -> World<M> {
        let Cluster { members, faults, clock, most_timers, most_events, invariants, .. } = cluster;
        let Cluster { is_ordered, clients_are_ordered, corrupter, survives, rule, goal, faults_at, .. } = cluster;
        assert!(!members.is_empty(), "a cluster without nodes: add some with `node` before it runs");
        let at = faults_at.map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        let down = faults.crashes + faults.stops;
        if let Some(survives) = survives.filter(|survives| down > *survives) {
            panic!(
                "{down} nodes may crash or stop{at}, but the protocol is said to survive only {survives} that are down"
            );
        }
        let can_corrupt = faults.corruptions == 0 || corrupter.is_some();
        assert!(can_corrupt, "messages may be corrupted{at}: say how, with `corrupts`");
        let all: Vec<NodeId> = (0..members.len()).map(NodeId::from_index).collect();
        let servers: Vec<NodeId> = all.iter().copied().filter(|node| !members[node.index()].is_client).collect();
        let mut nodes = Vec::with_capacity(members.len());
        let mut first_client = None;
        for (member, id) in members.into_iter().zip(&all) {
            let first = if clients_are_ordered && member.is_client { &mut first_client } else { &mut None };
            let with = if is_ordered { all.first().filter(|first| *first != id).copied() } else { *first };
            first.get_or_insert(*id);
            host.add_node(*id, &member.name, with);
            nodes.push(NodeState {
                name: member.name,
                factory: member.factory,
                is_client: member.is_client,
                code: None,
                is_up: false,
                is_paused: false,
                starts: 0,
                timers: Timers::default(),
                ticks: QueueId(0),
                random: Stream::new(u64::from(id.0)),
                store: Store::default(),
                wall_offset_ms: 0,
                deaf_to: Vec::new(),
                held: Vec::new(),
                ticks_held: 0,
                duplicates: 0,
                losses: 0,
                corruptions: 0,
            });
        }
        let draw = |host: &mut dyn Host, outcomes: u64| if outcomes < 2 { 0 } else { host.choose(outcomes) as usize };
        let certain = faults.certain;
        let mut chosen: Vec<Fault> = Vec::new();
        let kinds = faults.kinds(&all, &servers);
        if !kinds.is_empty() {
            host.expect_faults();
        }
        for kind in kinds {
            let unknown = kind.options.iter().flatten().find(|(node, _)| node.index() >= all.len());
            if let Some((node, action)) = unknown {
                let what = action.tell(&|node| node.to_string());
                let nodes = nodes_of(all.len());
                panic!("a fault{at} names node {node}, but the cluster has only {nodes}: \"{what}\"");
            }
            assert!(!kind.options.is_empty(), "{}{at} can hit nobody: {}", kind.what, kind.why_nobody);
            // Those before the last one that was chosen would be the same faults in another order.
            let mut from = 0;
            for _ in 0..kind.most {
                // One of them, or none any more: that is not as likely as all of them together, since a fault that comes last is as good
                // as none.
                let left = (kind.options.len() - from) as u64;
                match if certain { draw(host, left) + 1 } else { host.choose(left + 1) as usize } {
                    0 => break,
                    ahead => from += ahead - 1,
                }
                let mut fault = kind.options[from].clone();
                if let Some((_, Action::Crash(Loss::Unsynced, left) | Action::Reboot(Loss::Unsynced, left))) =
                    fault.first_mut()
                {
                    // Mostly everything is lost.
                    *left = if host.choose(2) == 0 { 0 } else { LEFT[host.choose(LEFT.len() as u64) as usize] };
                }
                chosen.push(fault);
            }
        }
        let mut world = World {
            nodes,
            in_flight: InFlight::new(),
            clock,
            most_timers,
            timers_left_out: 0,
            next_deadlines: BinaryHeap::new(),
            now: 0,
            most_events,
            events: 0,
            invariants,
            corrupter,
            rule,
            goal,
            healed: None,
            actions: Vec::new(),
            log: Log::new(),
        };
        for node in &all {
            world.nodes[node.index()].ticks = host.queue(*node);
        }
        for fault in chosen {
            let Some((first, _)) = fault.first() else { continue };
            let queue = host.queue(*first);
            for (node, action) in fault {
                let event = Event::Fault(world.actions.len() as u32);
                world.actions.push((node, action));
                host.post_in_turn(queue, node, event, None);
            }
        }
        for node in all {
            world.start(node, host);
        }
        world
    }
}

// What happens.
impl<M: Clone + Debug + 'static> World<M> {
    /// Until nothing is left that could happen; or until something is wrong, and what.
    pub(crate) fn run(&mut self, host: &mut dyn Host) -> Result<(), String> {
        self.check()?;
        loop {
            while let Some(event) = host.next() {
                self.happen(event, host)?;
            }
            if self.has_arrived(host)? {
                return Ok(());
            }
        }
    }

    /// Nothing is left that could happen without time. Whether that was all.
    fn has_arrived(&mut self, host: &mut dyn Host) -> Result<bool, String> {
        let Some(goal) = &self.goal else { return Ok(!self.time_passes(host)) };
        let Some(healed) = self.healed else {
            if !self.time_passes(host) {
                self.heal(host);
            }
            return Ok(false);
        };
        let Some(what) = (goal.check)(self) else { return Ok(true) };
        let (name, within) = (goal.name.clone(), goal.within);
        let what = if what.is_empty() { what } else { format!(": {what}") };
        if !self.time_passes(host) {
            return Err(format!(
                "\"{name}\" does not come true when faults have stopped, and nothing is left to happen{what}"
            ));
        }
        match u128::from(self.now - healed) > within.as_nanos() {
            true => Err(format!("\"{name}\" does not come true within {within:?} after faults have stopped{what}")),
            false => Ok(false),
        }
    }

    /// Faults stop, and all nodes have one clock from now on.
    #[cold]
    fn heal(&mut self, host: &mut dyn Host) {
        let of_nodes = self.nodes.iter().map(|state| state.timers.now).max().unwrap_or(0);
        (self.clock, self.now) = (Clock::Virtual, self.now.max(of_nodes));
        self.healed = Some(self.now);
        for node in (0..self.nodes.len()).map(NodeId::from_index) {
            let state = &mut self.nodes[node.index()];
            (state.is_paused, state.duplicates, state.losses, state.corruptions) = (false, 0, 0, 0);
            state.deaf_to.clear();
            let set = state.timers.all().map(|(deadline, id)| Reverse((deadline, node, id)));
            self.next_deadlines.extend(set);
            self.release(node, host);
        }
        for node in (0..self.nodes.len()).map(NodeId::from_index) {
            if !self.nodes[node.index()].is_up {
                self.start(node, host);
            }
        }
    }

    /// Nothing is left that could happen without time: lets the earliest timer of all fire. Whether there is one.
    fn time_passes(&mut self, host: &mut dyn Host) -> bool {
        while let Some(Reverse((deadline, node, _))) = self.next_deadlines.pop() {
            let state = &mut self.nodes[node.index()];
            if state.is_up && state.timers.earliest() == Some(deadline) {
                self.now = self.now.max(deadline);
                host.post(node, node, Event::Tick(node), None);
                return true;
            }
        }
        false
    }

    fn happen(&mut self, event: Event, host: &mut dyn Host) -> Result<(), String> {
        self.events += 1;
        if self.events > self.most_events {
            let most = self.most_events;
            return Err(format!(
                "the cluster has not come to rest after {most} events: raise `events`, or set fewer timers"
            ));
        }
        match event {
            Event::Message(slot) => self.arrive(slot, host),
            Event::Tick(node) => self.tick(node, host),
            Event::Rejected(slot) => self.reject(slot, host),
            Event::Fault(number) => self.strike(number, host),
        }
        match host.refuses() {
            Some(why) => Err(why),
            None => self.check(),
        }
    }

    /// Takes note of what has happened.
    #[inline]
    fn note(&mut self, host: &mut dyn Host, at: NodeId, what: impl FnOnce() -> What<M>) {
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
    fn with_code(&mut self, me: NodeId, host: &mut dyn Host, act: impl FnOnce(&mut dyn Node<M>, &mut Ctx<'_, M>)) {
        let Some(mut code) = self.nodes[me.index()].code.take() else { return };
        act(&mut *code, &mut Ctx { world: self, host, me });
        self.nodes[me.index()].code = Some(code);
    }

    fn start(&mut self, node: NodeId, host: &mut dyn Host) {
        let state = &mut self.nodes[node.index()];
        state.code = Some((state.factory)());
        (state.is_up, state.starts) = (true, state.starts + 1);
        self.with_code(node, host, |code, cx| code.on_start(cx));
    }

    fn fate(&self, from: NodeId, to: NodeId) -> Fate {
        let state = &self.nodes[to.index()];
        if !state.is_up {
            return Fate::Lost("the node is down");
        }
        if !state.deaf_to.is_empty() {
            match state.deaf_to.iter().find(|(node, _)| *node == from) {
                Some((_, Mode::Drop)) => return Fate::Lost("the link is cut"),
                Some((_, Mode::Reject)) => return Fate::IsRejected,
                Some((_, Mode::Defer)) => return Fate::Waits,
                None => {}
            }
        }
        if state.is_paused { Fate::Waits } else { Fate::Arrives }
    }

    fn arrive(&mut self, slot: u32, host: &mut dyn Host) {
        let envelope = self.in_flight.take(slot);
        let (from, to) = (envelope.from, envelope.to);
        let mut fate = self.fate(from, to);
        let mut twice = false;
        if fate == Fate::Arrives {
            let state = &mut self.nodes[to.index()];
            if state.losses > 0 {
                state.losses -= 1;
                fate = Fate::Lost("so the network decides");
            } else if state.duplicates > 0 {
                state.duplicates -= 1;
                twice = true;
            }
        }
        if let (Fate::Arrives, Some(rule)) = (fate, &self.rule) {
            match rule(from, to, &envelope.message) {
                Verdict::Deliver => {}
                Verdict::Drop => fate = Fate::Lost("by the rule of the test"),
                Verdict::Duplicate => twice = true,
                Verdict::Cut => {
                    self.nodes[to.index()].deaf_to.push((from, Mode::Drop));
                    fate = Fate::Lost("the rule of the test has cut the link");
                }
            }
        }
        match fate {
            Fate::Arrives => {}
            Fate::Lost(why) => {
                let message = envelope.message;
                return self.note(host, to, || What::Message { from, message, lost: Some(why) });
            }
            Fate::Waits => {
                self.note(host, to, || What::Message {
                    from,
                    message: envelope.message.clone(),
                    lost: Some("it waits"),
                });
                return self.nodes[to.index()].held.push(envelope);
            }
            Fate::IsRejected => {
                self.note(host, to, || What::Message {
                    from,
                    message: envelope.message.clone(),
                    lost: Some("it is rejected"),
                });
                let slot = self.in_flight.put(envelope);
                return host.post(to, from, Event::Rejected(slot), None);
            }
        }
        let mut message = envelope.message;
        if twice {
            let slot = self.in_flight.put(Envelope { from, to, message: message.clone() });
            host.post(to, to, Event::Message(slot), None);
        }
        if self.nodes[to.index()].corruptions > 0 {
            self.nodes[to.index()].corruptions -= 1;
            if let Some(corrupt) = &self.corrupter {
                corrupt(&mut message, &mut |outcomes| if outcomes < 2 { 0 } else { host.choose_within(outcomes) });
            }
        }
        self.note(host, to, || What::Message { from, message: message.clone(), lost: None });
        self.with_code(to, host, |code, cx| code.on_message(from, message, cx));
    }

    fn reject(&mut self, slot: u32, host: &mut dyn Host) {
        let Envelope { from, to, message } = self.in_flight.take(slot);
        self.note(host, from, || What::Rejected { to, message: message.clone() });
        if self.nodes[from.index()].is_up {
            self.with_code(from, host, |code, cx| code.on_rejected(to, message, cx));
        }
    }

    fn tick(&mut self, node: NodeId, host: &mut dyn Host) {
        let state = &mut self.nodes[node.index()];
        if state.is_paused {
            state.ticks_held += 1;
            return self.note(host, node, || What::NoTimer);
        }
        let fired = state.timers.fire();
        match fired {
            None => self.note(host, node, || What::NoTimer),
            Some(timer) => {
                self.note(host, node, || What::Timer(timer.tag));
                self.with_code(node, host, |code, cx| code.on_timer(timer, cx));
            }
        }
    }

    fn strike(&mut self, number: u32, host: &mut dyn Host) {
        let (node, action) = self.actions[number as usize].clone();
        let what = action.tell(&|node| self.name(node).to_owned());
        self.note(host, node, || What::Fault(what.into()));
        let state = &mut self.nodes[node.index()];
        match action {
            Action::Crash(loss, kept) => self.crash(node, loss, kept),
            Action::Reboot(loss, kept) => {
                if state.is_up {
                    self.crash(node, loss, kept);
                    self.start(node, host);
                }
            }
            Action::Stop => {
                if state.is_up {
                    self.with_code(node, host, |code, cx| code.on_stop(cx));
                    self.crash(node, Loss::Nothing, 0);
                }
            }
            Action::Restart => {
                if !state.is_up {
                    self.start(node, host);
                }
            }
            Action::Pause => state.is_paused = state.is_up,
            Action::Resume => {
                state.is_paused = false;
                let (queue, ticks) = (state.ticks, std::mem::take(&mut state.ticks_held));
                for _ in 0..ticks {
                    host.post_in_turn(queue, node, Event::Tick(node), None);
                }
                self.release(node, host);
            }
            Action::Duplicate => state.duplicates += 1,
            Action::Lose => state.losses += 1,
            Action::Corrupt => state.corruptions += 1,
            Action::Cut(from, mode) => state.deaf_to.extend(from.into_iter().map(|from| (from, mode))),
            Action::Heal(from) => {
                for from in from {
                    if let Some(at) = state.deaf_to.iter().position(|(node, _)| *node == from) {
                        state.deaf_to.remove(at);
                    }
                }
                self.release(node, host);
            }
            Action::Jump(by) => state.wall_offset_ms += by,
        }
    }

    /// The node is gone: it does nothing any more, not even in its destructors.
    fn crash(&mut self, node: NodeId, loss: Loss, kept: usize) {
        let state = &mut self.nodes[node.index()];
        if !state.is_up {
            return;
        }
        (state.is_up, state.is_paused) = (false, false);
        state.timers.clear();
        state.held.clear();
        match loss {
            Loss::Nothing => state.store.crash(usize::MAX),
            Loss::Everything => state.store.wipe(),
            Loss::Unsynced => state.store.crash(kept),
        }
        drop(self.nodes[node.index()].code.take());
    }

    /// What was held back at a node may arrive now, unless there is still something in the way.
    fn release(&mut self, node: NodeId, host: &mut dyn Host) {
        for envelope in std::mem::take(&mut self.nodes[node.index()].held) {
            if self.fate(envelope.from, node) == Fate::Waits {
                self.nodes[node.index()].held.push(envelope);
            } else {
                let slot = self.in_flight.put(envelope);
                host.post(node, node, Event::Message(slot), None);
            }
        }
    }

    /// Which invariant is broken, if one is.
    fn check(&self) -> Result<(), String> {
        for invariant in &self.invariants {
            if let Some(what) = (invariant.check)(self) {
                let (name, number) = (&invariant.name, self.events);
                let last = (number as usize).checked_sub(1).and_then(|last| self.tell(last));
                let what = if what.is_empty() { String::new() } else { format!(": {what}") };
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
