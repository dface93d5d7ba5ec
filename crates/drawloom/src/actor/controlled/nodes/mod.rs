//! The network between nodes of processes.
//!
//! A process on a node has a backend of its own kind, [`OnNode`]: that of the system, but for what crosses a connection. What
//! crosses is left to a task that delivers it, as with split delivery, and that looks at the connection first. Each direction of a connection is
//! kept at the node that it leads to, as an object: messages look at it, faults change it. So without faults nothing is ordered by it.
//!
//! A connection that breaks and is made again is another one: each has a number, and what was sent over an earlier one is lost.

mod backend;
mod globals;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use self::backend::OnNode;
use self::globals::Globals;
use super::table::Party;
use super::{World, done};
use crate::actor::backend::{Backend, Place};
use crate::actor::nodes::NodeEvent;
use crate::actor::pid::{AnyPid, ProcessId};
use crate::actor::reason::ExitReason;
use crate::actor::signal::{Down, MonitorRef};
use crate::cluster::Mode;
use crate::object::Object;
use crate::rt::{self, Handle, OpKind, Operation, Seen, Site};
use crate::sync::Latch;

/// Who is told of a connection.
type Subscriber = (Party, Arc<Tell>);

/// How a process is told.
type Tell = dyn Fn(&AnyPid, NodeEvent) + Send + Sync;

/// All nodes of a system.
pub(crate) struct Net {
    world: Weak<World>,
    names: Vec<Box<str>>,
    /// What leads to a node.
    hosts: Vec<Object<Host>>,
    globals: Object<Globals>,
    /// Where each process is. It is known before anybody knows the process.
    members: Mutex<BTreeMap<ProcessId, usize>>,
}

/// A node, as others reach it.
struct Host {
    is_up: bool,
    /// By node: the connection from there.
    from: Vec<Way>,
}

/// One direction of a connection.
struct Way {
    state: State,
    /// Connections that there were before.
    broken: u32,
    /// Processes of that node that watch processes of this one.
    monitors: Vec<(Party, MonitorRef, Party)>,
    links: Vec<(Party, Party)>,
    subscribers: Vec<Subscriber>,
}

enum State {
    Open,
    /// Everything waits until this opens.
    Stalled(Arc<Latch>),
    Broken,
}

/// What becomes of something that arrives.
enum Fate {
    Arrives,
    Lost,
    Waits(Arc<Latch>),
}

/// What was across a connection when it broke.
#[derive(Default)]
struct Severed {
    monitors: Vec<(Party, MonitorRef, Party)>,
    links: Vec<(Party, Party)>,
    subscribers: Vec<Subscriber>,
}

impl Way {
    fn new() -> Way {
        Way { state: State::Open, broken: 0, monitors: Vec::new(), links: Vec::new(), subscribers: Vec::new() }
    }

    /// The number of the connection, if there is one.
    fn number(&self) -> Option<u32> {
        (!matches!(self.state, State::Broken)).then_some(self.broken)
    }

    fn fate(&self, number: u32) -> Fate {
        match &self.state {
            State::Open if self.broken == number => Fate::Arrives,
            State::Stalled(opens) if self.broken == number => Fate::Waits(Arc::clone(opens)),
            _ => Fate::Lost,
        }
    }

    /// The connection is no more.
    fn sever(&mut self) -> (Severed, Option<Arc<Latch>>) {
        let was = std::mem::replace(&mut self.state, State::Broken);
        if matches!(was, State::Broken) {
            return (Severed::default(), None);
        }
        self.broken += 1;
        let opens = if let State::Stalled(opens) = was { Some(opens) } else { None };
        let (monitors, links) = (std::mem::take(&mut self.monitors), std::mem::take(&mut self.links));
        (Severed { monitors, links, subscribers: self.subscribers.clone() }, opens)
    }

    /// It is there again: what waited for that, and who is told.
    fn open(&mut self) -> (Option<Arc<Latch>>, Vec<Subscriber>) {
        match std::mem::replace(&mut self.state, State::Open) {
            State::Open => (None, Vec::new()),
            State::Stalled(opens) => (Some(opens), Vec::new()),
            State::Broken => (None, self.subscribers.clone()),
        }
    }
}

impl Net {
    pub(crate) fn start(world: &Arc<World>, names: &[&str]) -> Arc<Net> {
        let many = names.len();
        let host = || Object::new(Host { is_up: true, from: (0..many).map(|_| Way::new()).collect() });
        let globals = Globals { connected: vec![vec![true; many]; many], views: vec![BTreeMap::new(); many] };
        let net = Arc::new(Net {
            world: Arc::downgrade(world),
            names: names.iter().map(|name| (*name).into()).collect(),
            hosts: (0..many).map(|_| host()).collect(),
            globals: Object::new(globals),
            members: Mutex::default(),
        });
        assert!(world.net.set(Arc::clone(&net)).is_ok(), "the nodes of a system are started once");
        net
    }

    pub(crate) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| **known == *name)
    }

    pub(crate) fn backend(self: &Arc<Self>, node: usize) -> Arc<dyn Backend> {
        let world = self.world.upgrade().expect("the system runs");
        Arc::new(OnNode { world, net: Arc::clone(self), node })
    }

    fn members(&self) -> MutexGuard<'_, BTreeMap<ProcessId, usize>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn node_of(&self, id: ProcessId) -> Option<usize> {
        self.members().get(&id).copied()
    }

    pub(crate) fn is_up(&self, at: Place, node: usize) -> bool {
        self.hosts[node].look_from(at, |host| host.is_up)
    }

    /// Whether somebody who is there, or on no node, reaches a node.
    pub(crate) fn is_reached(&self, at: Place, from: Option<usize>, to: usize) -> bool {
        match from {
            Some(from) if from != to => self.connection(at, from, to).is_some(),
            _ => self.is_up(at, to),
        }
    }

    /// The number of the connection, if there is one.
    fn connection(&self, at: Place, from: usize, to: usize) -> Option<u32> {
        self.hosts[to].look_from(at, |host| host.from[from].number())
    }

    /// Both nodes, if these processes are on different ones.
    pub(super) fn between(&self, from: ProcessId, to: ProcessId) -> Option<(usize, usize)> {
        let (from, to) = (self.node_of(from)?, self.node_of(to)?);
        (from != to).then_some((from, to))
    }

    /// Leaves it to a task to deliver something over a connection, in order with what was sent before between these processes.
    pub(super) fn carry(
        self: &Arc<Self>,
        at: Place,
        (from, to): (usize, usize),
        ends: (ProcessId, ProcessId),
        deliver: impl FnOnce(Handle, &World) + 'static,
        lose: impl FnOnce() + 'static,
    ) {
        let Some(world) = self.world.upgrade() else { return lose() };
        let Some(rt) = world.rt().filter(|rt| !world.is_fenced(*rt)) else { return lose() };
        let Some(number) = self.connection(at, from, to) else { return lose() };
        let net = Arc::clone(self);
        world.leave_to_courier(rt, rt::site(at), ends, move |rt, world| {
            loop {
                match net.hosts[to].look_from(at, |host| host.from[from].fate(number)) {
                    Fate::Arrives => return deliver(rt, world),
                    Fate::Lost => return lose(),
                    Fate::Waits(opens) => opens.wait(),
                }
            }
        });
    }

    // ── faults ───────────────────────────────────────────────────────────────────────────────────

    pub(crate) fn cut(self: &Arc<Self>, at: Place, a: usize, b: usize, mode: Mode) {
        for (from, to) in [(a, b), (b, a)] {
            if mode == Mode::Defer {
                self.hosts[to].update_from(at, |host| {
                    if matches!(host.from[from].state, State::Open) {
                        host.from[from].state = State::Stalled(Arc::new(Latch::new(1)));
                    }
                });
            } else {
                let (severed, opens) = self.hosts[to].update_from(at, |host| host.from[from].sever());
                self.tell(at, severed, opens);
            }
        }
        if mode == Mode::Drop {
            self.globals.update_from(at, |globals| globals.part(a, b));
        }
    }

    pub(crate) fn heal(self: &Arc<Self>, at: Place) {
        let many = self.hosts.len();
        let pairs: Vec<(usize, usize)> = (0..many).flat_map(|a| (a + 1..many).map(move |b| (a, b))).collect();
        for (a, b) in pairs {
            if self.is_up(at, a) && self.is_up(at, b) {
                self.connect(at, a, b);
            }
        }
    }

    fn connect(self: &Arc<Self>, at: Place, a: usize, b: usize) {
        let mut told = Vec::new();
        for (from, to) in [(a, b), (b, a)] {
            let (opens, subscribers) = self.hosts[to].update_from(at, |host| host.from[from].open());
            if let Some(opens) = opens {
                opens.count_down();
            }
            told.extend(subscribers);
        }
        self.announce(at, told, NodeEvent::Up);
        let conflicts = self.globals.update_from(at, |globals| globals.join(a, b));
        for (name, one, other) in conflicts {
            self.resolve(at, &name, one, other);
        }
    }

    pub(crate) fn crash(self: &Arc<Self>, at: Place, node: usize) {
        // Exhaustive exploration misses some orders of a crash and the ends of monitored or linked processes, so `auto` samples.
        if let Some(rt) = self.world.upgrade().and_then(|world| world.rt()) {
            rt.with_engine(|engine| engine.note_unmovable_choice());
        }
        let others = (0..self.hosts.len()).filter(|other| *other != node);
        let mut all = Vec::new();
        for other in others.clone() {
            all.push(self.hosts[other].update_from(at, |host| host.from[node].sever()));
        }
        let of_it = self.hosts[node].update_from(at, |host| {
            host.is_up = false;
            host.from.iter_mut().map(Way::sever).collect::<Vec<_>>()
        });
        for other in others {
            self.globals.update_from(at, |globals| globals.part(node, other));
        }
        self.globals.update_from(at, |globals| globals.views[node].clear());
        self.kill_all(at, node);
        for (severed, opens) in all.into_iter().chain(of_it) {
            self.tell(at, severed, opens);
        }
    }

    /// All processes of a node are killed. What one of them has spawned before is known when it has been.
    fn kill_all(&self, at: Place, node: usize) {
        let Some(world) = self.world.upgrade() else { return };
        let Some(rt) = world.rt() else { return };
        let mut killed = Vec::new();
        loop {
            let next = self.members().iter().find(|(id, on)| **on == node && !killed.contains(*id)).map(|(id, _)| *id);
            let Some(id) = next else { return };
            killed.push(id);
            // Whether anybody still knows it makes no difference to the steps that are made.
            let party = world.table().party(id);
            if let Some(party) = party {
                world.signal(rt, rt::site(at), None, &party, &ExitReason::Kill, None);
            }
        }
    }

    pub(crate) fn restart(self: &Arc<Self>, at: Place, node: usize) {
        let was_up = self.hosts[node].update_from(at, |host| std::mem::replace(&mut host.is_up, true));
        assert!(!was_up, "the node `{}` is restarted, but it is up", self.names[node]);
        for other in (0..self.hosts.len()).filter(|other| *other != node) {
            if self.is_up(at, other) {
                self.connect(at, node.min(other), node.max(other));
            }
        }
    }

    /// Whoever was across a connection that broke is told, at any time after.
    fn tell(self: &Arc<Self>, at: Place, severed: Severed, opens: Option<Arc<Latch>>) {
        if let Some(opens) = opens {
            opens.count_down();
        }
        let Some(world) = self.world.upgrade() else { return };
        let Some(rt) = world.rt() else { return };
        let site = rt::site(at);
        let Severed { monitors, links, subscribers } = severed;
        for (watcher, monitor, target) in monitors {
            world.start(rt, Some("disconnected"), site, move |rt, world| {
                let pair = world.pair(rt, watcher.id, target.id, true, site);
                let down = Down { monitor, process: target.pid(), reason: ExitReason::NoConnection };
                world.tell(rt, site, &watcher, down, pair);
            });
        }
        for (one, other) in links {
            world.start(rt, Some("disconnected"), site, move |rt, world| {
                let pair = world.pair(rt, one.id, other.id, false, site);
                for (told, of) in [(&one, &other), (&other, &one)] {
                    world.signal_of(rt, site, (of.id, of.pid()), told, &ExitReason::NoConnection, Some(pair));
                }
                let arg = u64::from(pair.0);
                let unlink = Operation::new(OpKind::Unlink, other.known.resource, site).with_arg(arg);
                rt.access(unlink, || {
                    world.table().unlink(one.id, other.id);
                    ((), Seen { other: arg, ..done() })
                });
            });
        }
        self.announce(at, subscribers, NodeEvent::Down);
    }

    fn announce(&self, at: Place, told: Vec<Subscriber>, event: NodeEvent) {
        let Some(world) = self.world.upgrade() else { return };
        let Some(rt) = world.rt() else { return };
        for (whom, tell) in told {
            let site = rt::site(at);
            world.start(rt, Some("disconnected"), site, move |rt, _| match whom.pid() {
                Some(pid) => tell(&pid, event),
                // Nobody knows it any more: the same step.
                None => {
                    let deliver = Operation::new(OpKind::Deliver, whom.known.resource, site);
                    rt.step(deliver.with_arg(ProcessId::OUTSIDE.0));
                }
            });
        }
    }

    pub(crate) fn subscribe(&self, at: Place, (here, me): (usize, &AnyPid), node: usize, tell: Arc<Tell>) {
        let subscriber = (Party::of(me), Arc::clone(&tell));
        let is_there = self.hosts[node].update_from(at, |host| {
            host.from[here].subscribers.push(subscriber);
            here == node || host.from[here].number().is_some()
        });
        if !is_there {
            tell(me, NodeEvent::Down);
        }
    }
}

impl World {
    /// What was posted by `from` arrives at `to`: a step of who carries it.
    fn deliver_from(&self, rt: Handle, at: Site, from: ProcessId, to: &AnyPid) {
        let resource = super::Known::of(to).resource;
        rt.step(Operation::new(OpKind::Deliver, resource, at).with_arg(from.0));
    }

    /// What a process has posted to itself arrives.
    fn deliver_own(&self, rt: Handle, at: Site, me: &AnyPid) {
        self.deliver_posted(rt, at, me.id(), me);
    }
}
