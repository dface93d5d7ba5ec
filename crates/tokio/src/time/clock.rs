//! Pausing and advancing the clock, which is virtual anyway.

use std::time::Duration;

use super::sleep;
use crate::context;

/// Pauses the clock: from now on [`advance`] may be called.
///
/// # Panics
///
/// If it is paused, or the runtime has several threads.
#[track_caller]
pub fn pause() {
    if let Some(runtime) = context::runtime() {
        runtime.pause(true);
    }
}

/// Resumes the clock.
///
/// # Panics
///
/// If it is not paused.
#[track_caller]
pub fn resume() {
    if let Some(runtime) = context::runtime() {
        runtime.pause(false);
    }
}

/// Lets `duration` pass. Others who wait for an instant in between see that instant, where tokio lets them see
/// the last one.
///
/// # Panics
///
/// If the clock is not paused.
pub async fn advance(duration: Duration) {
    if let Some(runtime) = context::runtime() {
        assert!(runtime.is_paused(), "time is not frozen");
    }
    sleep(duration).await;
}
