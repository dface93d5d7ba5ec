//! tokio-rs/tokio#2849: a task that reads twice deadlocks with a writer.
//!
//! A writer that waits keeps later readers out, the second read of the same task included; and the writer waits for
//! the first. The fix reads once.

use std::sync::Arc;

use drawloom_tokio::spawn;
use drawloom_tokio::sync::RwLock;

use crate::explored::{clean, found};

async fn total(items: &RwLock<Vec<u32>>) -> u32 {
    items.read().await.iter().sum()
}

async fn reader_and_writer(fixed: bool) {
    let items = Arc::new(RwLock::new(vec![1, 2]));
    let theirs = items.clone();
    let writer = spawn(async move { theirs.write().await.push(3) });
    let guard = items.read().await;
    let sum = match fixed {
        true => guard.iter().sum(),
        false => total(&items).await,
    };
    assert!(sum == 3 || sum == 6);
    drop(guard);
    writer.await.unwrap();
}

#[test]
fn a_second_read_waits_for_the_writer_that_waits_for_the_first() {
    found("deadlock", || reader_and_writer(false));
}

#[test]
fn one_read_is_enough() {
    clean(|| reader_and_writer(true));
}
