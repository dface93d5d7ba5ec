//! Pods: nodes that run ordinary code.
//!
//! A [`Node`](super::Node) is a state machine, and an event with all that it does about it is one step. A *pod* is a set of tasks: threads with
//! locks, channels and atomics of `drawloom`, each operation of which is a choice of the schedule. Its memory is its own: what a pod starts with
//! is a [copy](super::Isolate) that shares nothing, and pods reach each other through [channels](Pods::channel) over the network alone, where
//! messages are late, overtake each other, and are lost or cut off as far as [`Faults`] allow.
//!
//! ```
//! use drawloom::cluster::Faults;
//! use drawloom::cluster::pods::Pods;
//!
//! let exploration = drawloom::explore(drawloom::Config::new(), || {
//!     let mut pods = Pods::new();
//!     let (deposits, inbox) = pods.channel::<u32>("bank");
//!     let (receipts, sums) = pods.channel::<u32>("customer");
//!     pods.pod("bank", (inbox, receipts), |(inbox, receipts)| {
//!         let mut sum = 0;
//!         loop {
//!             sum += inbox.recv(); // nothing remembers which deposits were made already
//!             receipts.send(sum);
//!         }
//!     });
//!     pods.client("customer", (deposits, sums), |(deposits, sums)| {
//!         deposits.send(10);
//!         assert_eq!(sums.recv(), 10);
//!         deposits.send(5);
//!         assert_eq!(sums.recv(), 15);
//!     });
//!     pods.faults(Faults::none().duplicates(1));
//!     pods.run();
//! });
//! assert!(exploration.findings()[0].message().contains("assertion"));
//! ```
//!
//! # Faults
//!
//! Crashes, restarts and reboots of pods, duplicates and losses of messages, partitions. A crash kills all tasks of a pod: none makes a
//! further step, and no destructor acts on what others see. [`Storage`] survives it.

mod life;
mod net;
mod storage;
mod wire;

use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

use super::{Faults, Isolate, NodeId};
use crate::rt::{self, Handle};

pub use storage::Storage;
pub use wire::{Receiver, Sender};

use life::{Life, Plan};
use net::Net;
use wire::Wire;

/// The code of a pod, once its configuration was copied.
type Start = Box<dyn FnOnce()>;

/// Pods, the channels between them, and what may go wrong.
///
/// It is made, filled and [run](Self::run) in the body of a test.
///
/// ```
/// use drawloom::cluster::pods::Pods;
///
/// drawloom::check(|| {
///     let mut pods = Pods::new();
///     let (sender, receiver) = pods.channel::<u32>("server");
///     pods.client("client", sender, |sender| sender.send(1));
///     pods.client("server", receiver, |receiver| assert_eq!(receiver.recv(), 1));
///     pods.run();
/// });
/// ```
pub struct Pods {
    net: Arc<Net>,
    plans: Vec<Plan>,
    faults: Faults,
    faults_at: Option<&'static Location<'static>>,
}

impl Default for Pods {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

#[track_caller]
fn exploration() -> Handle {
    rt::current().unwrap_or_else(|| panic!("pods run in an exploration: in `#[drawloom::test]` or `drawloom::check`"))
}

impl Pods {
    /// No pods yet.
    ///
    /// # Panics
    ///
    /// Outside of an exploration.
    #[track_caller]
    pub fn new() -> Pods {
        exploration();
        Pods { net: Arc::default(), plans: Vec::new(), faults: Faults::none(), faults_at: None }
    }

    /// Adds a pod that serves others: the run does not wait for it. It runs `main` with a copy of `config`, and again after each restart. What
    /// it spawns belongs to it.
    ///
    /// # Panics
    ///
    /// If another pod has that name.
    #[track_caller]
    pub fn pod<C: Isolate>(&mut self, name: &str, config: C, main: impl FnOnce(C) + Copy + 'static) -> NodeId {
        self.add(name, false, config, main)
    }

    /// Adds a pod for whose end the run waits, and that no fault of pods hits unless it is [named](Faults::crash_only).
    ///
    /// # Panics
    ///
    /// If another pod has that name.
    #[track_caller]
    pub fn client<C: Isolate>(&mut self, name: &str, config: C, main: impl FnOnce(C) + Copy + 'static) -> NodeId {
        self.add(name, true, config, main)
    }

    #[track_caller]
    fn add<C: Isolate>(
        &mut self,
        name: &str,
        is_client: bool,
        config: C,
        main: impl FnOnce(C) + Copy + 'static,
    ) -> NodeId {
        let at = Location::caller();
        if let Some(other) = self.plans.iter().find(|plan| *plan.name == *name) {
            panic!("two pods are called `{name}`: the other one was added at {}", other.at);
        }
        let make = move || -> Start {
            let config = config.isolate();
            Box::new(move || main(config))
        };
        self.plans.push(Plan { name: name.into(), is_client, at, make: Rc::new(make) });
        NodeId::from_index(self.plans.len() - 1)
    }

    /// A channel to the pod `to`, which may be added later. Messages may overtake each other.
    #[track_caller]
    pub fn channel<M: Clone + Send + 'static>(&mut self, to: &str) -> (Sender<M>, Receiver<M>) {
        Wire::between(&self.net, to, false)
    }

    /// A channel whose messages from one pod arrive in the order in which they were sent, and wait where a link is cut.
    #[track_caller]
    pub fn ordered_channel<M: Clone + Send + 'static>(&mut self, to: &str) -> (Sender<M>, Receiver<M>) {
        Wire::between(&self.net, to, true)
    }

    /// Storage that survives crashes, for one pod.
    pub fn storage<T: Clone + Send + 'static>(&mut self) -> Storage<T> {
        Storage::new()
    }

    /// What may go wrong: crashes, restarts, reboots, duplicates, losses and partitions.
    #[track_caller]
    pub fn faults(&mut self, faults: Faults) -> &mut Pods {
        (self.faults, self.faults_at) = (faults, Some(Location::caller()));
        self
    }

    /// Runs all pods until the clients have ended. What is in flight then is lost.
    ///
    /// # Panics
    ///
    /// If there is no client, or what was said of pods, channels and faults does not fit together.
    #[track_caller]
    pub fn run(self) {
        let site = rt::here();
        Life::begin(self, exploration(), site).until_clients_have_ended();
    }
}
