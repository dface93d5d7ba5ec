// expect: toctou lost-wakeup
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

struct Ready {
    done: AtomicBool,
    bell: Notify,
}

impl Ready {
    async fn wait(&self) {
        if !self.done.load(Ordering::Acquire) {
            self.bell.notified().await; // HERE
        }
    }

    fn finish(&self) {
        self.done.store(true, Ordering::Release);
        self.bell.notify_waiters();
    }
}

#[tokio::main]
async fn main() {
    let ready = Arc::new(Ready { done: AtomicBool::new(false), bell: Notify::new() });
    let other = ready.clone();
    let waiting = tokio::spawn(async move { other.wait().await });
    ready.finish();
    waiting.await.unwrap();
}
