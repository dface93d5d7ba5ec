//! Actors in OTP's sense: processes with a mailbox, links, monitors, names and timers.
//!
//! ```no_run
//! use drawloom::actor::{self, Ctx, Pid};
//!
//! #[derive(Debug)]
//! enum Request {
//!     Add(u32),
//!     Get(Pid<u32>),
//! }
//!
//! async fn counter(mut ctx: Ctx<Request>) {
//!     let mut count = 0;
//!     loop {
//!         match ctx.recv_message().await {
//!             Request::Add(more) => count += more,
//!             Request::Get(whose) => ctx.send(&whose, count),
//!         }
//!     }
//! }
//!
//! # #[cfg(feature = "controlled")]
//! drawloom::check(|| {
//!     let count = actor::run(|mut ctx: Ctx<u32>| async move {
//!         let counter = ctx.spawn(counter);
//!         ctx.send(&counter, Request::Add(2));
//!         ctx.send(&counter, Request::Get(ctx.me().clone()));
//!         ctx.recv_message().await
//!     });
//!     assert_eq!(count, 2);
//! });
//! ```
//!
//! The same source runs in three ways. Inside an exploration the engine runs it: each send, receive, link, monitor, exit and
//! timer is a step, and every order of them can be explored. Outside, [`run`] runs each process on a thread of its own.
//!
//! # What is as in OTP
//!
//! - Messages and signals from one process to one other process keep their order. Nothing else is promised: of two senders,
//!   either may be first ([`Delivery`] says how far that goes).
//! - A [receive](crate::receive!) takes the *oldest* message that matches any of its clauses; what it skips keeps its place.
//! - [Monitors](Ctx::monitor) stack and go one way, [links](Ctx::link) do not stack and go both ways. A process that ends for
//!   another reason than [`Normal`](ExitReason::Normal) takes those down that are linked to it, unless they
//!   [trap exits](Ctx::trap_exit): then they receive an [`Exit`].
//! - [`Ctx::kill`] cannot be trapped; its links see [`Killed`](ExitReason::Killed).
//! - An exit signal takes effect before the next step of its target.
//!
//! # OTP's behaviours
//!
//! [`GenServer`], [`GenStatem`], [`Supervisor`], [`Task`], [`Agent`], [`Registry`], [`Groups`], and what processes share without
//! messages: [`Table`] and [`Atomics`]. They are made of what is in [`Ctx`], so their steps are its steps. Any process can be
//! [called](Ctx::call): the message has a [`ReplyTo`] in it.
//!
//! # Predicates
//!
//! What a selective receive is looking for is a closure that owns what it needs (`'static`). Whether two messages race for
//! it can only be told if it can be asked about messages that come later, when the receive is over. It must not change
//! anything, nor take a step; one that panics ends its process as any other panic does.

mod agent;
mod atomics;
mod backend;
#[cfg(feature = "controlled")]
mod controlled;
mod ctx;
mod gen_server;
mod gen_statem;
mod interval;
mod mailbox;
mod native;
#[cfg(all(feature = "controlled", feature = "cluster"))]
pub mod nodes;
mod pid;
mod process;
mod reason;
mod receive;
mod registry;
mod reply;
mod signal;
mod supervisor;
mod system;
mod table;
mod task;

pub use agent::Agent;
pub use atomics::Atomics;
pub use ctx::Ctx;
pub use gen_server::{Flow, GenServer, ServerCtx, ServerMessage, ServerRef, StartError, StartOptions};
pub use gen_statem::{Action, Event, GenStatem, Next, StatemCtx, StatemMessage, StatemRef};
pub use interval::Interval;
pub use native::Runtime;
pub use pid::{AnyPid, Pid, ProcessId};
pub use process::Ending;
pub use reason::{BadName, ExitReason, NameTaken, NoProc, PanicInfo};
pub use registry::{AlreadyRegistered, Groups, Registry};
pub use reply::{CallError, CallerGone, ReplyTo};
pub use signal::{Down, Exit, Message, MonitorRef, Received, Ref, TimerRef};
pub use supervisor::{
    ChildError, ChildInfo, ChildSpec, Children, Restart, Shutdown, Starting, Strategy, Supervisor, SupervisorMessage,
    SupervisorRef,
};
#[cfg(feature = "actors-tokio")]
pub use system::run_on_tokio;
pub use system::{Delivery, System, run};
pub use table::{Counter, Table};
pub use task::{Stream, Task, TaskError};

/// What the expansion of [`receive!`](crate::receive!) calls.
#[doc(hidden)]
pub mod __private {
    pub use super::ctx::receive;
}
