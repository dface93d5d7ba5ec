//! No test hangs.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs `f` in a thread of its own, and fails if it takes far longer than it could.
#[track_caller]
pub fn limited<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, finished) = mpsc::channel();
    let running = thread::spawn(move || {
        let result = f();
        let _ = done.send(());
        result
    });
    if finished.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("this test hangs");
    }
    running.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}
