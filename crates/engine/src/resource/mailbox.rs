//! Mailboxes: a process receives what was delivered to it, the oldest that it accepts.
//!
//! What is in a mailbox stays with the front end, and so do the predicates of selective receives. The engine knows in which
//! order messages have *arrived*, by number, and which of them a receive has found. Who waits for something in particular is
//! let look again whenever something has arrived, before the next choice; that is no step.
//!
//! A receive is made when there is something for it (or when its time is up), so it comes after the delivery of what it takes, and
//! no order of the two is there to be explored. What can be explored is which of two deliveries comes first.

use super::process;
use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::{Trail, mix};
use crate::causality::{Change, History, Place, Places, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::There;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::resource::{Resource, State};
use crate::strategy::Strategy;
use crate::task::Status;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Process;
    match kind {
        OpKind::Deliver => Facts::on(
            ON,
            "send",
            &[T::COMPETES, T::GIVES, T::TELLS, T::TELLS_OUTCOME, T::UNATTENDED, T::MEETS_BY_TICKET],
        ),
        OpKind::Receive => Facts::on(
            ON,
            "receive",
            &[T::SEES, T::LEARNS_IF_OK, T::TELLS_OUTCOME, T::NEEDS_ENABLING, T::WAITS_FOR_OTHERS, T::MEETS_BY_TICKET],
        ),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it puts a message or a signal into a mailbox.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn delivers(self) -> bool {
        matches!(self, OpKind::Deliver)
    }

    /// Whether a plan may have this step although it cannot be made: a receive that accepts nothing of what has arrived.
    pub(crate) fn may_find_nothing(self, arg: u64) -> bool {
        self.receives() && !Receiving::of(arg).anything
    }

    /// Whether it takes something out of a mailbox.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn receives(self) -> bool {
        matches!(self, OpKind::Receive)
    }
}

/// What a receive says when it is announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receiving {
    /// The number of what has arrived and is to be taken, if there is anything.
    pub found: Option<u32>,
    /// Whatever arrives is accepted.
    pub anything: bool,
    /// It does not wait, or no longer.
    pub at_once: bool,
    /// Its timer has fired since it was announced: it need not wait any more, and may yet find something.
    pub is_late: bool,
}

impl Receiving {
    const ANYTHING: u64 = 1 << 62;
    const AT_ONCE: u64 = 1 << 61;
    const LATE: u64 = 1 << 60;

    /// The operand that stands for it.
    pub fn operand(self) -> u64 {
        let found = self.found.map_or(0, |number| u64::from(number) + 1);
        let flag = |is_set: bool, bit| if is_set { bit } else { 0 };
        let late = flag(self.is_late, Receiving::LATE);
        found | late | flag(self.anything, Receiving::ANYTHING) | flag(self.at_once, Receiving::AT_ONCE)
    }

    fn of(operand: u64) -> Receiving {
        Receiving {
            found: (operand as u32).checked_sub(1),
            anything: operand & Receiving::ANYTHING != 0,
            at_once: operand & Receiving::AT_ONCE != 0,
            is_late: operand & Receiving::LATE != 0,
        }
    }
}

/// What the engine knows of a process and its mailbox.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    /// Whose it is.
    pub(crate) owner: TaskId,
    arrivals: Vec<Arrival>,
    /// So many the front end has been told of.
    told: usize,
    /// So many were received.
    taken: u64,
    /// Steps that concern the process, not what is in its mailbox.
    pub(crate) signals: Trail,
    /// What decides whether exit signals are trapped.
    pub(crate) traps: Trail,
    /// Names that it was given.
    pub(crate) names: Trail,
    /// A signal was fatal: the process makes no further step of its own.
    pub(crate) doomed: bool,
    /// What that signal depended on.
    pub(crate) doom: u64,
    /// Where it has no other name, reports call it by the path of its task.
    goes_by_path: bool,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// As the front end knows the sender.
    from: u64,
    /// What the delivery depended on.
    hash: u64,
}

impl Inbox {
    fn of(owner: TaskId, mut arrivals: Vec<Arrival>) -> Inbox {
        arrivals.clear();
        let (signals, traps, names) = (Trail::NEW, Trail::NEW, Trail::NEW);
        Inbox { owner, arrivals, told: 0, taken: 0, signals, traps, names, doomed: false, doom: 0, goes_by_path: false }
    }
}

impl Inbox {
    /// What has arrived, and nobody has wanted yet.
    pub(crate) fn left(&self) -> u64 {
        (self.arrivals.len() as u64).saturating_sub(self.taken)
    }
}

/// The rules of mailboxes.
pub(crate) struct Rules;

fn takes(receive: &Label, delivery: &Label) -> bool {
    receive.outcome == outcome::OK && receive.value == delivery.value
}

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        engine.progress(|engine| {
            let doomed = engine.is_doomed_process(task);
            match operation.kind {
                OpKind::Deliver => engine.commit_delivery(operation, doomed),
                _ => engine.commit_receive(operation, doomed),
            }
        })
    }

    fn announce(&self, engine: &mut Engine, task: TaskId) {
        if !self.is_enabled(engine, task) {
            engine.disable(task);
        } else if engine.tasks[task.index()].is_limited() {
            // It need not wait any more.
            let t = &mut engine.tasks[task.index()];
            t.set_deadline(None);
            t.timer = t.timer.wrapping_add(1);
        }
    }

    fn is_enabled(&self, engine: &Engine, task: TaskId) -> bool {
        let t = &engine.tasks[task.index()];
        let receiving = Receiving::of(t.pending.arg);
        // Its own timer ends its wait. Another one that is due at the same instant does not.
        receiving.found.is_some() || receiving.at_once || engine.is_doomed_process(task)
    }

    fn other_side(&self, kind: OpKind) -> &'static [OpKind] {
        if kind.receives() { &[OpKind::Deliver] } else { &[] }
    }

    /// Whom it has asked last, if it has received nothing since; else whoever has sent something before.
    fn guesses(&self, engine: &Engine, task: TaskId, request: &Operation) -> Vec<(TaskId, Site)> {
        let mut own = engine.recent_steps().rev().filter(|step| step.task == task);
        let last = own.find(|step| step.kind.receives() || step.kind.delivers() && step.resource != request.resource);
        let asked = last.filter(|step| step.kind.delivers() && step.is_ok());
        let owner =
            asked.and_then(|step| Some((engine.resources[step.resource.index()].inbox.as_deref()?.owner, step.site)));
        match owner.filter(|(owner, _)| engine.tasks[owner.index()].status != Status::Finished) {
            Some(asked) => vec![asked],
            None => engine.who_did(self.other_side(request.kind), task, request.resource),
        }
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        // Who was killed before has done nothing.
        process::Rules.relation(a, b)
    }

    fn footprint(&self, step: &Step, _: bool, at: &mut Places) {
        at.push_resource(step.resource);
        if u32::from(step.outcome) == outcome::KILLED {
            at.push(Place::of_task(step.task.index()));
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        let doomed = process::is_doomed(label.task, there);
        if label.kind == OpKind::Deliver {
            label.outcome = if doomed { outcome::KILLED } else { outcome::OK };
            label.value = process::deliveries(there);
            return Some(label);
        }
        if doomed {
            label.outcome = outcome::KILLED;
            return Some(label);
        }
        let receiving = Receiving::of(label.arg);
        let arrived = process::deliveries(there);
        // Which it would be is known where all that came before stays.
        let found = match receiving.found {
            None if label.outcome == outcome::KILLED => found_alive(&label, receiving, arrived, there),
            found => found.filter(|number| u64::from(*number) < arrived),
        };
        let time_is_up = || {
            let fires = |s: &Step| s.kind.fires() && s.arg == u64::from(label.task.0) && !s.is_refused();
            let mut own_since = false;
            for step in there.steps() {
                own_since = fires(step) || own_since && step.task != label.task;
            }
            own_since || receiving.at_once
        };
        match found {
            Some(number) => (label.outcome, label.value) = (outcome::OK, u64::from(number)),
            None if time_is_up() => (label.outcome, label.value) = (outcome::TIMED_OUT, arrived),
            None => return None,
        }
        Some(label)
    }

    fn fold_aim(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        let Some(inbox) = engine.resources[step.resource.index()].inbox.as_deref() else { return hash };
        match (step.kind, u32::from(step.outcome)) {
            (_, outcome::KILLED) => mix(hash, engine.doom_of(step.task)),
            (OpKind::Receive, outcome::OK) => {
                mix(hash, inbox.arrivals.get(step.value as usize).map_or(0, |arrival| arrival.hash))
            }
            (OpKind::Receive, _) => mix(hash, inbox.arrivals.last().map_or(0, |arrival| arrival.hash)),
            _ => engine.leave_trail_of_delivery(step, hash),
        }
    }

    fn note_grant(&self, place: &mut Place, j: usize, step: &Step, _: &[Words], _: &mut History) -> Option<Change> {
        (step.kind == OpKind::Deliver && step.is_ok()).then(|| place.send(j, step.value))
    }

    fn met_by_ticket(&self, place: &Place, step: &Step) -> Option<usize> {
        (step.kind == OpKind::Receive && step.is_ok()).then(|| place.sends.get(Some(step.value))).flatten()
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        if request.kind == OpKind::Receive && request.is_ok() {
            flow.take_message(request.resource, request.value, mine);
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        if step.kind == OpKind::Deliver && step.is_ok() {
            flow.put_message(step.resource, step.value, mine);
        }
    }
}

/// What a receive would find if its process lived on until after these steps, having found nothing before it was killed. Whether a
/// predicate accepts what came later, nobody has asked: it may accept the last of it ([`OpKind::may_find_nothing`]).
fn found_alive(killed: &Label, receiving: Receiving, arrived: u64, there: &There<'_>) -> Option<u32> {
    if arrived <= killed.value {
        return None;
    }
    if !receiving.anything {
        return Some(arrived as u32 - 1);
    }
    let is_taken = |number: &u64| {
        let by_own = |s: &Step| s.task == killed.task && s.kind.receives() && s.is_ok() && s.value == *number;
        there.all_here().any(by_own)
    };
    (0..arrived).find(|number| !is_taken(number)).map(|number| number as u32)
}

/// How a receive relates to a delivery.
pub(super) fn received(receive: &Label, delivery: &Label) -> Relation {
    let receiving = Receiving::of(receive.arg);
    let may_end_without = receiving.at_once || receiving.is_late;
    match receive.outcome {
        outcome::OK if takes(receive, delivery) && may_end_without => Relation::Dependent,
        outcome::OK if takes(receive, delivery) => Relation::Enabling,
        outcome::OK => Relation::Independent,
        // What comes later would have been received, for all that is known.
        _ => Relation::Dependent,
    }
}

impl Engine {
    /// Registers the process that `owner`, a task, is.
    pub fn create_process(&mut self, creator: TaskId, owner: TaskId, created_at: Site) -> ResourceId {
        let id = self.create_resource(creator, ResourceKind::Process, State::Plain, created_at);
        let resource = &mut self.resources[id.index()];
        match resource.spare_inbox.take() {
            Some(mut inbox) => {
                *inbox = Inbox::of(owner, std::mem::take(&mut inbox.arrivals));
                resource.inbox = Some(inbox);
            }
            None => resource.inbox = Some(Box::new(Inbox::of(owner, Vec::new()))),
        }
        if self.process_of.len() <= owner.index() {
            self.process_of.resize(owner.index() + 1, ResourceId::NONE);
        }
        self.process_of[owner.index()] = id;
        id
    }

    /// The process has no name of its own: reports call it by the path of its task. That is put together only where it is read.
    pub fn let_go_by_path(&mut self, process: ResourceId) {
        self.inbox(process).goes_by_path = true;
    }

    /// What reports call a resource, if it has a name.
    pub fn name_of(&self, resource: &Resource) -> Option<String> {
        let by_path = || {
            let inbox = resource.inbox.as_deref().filter(|inbox| inbox.goes_by_path)?;
            Some(format!("<{}>", self.path(inbox.owner)))
        };
        resource.name.as_deref().map(str::to_owned).or_else(by_path)
    }

    /// The process that a task is.
    #[inline]
    pub(crate) fn process_of(&self, task: TaskId) -> Option<&Inbox> {
        let id = *self.process_of.get(task.index())?;
        self.resources.get(id.index())?.inbox.as_deref()
    }

    pub(crate) fn inbox(&mut self, process: ResourceId) -> &mut Inbox {
        self.resources[process.index()].inbox.as_deref_mut().expect("a process has a mailbox")
    }

    /// Whether a signal was fatal to the process that `task` is: what it is about to do comes to nothing.
    #[inline]
    pub fn is_doomed_process(&self, task: TaskId) -> bool {
        self.process_of(task).is_some_and(|inbox| inbox.doomed)
    }

    /// What there is to be told of the signal that was fatal to `task`.
    pub(crate) fn doom_of(&self, task: TaskId) -> u64 {
        self.process_of(task).map_or(0, |inbox| inbox.doom)
    }

    /// The next that has arrived and that the front end was not told of, by its sender.
    pub fn next_arrival(&mut self, process: ResourceId) -> Option<u64> {
        let inbox = self.inbox(process);
        let arrival = inbox.arrivals.get(inbox.told)?;
        inbox.told += 1;
        Some(arrival.from)
    }

    /// The timer of a receive has fired: it need not wait any more.
    pub(crate) fn stop_waiting_for_messages(&mut self, task: TaskId) {
        let pending = &mut self.tasks[task.index()].pending;
        if pending.kind.receives() {
            pending.arg = Receiving { is_late: true, ..Receiving::of(pending.arg) }.operand();
        }
    }

    fn commit_delivery(&mut self, operation: &Operation, doomed: bool) -> Committed {
        let step = self.steps.len() - 1;
        let from = std::mem::take(&mut self.steps[step].arg);
        if doomed {
            return Committed::Done(outcome::KILLED);
        }
        let number = self.add_arrival(operation.resource, from);
        self.steps[step].value = number as u64;
        let owner = self.inbox(operation.resource).owner;
        self.has_arrived(owner, operation.resource, number);
        Committed::Done(outcome::OK)
    }

    /// Something of `from` arrives; its number.
    pub(crate) fn add_arrival(&mut self, process: ResourceId, from: u64) -> usize {
        let arrivals = &mut self.inbox(process).arrivals;
        arrivals.push(Arrival { from, hash: 0 });
        let number = arrivals.len() - 1;
        if self.limits().notes {
            self.note_arrival(process, from, number as u64);
        }
        number
    }

    /// Lets the owner of a mailbox know, if it is about to receive and has found nothing yet.
    pub(crate) fn has_arrived(&mut self, owner: TaskId, process: ResourceId, number: usize) {
        let t = &mut self.tasks[owner.index()];
        let receives = t.pending.kind.receives() && t.pending.resource == process;
        if !receives || !matches!(t.status, Status::Ready | Status::Disabled) {
            return;
        }
        let receiving = Receiving::of(t.pending.arg);
        if receiving.found.is_some() {
            return;
        }
        if receiving.anything {
            t.pending.arg = Receiving { found: Some(number as u32), ..receiving }.operand();
            if t.status == Status::Disabled {
                self.enable(owner);
            }
        } else {
            self.have_look(owner);
        }
    }

    fn commit_receive(&mut self, operation: &Operation, doomed: bool) -> Committed {
        let receiving = Receiving::of(operation.arg);
        let step = self.steps.len() - 1;
        if doomed {
            self.steps[step].value = self.inbox(operation.resource).arrivals.len() as u64;
            return Committed::Done(outcome::KILLED);
        }
        match receiving.found {
            Some(number) => {
                self.steps[step].value = u64::from(number);
                self.inbox(operation.resource).taken += 1;
                Committed::Done(outcome::OK)
            }
            None => {
                self.steps[step].value = self.inbox(operation.resource).arrivals.len() as u64;
                Committed::Done(outcome::TIMED_OUT)
            }
        }
    }

    /// Takes a delivery into account, by a task with this hash; what becomes of the hash.
    pub(crate) fn leave_trail_of_delivery(&mut self, step: &Step, hash: u64) -> u64 {
        let resource = &mut self.resources[step.resource.index()];
        let hash = resource.trail.queue(hash);
        let arrival = resource.inbox.as_mut().and_then(|inbox| inbox.arrivals.get_mut(step.value as usize));
        if let Some(arrival) = arrival {
            arrival.hash = hash;
        }
        hash
    }
}
