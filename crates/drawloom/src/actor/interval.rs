//! Timers that fire again and again: OTP's `timer:send_interval`.

use std::time::Duration;

use super::ctx::Ctx;
use super::pid::Pid;
use super::signal::Message;

/// A timer that sends a message every so often, until it is cancelled or its receiver has ended.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{self, Ctx};
///
/// let ticks = actor::run(async |mut ctx: Ctx<u32>| {
///     let ticking = ctx.interval(Duration::from_millis(2), ctx.me(), 1);
///     let ticks = ctx.recv_message().await + ctx.recv_message().await;
///     ticking.cancel();
///     ticks
/// });
/// assert_eq!(ticks, 2);
/// ```
#[derive(Clone, Debug)]
pub struct Interval {
    ticker: Pid<Cancel>,
}

/// The ticker is to end.
#[derive(Clone, Copy, Debug)]
struct Cancel;

impl Interval {
    /// No further message is sent; one may be on its way.
    #[track_caller]
    pub fn cancel(&self) {
        self.ticker.send(Cancel);
    }
}

impl<M: Message> Ctx<M> {
    /// Sends `message` to a process each time that `period` has passed since the one before.
    ///
    /// A process of its own sends them: they are not ordered with what this process sends, and at any time at most one is due.
    #[track_caller]
    pub fn interval<N: Message + Clone>(&self, period: Duration, to: &Pid<N>, message: N) -> Interval {
        let to = to.clone();
        let ticker = self.spawn(move |mut ctx: Ctx<Cancel>| async move {
            ctx.monitor(&to);
            while ctx.recv_timeout(period).await.is_none() {
                ctx.send(&to, message.clone());
            }
        });
        Interval { ticker }
    }
}
