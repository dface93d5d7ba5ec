//! A yield is a hint: on a runtime of several threads it changes no set of outcomes, and on one of one thread it loses none.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex};

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom_tokio::runtime::Builder;
use drawloom_tokio::task::yield_now;
use drawloom_tokio::{spawn, sync};

/// Yields if the bit with number `at` of `yields` is set.
async fn perhaps(yields: u32, at: u32) {
    if yields >> at & 1 == 1 {
        yield_now().await;
    }
}

/// A read-modify-write in two steps, in two tasks.
async fn counter(yields: u32) -> Vec<u32> {
    let count = Arc::new(AtomicU32::new(0));
    let tasks = [0, 2].map(|first| {
        let count = count.clone();
        spawn(async move {
            let read = count.load(SeqCst);
            perhaps(yields, first).await;
            count.store(read + 1, SeqCst);
            perhaps(yields, first + 1).await;
        })
    });
    let mut seen = vec![count.load(SeqCst)];
    for task in tasks {
        task.await.unwrap();
    }
    seen.push(count.load(SeqCst));
    seen
}

/// A lock and a message between two tasks.
async fn locked(yields: u32) -> Vec<u32> {
    let (sender, mut receiver) = sync::mpsc::channel(1);
    let value = Arc::new(sync::Mutex::new(0));
    let theirs = value.clone();
    let task = spawn(async move {
        perhaps(yields, 0).await;
        *theirs.lock().await += 1;
        perhaps(yields, 1).await;
        sender.send(*theirs.lock().await).await.unwrap();
    });
    let first = *value.lock().await;
    perhaps(yields, 2).await;
    *value.lock().await *= 10;
    perhaps(yields, 3).await;
    let received = receiver.recv().await.unwrap();
    task.await.unwrap();
    vec![first, received, *value.lock().await]
}

fn outcomes<F: Future<Output = Vec<u32>> + 'static>(
    body: fn(u32) -> F,
    yields: u32,
    several: bool,
) -> BTreeSet<Vec<u32>> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let exploration = drawloom::explore("exhaustive(max_schedules = 100000)".parse().unwrap(), move || {
        let mut builder = if several { Builder::new_multi_thread() } else { Builder::new_current_thread() };
        let outcome = builder.build().expect("a runtime").block_on(body(yields));
        theirs.lock().unwrap().insert(outcome);
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    assert!(exploration.exhausted(), "{}", exploration.summary());
    let seen = seen.lock().unwrap();
    seen.clone()
}

fn compare<F: Future<Output = Vec<u32>> + 'static>(body: fn(u32) -> F) {
    let (several, one) = (outcomes(body, 0, true), outcomes(body, 0, false));
    for yields in [0b0001, 0b0110, 0b1010, 0b1111] {
        assert_eq!(outcomes(body, yields, true), several, "several threads, yields {yields:04b}");
        assert!(outcomes(body, yields, false).is_superset(&one), "one thread, yields {yields:04b}");
    }
}

#[test]
fn yields_beside_a_counter_lose_nothing() {
    compare(counter);
}

#[test]
fn yields_beside_a_lock_and_a_channel_lose_nothing() {
    compare(locked);
}
