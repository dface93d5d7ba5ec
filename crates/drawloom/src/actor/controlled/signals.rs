//! Signals that arrive: exits and the ends of monitored processes.

use drawloom_engine::ExitSignal;

use super::World;
use super::table::Party;
use crate::actor::pid::{AnyPid, ProcessId};
use crate::actor::reason::ExitReason;
use crate::actor::signal::{Down, Exit, Signal};
use crate::rt::{Handle, OpKind, Operation, ResourceId, Seen, Site, outcome};

impl World {
    /// An exit signal arrives, by a step of whoever carries it: of a linked process, if it has a `pair`.
    pub(super) fn signal(
        &self,
        rt: Handle,
        at: Site,
        from: Option<&AnyPid>,
        to: &Party,
        reason: &ExitReason,
        pair: Option<ResourceId>,
    ) {
        let sender = from.map_or(ProcessId::OUTSIDE, AnyPid::id);
        self.signal_of(rt, at, (sender, from.cloned()), to, reason, pair);
    }

    /// The same of somebody whom nobody may know any more.
    pub(super) fn signal_of(
        &self,
        rt: Handle,
        at: Site,
        (sender, from): (ProcessId, Option<AnyPid>),
        to: &Party,
        reason: &ExitReason,
        pair: Option<ResourceId>,
    ) {
        let known = to.known;
        let signal = ExitSignal {
            target: known.task,
            pair,
            kills: pair.is_none() && *reason == ExitReason::Kill,
            is_normal: reason.is_normal() && sender != to.id,
        };
        let arg = signal.operand();
        let operation = Operation::new(OpKind::Signal, known.resource, at).with_arg(arg);
        let (result, number, dooms) = self.act(rt, operation, |table| {
            let in_force = pair.is_none() || table.is_linked(to.id, sender);
            let (traps, doomed) = (table.traps(to.id), !table.is_alive(to.id));
            let result = rt.with_engine(|engine| engine.outcome_of_signal(signal, traps, in_force, doomed));
            let (mut number, mut dooms) = (0, false);
            match result {
                outcome::OK => {
                    let (posts, exit) = (sender.of_signals(), Exit { from: from.clone(), reason: reason.clone() });
                    if let Some(to) = to.pid() {
                        to.0.post_signal(posts, Signal::Exit(exit));
                    }
                    number = rt.with_engine(|engine| engine.deliver_signal(known.resource, posts.0));
                }
                outcome::FATAL => {
                    let reason = if signal.kills { ExitReason::Killed } else { reason.clone() };
                    dooms = table.set_doom(to.id, reason);
                }
                _ => {}
            }
            ((result, number, dooms), Seen { value: number, other: arg, outcome: result })
        });
        if self.notes().is_some() {
            rt.with_engine(|engine| engine.note_said(&reason.to_string()));
        }
        if result == outcome::OK && pair.is_some() {
            self.was_told(rt, reason);
        }
        rt.with_engine(|engine| {
            if result == outcome::OK {
                engine.signal_was_delivered(known.resource, number);
            }
            if dooms {
                engine.doom_process(known.resource);
            }
        });
    }

    /// A process is told of the end of another one.
    pub(super) fn tell(&self, rt: Handle, at: Site, watcher: &Party, down: Down, pair: ResourceId) {
        let resource = watcher.known.resource;
        let arg = u64::from(pair.0) | down.monitor.0.number << 32;
        let operation = Operation::new(OpKind::Down, resource, at).with_arg(arg);
        let from = down.process.as_ref().map_or(ProcessId::OUTSIDE, AnyPid::id).of_signals();
        let number = self.act(rt, operation, |table| {
            if !table.close_monitor(down.monitor) {
                return (None, Seen { value: 0, other: arg, outcome: outcome::REFUSED });
            }
            if let Some(watcher) = watcher.pid() {
                watcher.0.post_signal(from, Signal::Down(down));
            }
            let number = rt.with_engine(|engine| engine.deliver_signal(resource, from.0));
            (Some(number), Seen { value: number, other: arg, outcome: outcome::OK })
        });
        if let Some(number) = number {
            rt.with_engine(|engine| engine.signal_was_delivered(resource, number));
        }
    }
}
