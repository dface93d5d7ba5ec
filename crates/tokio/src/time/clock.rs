//! Pausing and advancing the clock, which is virtual anyway.

use std::time::Duration;

use super::sleep;
use crate::context;

/// Pauses the clock: from now on [`advance`] may be called.
///
/// # Panics
///
/// If it is paused, or the runtime has several threads, or there is none.
#[track_caller]
pub fn pause() {
    context::current().pause(true);
}

/// Resumes the clock.
///
/// # Panics
///
/// If it is not paused, or there is no runtime.
#[track_caller]
pub fn resume() {
    context::current().pause(false);
}

/// Lets `duration` pass. Others who wait for an instant in between see that instant, where tokio lets them see
/// the last one.
///
/// # Panics
///
/// If the clock is not paused, or there is no runtime.
pub async fn advance(duration: Duration) {
    assert!(context::current().is_paused(), "time is not frozen");
    sleep(duration).await;
}
