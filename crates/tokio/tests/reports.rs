//! What reports of programs on tokio show: the user's program, and nothing of ours.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{Config, explore};
use drawloom_tokio::runtime::{Builder, Runtime};
use drawloom_tokio::sync::{Mutex, Notify, mpsc};
use drawloom_tokio::task::{JoinSet, LocalSet, spawn_local};
use drawloom_tokio::time::timeout;
use drawloom_tokio::{select, spawn};

#[path = "../../suite/src/internal.rs"]
mod internal;

/// A counter whose increment is torn apart by a wait.
#[derive(Default)]
struct Counter(AtomicU32);

impl Counter {
    async fn increment(&self) {
        let seen = self.0.load(SeqCst);
        drawloom_tokio::task::yield_now().await;
        self.0.store(seen + 1, SeqCst);
    }
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn several_threads() -> Runtime {
    Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// The report of what is found in `body`, on each kind of runtime.
fn reported<F: Future<Output = ()> + 'static>(body: fn() -> F) {
    for runtime in [one_thread, several_threads] {
        let exploration = explore(Config::new().iterations(300), move || runtime().block_on(body()));
        let found = exploration.findings().first().expect("there is a bug");
        internal::assert_no_internals(&found.report());
    }
}

#[test]
fn a_lost_update() {
    reported(|| async {
        let counter = Arc::new(Counter::default());
        let tasks = [0, 1].map(|_| {
            let counter = counter.clone();
            spawn(async move { counter.increment().await })
        });
        for task in tasks {
            task.await.expect("it ends");
        }
        assert_eq!(counter.0.load(SeqCst), 2);
    });
}

/// A lock is given back between a look and the write that relies on it.
async fn increments_twice() {
    let count = Arc::new(Mutex::new(0));
    let increment = |count: Arc<Mutex<u32>>| async move {
        let seen = *count.lock().await;
        drawloom_tokio::task::yield_now().await;
        *count.lock().await = seen + 1;
    };
    let other = spawn(increment(count.clone()));
    increment(count.clone()).await;
    other.await.expect("it ends");
    assert_eq!(*count.lock().await, 2);
}

#[test]
fn a_fix_that_helps_is_never_said_not_to() {
    let found = |runtime: fn() -> Runtime| {
        let exploration = explore(Config::new().iterations(300), move || runtime().block_on(increments_twice()));
        exploration.findings().first().expect("there is a bug").report()
    };
    let report = found(several_threads);
    assert!(report.contains("1. Hold `count` over all of it [simple] (verified: all "), "{report}");
    assert!(report.contains("let held = count.lock().await;"), "{report}");
    // Tasks of one thread take turns: a lock that waits for another task would have to let it run, which the trial's does not.
    let report = found(one_thread);
    assert!(report.contains("1. Hold `count` over all of it [simple] (not tried: a task awaits"), "{report}");
    assert!(!report.contains("does not help"), "{report}");
}

#[test]
fn two_mutexes_in_two_orders() {
    reported(|| async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (c, d) = (a.clone(), b.clone());
        let other = spawn(async move {
            let _d = d.lock().await;
            drawloom_tokio::task::yield_now().await;
            let _c = c.lock().await;
        });
        {
            let _a = a.lock().await;
            drawloom_tokio::task::yield_now().await;
            let _b = b.lock().await;
        }
        other.await.expect("it ends");
    });
}

#[test]
fn a_notification_that_nobody_hears() {
    reported(|| async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        spawn(async move { other.notify_waiters() });
        drawloom_tokio::task::yield_now().await;
        notify.notified().await;
    });
}

#[test]
fn a_message_that_is_dropped_by_a_timeout() {
    reported(|| async {
        let (sender, mut receiver) = mpsc::channel::<u32>(1);
        spawn(async move {
            drawloom_tokio::time::sleep(Duration::from_millis(5)).await;
            let _ = sender.send(1).await;
        });
        let received = timeout(Duration::from_millis(5), receiver.recv()).await;
        assert!(matches!(received, Ok(Some(1))), "too late");
    });
}

#[test]
fn a_set_of_tasks_and_a_select() {
    reported(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut set = JoinSet::new();
        for i in 0..2 {
            let sender = sender.clone();
            set.spawn(async move { sender.send(i).is_ok() });
        }
        let first = select! {
            Some(message) = receiver.recv() => message,
            Some(_) = set.join_next() => 7,
        };
        assert_eq!(first, 0);
    });
}

#[test]
fn tasks_of_a_local_set() {
    let exploration = explore(Config::new().iterations(300), || {
        LocalSet::new().block_on(&one_thread(), async {
            let counter = std::rc::Rc::new(Counter::default());
            let tasks = [0, 1].map(|_| {
                let counter = counter.clone();
                spawn_local(async move { counter.increment().await })
            });
            for task in tasks {
                task.await.expect("it ends");
            }
            assert_eq!(counter.0.load(SeqCst), 2);
        });
    });
    internal::assert_no_internals(&exploration.findings().first().expect("there is a bug").report());
}

/// What a program keeps from one execution to the next is no matter of schedules.
#[test]
fn a_static_of_std_is_suspected_if_the_message_changes() {
    static DROPPED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let exploration = explore(Config::new().iterations(20), || {
        several_threads().block_on(async {
            let other = spawn(async { DROPPED.fetch_add(1, std::sync::atomic::Ordering::SeqCst) });
            other.await.expect("it ends");
            assert_eq!(DROPPED.load(std::sync::atomic::Ordering::SeqCst), 1);
        });
    });
    let report = exploration.findings().first().expect("it is not 1 in the second execution").report();
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains("followed again, the same schedule said `assertion `left == right` failed"), "{report}");
    assert!(report.contains("a static that keeps its value from one execution to the next"), "{report}");
}
