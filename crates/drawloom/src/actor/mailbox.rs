//! Mailboxes: what was posted, what has arrived, and what a receive is looking for.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pid::ProcessId;
use super::process::Core;
use super::reply::Reply;
use super::signal::{Message, MonitorRef, Received, Ref, Signal};

/// What a receive accepts.
pub(crate) trait Wanted<M>: Send + Sync {
    /// Nobody else's code is asked: it can be done under a lock, and does not panic.
    const OWN: bool = true;

    /// By which clause it accepts this.
    fn clause(&self, item: &Item<M>) -> Option<usize>;
}

/// Whatever is no answer.
pub(crate) struct Anything;

impl<M> Wanted<M> for Anything {
    fn clause(&self, item: &Item<M>) -> Option<usize> {
        matches!(item, Item::Received(_)).then_some(0)
    }
}

/// Messages.
pub(crate) struct Messages;

impl<M> Wanted<M> for Messages {
    fn clause(&self, item: &Item<M>) -> Option<usize> {
        matches!(item, Item::Received(Received::Message(_))).then_some(0)
    }
}

/// The reply with this name; or that whoever owes it has ended.
pub(crate) struct AnAnswer {
    pub(crate) tag: Ref,
    pub(crate) monitor: MonitorRef,
}

impl<M> Wanted<M> for AnAnswer {
    fn clause(&self, item: &Item<M>) -> Option<usize> {
        match item {
            Item::Reply(reply) if reply.tag == self.tag => Some(0),
            Item::Received(Received::Down(down)) if down.monitor == self.monitor => Some(1),
            _ => None,
        }
    }
}

/// What somebody else's predicate says.
pub(crate) struct Asked<F>(pub(crate) F);

impl<M, F: Fn(&Received<M>) -> Option<usize> + Send + Sync> Wanted<M> for Asked<F> {
    const OWN: bool = false;

    fn clause(&self, item: &Item<M>) -> Option<usize> {
        match item {
            Item::Received(received) => (self.0)(received),
            Item::Reply(_) => None,
        }
    }
}

/// What is in a mailbox.
pub(crate) enum Item<M> {
    /// What everybody may receive.
    Received(Received<M>),
    /// The answer to a request, for the process that made it.
    Reply(Reply),
}

#[cfg(feature = "controlled")]
impl<M: Message> Item<M> {
    /// What it says, in words.
    fn told(&self) -> String {
        let who = |process: &Option<super::pid::AnyPid>| match process {
            Some(process) => format!("{process:?}"),
            None => "nobody".to_owned(),
        };
        match self {
            Item::Received(Received::Message(message)) => format!("{message:?}"),
            Item::Received(Received::Down(down)) => format!("Down of {}: {}", who(&down.process), down.reason),
            Item::Received(Received::Exit(exit)) => format!("Exit of {}: {}", who(&exit.from), exit.reason),
            Item::Reply(reply) => reply.told(),
        }
    }
}

/// So much that was posted is looked through one by one.
const FEW: usize = 8;

/// The mailbox of a process, whatever it takes.
pub(crate) trait Inbox: Any + Send + Sync {
    fn core(&self) -> &Core;

    /// Posts a signal of `from`.
    fn post_signal(&self, from: ProcessId, signal: Signal);

    /// Posts a reply of `from`.
    fn post_reply(&self, from: ProcessId, reply: Reply);

    /// What `from` has posted first arrives.
    fn arrive(&self, from: ProcessId);

    /// Throws away what `from` has posted first: it is lost.
    fn lose(&self, from: ProcessId);

    /// Removes the `Down` of a monitor, if it has arrived.
    fn flush(&self, monitor: MonitorRef) -> bool;

    /// Removes the replies that nobody waits for any more, as far as they have arrived, and their names from the list.
    fn sweep(&self, forgotten: &mut Vec<Ref>);

    /// The number of what a receive has found, among all that ever arrived.
    fn found(&self) -> Option<u32>;

    /// Whether the receive that waits takes whatever comes.
    fn takes_anything(&self) -> bool;

    /// The process has ended: nobody receives any more.
    fn close(&self);
}

/// The mailbox of a process that takes messages of type `M`.
pub(crate) struct Mailbox<M> {
    core: Core,
    queue: Mutex<Queue<M>>,
}

struct Queue<M> {
    /// In the order of arrival, each with its number; none where a predicate is looking at it.
    arrived: VecDeque<(u32, Option<Item<M>>)>,
    /// How much has ever arrived.
    arrivals: u32,
    /// In the order of posting, if it is not much.
    posted: Vec<(ProcessId, Item<M>)>,
    /// What was posted after that, by sender.
    more: BTreeMap<ProcessId, VecDeque<Item<M>>>,
    /// Where a receive has found something, and by which clause.
    found: Option<(usize, usize)>,
    /// So many were looked at in vain by the receive that waits.
    seen: usize,
    /// The receive that waits takes whatever comes.
    anything: bool,
    closed: bool,
}

impl<M> Queue<M> {
    fn post(&mut self, from: ProcessId, item: Item<M>) {
        if self.posted.len() < FEW && self.more.is_empty() {
            self.posted.push((from, item));
        } else {
            self.more.entry(from).or_default().push_back(item);
        }
    }

    fn first_posted(&mut self, from: ProcessId) -> Option<Item<M>> {
        if let Some(at) = self.posted.iter().position(|(by, _)| *by == from) {
            return Some(self.posted.remove(at).1);
        }
        let posted = self.more.get_mut(&from)?;
        let first = posted.pop_front();
        // Senders come and go, and each timer is one.
        if posted.is_empty() {
            self.more.remove(&from);
        }
        first
    }
}

impl<M: Message> Mailbox<M> {
    pub(crate) fn new(core: Core) -> Mailbox<M> {
        let queue = Queue {
            arrived: VecDeque::new(),
            arrivals: 0,
            posted: Vec::new(),
            more: BTreeMap::new(),
            found: None,
            seen: 0,
            anything: false,
            closed: false,
        };
        Mailbox { core, queue: Mutex::new(queue) }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<M>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a message of `from`.
    pub(crate) fn post(&self, from: ProcessId, message: M) {
        self.put(from, Item::Received(Received::Message(message)));
    }

    fn put(&self, from: ProcessId, item: Item<M>) {
        #[cfg(feature = "controlled")]
        self.core.backend.note(&self.core, from, &|| item.told());
        self.queue().post(from, item);
    }

    /// A receive begins, of `anything` perhaps.
    pub(crate) fn begin(&self, anything: bool) {
        let mut queue = self.queue();
        (queue.found, queue.seen, queue.anything) = (None, 0, anything);
    }

    /// Whether something that is `wanted` has arrived: the oldest is found.
    pub(crate) fn look<W: Wanted<M>>(&self, wanted: &W) -> bool {
        if !W::OWN {
            return self.look_by_asking(&|item| wanted.clause(item));
        }
        let mut queue = self.queue();
        let seen = queue.seen;
        if queue.found.is_none() {
            let unseen = queue.arrived.iter().enumerate().skip(seen);
            let clause = |item: &Option<Item<M>>| item.as_ref().and_then(|item| wanted.clause(item));
            let found = unseen.filter_map(|(at, (_, item))| Some((at, clause(item)?))).next();
            (queue.found, queue.seen) = (found, queue.arrived.len());
        }
        queue.found.is_some()
    }

    /// The same where a predicate is the user's code: nothing is locked while it runs, and if it panics nothing is lost.
    fn look_by_asking(&self, wanted: &dyn Fn(&Item<M>) -> Option<usize>) -> bool {
        loop {
            let mut queue = self.queue();
            let at = queue.seen;
            if queue.found.is_some() {
                return true;
            }
            let Some(candidate) = queue.arrived.get_mut(at).and_then(|(_, one)| one.take()) else { return false };
            drop(queue);
            let looked_at = LookedAt { mailbox: self, at, candidate: Some(candidate) };
            let ask = || looked_at.candidate.as_ref().and_then(wanted);
            let clause = catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|payload| {
                // It cannot be told whether the message was wanted: that is never as it was meant.
                self.core.backend.blame();
                resume_unwind(payload)
            });
            drop(looked_at);
            let mut queue = self.queue();
            queue.seen = at + 1;
            queue.found = clause.map(|clause| (at, clause));
        }
    }

    /// Takes out what was found, and says which clause wanted it.
    pub(crate) fn take(&self) -> Option<(usize, Item<M>)> {
        let mut queue = self.queue();
        let (at, clause) = queue.found.take()?;
        queue.seen = 0;
        let (_, item) = queue.arrived.remove(at)?;
        Some((clause, item?))
    }
}

/// What a predicate is looking at; goes back to its place.
struct LookedAt<'a, M: Message> {
    mailbox: &'a Mailbox<M>,
    at: usize,
    candidate: Option<Item<M>>,
}

impl<M: Message> Drop for LookedAt<'_, M> {
    fn drop(&mut self) {
        if let Some((_, place)) = self.mailbox.queue().arrived.get_mut(self.at) {
            *place = self.candidate.take();
        }
    }
}

impl<M: Message> Inbox for Mailbox<M> {
    fn core(&self) -> &Core {
        &self.core
    }

    fn post_signal(&self, from: ProcessId, signal: Signal) {
        self.put(from, Item::Received(signal.into()));
    }

    fn post_reply(&self, from: ProcessId, reply: Reply) {
        self.put(from, Item::Reply(reply));
    }

    fn arrive(&self, from: ProcessId) {
        let mut queue = self.queue();
        let Some(received) = queue.first_posted(from) else { return };
        if !queue.closed {
            let number = queue.arrivals;
            queue.arrivals += 1;
            queue.arrived.push_back((number, Some(received)));
            return;
        }
        drop(queue);
        // What is dropped is the user's code.
        drop(received);
    }

    fn lose(&self, from: ProcessId) {
        let lost = self.queue().first_posted(from);
        drop(lost);
    }

    fn flush(&self, monitor: MonitorRef) -> bool {
        let mut queue = self.queue();
        let is_it = |(_, item): &(u32, Option<Item<M>>)| matches!(item, Some(Item::Received(Received::Down(down))) if down.monitor == monitor);
        let at = queue.arrived.iter().position(is_it);
        at.and_then(|at| queue.arrived.remove(at)).is_some()
    }

    fn sweep(&self, forgotten: &mut Vec<Ref>) {
        let mut swept = Vec::new();
        let mut queue = self.queue();
        forgotten.retain(|tag| {
            let is_it =
                |(_, item): &(u32, Option<Item<M>>)| matches!(item, Some(Item::Reply(reply)) if reply.tag == *tag);
            let at = queue.arrived.iter().position(is_it);
            swept.extend(at.and_then(|at| queue.arrived.remove(at)));
            at.is_none()
        });
        drop(queue);
        // What is in them is the user's.
        drop(swept);
    }

    fn found(&self) -> Option<u32> {
        let queue = self.queue();
        queue.found.and_then(|(at, _)| queue.arrived.get(at)).map(|(number, _)| *number)
    }

    fn takes_anything(&self) -> bool {
        self.queue().anything
    }

    fn close(&self) {
        self.core.end();
        let mut queue = self.queue();
        queue.closed = true;
        let (arrived, posted) = (std::mem::take(&mut queue.arrived), std::mem::take(&mut queue.posted));
        let more = std::mem::take(&mut queue.more);
        drop(queue);
        drop((arrived, posted, more));
    }
}
