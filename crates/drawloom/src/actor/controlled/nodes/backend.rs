//! The backend of the processes of one node: that of the system, but for what crosses a connection.

use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Net;
use crate::actor::backend::{Backend, Body, Demonitored, Place, Tie, Whom};
use crate::actor::controlled::World;
use crate::actor::controlled::table::Party;
use crate::actor::pid::{AnyPid, ProcessId};
use crate::actor::process::Core;
use crate::actor::reason::{BadName, ExitReason, NoProc, Unnamed};
use crate::actor::reply::lost_on_its_way;
use crate::actor::signal::{Down, Exit, MonitorRef, Signal, TimerRef};
use crate::rt::{self, Handle};

/// The backend of the processes of one node.
pub(super) struct OnNode {
    pub(super) world: Arc<World>,
    pub(super) net: Arc<Net>,
    pub(super) node: usize,
}

impl OnNode {
    /// The full name, and the node that it is of.
    fn address(&self, name: &str) -> (String, usize) {
        let node = name.rsplit_once('@').and_then(|(_, node)| self.net.named(node));
        match node {
            Some(node) => (name.to_owned(), node),
            None => (format!("{name}@{}", self.net.names[self.node]), self.node),
        }
    }

    /// The node of a process, if it is another one than this.
    fn elsewhere(&self, who: &AnyPid) -> Option<usize> {
        who.core().backend.node().filter(|node| *node != self.node)
    }

    fn is_reached(&self, at: Place, node: usize) -> bool {
        self.net.is_reached(at, Some(self.node), node)
    }

    /// Something that concerns this process itself arrives at once.
    fn tell_itself(&self, at: Place, me: &AnyPid, signal: Signal) {
        if let Some(rt) = self.world.rt() {
            me.0.post_signal(me.id(), signal);
            self.world.deliver_own(rt, rt::site(at), me);
        }
    }
}

impl Backend for OnNode {
    fn node(&self) -> Option<usize> {
        Some(self.node)
    }

    fn world(&self) -> Option<Arc<World>> {
        Some(Arc::clone(&self.world))
    }

    fn here(&self) -> ProcessId {
        self.world.here()
    }

    fn blame(&self) {
        self.world.blame();
    }

    fn run(&self, at: Place, root: &AnyPid, body: Body) -> ExitReason {
        self.world.run(at, root, body)
    }

    fn spawn(&self, at: Place, parent: Option<&AnyPid>, child: &AnyPid, tie: Tie, body: Body) {
        self.world.spawn(at, parent, child, tie, body);
    }

    fn born(&self, process: &AnyPid) {
        self.net.members().insert(process.id(), self.node);
    }

    fn send(&self, at: Place, from: ProcessId, to: &AnyPid) {
        match self.net.node_of(from) {
            Some(node) if node != self.node => {
                let (ends, receiver, lost) = ((from, to.id()), to.clone(), to.clone());
                let deliver = move |rt: Handle, world: &World| world.deliver_from(rt, rt::site(at), from, &receiver);
                self.net.carry(at, (node, self.node), ends, deliver, move || lost_on_its_way(|| lost.0.lose(from)));
            }
            _ => self.world.send(at, from, to),
        }
    }

    fn send_to_name(
        &self,
        at: Place,
        from: ProcessId,
        name: &str,
        post: &mut dyn FnMut(&AnyPid) -> bool,
    ) -> Result<(), BadName> {
        let to = self.whereis(at, name).ok_or(BadName)?;
        if !post(&to) {
            return Err(BadName);
        }
        to.core().backend.send(at, from, &to);
        Ok(())
    }

    fn receive(
        &self,
        at: Place,
        me: &AnyPid,
        look: &mut dyn FnMut() -> bool,
        limit: Option<Duration>,
        context: &mut Context<'_>,
    ) -> Poll<bool> {
        self.world.receive(at, me, look, limit, context)
    }

    fn end_receive(&self, me: &AnyPid) {
        self.world.end_receive(me);
    }

    fn monitor(&self, at: Place, me: &AnyPid, whom: Whom<'_>, monitor: MonitorRef) {
        let (process, node) = match whom {
            Whom::Process(process) => (Some(process.clone()), self.elsewhere(process)),
            Whom::Name(name) => {
                let (_, node) = self.address(name);
                let is_reached = self.is_reached(at, node);
                (if is_reached { self.whereis(at, name) } else { None }, (node != self.node).then_some(node))
            }
        };
        let reason = match node {
            Some(node) if !self.is_reached(at, node) => ExitReason::NoConnection,
            _ => ExitReason::NoProc,
        };
        let (Some(process), true) = (&process, reason == ExitReason::NoProc) else {
            return self.tell_itself(at, me, Signal::Down(Down { monitor, process, reason }));
        };
        let Some(node) = node else { return self.world.monitor(at, me, Whom::Process(process), monitor) };
        let Some(rt) = self.world.rt().filter(|rt| !self.world.is_fenced(*rt)) else { return };
        let is_there = self.world.watch(rt, rt::site(at), me, process, monitor);
        let record = (Party::of(me), monitor, Party::of(process));
        let is_connected = self.net.hosts[node].update_from(at, |host| {
            let way = &mut host.from[self.node];
            let is_connected = way.number().is_some();
            if is_connected && is_there {
                way.monitors.push(record);
            }
            is_connected
        });
        if is_connected && is_there {
            return;
        }
        // It has ended, or the connection broke meanwhile.
        let reason = if is_connected { ExitReason::NoProc } else { ExitReason::NoConnection };
        let down = Down { monitor, process: Some(process.clone()), reason };
        if is_there {
            let pair = self.world.pair(rt, me.id(), process.id(), true, rt::site(at));
            self.world.tell(rt, rt::site(at), &Party::of(me), down, pair);
        } else {
            self.tell_itself(at, me, Signal::Down(down));
        }
    }

    fn demonitor(&self, at: Place, me: &AnyPid, monitor: MonitorRef) -> Demonitored {
        self.world.demonitor(at, me, monitor)
    }

    fn link(&self, at: Place, me: &AnyPid, other: &AnyPid) -> Result<(), NoProc> {
        let Some(node) = self.elsewhere(other) else { return self.world.link(at, me, other) };
        if !self.is_reached(at, node) {
            return self.no_link(at, me, other);
        }
        self.world.link(at, me, other)?;
        let record = (Party::of(me), Party::of(other));
        let is_recorded = self.net.hosts[node].update_from(at, |host| {
            let way = &mut host.from[self.node];
            let is_there = way.number().is_some();
            if is_there {
                way.links.push(record);
            }
            is_there
        });
        if is_recorded {
            return Ok(());
        }
        self.world.unlink(at, me, other);
        self.no_link(at, me, other)
    }

    fn unlink(&self, at: Place, me: &AnyPid, other: &AnyPid) {
        self.world.unlink(at, me, other);
    }

    fn trap_exit(&self, at: Place, me: &AnyPid, trap: bool) -> bool {
        self.world.trap_exit(at, me, trap)
    }

    fn exit(&self, at: Place, from: Option<&AnyPid>, to: &AnyPid, reason: ExitReason) {
        let Some(node) = self.elsewhere(to) else { return self.world.exit(at, from, to, reason) };
        let sender = from.map_or(ProcessId::OUTSIDE, AnyPid::id);
        let (from, party, ends) = (from.cloned(), Party::of(to), (sender, to.id()));
        let deliver = move |rt: Handle, world: &World| {
            world.signal(rt, rt::site(at), from.as_ref(), &party, &reason, None);
        };
        self.net.carry(at, (self.node, node), ends, deliver, || {});
    }

    fn is_alive(&self, at: Place, other: &AnyPid) -> bool {
        self.elsewhere(other).is_none_or(|node| self.is_reached(at, node)) && self.world.is_alive(at, other)
    }

    fn register(&self, at: Place, name: &str, process: &AnyPid) -> Result<(), Unnamed> {
        let (name, node) = self.address(name);
        if process.core().backend.node() != Some(node) {
            panic!("at {at}, {process:?} cannot have the name `{name}`: it is not on that node");
        }
        self.world.register(at, &name, process)
    }

    fn unregister(&self, at: Place, name: &str) -> bool {
        self.world.unregister(at, &self.address(name).0)
    }

    fn whereis(&self, at: Place, name: &str) -> Option<AnyPid> {
        let (name, node) = self.address(name);
        let is_reached = node == self.node || self.is_reached(at, node);
        if is_reached { self.world.whereis(at, &name) } else { None }
    }

    fn registered(&self, at: Place) -> Vec<String> {
        let of_it = format!("@{}", self.net.names[self.node]);
        let all = self.world.registered(at).into_iter();
        all.filter_map(|name| name.strip_suffix(&of_it).map(str::to_owned)).collect()
    }

    fn send_after(&self, at: Place, me: &AnyPid, to: &AnyPid, timer: TimerRef, delay: Duration) {
        assert!(
            self.elsewhere(to).is_none(),
            "at {at}, a timer of {me:?} is for {to:?} on another node: as in OTP, the process of a timer is on its own node"
        );
        self.world.send_after(at, me, to, timer, delay);
    }

    fn cancel(&self, at: Place, timer: TimerRef) -> Option<Duration> {
        self.world.cancel(at, timer)
    }

    fn now(&self, at: Place) -> Duration {
        self.world.now(at)
    }

    fn settle(&self, at: Place, me: &AnyPid, context: &mut Context<'_>) -> Poll<()> {
        self.world.settle(at, me, context)
    }

    fn note(&self, to: &Core, from: ProcessId, text: &dyn Fn() -> String) {
        self.world.note(to, from, text);
    }

    fn path(&self, process: &Core) -> Option<String> {
        self.world.path(process)
    }
}

impl OnNode {
    /// A link is not made, since the other one cannot be reached.
    fn no_link(&self, at: &'static Location<'static>, me: &AnyPid, other: &AnyPid) -> Result<(), NoProc> {
        if !self.world.table().traps(me.id()) {
            return Err(NoProc);
        }
        let exit = Exit { from: Some(other.clone()), reason: ExitReason::NoConnection };
        self.tell_itself(at, me, Signal::Exit(exit));
        Ok(())
    }
}
