//! What happens at a node: messages, timers, faults.

use std::fmt::Debug;

use crate::cluster::Verdict;
use crate::event::Event;
use crate::fault::{Action, Loss};
use crate::host::Host;
use crate::id::NodeId;
use crate::log::What;
use crate::midway::Faltering;
use crate::network::Envelope;
use crate::partition::Mode;
use crate::world::World;

/// What happens to a message that arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Arrives,
    Lost(&'static str),
    Waits,
    IsRejected,
}

impl<M: Clone + Debug + 'static> World<M> {
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

    pub(crate) fn arrive(&mut self, slot: u32, host: &mut dyn Host) {
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
        if let (Fate::Arrives, false, Some(rule)) = (fate, envelope.was_held, &self.rule) {
            match rule(from, to, &envelope.message) {
                Verdict::Deliver => {}
                Verdict::Drop => fate = Fate::Lost("by the rule of the test"),
                Verdict::Duplicate => twice = true,
                Verdict::Hold => {
                    let message = envelope.message.clone();
                    self.note(host, to, || What::Message {
                        from,
                        message,
                        lost: Some("the rule of the test holds it"),
                    });
                    return self.nodes[to.index()].held_by_rule.push(envelope);
                }
                Verdict::Release(node) if node == to => self.let_go(node, host),
                Verdict::Release(node) => host.post(to, node, Event::Release(node), None),
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
            let slot = self.in_flight.put(Envelope { from, to, message: message.clone(), was_held: false });
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

    pub(crate) fn reject(&mut self, slot: u32, host: &mut dyn Host) {
        let Envelope { from, to, message, .. } = self.in_flight.take(slot);
        self.note(host, from, || What::Rejected { to, message: message.clone() });
        if self.nodes[from.index()].is_up {
            self.with_code(from, host, |code, cx| code.on_rejected(to, message, cx));
        }
    }

    pub(crate) fn tick(&mut self, node: NodeId, host: &mut dyn Host) {
        let state = &mut self.nodes[node.index()];
        if state.is_paused {
            if self.zone.is_some() {
                state.timers.is_posted = false;
            } else {
                state.ticks_held += 1;
            }
            return self.note(host, node, || What::NoTimer);
        }
        let fired = if self.zone.is_some() { self.fire_within_drift(node) } else { state.timers.fire() };
        match fired {
            None => self.note(host, node, || What::NoTimer),
            Some(timer) => {
                self.note(host, node, || What::Timer(timer.tag));
                self.with_code(node, host, |code, cx| code.on_timer(timer, cx));
            }
        }
    }

    pub(crate) fn strike(&mut self, number: u32, host: &mut dyn Host) {
        let (node, action) = self.actions[number as usize].clone();
        if let Action::Midway(after, then) = action {
            // It is told where it breaks off.
            self.note(host, node, || What::Falters);
            let state = &mut self.nodes[node.index()];
            if state.is_up {
                state.falters = Some(Faltering { left: after, then: *then, has_broken_off: false });
            }
            return;
        }
        self.suffer(node, action, host);
    }

    /// A fault hits a node.
    pub(crate) fn suffer(&mut self, node: NodeId, action: Action, host: &mut dyn Host) {
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
            Action::Midway(..) => {}
            Action::Stop => {
                if state.is_up {
                    self.with_code(node, host, |code, cx| code.on_stop(cx));
                    self.close_streams(node, host);
                    self.crash(node, Loss::Nothing, 0);
                }
            }
            Action::Restart => {
                if !state.is_up {
                    self.start(node, host);
                }
            }
            Action::Pause => {
                state.is_paused = state.is_up;
                if let (true, Some(zone)) = (state.is_up, &mut self.zone) {
                    zone.get_mut().pause(node);
                }
            }
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
            Action::Disk(fault) => state.disk.faults.push(fault),
            Action::Reset => state.resets += 1,
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
        if let Some(zone) = &mut self.zone {
            zone.get_mut().clear(node);
        }
        state.held.clear();
        state.held_by_rule.clear();
        state.falters = None;
        state.listens.clear();
        match loss {
            Loss::Nothing => {
                state.store.crash(usize::MAX);
                state.disk.crash(usize::MAX);
            }
            Loss::Everything => {
                state.store.wipe();
                state.disk.wipe();
            }
            Loss::Unsynced | Loss::AnyImage => {
                state.store.crash(kept);
                state.disk.crash(kept);
            }
        }
        drop(self.nodes[node.index()].code.take());
    }

    /// What the rule of the test holds at a node may arrive now.
    pub(crate) fn let_go(&mut self, node: NodeId, host: &mut dyn Host) {
        for envelope in std::mem::take(&mut self.nodes[node.index()].held_by_rule) {
            let slot = self.in_flight.put(Envelope { was_held: true, ..envelope });
            host.post(node, node, Event::Message(slot), None);
        }
    }

    /// What was held back at a node may arrive now, unless there is still something in the way.
    pub(crate) fn release(&mut self, node: NodeId, host: &mut dyn Host) {
        for envelope in std::mem::take(&mut self.nodes[node.index()].held) {
            if self.fate(envelope.from, node) == Fate::Waits {
                self.nodes[node.index()].held.push(envelope);
            } else {
                let slot = self.in_flight.put(envelope);
                host.post(node, node, Event::Message(slot), None);
            }
        }
        self.release_streams(node, host);
    }
}
