//! Waits for what tokio has: reports say for what, who has it, and where.

use std::future::Future;
use std::sync::Arc;

use drawloom::{Config, explore};
use drawloom_tokio::runtime::{Builder, Runtime};
use drawloom_tokio::sync::{Mutex, Notify, Semaphore, mpsc};
use drawloom_tokio::task::JoinHandle;
use drawloom_tokio::{join, spawn};

fn several_threads() -> Runtime {
    Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// What is found in `body`, and the report of it.
fn found<F: Future<Output = ()> + 'static>(body: fn() -> F) -> (String, String) {
    let exploration = explore(Config::new().iterations(300), move || several_threads().block_on(body()));
    let found = exploration.findings().first().expect("there is a bug");
    (found.kind().to_owned(), found.report())
}

#[test]
fn two_mutexes_in_two_orders() {
    let (kind, report) = found(|| async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (c, d) = (a.clone(), b.clone());
        let other = spawn(async move {
            let _d = d.lock().await;
            let _c = c.lock().await;
        });
        {
            let _a = a.lock().await;
            let _b = b.lock().await;
        }
        other.await.expect("it ends");
    });
    println!("{kind}\n{report}");
}

#[test]
fn a_circle_of_full_channels() {
    let (kind, report) = found(|| async {
        let (to_a, mut from_b) = mpsc::channel::<u32>(1);
        let (to_b, mut from_a) = mpsc::channel::<u32>(1);
        let first = to_a.clone();
        let a = spawn(async move {
            while let Some(n) = from_b.recv().await {
                to_b.send(n + 1).await.expect("b is there");
                to_b.send(n + 2).await.expect("b is there");
            }
        });
        let b = spawn(async move {
            while let Some(n) = from_a.recv().await {
                to_a.send(n + 1).await.expect("a is there");
                to_a.send(n + 2).await.expect("a is there");
            }
        });
        first.send(0).await.expect("a is there");
        drop(first);
        let _ = join!(a, b);
    });
    println!("{kind}\n{report}");
}
#[test]
fn a_notification_that_nobody_gives() {
    let (kind, report) = found(|| async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let waits = spawn(async move { other.notified().await });
        drop(notify);
        waits.await.expect("it ends");
    });
    println!("{kind}\n{report}");
}

#[test]
fn tasks_that_await_each_other() {
    let (kind, report) = found(|| async {
        let (first, other) =
            (Arc::new(Mutex::new(None::<JoinHandle<()>>)), Arc::new(Mutex::new(None::<JoinHandle<()>>)));
        let awaits = |slot: Arc<Mutex<Option<JoinHandle<()>>>>| async move {
            let other = slot.lock().await.take();
            if let Some(other) = other {
                other.await.expect("it ends");
            }
        };
        let (mut a, mut b) = (first.lock().await, other.lock().await);
        *a = Some(spawn(awaits(other.clone())));
        *b = Some(spawn(awaits(first.clone())));
    });
    println!("{kind}\n{report}");
}

#[test]
fn a_permit_that_is_never_given_back() {
    let (kind, report) = found(|| async {
        let semaphore = Arc::new(Semaphore::new(1));
        let other = semaphore.clone();
        let keeps = spawn(async move {
            other.acquire().await.expect("it is open").forget();
        });
        keeps.await.expect("it ends");
        let _permit = semaphore.acquire().await;
    });
    println!("{kind}\n{report}");
}
