//! Waits for what tokio has: reports say for what, who has it, and where.

use std::future::Future;
use std::sync::Arc;

use drawloom::{Config, explore};
use drawloom_tokio::runtime::Builder;
use drawloom_tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, mpsc, oneshot, watch};
use drawloom_tokio::task::{JoinHandle, JoinSet, unconstrained};
use drawloom_tokio::{join, select, spawn};

/// The report of what is found in `body`: the user sees the same. How it was found, and what to paste, is another matter.
fn reported<F: Future<Output = ()> + 'static>(body: fn() -> F) -> String {
    reported_on(Builder::new_multi_thread, body)
}

fn reported_on<F: Future<Output = ()> + 'static>(flavor: fn() -> Builder, body: fn() -> F) -> String {
    let runtime = move || flavor().enable_all().build().expect("a runtime");
    let exploration = explore(Config::new().iterations(300), move || runtime().block_on(body()));
    let report = exploration.findings().first().expect("there is a bug").report();
    report.split("\nseed ").next().unwrap_or_default().trim_end().to_owned()
}

#[test]
fn two_mutexes_in_two_orders() {
    insta::assert_snapshot!(reported(|| async {
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
    }));
}

#[test]
fn a_circle_of_full_channels() {
    insta::assert_snapshot!(reported(|| async {
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
    }));
}

#[test]
fn a_notification_that_nobody_gives() {
    insta::assert_snapshot!(reported(|| async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let waits = spawn(async move { other.notified().await });
        drop(notify);
        waits.await.expect("it ends");
    }));
}

#[test]
fn tasks_that_await_each_other() {
    insta::assert_snapshot!(reported(|| async {
        let (to_first, of_other) = oneshot::channel::<JoinHandle<()>>();
        let (to_other, of_first) = oneshot::channel::<JoinHandle<()>>();
        let first = spawn(async move {
            let other = of_other.await.expect("it is sent");
            other.await.expect("it ends");
        });
        let other = spawn(async move {
            let first = of_first.await.expect("it is sent");
            first.await.expect("it ends");
        });
        to_first.send(other).expect("it is awaited");
        to_other.send(first).expect("it is awaited");
        std::future::pending::<()>().await;
    }));
}

#[test]
fn a_permit_that_is_never_given_back() {
    insta::assert_snapshot!(reported(|| async {
        let semaphore = Arc::new(Semaphore::new(1));
        let other = semaphore.clone();
        let keeps = spawn(async move {
            other.acquire().await.expect("it is open").forget();
        });
        keeps.await.expect("it ends");
        let _permit = semaphore.acquire().await;
    }));
}

/// What a report says of who waits.
fn waits<F: Future<Output = ()> + 'static>(body: fn() -> F) -> String {
    reported(body).split("\n\n").next().unwrap_or_default().to_owned()
}

#[test]
fn a_writer_between_two_reads_of_one_task() {
    insta::assert_snapshot!(waits(|| async {
        let config = Arc::new(RwLock::new(0));
        let other = config.clone();
        let writes = spawn(async move { *other.write().await = 1 });
        let outer = config.read().await;
        let inner = config.read().await;
        assert_eq!(*outer, *inner);
        drop((outer, inner));
        writes.await.expect("it ends");
    }));
}

#[test]
fn a_lock_that_is_taken_twice() {
    insta::assert_snapshot!(waits(|| async {
        let mutex = Mutex::new(());
        let _once = mutex.lock().await;
        let _twice = mutex.lock().await;
        spawn(async {}).await.expect("it ends");
    }));
}

#[test]
fn a_select_none_of_whose_branches_comes() {
    insta::assert_snapshot!(waits(|| async {
        let (keeps, mut messages) = mpsc::channel::<u32>(1);
        let (also_keeps, mut changes) = watch::channel(0);
        spawn(async {}).await.expect("it ends");
        select! {
            _ = messages.recv() => {}
            _ = changes.changed() => {}
        }
        drop((keeps, also_keeps));
    }));
}

#[test]
fn a_barrier_that_too_few_come_to() {
    insta::assert_snapshot!(waits(|| async {
        let barrier = Arc::new(Barrier::new(3));
        let other = barrier.clone();
        let waits = spawn(async move { other.wait().await.is_leader() });
        barrier.wait().await;
        waits.await.expect("it ends");
    }));
}

#[test]
fn a_lock_of_std_held_over_an_await_on_one_thread() {
    insta::assert_snapshot!(reported_on(Builder::new_current_thread, || async {
        let cache = Arc::new(drawloom::sync::Mutex::new(0));
        let mine = cache.clone();
        let other = spawn(async move {
            *mine.lock().expect("nobody panics") += 1;
        });
        let guard = cache.lock().expect("nobody panics");
        drawloom_tokio::task::yield_now().await;
        drop(guard);
        other.await.expect("it ends");
    }));
}

#[test]
fn a_blocking_receive_on_one_thread() {
    insta::assert_snapshot!(reported_on(Builder::new_current_thread, || async {
        let (sender, receiver) = drawloom::sync::mpsc::channel();
        let other = spawn(async move { sender.send(1).expect("it is received") });
        let _ = receiver.recv();
        other.await.expect("it ends");
    }));
}

#[test]
fn an_answer_that_nobody_sends() {
    insta::assert_snapshot!(reported(|| async {
        let (answer, answered) = oneshot::channel::<u32>();
        let asks = spawn(async move {
            answered.await.expect("it is sent");
        });
        asks.await.expect("it ends");
        drop(answer);
    }));
}

#[test]
fn a_value_whose_making_waits_for_somebody_who_wants_it() {
    insta::assert_snapshot!(waits(|| async {
        let config = Arc::new(OnceCell::new());
        let other = config.clone();
        let made = config.get_or_init(|| async move {
            let theirs = spawn(async move { *other.get_or_init(|| async { 1 }).await });
            theirs.await.expect("it ends")
        });
        made.await;
    }));
}

#[test]
fn room_that_is_kept_and_never_used() {
    insta::assert_snapshot!(waits(|| async {
        let (sender, receiver) = mpsc::channel::<u32>(1);
        let other = sender.clone();
        let place = sender.reserve().await.expect("it is open");
        let wants = spawn(async move { other.reserve().await.is_ok() });
        wants.await.expect("it ends");
        drop((place, receiver));
    }));
}

#[test]
fn a_limit_around_the_end_of_a_task() {
    insta::assert_snapshot!(waits(|| async {
        let never = spawn(std::future::pending::<()>());
        let mut also_never = spawn(std::future::pending::<()>());
        select! {
            _ = unconstrained(never) => {}
            _ = &mut also_never => {}
        }
    }));
}

#[test]
fn a_set_one_of_whose_tasks_never_ends() {
    insta::assert_snapshot!(waits(|| async {
        let mut set = JoinSet::new();
        set.spawn(std::future::pending::<()>());
        set.spawn(async {});
        while let Some(ended) = set.join_next().await {
            ended.expect("it ends");
        }
    }));
}
