//! Channels between pods.

use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::net::{Fate, Net};
use super::{exploration, life};
use crate::cluster::{Isolate, NodeId};
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, TaskId};
use crate::sync::mpsc;

/// One way, to one pod.
pub(super) struct Wire<M> {
    net: Arc<Net>,
    to: Box<str>,
    at: &'static Location<'static>,
    is_ordered: bool,
    state: Mutex<State<M>>,
}

struct State<M> {
    inbox: Inbox<M>,
    /// Those of former starts: nobody reads them, and they are dropped when the run is over.
    former: Vec<Inbox<M>>,
    /// Who delivers what each pod has sent last, where order is kept.
    last: BTreeMap<Option<NodeId>, TaskId>,
}

/// What has arrived and was not received.
struct Inbox<M> {
    puts: Arc<mpsc::Sender<M>>,
    takes: Arc<Mutex<mpsc::Receiver<M>>>,
}

impl<M> Inbox<M> {
    #[track_caller]
    fn new() -> Self {
        let (puts, takes) = mpsc::channel();
        Inbox { puts: Arc::new(puts), takes: Arc::new(Mutex::new(takes)) }
    }
}

/// What a pod that starts has anew.
pub(super) trait Renew: Send + Sync {
    /// To which pod, and where that was said.
    fn to(&self) -> (&str, &'static Location<'static>);

    /// It has nothing in it.
    fn renew(&self);
}

impl<M: Send + 'static> Renew for Wire<M> {
    fn to(&self) -> (&str, &'static Location<'static>) {
        (&self.to, self.at)
    }

    fn renew(&self) {
        let mut state = self.state();
        let former = std::mem::replace(&mut state.inbox, Inbox::new());
        state.former.push(former);
    }
}

impl<M> Wire<M> {
    fn state(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pod that it leads to, when the run has begun.
    #[track_caller]
    fn target(&self) -> NodeId {
        let (to, at) = (&self.to, self.at);
        self.net.named(to).unwrap_or_else(|| {
            panic!("the channel to `{to}` (made at {at}) is used before `Pods::run`: pods use it, not the test")
        })
    }
}

impl<M: Clone + Send + 'static> Wire<M> {
    #[track_caller]
    pub(super) fn between(net: &Arc<Net>, to: &str, is_ordered: bool) -> (Sender<M>, Receiver<M>) {
        let state = State { inbox: Inbox::new(), former: Vec::new(), last: BTreeMap::new() };
        let wire = Arc::new(Wire {
            net: Arc::clone(net),
            to: to.into(),
            at: Location::caller(),
            is_ordered,
            state: Mutex::new(state),
        });
        let weak: Weak<Wire<M>> = Arc::downgrade(&wire);
        net.add_wire(weak);
        (Sender { wire: Arc::clone(&wire) }, Receiver { wire })
    }

    /// Leaves a message to a task of nobody's, which delivers it at any time.
    fn send(self: &Arc<Self>, rt: Handle, from: Option<NodeId>, message: M, place: &'static Location<'static>) {
        let (wire, site) = (Arc::clone(self), rt::site(place));
        let before = self.is_ordered.then(|| self.state().last.get(&from).copied()).flatten();
        let courier = life::spawn(rt, "in flight", site, 0, true, move |rt| {
            if let Some(before) = before {
                rt.step(Operation::new(OpKind::Join, ResourceId::NONE, site).with_arg(u64::from(before.0)));
            }
            wire.deliver(rt, from, message, place);
        });
        if self.is_ordered {
            self.state().last.insert(from, courier);
        }
    }

    fn deliver(self: &Arc<Self>, rt: Handle, from: Option<NodeId>, message: M, place: &'static Location<'static>) {
        let to = self.target();
        loop {
            match self.net.fate(from, to, self.is_ordered, place) {
                Fate::Lost => return,
                Fate::Waits(heals) => heals.wait(),
                Fate::Arrives { twice } => {
                    let puts = Arc::clone(&self.state().inbox.puts);
                    if twice {
                        self.send(rt, from, message.clone(), place);
                    }
                    // Nobody drops the other end while this runs.
                    _ = puts.send(message);
                    return;
                }
            }
        }
    }
}

/// Sends messages to a pod. It can be given to any pod, and copied.
///
/// ```
/// use drawloom::cluster::pods::{Pods, Sender};
///
/// drawloom::check(|| {
///     let mut pods = Pods::new();
///     let (sender, receiver) = pods.channel::<u32>("server");
///     for name in ["first", "second"] {
///         pods.client(name, sender.clone(), |sender: Sender<u32>| sender.send(1));
///     }
///     pods.client("server", receiver, |receiver| assert_eq!(receiver.recv() + receiver.recv(), 2));
///     pods.run();
/// });
/// ```
pub struct Sender<M> {
    wire: Arc<Wire<M>>,
}

impl<M: Clone + Send + 'static> Sender<M> {
    /// Sends a message. It arrives at any time, or never; nobody learns of that.
    #[track_caller]
    pub fn send(&self, message: M) {
        let rt = exploration();
        self.wire.target();
        self.wire.send(rt, Net::here(rt), message, Location::caller());
    }
}

impl<M> Clone for Sender<M> {
    fn clone(&self) -> Self {
        Sender { wire: Arc::clone(&self.wire) }
    }
}

impl<M: Send + 'static> Isolate for Sender<M> {
    fn isolate(&self) -> Self {
        self.clone()
    }
}

impl<M> fmt::Debug for Sender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender<{}> to `{}`", type_name::<M>(), self.wire.to)
    }
}

/// Receives the messages of a channel, in the pod that it leads to. After a restart it is empty.
///
/// ```
/// use drawloom::cluster::pods::{Pods, Receiver};
/// use std::time::Duration;
///
/// drawloom::check(|| {
///     let mut pods = Pods::new();
///     let (_, receiver) = pods.channel::<u32>("server");
///     pods.client("server", receiver, |receiver: Receiver<u32>| {
///         assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), None);
///     });
///     pods.run();
/// });
/// ```
pub struct Receiver<M> {
    wire: Arc<Wire<M>>,
}

impl<M: Clone + Send + 'static> Receiver<M> {
    /// The next message that has arrived; waits for it.
    ///
    /// # Panics
    ///
    /// In another pod than the one that the channel leads to.
    #[track_caller]
    pub fn recv(&self) -> M {
        let received = self.with(|takes| takes.recv().ok());
        received.expect("the network holds the other end")
    }

    /// The same, for so long at most.
    #[track_caller]
    pub fn recv_timeout(&self, limit: Duration) -> Option<M> {
        self.with(|takes| takes.recv_timeout(limit).ok())
    }

    /// The next message, if one has arrived.
    #[track_caller]
    pub fn try_recv(&self) -> Option<M> {
        self.with(|takes| takes.try_recv().ok())
    }

    #[track_caller]
    fn with<R>(&self, take: impl FnOnce(&mpsc::Receiver<M>) -> R) -> R {
        let (to, at) = (self.wire.target(), self.wire.at);
        let here = Net::here(exploration());
        if here != Some(to) {
            let (here, to) = (here.map_or("the test itself", |pod| self.wire.net.name(pod)), &self.wire.to);
            panic!("`{here}` receives from a channel that leads to `{to}` (made at {at})");
        }
        let takes = Arc::clone(&self.wire.state().inbox.takes);
        let takes = takes.try_lock().unwrap_or_else(|_| {
            panic!("two tasks of `{}` receive from one channel at a time (made at {at})", self.wire.to)
        });
        take(&takes)
    }
}

impl<M: Send + 'static> Isolate for Receiver<M> {
    fn isolate(&self) -> Self {
        Receiver { wire: Arc::clone(&self.wire) }
    }
}

impl<M> fmt::Debug for Receiver<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver<{}> of `{}`", type_name::<M>(), self.wire.to)
    }
}
