//! A simulated cluster: nodes with a network, clocks, storage and faults, without anybody who decides.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! This is the state of a cluster and the rules of its changes. A [`Host`] decides what happens next: it learns of
//! everything that *may* happen (a message may arrive, a timer may fire, a fault may strike), and says what does. `drawloom::cluster` is
//! a host that makes each of them a choice of drawloom's scheduler.
//!
//! - [`Cluster`]: what there is: nodes, faults, invariants;
//! - [`Node`]: the code of a node, a state machine that is told what has happened;
//! - [`Ctx`]: what that code can do: send, set timers, store;
//! - [`World`]: the state of one run;
//! - [`Faults`] and [`Shape`]: what may go wrong;
//! - [`Host`]: who decides.
//!
//! Everything that happens, happens at one node. Two events at different nodes commute; two at one node do not. What concerns several
//! nodes, as a partition does, is an event at each of them, one after the other: nobody can tell at which instant it began.
#![forbid(unsafe_code)]

mod begin;
mod clock;
mod cluster;
mod ctx;
mod draw;
mod drift;
mod event;
mod fault;
mod files;
mod goal;
mod happen;
mod harm;
mod host;
mod id;
mod invariant;
mod log;
mod midway;
mod network;
mod node;
mod partition;
mod random;
mod store;
mod stream;
mod world;

pub use clock::{Clock, Timer, TimerId};
pub use cluster::{Cluster, Verdict};
pub use ctx::Ctx;
pub use event::Event;
#[doc(hidden)]
pub use fault::{Action, Fault};
pub use fault::{Faults, Loss};
pub use files::DiskError;
#[doc(hidden)]
pub use files::DiskFault;
pub use harm::Harm;
pub use host::{Happening, Host, Place, QueueId};
pub use id::NodeId;
pub use invariant::Holds;
pub use node::{Isolate, Node, Probe};
pub use partition::{Mode, Shape};
pub use random::Stream;
pub use stream::{StreamEvent, StreamId};
pub use world::World;
