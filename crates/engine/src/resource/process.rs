//! Processes: their ends, what others learn of them and do to them, and their names.
//!
//! A process ends by a step of its own, after which it sends its signals, a step each: first to those it is linked with, then
//! to those that monitor it. An exit signal that is fatal takes effect at once: from then on nobody finds the process alive, and
//! each further step of it comes to nothing ([`KILLED`](outcome::KILLED)), until it makes the step that ends it. So a fatal
//! signal depends on all that the process does. It disables nothing: what the process would have done is still a step.
//!
//! The front end keeps links, monitors and names, and carries these steps out. Their operands say whom they concern:
//!
//! | step | on | operand |
//! |---|---|---|
//! | link, unlink, demonitor | the other process | the pair |
//! | exit signal | its target | the pair, if it comes of a link; the task of its target; what it is |
//! | down | who monitors | the pair |
//! | end | the process itself | its name |
//! | register, unregister | the name | the process |
//! | cancel | nothing | the task that is the timer |

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::mix;
use crate::causality::{Change, History, Place, Places, Words};
use crate::dependence::{Label, Relation};
use crate::engine::Engine;
use crate::exhaustive::There;
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::task::Status;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Process;
    const ANY: T = T::COMPETES.with(T::AIMS).with(T::REACHES).with(T::TELLS_OUTCOME);
    const LEARNS: T = T::LEARNS.with(T::TELLS);
    match kind {
        OpKind::Alive => Facts::on(ON, "is_alive", &[ANY, T::LOOKS, T::LEARNS]),
        OpKind::Monitor => Facts::on(ON, "monitor", &[ANY, LEARNS]),
        OpKind::Demonitor => Facts::on(ON, "demonitor", &[ANY, LEARNS]),
        OpKind::Link => Facts::on(ON, "link", &[ANY, LEARNS]),
        OpKind::Unlink => Facts::on(ON, "unlink", &[ANY, LEARNS]),
        OpKind::Trap => Facts::on(ON, "trap_exit", &[ANY, LEARNS]),
        OpKind::Signal => Facts::on(ON, "exit signal", &[ANY, T::GIVES, LEARNS, T::MEETS_BY_TICKET]),
        OpKind::Down => Facts::on(ON, "down", &[ANY, T::GIVES, LEARNS, T::MEETS_BY_TICKET]),
        OpKind::End => Facts::on(ON, "end", &[ANY, T::GIVES, LEARNS]),
        OpKind::Register => Facts::on(ON, "register", &[ANY, LEARNS]),
        OpKind::Unregister => Facts::on(ON, "unregister", &[ANY, LEARNS]),
        OpKind::Whereis => Facts::on(ON, "whereis", &[ANY, T::LOOKS, T::LEARNS]),
        OpKind::Cancel => Facts::of("cancel", &[T::AIMS, T::REACHES, T::TELLS_OUTCOME]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether the front end carries it out: one of the steps of this room.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn is_of_process(self) -> bool {
        use OpKind::{
            Alive, Cancel, Demonitor, Down, End, Link, Monitor, Register, Signal, Trap, Unlink, Unregister, Whereis,
        };
        matches!(
            self,
            Alive
                | Monitor
                | Demonitor
                | Link
                | Unlink
                | Trap
                | Signal
                | Down
                | End
                | Register
                | Unregister
                | Whereis
                | Cancel
        )
    }

    /// Whether it is something that a process does: what a fatal signal can keep it from.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn is_of_actor(self) -> bool {
        self.delivers() || self.receives() || self.is_of_process() || self.spawns()
    }
}

/// An exit signal, as its operand has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitSignal {
    /// The task of the process that it is for.
    pub target: TaskId,
    /// The pair, if a linked process has ended.
    pub pair: Option<ResourceId>,
    /// It cannot be trapped.
    pub kills: bool,
    /// It does nothing to a process that does not trap exits.
    pub is_normal: bool,
}

impl ExitSignal {
    const KILLS: u64 = 1 << 63;
    const NORMAL: u64 = 1 << 62;
    const PAIR_AT: u32 = 31;
    const LARGEST: u64 = (1 << ExitSignal::PAIR_AT) - 1;

    /// The operand that stands for it.
    pub fn operand(self) -> u64 {
        let pair = self.pair.map_or(0, |pair| u64::from(pair.0) + 1) << ExitSignal::PAIR_AT;
        let flag = |is_set: bool, bit| if is_set { bit } else { 0 };
        flag(self.kills, ExitSignal::KILLS) | flag(self.is_normal, ExitSignal::NORMAL) | pair | u64::from(self.target.0)
    }

    fn of(operand: u64) -> ExitSignal {
        let pair = (operand >> ExitSignal::PAIR_AT) & ExitSignal::LARGEST;
        ExitSignal {
            target: TaskId((operand & ExitSignal::LARGEST) as u32),
            pair: pair.checked_sub(1).map(|pair| ResourceId(pair as u32)),
            kills: operand & ExitSignal::KILLS != 0,
            is_normal: operand & ExitSignal::NORMAL != 0,
        }
    }
}

/// Whether this is a signal that nobody survives who gets it alive.
fn is_fatal(label: &Label) -> bool {
    label.kind == OpKind::Signal && label.outcome == outcome::FATAL
}

/// Whether the process is not the same after this. Who is to end by a signal is found alive by nobody before it does.
fn ends(label: &Label) -> bool {
    label.kind == OpKind::End && label.outcome == outcome::OK || is_fatal(label)
}

/// Whether it is a signal that came too late: only what came before it knows that, the end of the process or another signal.
fn is_late(label: &Label) -> bool {
    label.kind == OpKind::Signal && label.outcome == outcome::LATE
}

/// Whether it asks for the process, or ties something to it, so that it comes to something else after its end.
fn asks(kind: OpKind) -> bool {
    use OpKind::{Alive, Demonitor, Link, Monitor, Trap, Unlink};
    matches!(kind, Alive | Monitor | Demonitor | Link | Unlink | Trap)
}

/// Whether it has put something into the mailbox that it is on.
pub(super) fn has_delivered(label: &Label) -> bool {
    label.outcome == outcome::OK && (label.kind.delivers() || matches!(label.kind, OpKind::Signal | OpKind::Down))
}

/// Whether a process sends it after its end.
fn is_sent_last(label: &Label) -> bool {
    label.kind == OpKind::Down || label.kind == OpKind::Signal && pair_of(label.kind, label.arg).is_some()
}

/// Two processes, as what they do about each other has it.
fn pair_of(kind: OpKind, arg: u64) -> Option<ResourceId> {
    match kind {
        OpKind::Signal => ExitSignal::of(arg).pair,
        OpKind::Link | OpKind::Unlink | OpKind::Demonitor | OpKind::Down => Some(ResourceId(arg as u32)),
        _ => None,
    }
}

/// Whether it delivers the message of the timer that is task number `timer`.
fn fires_timer(label: &Label, timer: u64) -> bool {
    label.kind.delivers() && u64::from(label.task.0) == timer
}

/// Whether it is a process that cancels this timer.
fn cancels(label: &Label, timer: u64) -> bool {
    label.kind == OpKind::Cancel && label.arg == timer && label.outcome != outcome::KILLED
}

/// Whether a step and a cancel come to something else in the other order: the first cancel counts, and only where it comes before
/// the message.
fn is_undone_by(step: &Label, cancel: &Label) -> bool {
    if cancel.outcome == outcome::KILLED {
        return false;
    }
    let came_first = cancel.outcome == outcome::OK;
    match step.kind {
        OpKind::Cancel => cancels(step, cancel.arg) && (came_first || step.outcome == outcome::OK),
        // One cancel was before both.
        _ => fires_timer(step, cancel.arg) && (came_first || step.outcome != outcome::KILLED),
    }
}

/// The name that it frees, or the process that it names or takes the name from.
fn other_of(kind: OpKind, arg: u64) -> Option<ResourceId> {
    match kind {
        OpKind::End | OpKind::Unregister => (arg as u32).checked_sub(1).map(ResourceId),
        OpKind::Register => Some(ResourceId(arg as u32)),
        _ => None,
    }
}

/// How steps on one process or name relate, where neither receives.
pub(super) fn between(a: &Label, b: &Label) -> Relation {
    let names = |l: &Label| matches!(l.kind, OpKind::Register | OpKind::Unregister | OpKind::Whereis);
    let trap_and_signal =
        |a: &Label, b: &Label| a.kind == OpKind::Trap && b.kind == OpKind::Signal && !ExitSignal::of(b.arg).kills;
    let end_and_ask = |a: &Label, b: &Label| ends(a) && asks(b.kind);
    let dependent = if names(a) || names(b) {
        !(a.kind == OpKind::Whereis && b.kind == OpKind::Whereis)
    } else {
        has_delivered(a) && has_delivered(b)
            || ends(a) && ends(b)
            || is_late(a) && ends(b)
            || ends(a) && is_late(b)
            || end_and_ask(a, b)
            || end_and_ask(b, a)
            || trap_and_signal(a, b)
            || trap_and_signal(b, a)
    };
    if dependent { Relation::Dependent } else { Relation::Independent }
}

/// Whether a fatal signal to the process that `task` is is among these steps; or whether it is a timer that was cancelled.
pub(super) fn is_doomed(task: TaskId, there: &There<'_>) -> bool {
    there.steps().any(|step| step.dooms() == Some(task))
}

/// How many deliveries there were on the resource of the step that is moved.
pub(super) fn deliveries(there: &There<'_>) -> u64 {
    there.all_here().filter(|s| has_delivered(&s.label())).count() as u64
}

/// The rules of processes.
pub(crate) struct Rules;

impl Room for Rules {
    fn relation(&self, a: &Label, b: &Label) -> Relation {
        if a.outcome == outcome::KILLED || b.outcome == outcome::KILLED {
            return Relation::Independent;
        }
        match (a.kind.receives(), b.kind.receives()) {
            (true, false) if has_delivered(b) => super::mailbox::received(a, b),
            (false, true) if has_delivered(a) => super::mailbox::received(b, a),
            (false, false) => between(a, b),
            _ => Relation::Independent,
        }
    }

    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        if is_fatal(a) {
            // What it sends after its end, it sends in any case.
            let hits = ExitSignal::of(a.arg).target == b.task && b.kind.is_of_actor() && !is_sent_last(b);
            if hits {
                return Some(Relation::Dependent);
            }
        }
        if a.kind == OpKind::Cancel {
            return is_undone_by(b, a).then_some(Relation::Dependent);
        }
        if a.outcome == outcome::KILLED || b.outcome == outcome::KILLED {
            return None;
        }
        let about = |kind: OpKind| match kind {
            OpKind::Link | OpKind::Unlink => Some(false),
            OpKind::Demonitor => Some(true),
            _ => None,
        };
        if let (Some(mine), Some(theirs)) = (pair_of(a.kind, a.arg), pair_of(b.kind, b.arg)) {
            let conflict = match (about(a.kind), about(b.kind)) {
                (Some(false), Some(false)) => true,
                (Some(false), None) => b.kind == OpKind::Signal,
                (Some(true), None) => b.kind == OpKind::Down,
                _ => false,
            };
            if mine == theirs && conflict {
                return Some(Relation::Dependent);
            }
        }
        let other = other_of(a.kind, a.arg);
        let conflict = match a.kind {
            OpKind::End => other == Some(b.resource),
            OpKind::Register | OpKind::Unregister => {
                let same = matches!(b.kind, OpKind::Register | OpKind::Unregister) && other_of(b.kind, b.arg) == other;
                // Whoever ends late has the name until then.
                let frees = a.kind == OpKind::Unregister && b.kind == OpKind::End;
                other.is_some() && (same || other == Some(b.resource) && (ends(b) || frees))
            }
            _ => false,
        };
        conflict.then_some(Relation::Dependent)
    }

    fn may_conflict(&self, step: &Step, pending: &Operation) -> bool {
        match step.kind {
            OpKind::Signal => true,
            OpKind::Cancel => false,
            _ => {
                let mine = pair_of(step.kind, step.arg).or(other_of(step.kind, step.arg));
                let theirs = pair_of(pending.kind, pending.arg).or(other_of(pending.kind, pending.arg));
                mine.is_some() && (mine == theirs || mine == Some(pending.resource)) || theirs == Some(step.resource)
            }
        }
    }

    fn footprint(&self, step: &Step, _: bool, at: &mut Places) {
        at.push_resource(step.resource);
        if u32::from(step.outcome) == outcome::KILLED {
            at.push(Place::of_task(step.task.index()));
            return;
        }
        if is_fatal(&step.label()) {
            at.push(Place::of_task(ExitSignal::of(step.arg).target.index()));
        }
        if step.kind == OpKind::Cancel {
            at.push(Place::of_task(step.arg as usize));
        }
        let more = pair_of(step.kind, step.arg).or(other_of(step.kind, step.arg));
        more.into_iter().for_each(|id| at.push_resource(id));
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if !is_sent_last(&label) && label.kind != OpKind::End && is_doomed(label.task, there) {
            label.outcome = outcome::KILLED;
            return Some(label);
        }
        if label.outcome == outcome::KILLED {
            label.outcome = outcome::OK;
        }
        match label.kind {
            OpKind::Signal => {
                label.outcome = signal_there(&label, there);
                if label.outcome == outcome::OK {
                    label.value = deliveries(there);
                }
            }
            OpKind::Cancel => {
                let is_over =
                    |s: &Step| s.is_ok() && (fires_timer(&s.label(), label.arg) || cancels(&s.label(), label.arg));
                label.outcome = super::room::refused_if(there.steps().any(is_over));
            }
            OpKind::Unregister => label.arg = holder_there(label.resource, there).map_or(0, |id| u64::from(id.0) + 1),
            OpKind::Down => {
                let gone = there.steps().any(|s| s.kind == OpKind::Demonitor && s.arg == label.arg && s.is_ok());
                (label.outcome, label.value) = match gone {
                    true => (outcome::REFUSED, 0),
                    false => (outcome::OK, deliveries(there)),
                };
            }
            OpKind::Demonitor => {
                let told = there.steps().any(|s| s.kind == OpKind::Down && s.arg == label.arg && s.is_ok());
                label.outcome = super::room::refused_if(told);
            }
            OpKind::End => {
                label.outcome = if is_doomed(label.task, there) { outcome::LATE } else { outcome::OK };
                label.arg = name_there(label.resource, there).map_or(0, |name| u64::from(name.0) + 1);
            }
            _ => {}
        }
        Some(label)
    }

    fn fold_aim(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        if u32::from(step.outcome) == outcome::KILLED {
            return mix(hash, engine.doom_of(step.task));
        }
        let label = step.label();
        let mut hash = hash;
        if let Some(id) = pair_of(step.kind, step.arg).or(other_of(step.kind, step.arg)) {
            let other = &mut engine.resources[id.index()];
            hash = match &mut other.inbox {
                Some(inbox) => inbox.signals.commuting(inbox.names.ordered(hash)),
                // What both send at their ends may cross.
                None if matches!(step.kind, OpKind::Signal | OpKind::Down) => other.trail.commuting(hash),
                None => other.trail.ordered(hash),
            };
        }
        if step.kind == OpKind::Cancel {
            let cancels = engine.trails.aimed(TaskId(step.arg as u32));
            return if step.is_ok() { cancels.ordered(hash) } else { cancels.commuting(hash) };
        }
        if has_delivered(&label) {
            hash = engine.leave_trail_of_delivery(step, hash);
        }
        let Some(inbox) = engine.resources[step.resource.index()].inbox.as_deref_mut() else {
            // A name.
            let trail = &mut engine.resources[step.resource.index()].trail;
            return if step.kind == OpKind::Whereis { trail.commuting(hash) } else { trail.ordered(hash) };
        };
        match step.kind {
            _ if ends(&label) => {
                hash = inbox.signals.ordered(hash);
                if step.kind == OpKind::Signal {
                    hash = inbox.traps.commuting(hash);
                    inbox.doom = hash;
                }
                hash
            }
            OpKind::Trap => {
                hash = inbox.signals.commuting(hash);
                inbox.traps.ordered(hash)
            }
            OpKind::Signal if is_late(&label) => inbox.signals.commuting(inbox.traps.commuting(hash)),
            OpKind::Signal => inbox.traps.commuting(hash),
            OpKind::End => mix(hash, inbox.doom),
            kind if asks(kind) => inbox.signals.commuting(hash),
            _ => hash,
        }
    }

    fn note_grant(&self, place: &mut Place, j: usize, step: &Step, _: &[Words], _: &mut History) -> Option<Change> {
        has_delivered(&step.label()).then(|| place.send(j, step.value))
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        if request.resource != ResourceId::NONE {
            flow.read_atomic(request.resource, mine);
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        if step.resource == ResourceId::NONE {
            return;
        }
        if has_delivered(&step.label()) {
            flow.put_message(step.resource, step.value, mine);
        }
        flow.write_atomic(step.resource, mine);
    }
}

/// The name that a process has after these steps.
fn name_there(process: ResourceId, there: &There<'_>) -> Option<ResourceId> {
    let mut name = None;
    for step in there.steps().filter(|step| step.is_ok()) {
        match step.kind {
            OpKind::Register if other_of(step.kind, step.arg) == Some(process) => name = Some(step.resource),
            OpKind::Unregister if name == Some(step.resource) => name = None,
            _ => {}
        }
    }
    name
}

/// The process that has a name after these steps.
fn holder_there(name: ResourceId, there: &There<'_>) -> Option<ResourceId> {
    let mut holder = None;
    for step in there.steps() {
        match step.kind {
            OpKind::Register if step.is_ok() && step.resource == name => holder = other_of(step.kind, step.arg),
            OpKind::Unregister if step.is_ok() && step.resource == name => holder = None,
            OpKind::End if holder == Some(step.resource) => holder = None,
            _ => {}
        }
    }
    holder
}

/// What an exit signal comes to after these steps.
fn signal_there(label: &Label, there: &There<'_>) -> u32 {
    let signal = ExitSignal::of(label.arg);
    let (mut traps, mut linked, mut doomed) = (false, true, false);
    for step in there.steps() {
        doomed |= step.dooms() == Some(signal.target);
        doomed |= step.kind == OpKind::End && step.resource == label.resource;
        match step.kind {
            OpKind::Trap if step.task == signal.target && u32::from(step.outcome) != outcome::KILLED => {
                traps = step.arg != 0;
            }
            OpKind::Link | OpKind::Unlink if signal.pair.is_some() && pair_of(step.kind, step.arg) == signal.pair => {
                linked = step.kind == OpKind::Link;
            }
            _ => {}
        }
    }
    outcome_of_signal(signal, traps, linked || signal.pair.is_none(), doomed)
}

/// What an exit signal comes to.
fn outcome_of_signal(signal: ExitSignal, traps: bool, is_in_force: bool, is_doomed: bool) -> u32 {
    match signal {
        _ if !is_in_force => outcome::REFUSED,
        _ if is_doomed && (signal.kills || !traps && !signal.is_normal) => outcome::LATE,
        ExitSignal { kills: true, .. } => outcome::FATAL,
        _ if traps => outcome::OK,
        ExitSignal { is_normal: true, .. } => outcome::REFUSED,
        _ => outcome::FATAL,
    }
}

impl Step {
    /// Whether it decides what other steps of a process come to, or shows that this was decided.
    #[inline]
    pub(crate) fn decides_for_process(&self) -> bool {
        self.kind.is_of_process() || u32::from(self.outcome) == outcome::KILLED && self.kind.is_of_actor()
    }

    /// The task to whose process it is a fatal signal; the timer that it cancels.
    #[inline]
    pub(crate) fn dooms(&self) -> Option<TaskId> {
        match self.kind {
            OpKind::Signal => is_fatal(&self.label()).then(|| ExitSignal::of(self.arg).target),
            OpKind::Cancel if u32::from(self.outcome) != outcome::KILLED => Some(TaskId(self.arg as u32)),
            _ => None,
        }
    }
}

impl Engine {
    /// What an exit signal comes to, if its target `traps` exits, if the link that it comes of [is in force](ExitSignal::pair), and if
    /// its target has ended or has yet to end because of another one.
    pub fn outcome_of_signal(&self, signal: ExitSignal, traps: bool, is_in_force: bool, is_doomed: bool) -> u32 {
        outcome_of_signal(signal, traps, is_in_force, is_doomed)
    }

    /// Something that is no message is about to arrive at a process, by a step that the front end carries out: its number.
    pub fn deliver_signal(&mut self, process: ResourceId, from: u64) -> u64 {
        self.add_arrival(process, from) as u64
    }

    /// The last step was such a delivery, if `number` says so: who waits for it is told.
    pub fn signal_was_delivered(&mut self, process: ResourceId, number: u64) {
        let owner = self.inbox(process).owner;
        self.has_arrived(owner, process, number as usize);
    }

    /// The last step was a signal that is fatal to a process.
    pub fn doom_process(&mut self, process: ResourceId) {
        let inbox = self.inbox(process);
        inbox.doomed = true;
        let owner = inbox.owner;
        let t = &self.tasks[owner.index()];
        if t.status == Status::Disabled && t.pending.kind.receives() && t.pending.resource == process {
            self.enable(owner);
        }
    }

    /// A process has made the step that ends it: signals concern it no longer.
    pub fn process_has_ended(&mut self, process: ResourceId) {
        self.inbox(process).doomed = false;
    }
}
