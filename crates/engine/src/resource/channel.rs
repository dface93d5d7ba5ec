//! FIFO channel: unbounded, bounded, rendezvous.
//!
//! Sends and receives take numbered tickets. Receive j completes when send j exists; send i
//! completes when receive i − capacity exists (capacity 0: when its own message is taken). The
//! messages themselves stay with the front end, in the order of their tickets.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Channel;
    const COMES: T = T::COMPETES.with(T::GIVES);
    const WAITS: T = T::REQUESTS.with(T::QUEUES_UNNOTICED).with(T::WAITS_FOR_OTHERS);
    const TRIES: T = T::TELLS_OUTCOME.with(T::MEETS_BY_TICKET);
    const CLOSES: T = T::CLOSES.with(T::ONLY_RELEASES).with(T::TELLS).with(T::UNATTENDED);
    match kind {
        OpKind::Send => Facts::on(ON, "send", &[COMES, WAITS, T::TELLS_IF_OK, T::SENDS]),
        OpKind::TrySend => Facts::on(ON, "try_send", &[COMES, TRIES, T::TELLS_IF_OK, T::UNATTENDED]),
        OpKind::Recv => Facts::on(ON, "recv", &[COMES, WAITS, T::SEES, T::LEARNS]),
        OpKind::TryRecv => Facts::on(ON, "try_recv", &[COMES, TRIES, T::SEES, T::LEARNS_IF_OK]),
        OpKind::CloseSend => Facts::on(ON, "drop sender", &[COMES, CLOSES]),
        OpKind::CloseRecv => Facts::on(ON, "drop receiver", &[COMES, CLOSES]),
        OpKind::Close => Facts::on(ON, "close", &[COMES, CLOSES, T::TELLS_OUTCOME]),
        OpKind::Length => Facts::on(ON, "length", &[T::COMPETES, T::SEES, T::LOOKS]),
        other => not_here(other),
    }
}

/// All that puts a message in, and all that takes one out.
const SENDS: [OpKind; 2] = [OpKind::Send, OpKind::TrySend];
const RECEIVES: [OpKind; 2] = [OpKind::Recv, OpKind::TryRecv];

/// The rules of channels.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        let id = operation.resource;
        match operation.kind {
            OpKind::Send => engine.progress(|engine| engine.commit_send(task, id, true)),
            OpKind::TrySend => engine.commit_send(task, id, false),
            OpKind::Recv => engine.progress(|engine| engine.commit_recv(task, id, true)),
            OpKind::TryRecv => engine.commit_recv(task, id, false),
            OpKind::CloseSend => engine.progress(|engine| engine.commit_close_send(id)),
            OpKind::Close => engine.progress(|engine| engine.commit_close(id)),
            OpKind::Length => engine.commit_length(id),
            _ => engine.progress(|engine| engine.commit_close_recv(id)),
        }
    }

    fn must_wait(&self, engine: &Engine, request: &Operation) -> bool {
        let State::Channel(c) = &engine.resources[request.resource.index()].state else { return false };
        c.capacity > 0
            && match request.kind {
                OpKind::Recv => c.received >= c.sent && c.senders > 0,
                OpKind::Send => c.receivers > 0 && !c.has_room(c.sent),
                _ => false,
            }
    }

    fn withdraw(&self, engine: &mut Engine, request: &Operation) {
        match request.kind {
            OpKind::Recv => engine.return_recv_ticket(request.resource),
            _ => engine.return_send_ticket(request.resource),
        }
    }

    fn other_side(&self, kind: OpKind) -> &'static [OpKind] {
        match kind {
            OpKind::Recv => &SENDS,
            OpKind::Send => &RECEIVES,
            _ => &[],
        }
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        relation(a, b)
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if matches!(label.kind, OpKind::CloseSend | OpKind::CloseRecv | OpKind::Length) {
            return Some(label);
        }
        if there.here().any(|s| s.kind == OpKind::Close) {
            return Some(moved_behind_a_close(label, there));
        }
        if label.kind == OpKind::Close {
            label.outcome = outcome::DISCONNECTED;
            return Some(label);
        }
        let (sent, received) = (there.count(&SENDS), there.count(&RECEIVES));
        let is_gone = |s: &Step, close| s.kind == close && u32::from(s.outcome) == outcome::DISCONNECTED;
        let closed = |close| there.here().any(|s| is_gone(s, close));
        let (ticket, gone, possible) = match label.kind {
            OpKind::Send => (sent, closed(OpKind::CloseRecv), true),
            OpKind::TrySend => (sent, closed(OpKind::CloseRecv), sent < received.saturating_add(label.arg)),
            OpKind::Recv => (received, closed(OpKind::CloseSend) && received >= sent, true),
            _ => (received, closed(OpKind::CloseSend) && received >= sent, received < sent),
        };
        label.value = ticket;
        label.outcome = match (gone, possible) {
            (true, _) => outcome::DISCONNECTED,
            (false, true) => outcome::OK,
            (false, false) => outcome::REFUSED,
        };
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::Send => trail.send(hash),
            OpKind::TrySend if step.is_ok() => trail.send(hash),
            OpKind::TrySend => trail.refuse_send(hash),
            OpKind::Recv => trail.receive(hash),
            OpKind::TryRecv if step.is_ok() => trail.receive(hash),
            OpKind::TryRecv => trail.refuse_receive(hash),
            OpKind::CloseSend => trail.release(hash, false),
            OpKind::Close | OpKind::Length => trail.everything(hash),
            _ => trail.close_receivers(hash),
        }
    }

    fn note_grant(
        &self,
        place: &mut Place,
        j: usize,
        step: &Step,
        clock: &[Words],
        history: &mut History,
    ) -> Option<Change> {
        match step.kind {
            OpKind::CloseSend => Some(place.stop_sharing(clock, history)),
            OpKind::Send | OpKind::TrySend => step.is_ok().then(|| place.send(j, step.value)),
            OpKind::Recv | OpKind::TryRecv => step.is_ok().then(|| place.receive(j, step.value)),
            _ => None,
        }
    }

    fn granted_by(&self, place: &Place, _: usize, request: &Step, waited: Option<OpKind>) -> Grant {
        let told = matches!(waited, Some(OpKind::CloseSend | OpKind::Close));
        let closed = u32::from(request.outcome) == outcome::DISCONNECTED || told;
        match request.kind {
            OpKind::Recv if closed => Grant { by: None, all_shared: true },
            OpKind::Recv if waited.is_none() => Grant::by(place.sends.get(Some(request.value))),
            OpKind::Send if waited.is_none() && !closed => {
                Grant::by(place.receives.get(request.value.checked_sub(request.arg)))
            }
            _ => Grant::NONE,
        }
    }

    fn met_by_ticket(&self, place: &Place, step: &Step) -> Option<usize> {
        match step.kind {
            OpKind::TrySend => place.receives.get(step.value.checked_sub(step.arg)),
            OpKind::TryRecv => place.sends.get(Some(step.value)),
            _ => None,
        }
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        let told_of_the_end = u32::from(request.outcome) == outcome::DISCONNECTED;
        match request.kind {
            OpKind::Recv | OpKind::TryRecv if told_of_the_end => flow.learn_of_releases(request.resource, mine),
            OpKind::Recv | OpKind::TryRecv => flow.take_message(request.resource, request.value, mine),
            OpKind::Send | OpKind::TrySend if told_of_the_end => flow.learn_of_shared(request.resource, mine),
            _ => {}
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        match step.kind {
            OpKind::CloseSend => flow.release(step.resource, mine),
            OpKind::CloseRecv => flow.release_shared(step.resource, mine),
            OpKind::Close => {
                flow.release(step.resource, mine);
                flow.release_shared(step.resource, mine);
            }
            OpKind::Send | OpKind::TrySend if step.is_ok() => flow.put_message(step.resource, step.value, mine),
            _ => {}
        }
    }

    fn end_wait(&self, flow: &mut Flow, by: &Step, request: &Step, mine: Row) {
        match (request.kind, by.kind) {
            // Its own ticket may have been moved up since it was given.
            (OpKind::Recv, OpKind::Send | OpKind::TrySend) => {
                flow.take_message(request.resource, by.value, mine);
                if request.arg != UNBOUNDED {
                    flow.put_room(request.resource, by.value, mine);
                }
            }
            (OpKind::Recv, OpKind::CloseSend | OpKind::Close) => flow.learn_of_releases(request.resource, mine),
            (OpKind::Send, OpKind::CloseRecv | OpKind::Close) => flow.learn_of_shared(request.resource, mine),
            (OpKind::Send, _) => flow.learn_of_task(by.task, mine),
            _ => self.acquire(flow, request, mine),
        }
    }

    fn settle(&self, flow: &mut Flow, step: &Step, waits: bool, mine: Row) {
        if waits || !step.is_ok() {
            return;
        }
        match step.kind {
            OpKind::Recv | OpKind::TryRecv if step.arg != UNBOUNDED => flow.put_room(step.resource, step.value, mine),
            OpKind::Send | OpKind::TrySend => flow.take_room(step.resource, step.value.checked_sub(step.arg), mine),
            _ => {}
        }
    }

    /// The two sides of a rendezvous could never both wait for the other.
    fn waits_for_its_turn(&self, label: &Label) -> bool {
        match label.kind {
            OpKind::Send => label.arg > 0 && label.arg != UNBOUNDED,
            OpKind::Recv => label.arg > 0,
            _ => false,
        }
    }

    fn could_complete(&self, request: &Label, made: &Made<'_>) -> bool {
        let (sent, received) = (made.count(&SENDS), made.count(&RECEIVES));
        if made.here().any(|(_, label)| label.kind == OpKind::Close) {
            return true;
        }
        match request.kind {
            OpKind::Send => sent < received.saturating_add(request.arg) || made.is_gone(OpKind::CloseRecv),
            _ => received < sent || made.is_gone(OpKind::CloseSend),
        }
    }

    fn partners(&self, request: &Label) -> &'static [OpKind] {
        match request.kind {
            OpKind::Send if request.arg == 0 => &RECEIVES,
            OpKind::Recv if request.arg == 0 => &SENDS,
            _ => &[],
        }
    }
}

/// What a step comes to where the channel is closed: those before it are counted in their order, since a close takes the
/// tickets of all that wait.
fn moved_behind_a_close(mut label: Label, there: &There<'_>) -> Label {
    let capacity = label.arg;
    let (mut sent, mut received, mut closed) = (0u64, 0u64, false);
    for step in there.here() {
        match step.kind {
            OpKind::Send if step.is_ok() && !closed => sent += 1,
            OpKind::Recv if step.is_ok() && (!closed || received < sent) => received += 1,
            OpKind::TrySend if step.is_ok() => sent += 1,
            OpKind::TryRecv if step.is_ok() => received += 1,
            OpKind::Close if !closed => {
                closed = true;
                sent = sent.min(received.saturating_add(capacity));
                received = received.min(sent);
            }
            _ => {}
        }
    }
    let there = received < sent;
    let (ticket, came_to) = match label.kind {
        OpKind::Close if closed => (label.value, outcome::REFUSED),
        OpKind::Close => (label.value, outcome::DISCONNECTED),
        OpKind::Send | OpKind::TrySend if closed => (sent, outcome::DISCONNECTED),
        OpKind::Send => (sent, outcome::OK),
        OpKind::TrySend if sent < received.saturating_add(capacity) => (sent, outcome::OK),
        OpKind::TrySend => (sent, outcome::REFUSED),
        _ if there => (received, outcome::OK),
        _ if closed => (received, outcome::DISCONNECTED),
        OpKind::Recv => (received, outcome::OK),
        _ => (received, outcome::REFUSED),
    };
    label.value = ticket;
    label.outcome = came_to;
    label
}

/// How two steps relate: what follows from the numbers of their tickets.
fn relation(a: &Label, b: &Label) -> Relation {
    use OpKind::{Close, CloseRecv, CloseSend, Length, Recv, Send, TryRecv, TrySend};
    use Relation::{Dependent, Granting, Independent};
    // Who waits when a channel is closed is told so, and its ticket goes back: nothing commutes with that, not even requests.
    match (a.kind, b.kind) {
        (Length, Length) => return Independent,
        (Close | Length, _) | (_, Close | Length) => return Dependent,
        _ => {}
    }
    let capacity = a.arg.max(b.arg);
    let ok = |l: &Label| l.outcome == outcome::OK;
    // A receive of ticket j makes the room that send j + capacity needs.
    let room = |send: &Label, recv: &Label| recv.value.checked_add(capacity) == Some(send.value);
    let pair = |send: &Label, recv: &Label| send.value == recv.value;
    let one = |s: &Label, r: &Label| -> Relation {
        // s is on the sending side, r on the receiving side.
        match (s.kind, r.kind) {
            (CloseSend, CloseRecv) | (CloseRecv, CloseSend) => Independent,
            (CloseSend, Recv) => Granting,
            (CloseSend, _) => {
                if ok(r) {
                    Independent
                } else {
                    Dependent
                }
            }
            (Send, Recv) if ok(s) && ok(r) && (pair(s, r) || room(s, r)) => Granting,
            (Send, Recv) => Independent,
            (Send, TryRecv) if ok(r) && pair(s, r) => Dependent,
            (Send, TryRecv) if ok(r) => {
                if room(s, r) {
                    Granting
                } else {
                    Independent
                }
            }
            (TrySend, Recv) if ok(s) && room(s, r) => Dependent,
            (TrySend, Recv) if ok(s) => {
                if pair(s, r) {
                    Granting
                } else {
                    Independent
                }
            }
            (TrySend, TryRecv) if ok(s) && ok(r) => {
                if pair(s, r) || room(s, r) {
                    Dependent
                } else {
                    Independent
                }
            }
            (TrySend, TryRecv) if !ok(s) && !ok(r) => Independent,
            _ => Dependent,
        }
    };
    let sending = |l: &Label| matches!(l.kind, Send | TrySend | CloseSend);
    match (sending(a), sending(b)) {
        (true, false) => one(a, b),
        (false, true) => one(b, a),
        (true, true) => match (a.kind, b.kind) {
            (CloseSend, _) | (_, CloseSend) => Independent,
            (TrySend, TrySend) if !ok(a) && !ok(b) => Independent,
            _ => Dependent,
        },
        (false, false) => match (a.kind, b.kind) {
            (TryRecv, TryRecv) if !ok(a) && !ok(b) => Independent,
            _ => Dependent,
        },
    }
}

/// Capacity of a channel that never fills.
pub const UNBOUNDED: u64 = u64::MAX;

/// The counters of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelState {
    /// Messages it holds before a send waits.
    pub capacity: u64,
    /// Send tickets given.
    pub sent: u64,
    /// Receive tickets given.
    pub received: u64,
    /// Live sending ends.
    pub senders: u64,
    /// Live receiving ends.
    pub receivers: u64,
}

impl ChannelState {
    /// An open channel with one end on each side.
    pub fn new(capacity: u64) -> Self {
        ChannelState { capacity, sent: 0, received: 0, senders: 1, receivers: 1 }
    }

    /// Whether a send of ticket `i` needs not wait.
    pub(crate) fn has_room(&self, i: u64) -> bool {
        self.capacity == UNBOUNDED || i < self.received.saturating_add(self.capacity)
    }
}

impl Engine {
    pub(crate) fn channel(&mut self, id: ResourceId) -> &mut ChannelState {
        match &mut self.resources[id.index()].state {
            State::Channel(state) => state,
            other => unreachable!("a channel operation on {other:?}"),
        }
    }

    pub(crate) fn commit_send(&mut self, task: TaskId, id: ResourceId, wait: bool) -> Committed {
        let channel = *self.channel(id);
        let ticket = channel.sent;
        // Refused or not: the dependence table compares tickets, and 0 would be another one's.
        self.note_value(ticket);
        if channel.receivers == 0 {
            return Committed::Done(outcome::DISCONNECTED);
        }
        let room = channel.has_room(ticket);
        if !wait && !room {
            return Committed::Done(outcome::REFUSED);
        }
        self.channel(id).sent += 1;
        // A receiver that waits for this ticket has it now; it is the first of the queue.
        if let Some(receiver) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.grant(receiver, outcome::OK);
        }
        if room {
            return Committed::Done(outcome::OK);
        }
        self.resources[id.index()].senders.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_recv(&mut self, task: TaskId, id: ResourceId, wait: bool) -> Committed {
        let channel = *self.channel(id);
        let ticket = channel.received;
        self.note_value(ticket);
        let there = ticket < channel.sent;
        if !there && channel.senders == 0 {
            return Committed::Done(outcome::DISCONNECTED);
        }
        if !wait && !there {
            return Committed::Done(outcome::REFUSED);
        }
        self.channel(id).received += 1;
        // The room that this receive makes belongs to the longest waiting sender.
        if let Some(sender) = self.resources[id.index()].senders.pop(&mut self.tasks) {
            self.grant(sender, outcome::OK);
        }
        if there {
            return Committed::Done(outcome::OK);
        }
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_close_send(&mut self, id: ResourceId) -> Committed {
        let channel = self.channel(id);
        // Closed for all before; or given back once too often, which the front end looks after.
        if channel.senders == 0 {
            return Committed::Done(outcome::REFUSED);
        }
        channel.senders -= 1;
        if channel.senders > 0 {
            return Committed::Done(outcome::OK);
        }
        // Receivers still waiting hold tickets for messages that will never be sent.
        while let Some(receiver) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.channel(id).received -= 1;
            self.grant(receiver, outcome::DISCONNECTED);
        }
        Committed::Done(outcome::DISCONNECTED)
    }

    pub(crate) fn commit_close_recv(&mut self, id: ResourceId) -> Committed {
        let channel = self.channel(id);
        channel.receivers -= 1;
        if channel.receivers > 0 {
            return Committed::Done(outcome::OK);
        }
        while let Some(sender) = self.resources[id.index()].senders.pop(&mut self.tasks) {
            self.grant(sender, outcome::DISCONNECTED);
        }
        Committed::Done(outcome::DISCONNECTED)
    }

    /// Nothing is sent any more: those who wait for room or for a message are told, and their tickets go back.
    pub(crate) fn commit_close(&mut self, id: ResourceId) -> Committed {
        let channel = self.channel(id);
        if channel.receivers == 0 {
            return Committed::Done(outcome::REFUSED);
        }
        (channel.senders, channel.receivers) = (0, 0);
        while let Some(receiver) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.channel(id).received -= 1;
            self.grant(receiver, outcome::DISCONNECTED);
        }
        while let Some(sender) = self.resources[id.index()].senders.pop(&mut self.tasks) {
            self.channel(id).sent -= 1;
            self.grant(sender, outcome::DISCONNECTED);
        }
        Committed::Done(outcome::DISCONNECTED)
    }

    pub(crate) fn commit_length(&mut self, id: ResourceId) -> Committed {
        let channel = *self.channel(id);
        self.note_value(channel.sent.saturating_sub(channel.received).min(channel.capacity));
        Committed::Done(outcome::OK)
    }

    /// Another sending end exists. No step: an end is only ever made from a live one.
    pub fn add_sender(&mut self, id: ResourceId) {
        self.channel(id).senders += 1;
    }

    /// Whose send has `ticket`: who holds the message of a rendezvous that was not waited for.
    pub fn sender_of(&self, id: ResourceId, ticket: u64) -> Option<TaskId> {
        let sent = |step: &&Step| {
            step.resource == id
                && step.value == ticket
                && matches!(step.kind, OpKind::Send | OpKind::TrySend)
                && u32::from(step.outcome) == outcome::OK
        };
        self.steps.iter().rev().find(sent).map(|step| step.task)
    }

    /// A send gave up waiting for room: its ticket goes back. (No later one can have been served.)
    pub(crate) fn return_send_ticket(&mut self, id: ResourceId) {
        self.channel(id).sent -= 1;
    }

    /// A receive gave up waiting: its ticket goes back.
    pub(crate) fn return_recv_ticket(&mut self, id: ResourceId) {
        self.channel(id).received -= 1;
    }
}
