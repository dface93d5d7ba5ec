//! tokio-rs/tokio#6450: a task waits for a lock behind its own other wait, which it does not poll.
//!
//! `select!` by reference leaves a future that is in the lock's queue. The lock is given to that future, and the task
//! waits in a second one behind it. The fix drops the first before it waits again.

use std::sync::Arc;
use std::time::Duration;

use drawloom_tokio::sync::Mutex;
use drawloom_tokio::{select, spawn, time};

use crate::explored::{clean, found};

async fn lock_or_give_up(fixed: bool) {
    let mutex = Arc::new(Mutex::new(0));
    let theirs = mutex.clone();
    let holder = spawn(async move {
        let _guard = theirs.lock().await;
        time::sleep(Duration::from_secs(2)).await;
    });
    let mut slow = Box::pin(mutex.lock());
    let in_time = select! {
        guard = &mut slow => Some(guard),
        () = time::sleep(Duration::from_secs(1)) => None,
    };
    match in_time {
        Some(mut guard) => *guard += 1,
        None => {
            if fixed {
                drop(slow);
            }
            // What is done instead needs the same lock, which belongs to `slow` by now, unless that is gone.
            *mutex.lock().await += 1;
        }
    }
    holder.await.unwrap();
}

#[test]
fn the_lock_is_given_to_a_future_that_nobody_polls() {
    found("starvation", || lock_or_give_up(false));
}

#[test]
fn a_wait_that_is_given_up_is_dropped() {
    clean(|| lock_or_give_up(true));
}
