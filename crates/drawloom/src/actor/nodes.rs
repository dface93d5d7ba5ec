//! Processes on several nodes of a simulated network.
//!
//! A node is a group of processes. Between processes of one node all is as ever. Between nodes everything goes over the network: messages, replies,
//! exit signals, monitors, links. It arrives at any time later, in order between two processes; and a [partition](Nodes::partition) or a
//! [crash](Nodes::crash) severs all of it. Whoever monitors a process beyond is told [`NoConnection`](super::ExitReason::NoConnection) then,
//! and so are links.
//!
//! ```
//! use drawloom::actor::nodes::Nodes;
//! use drawloom::actor::{self, Ctx, ExitReason};
//! use drawloom::cluster::Mode;
//!
//! drawloom::check(|| {
//!     actor::run(async |mut ctx: Ctx<()>| {
//!         let nodes = Nodes::start(&ctx, &["a", "b"]);
//!         let server = nodes.spawn(&ctx, "b", |mut ctx: Ctx<u32>| async move {
//!             ctx.recv_message().await;
//!         });
//!         let (sees, theirs) = (ctx.me().clone(), server.clone());
//!         nodes.spawn(&ctx, "a", move |mut ctx: Ctx<()>| async move {
//!             let monitor = ctx.monitor(&theirs);
//!             assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::NoConnection);
//!             ctx.send(&sees, ());
//!         });
//!         nodes.partition(&ctx, &["a"], &["b"], Mode::Drop);
//!         ctx.recv_message().await;
//!     });
//! });
//! ```
//!
//! # Names
//!
//! Names are of a node each: `ctx.register("db", …)` on node `a` does not take `db` on node `b`. A name with a node, `"db@a"`, is that of the process on
//! that node: it can be [sent to](Ctx::send_to_name), [monitored](Ctx::monitor_name), [called](Ctx::call_name) and looked up from
//! everywhere, if the node can be reached. [Global names](Nodes::register_global) are known to all nodes that are connected; where a partition heals and both
//! sides have one of a name, the conflict is [resolved](Resolve).
//!
//! # The test itself
//!
//! The process that starts the nodes, and those that it spawns with [`Ctx::spawn`], are on no node: nothing is between them and the others.

use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::backend::Tie;
use super::controlled::nodes::Net;
use super::ctx::Ctx;
use super::mailbox::Mailbox;
use super::pid::{AnyPid, Pid};
use super::process::{Core, Ending};
use super::reason::ExitReason;
use super::reply::{CallError, ReplyTo};
use super::signal::Message;
use crate::cluster::Mode;

/// Nodes, and the network between them.
///
/// ```
/// use drawloom::actor::{self, Ctx, nodes::Nodes};
///
/// drawloom::check(|| {
///     actor::run(async |mut ctx: Ctx<u32>| {
///         let nodes = Nodes::start(&ctx, &["a", "b"]);
///         let test = ctx.me().clone();
///         nodes.spawn(&ctx, "b", move |ctx: Ctx<()>| async move {
///             ctx.send(&test, 5);
///         });
///         assert_eq!(ctx.recv_message().await, 5);
///     });
/// });
/// ```
#[derive(Clone)]
pub struct Nodes {
    net: Arc<Net>,
}

/// What becomes of the connection to a node.
///
/// ```
/// use drawloom::actor::nodes::{NodeEvent, Nodes};
/// use drawloom::actor::{self, Ctx};
///
/// drawloom::check(|| {
///     actor::run(async |mut ctx: Ctx<()>| {
///         let nodes = Nodes::start(&ctx, &["a", "b"]);
///         let (theirs, test) = (nodes.clone(), ctx.me().clone());
///         nodes.spawn(&ctx, "a", move |mut ctx: Ctx<NodeEvent>| async move {
///             theirs.monitor_node(&ctx, "b", |event| event);
///             ctx.send(&test, ());
///             assert_eq!(ctx.recv_message().await, NodeEvent::Down);
///             ctx.send(&test, ());
///         });
///         ctx.recv_message().await;
///         nodes.crash(&ctx, "b");
///         ctx.recv_message().await;
///     });
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeEvent {
    /// It is gone: the node has crashed, or a partition is between.
    Down,
    /// It is there again.
    Up,
}

/// What becomes of two processes with one global name, when a partition heals.
///
/// ```
/// use drawloom::actor::nodes::{Nodes, Resolve};
/// use drawloom::actor::{self, Ctx};
/// use drawloom::cluster::Mode;
///
/// drawloom::check(|| {
///     actor::run(async |mut ctx: Ctx<()>| {
///         let nodes = Nodes::start(&ctx, &["a", "b"]);
///         nodes.partition(&ctx, &["a"], &["b"], Mode::Drop);
///         let leaders = ["a", "b"].map(|node| {
///             let leader = nodes.spawn(&ctx, node, |mut ctx: Ctx<()>| async move { ctx.recv_message().await });
///             assert!(nodes.register_global(&ctx, "leader", &leader, Resolve::Kill));
///             leader
///         });
///         nodes.heal(&ctx);
///         ctx.settle().await;
///         assert_ne!(ctx.is_alive(&leaders[0]), ctx.is_alive(&leaders[1]));
///     });
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Resolve {
    /// One of them keeps the name, and the other one is killed; which, is a choice. OTP's default, `random_exit_name`.
    #[default]
    Kill,
    /// One of them keeps the name, and the other one lives on without it.
    KeepOne,
    /// Neither keeps it: as OTP's `notify_all_name`.
    KeepNone,
}

/// What a process runs for another node that asks for it.
struct Asked<T>(Box<dyn FnOnce() -> T + Send>, ReplyTo<T>);

impl<T> std::fmt::Debug for Asked<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rpc")
    }
}

impl Nodes {
    /// Nodes of these names, all connected.
    ///
    /// # Panics
    ///
    /// Outside of an exploration, since the network is simulated; or if two names are the same.
    #[track_caller]
    pub fn start<M: Message>(ctx: &Ctx<M>, names: &[&str]) -> Nodes {
        let world = ctx.core().backend.world();
        let world = world.unwrap_or_else(|| panic!("nodes are simulated: they are started in an exploration alone"));
        for (at, name) in names.iter().enumerate() {
            assert!(
                !name.contains('@'),
                "a node is called `{name}`: `@` separates the name of a process from that of its node"
            );
            assert!(!names[..at].contains(name), "two nodes are called `{name}`");
        }
        Nodes { net: Net::start(&world, names) }
    }

    #[track_caller]
    fn known(&self, node: &str) -> usize {
        self.net.named(node).unwrap_or_else(|| {
            panic!("there is no node `{node}`: there are {}", self.names().join(", "));
        })
    }

    /// The names of all nodes.
    pub fn names(&self) -> Vec<String> {
        self.net.names().iter().map(|name| (**name).to_owned()).collect()
    }

    /// The names of those that are up.
    #[track_caller]
    pub fn up(&self) -> Vec<String> {
        let at = Location::caller();
        self.names()
            .into_iter()
            .enumerate()
            .filter(|(node, _)| self.net.is_up(at, *node))
            .map(|(_, name)| name)
            .collect()
    }

    /// The node that a process is on, if it is on one.
    pub fn node_of(&self, who: impl AsRef<AnyPid>) -> Option<String> {
        Some(self.names().swap_remove(who.as_ref().core().backend.node()?))
    }

    /// Starts a process on a node. If the node is down, or cannot be reached from that of `ctx`, the process has ended, of
    /// [`NoConnection`](ExitReason::NoConnection).
    ///
    /// # Panics
    ///
    /// If there is no such node; so do the other functions that name one.
    #[track_caller]
    pub fn spawn<M, N, F, Fut>(&self, ctx: &Ctx<M>, node: &str, f: F) -> Pid<N>
    where
        M: Message,
        N: Message,
        F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        let (at, node) = (Location::caller(), self.known(node));
        let is_there = self.net.is_reached(at, ctx.core().backend.node(), node);
        let core = Core::new(ctx.core().next_child(), self.net.backend(node));
        let pid: Pid<N> = Pid::new(Arc::new(Mailbox::new(core)));
        if is_there {
            ctx.start_as(at, &pid, f, Tie::default());
        } else {
            ctx.start_as(at, &pid, |_| async { ExitReason::NoConnection }, Tie::default());
        }
        pid
    }

    /// No connection is left between nodes of the one group and nodes of the other. With [`Mode::Drop`] it breaks: what is on its way is lost, and whoever
    /// has a link or a monitor across it is told. With [`Mode::Defer`] all waits until it [heals](Self::heal), and nobody notices.
    ///
    /// # Panics
    ///
    /// If nothing is between the groups, and with [`Mode::Reject`], which actors do not know.
    #[track_caller]
    pub fn partition<M: Message>(&self, _: &Ctx<M>, one: &[&str], other: &[&str], mode: Mode) {
        let at = Location::caller();
        assert!(
            mode != Mode::Reject,
            "a message between processes is never rejected: say `Mode::Drop` or `Mode::Defer`"
        );
        let [one, other] = [one, other].map(|group| group.iter().map(|node| self.known(node)).collect::<Vec<_>>());
        let links: Vec<(usize, usize)> =
            one.iter().flat_map(|a| other.iter().map(|b| (*a, *b))).filter(|(a, b)| a != b).collect();
        assert!(!links.is_empty(), "a partition of nobody: no connection is between these groups");
        for (a, b) in links {
            self.net.cut(at, a, b, mode);
        }
    }

    /// All connections are there again, between nodes that are up.
    #[track_caller]
    pub fn heal<M: Message>(&self, _: &Ctx<M>) {
        self.net.heal(Location::caller());
    }

    /// The node is gone, with all processes on it. What they do from now on, destructors included, reaches nobody.
    #[track_caller]
    pub fn crash<M: Message>(&self, _: &Ctx<M>, node: &str) {
        self.net.crash(Location::caller(), self.known(node));
    }

    /// The node is up again, with no process on it. It is connected to all that are up, whatever partitions there were.
    #[track_caller]
    pub fn restart<M: Message>(&self, _: &Ctx<M>, node: &str) {
        self.net.restart(Location::caller(), self.known(node));
    }

    /// Tells this process when the connection to a node breaks, and when it is there again: at once, if there is none.
    ///
    /// # Panics
    ///
    /// If the process is on no node: nothing is between it and any other.
    #[track_caller]
    pub fn monitor_node<M: Message>(
        &self,
        ctx: &Ctx<M>,
        node: &str,
        message: impl Fn(NodeEvent) -> M + Send + Sync + 'static,
    ) {
        let at = Location::caller();
        let here = ctx.core().backend.node();
        let here = here.unwrap_or_else(|| panic!("a process that is on no node monitors one: nothing is between them"));
        let tell = move |me: &AnyPid, event: NodeEvent| {
            if let Some(me) = me.typed::<M>() {
                me.send(message(event));
            }
        };
        self.net.subscribe(at, (here, ctx.me().any()), self.known(node), Arc::new(tell));
    }

    /// Gives a process a global name, known to all nodes that are connected to its own. Whether it has it now: another one may.
    ///
    /// # Panics
    ///
    /// If the process is on no node.
    #[track_caller]
    pub fn register_global<M: Message>(
        &self,
        _: &Ctx<M>,
        name: &str,
        who: impl AsRef<AnyPid>,
        resolve: Resolve,
    ) -> bool {
        self.net.register_global(Location::caller(), name, who.as_ref(), resolve)
    }

    /// The process that has a global name, as the node of `ctx` knows it.
    #[track_caller]
    pub fn whereis_global<M: Message>(&self, ctx: &Ctx<M>, name: &str) -> Option<AnyPid> {
        self.net.whereis_global(Location::caller(), ctx.core().backend.node(), name)
    }

    /// Takes a global name away, on all nodes that are connected to that of `ctx`.
    #[track_caller]
    pub fn unregister_global<M: Message>(&self, ctx: &Ctx<M>, name: &str) {
        self.net.unregister_global(Location::caller(), ctx.core().backend.node(), name);
    }

    /// Runs `f` on a node, in a process of its own, and waits for what it returns: as OTP's `rpc:call`.
    ///
    /// # Errors
    ///
    /// [`Ended`](CallError::Ended) with [`NoConnection`](ExitReason::NoConnection) if the node cannot be reached, or not any more.
    #[track_caller]
    pub fn rpc<M: Message, T: Send + 'static>(
        &self,
        ctx: &mut Ctx<M>,
        node: &str,
        f: impl FnOnce() -> T + Send + 'static,
        limit: impl Into<Option<Duration>>,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        let server = self.spawn(ctx, node, |mut ctx: Ctx<Asked<T>>| async move {
            let Asked(f, reply) = ctx.recv_message().await;
            reply.send(f());
        });
        let limit = limit.into();
        async move { ctx.call(&server, move |reply| Asked(Box::new(f), reply), limit).await }
    }
}
