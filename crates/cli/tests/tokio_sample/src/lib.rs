//! Jobs that are stopped by a token, and a balance with a mistake in it.

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Starts so many jobs that wait to be stopped, stops them, and waits for their ends.
pub async fn stop_all(jobs: usize) -> usize {
    let (token, tracker) = (CancellationToken::new(), TaskTracker::new());
    for _ in 0..jobs {
        let token = token.child_token();
        tracker.spawn(async move { token.cancelled().await });
    }
    tracker.close();
    token.cancel();
    tracker.wait().await;
    tracker.len()
}

/// Adds `amount`; the lock is given back in between, and so is the thread.
pub async fn deposit(balance: &Mutex<u64>, amount: u64) {
    let before = *balance.lock().await;
    tokio::task::yield_now().await;
    *balance.lock().await = before + amount;
}
