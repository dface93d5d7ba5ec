//! Mailboxes: what was posted, what has arrived, and what a receive is looking for.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::backend::Place;
use super::pid::{AnyPid, ProcessId};
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

    /// Sends a reply of `from` to `to`, whose mailbox this is.
    fn send_reply(&self, at: Place, from: ProcessId, to: &AnyPid, reply: Reply);

    /// What `from` has posted first arrives.
    fn arrive(&self, from: ProcessId);

    /// Throws away what `from` has posted first: it is lost.
    fn lose(&self, from: ProcessId);

    /// Removes the `Down` of a monitor, if it has arrived.
    fn flush(&self, monitor: MonitorRef) -> bool;

    /// Removes the replies that nobody waits for any more, as far as they have arrived, and their names from the list.
    fn sweep(&self, forgotten: &mut Vec<Ref>);

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
    posted: VecDeque<(ProcessId, Item<M>)>,
    /// What was posted after that, by sender.
    more: BTreeMap<ProcessId, VecDeque<Item<M>>>,
    closed: bool,
}

impl<M> Queue<M> {
    fn post(&mut self, from: ProcessId, item: Item<M>) {
        if self.posted.len() < FEW && self.more.is_empty() {
            self.posted.push_back((from, item));
        } else {
            self.more.entry(from).or_default().push_back(item);
        }
    }

    fn first_posted(&mut self, from: ProcessId) -> Option<Item<M>> {
        if self.posted.front().is_some_and(|(by, _)| *by == from) {
            return self.posted.pop_front().map(|(_, item)| item);
        }
        if let Some(at) = self.posted.iter().position(|(by, _)| *by == from) {
            return self.posted.remove(at).map(|(_, item)| item);
        }
        let posted = self.more.get_mut(&from)?;
        let first = posted.pop_front();
        // Senders come and go, and each timer is one.
        if posted.is_empty() {
            self.more.remove(&from);
        }
        first
    }

    /// What `from` has posted first arrives. If nobody receives any more it is given back: to drop it is the user's code.
    fn arrive(&mut self, from: ProcessId) -> Option<Item<M>> {
        let item = self.first_posted(from)?;
        if self.closed {
            return Some(item);
        }
        self.add(item);
        None
    }

    fn add(&mut self, item: Item<M>) {
        self.arrived.push_back((self.arrivals, Some(item)));
        self.arrivals += 1;
    }
}

/// How far a receive has looked.
#[derive(Default)]
pub(crate) struct Search {
    /// So many were looked at in vain.
    seen: usize,
    found: Option<Found>,
}

#[derive(Clone, Copy)]
struct Found {
    /// Where in the mailbox.
    at: usize,
    /// The number of it among all that ever arrived.
    number: u32,
    /// Which clause wants it.
    clause: usize,
}

impl<M: Message> Mailbox<M> {
    pub(crate) fn new(core: Core) -> Mailbox<M> {
        let queue = Queue {
            arrived: VecDeque::new(),
            arrivals: 0,
            posted: VecDeque::new(),
            more: BTreeMap::new(),
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
        if self.core.is_noted {
            self.core.backend.note(&self.core, from, &|| item.told());
        }
        self.queue().post(from, item);
    }

    /// Sends a message of `from` to `to`, whose mailbox this is.
    pub(crate) fn send(&self, at: Place, from: ProcessId, to: &AnyPid, message: M) {
        self.send_item(at, from, to, Item::Received(Received::Message(message)));
    }

    fn send_item(&self, at: Place, from: ProcessId, to: &AnyPid, item: Item<M>) {
        #[cfg(feature = "controlled")]
        if !self.core.is_noted && self.core.backend.deliver(at, from, &self.core, &mut |from| self.let_in(from)) {
            let mut queue = self.queue();
            match queue.closed {
                false => queue.add(item),
                true => queue.post(from, item),
            }
            return;
        }
        self.put(from, item);
        self.core.backend.send(at, from, to);
    }

    /// What `from` has posted first arrives. In a mailbox that is closed it stays where it is: to drop it is the user's code.
    #[cfg(feature = "controlled")]
    fn let_in(&self, from: ProcessId) {
        let mut queue = self.queue();
        if let Some(refused) = queue.arrive(from) {
            queue.post(from, refused);
        }
    }

    /// Takes in what has arrived, as `arrivals` tells by its senders, and goes on with a search for what is `wanted`. The number of what was
    /// found, the oldest, among all that ever arrived.
    pub(crate) fn look<W: Wanted<M>>(
        &self,
        search: &mut Search,
        wanted: &W,
        arrivals: &mut dyn FnMut() -> Option<ProcessId>,
    ) -> Option<u32> {
        let mut queue = self.queue();
        // Who receives has not ended, so nothing is given back.
        while let Some(from) = arrivals() {
            queue.arrive(from);
        }
        if !W::OWN {
            drop(queue);
            self.look_by_asking(search, &|item| wanted.clause(item));
        } else {
            while search.found.is_none() {
                let Some((number, item)) = queue.arrived.get(search.seen) else { break };
                let clause = item.as_ref().and_then(|item| wanted.clause(item));
                search.found = clause.map(|clause| Found { at: search.seen, number: *number, clause });
                search.seen += 1;
            }
        }
        search.found.map(|found| found.number)
    }

    /// The same where a predicate is the user's code: nothing is locked while it runs, and if it panics nothing is lost.
    fn look_by_asking(&self, search: &mut Search, wanted: &dyn Fn(&Item<M>) -> Option<usize>) {
        while search.found.is_none() {
            let at = search.seen;
            let candidate = self.queue().arrived.get_mut(at).and_then(|(number, one)| Some((*number, one.take()?)));
            let Some((number, candidate)) = candidate else { return };
            let looked_at = LookedAt { mailbox: self, at, candidate: Some(candidate) };
            let ask = || looked_at.candidate.as_ref().and_then(wanted);
            let clause = catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|payload| {
                // It cannot be told whether the message was wanted: that is never as it was meant.
                self.core.backend.blame();
                resume_unwind(payload)
            });
            drop(looked_at);
            search.seen = at + 1;
            search.found = clause.map(|clause| Found { at, number, clause });
        }
    }

    /// Takes out what a search has found, and says which clause wanted it.
    pub(crate) fn take(&self, search: Search) -> Option<(usize, Item<M>)> {
        let found = search.found?;
        let mut queue = self.queue();
        let (_, item) = if found.at == 0 { queue.arrived.pop_front() } else { queue.arrived.remove(found.at) }?;
        Some((found.clause, item?))
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

    fn send_reply(&self, at: Place, from: ProcessId, to: &AnyPid, reply: Reply) {
        self.send_item(at, from, to, Item::Reply(reply));
    }

    fn arrive(&self, from: ProcessId) {
        let refused = self.queue().arrive(from);
        drop(refused);
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
