//! Structured tasks: spawned with a handle that gets their result, cancels them or lets them go.
//!
//! ```
//! use drawloom::{channel, task};
//!
//! let (requests, incoming) = channel::unbounded::<u32>();
//! let server = task::spawn(move || incoming.iter().sum::<u32>());
//! requests.send(40).unwrap();
//! requests.send(2).unwrap();
//! drop(requests);
//! assert_eq!(server.get().unwrap(), 42);
//! ```
//!
//! [Cancelling](Task::cancel) is cooperative: it takes effect where the task waits for a channel, a
//! [select](crate::select!), another task or for [time](sleep), or at a [`checkpoint`]; the task is unwound
//! from there, so that its destructors run. Inside an exploration every order of the cancellation and of
//! what the task does is explored. [`masked`] sections are not interrupted.
//!
//! Locks, atomics and all else that is std's are no such places, since in production nothing could interrupt
//! them there.

mod cancel;
mod isolated;
mod scope;
mod spawn;

pub(crate) use cancel::{Cancellable, unwind};
pub use cancel::{checkpoint, masked};
pub use isolated::{Isolate, spawn_isolated};
pub use scope::{Scope, ScopedTask, scope};
pub use spawn::{Task, TaskError, sleep, spawn};
