//! containerd/ttrpc-rust#227: `wait_all_exit` could hang.
//!
//! The future that waits was made by an `async fn`, so `notified()` was not called before it was awaited, after
//! the check of the count. The last worker calls `notify_waiters` once, in between, and nobody hears it. The fix
//! calls `notified()` before the check.

use std::sync::Arc;

use drawloom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use drawloom_tokio::spawn;
use drawloom_tokio::sync::Notify;

use crate::explored::{clean, found};

struct Workers {
    running: AtomicUsize,
    all_gone: Notify,
}

impl Workers {
    fn new(running: usize) -> Arc<Self> {
        Arc::new(Workers { running: AtomicUsize::new(running), all_gone: Notify::new() })
    }

    fn exit(&self) {
        if self.running.fetch_sub(1, SeqCst) == 1 {
            self.all_gone.notify_waiters();
        }
    }

    async fn wait(&self) {
        self.all_gone.notified().await;
    }

    async fn wait_all_exit(&self) {
        let wait = self.wait();
        if self.running.load(SeqCst) > 0 {
            wait.await;
        }
    }

    async fn wait_all_exit_fixed(&self) {
        let wait = self.all_gone.notified();
        if self.running.load(SeqCst) > 0 {
            wait.await;
        }
    }
}

async fn two_workers(fixed: bool) {
    let workers = Workers::new(2);
    for _ in 0..2 {
        let workers = workers.clone();
        spawn(async move { workers.exit() });
    }
    match fixed {
        true => workers.wait_all_exit_fixed().await,
        false => workers.wait_all_exit().await,
    }
}

#[test]
fn the_last_exit_is_missed() {
    found("starvation", || two_workers(false));
}

#[test]
fn listening_before_looking_misses_nothing() {
    clean(|| two_workers(true));
}
