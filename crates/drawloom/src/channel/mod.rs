//! Channels of many senders and many receivers, and waiting for several of them at once.
//!
//! The names and their meaning are those of the crate `crossbeam-channel`: [`bounded`] (with 0, a
//! rendezvous), [`unbounded`], [`never()`], [`after`], [`at`], [`tick`]; ends can be cloned, on both sides, and a channel is disconnected
//! when one side has no end left. [`Sender::close`] and [`Receiver::close`] disconnect it at once.
//!
//! ```
//! use drawloom::channel;
//!
//! let (sender, receiver) = channel::bounded(1);
//! sender.send("one").unwrap();
//! assert!(sender.try_send("two").is_err());
//! let word = drawloom::select! {
//!     recv(receiver) -> word => word.unwrap(),
//!     default => "none",
//! };
//! assert_eq!(word, "one");
//! ```
//!
//! Every operation is a step, those that never wait too (`try_send`, `try_recv`, `close`, `len`): in which
//! order they come, others can tell. [`std::sync::mpsc`](crate::sync::mpsc) is there as well; exhaustive
//! exploration needs fewer executions for it, since nobody can select on its channels.
//!
//! Waiting here ends a task that [is cancelled](crate::task).

mod arm;
mod core;
mod end;
mod error;
mod iter;
mod receiver;
mod select;
mod sender;
mod timer;

pub use error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::Sender;
pub use timer::{after, at, tick};

use core::Channel;

/// What [`select!`](crate::select!) is made of.
#[doc(hidden)]
pub mod __private {
    pub use super::arm::{RecvArm, SendArm};
    pub use super::select::{Arm, Patience, select};
    pub use crate::time::Instant;
}

/// A channel that holds `capacity` messages; with 0, a message is passed from hand to hand.
///
/// ```
/// let (sender, receiver) = drawloom::channel::bounded(1);
/// sender.send(1).unwrap();
/// assert!(sender.try_send(2).is_err()); // it is full
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[must_use]
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    ends(Some(capacity))
}

/// A channel that never fills.
///
/// ```
/// let (sender, receiver) = drawloom::channel::unbounded();
/// for number in 0..100 {
///     sender.send(number).unwrap(); // never waits
/// }
/// assert_eq!(receiver.len(), 100);
/// ```
#[must_use]
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    ends(None)
}

/// A receiver that never has a message.
///
/// ```
/// let nothing = drawloom::channel::never::<u32>();
/// assert!(nothing.try_recv().is_err());
/// ```
#[must_use]
#[track_caller]
pub fn never<T>() -> Receiver<T> {
    // The channel counts one sender; as there is none, it is never disconnected either.
    Receiver::new(Channel::new(Some(0)))
}

#[track_caller]
fn ends<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let channel = Channel::new(capacity);
    (Sender::new(channel.clone()), Receiver::new(channel))
}

/// Carries out one of several operations on channels: the first that can continue, any of those that can at the
/// moment, or `default` if none can. Which one it is, is a choice of the schedule.
///
/// The syntax is that of the crate `crossbeam-channel`:
///
/// ```
/// use drawloom::channel::unbounded;
/// use std::time::Duration;
///
/// let (orders, incoming) = unbounded();
/// let (stop, stopped) = unbounded::<()>();
/// orders.send(7).unwrap();
/// let seen = drawloom::select! {
///     recv(incoming) -> order => order.ok(),
///     recv(stopped) -> _ => None,
///     default(Duration::from_secs(1)) => None,
/// };
/// assert_eq!(seen, Some(7));
/// # drop(stop);
/// ```
#[macro_export]
macro_rules! select {
    // ── the arms, one after the other: each becomes a variable of its own ──
    (@arms [$($arms:tt)*] [$($default:tt)*] recv($channel:expr) -> $result:pat => $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)* (arm RecvArm::new(&$channel), $result, $body)] [$($default)*] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [$($default:tt)*] recv($channel:expr) -> $result:pat => $body:block $($rest:tt)+) => {
        $crate::select!(@arms [$($arms)* (arm RecvArm::new(&$channel), $result, $body)] [$($default)*] $($rest)+)
    };
    (@arms [$($arms:tt)*] [$($default:tt)*] recv($channel:expr) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)* (arm RecvArm::new(&$channel), $result, $body)] [$($default)*] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [$($default:tt)*] send($channel:expr, $message:expr) -> $result:pat => $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)* (arm SendArm::new(&$channel, $message), $result, $body)] [$($default)*] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [$($default:tt)*] send($channel:expr, $message:expr) -> $result:pat => $body:block $($rest:tt)+) => {
        $crate::select!(@arms [$($arms)* (arm SendArm::new(&$channel, $message), $result, $body)] [$($default)*] $($rest)+)
    };
    (@arms [$($arms:tt)*] [$($default:tt)*] send($channel:expr, $message:expr) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)* (arm SendArm::new(&$channel, $message), $result, $body)] [$($default)*] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [] default => $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)*] [(Patience::None) $body] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [] default => $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)*] [(Patience::None) $body] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [] default($timeout:expr) => $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)*] [(Patience::Until(Instant::now() + $timeout)) $body] $($($rest)*)?)
    };
    (@arms [$($arms:tt)*] [] default($timeout:expr) => $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@arms [$($arms)*] [(Patience::Until(Instant::now() + $timeout)) $body] $($($rest)*)?)
    };
    // ── all of them are there ──
    (@arms [$($arms:tt)*] []) => {
        $crate::select!(@run [$($arms)*] (Patience::Endless)
            ::core::unreachable!("a select without a default waits until it can continue"))
    };
    (@arms [$($arms:tt)*] [$patience:tt $default:expr]) => {
        $crate::select!(@run [$($arms)*] $patience $default)
    };
    // A match, since what it looks at lives until its end: channels may be made in an arm.
    (@run [$(($arm:ident $kind:ident::new($($operands:expr),*), $result:pat, $body:expr))*] ($($patience:tt)*) $default:expr) => {
        match ($($crate::channel::__private::$kind::new($($operands),*),)*) {
            ($(mut $arm,)*) => {
                let chosen = {
                    #[allow(unused_imports)]
                    use $crate::channel::__private::{Arm, Instant, Patience};
                    let arms: &mut [&mut dyn Arm] = &mut [$(&mut $arm),*];
                    $crate::channel::__private::select(arms, $($patience)*)
                };
                $crate::select!(@body chosen, 0_usize, [$(($arm, $result, $body))*] $default)
            }
        }
    };
    (@body $chosen:ident, $n:expr, [] $default:expr) => {{
        let _ = $chosen;
        $default
    }};
    (@body $chosen:ident, $n:expr, [($arm:ident, $result:pat, $body:expr) $($rest:tt)*] $default:expr) => {
        if $chosen == ::core::option::Option::Some($n) {
            let $result = $arm.into_result();
            $body
        } else {
            $crate::select!(@body $chosen, $n + 1, [$($rest)*] $default)
        }
    };
    // ── what users write ──
    () => { ::core::compile_error!("a select needs an arm: recv(receiver) -> message => …") };
    ($($arms:tt)+) => { $crate::select!(@arms [] [] $($arms)+) };
}
