//! `tokio::time` on virtual time: it passes when all wait, at once.
//!
//! Outside of an exploration it is real time.

mod clock;
pub mod error;
mod instant;
mod interval;
mod sleep;
mod timeout;

#[doc(no_inline)]
pub use std::time::Duration;

pub use clock::{advance, pause, resume};
pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Timeout, timeout, timeout_at};
