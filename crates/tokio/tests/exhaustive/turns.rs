//! Runtimes of one thread: their tasks take turns, which is no conflict by itself.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};

use drawloom::sync::atomic::AtomicU32;
use drawloom_tokio::runtime::{Builder, Runtime};
use drawloom_tokio::select;
use drawloom_tokio::sync::{self, Notify, mpsc, oneshot};
use drawloom_tokio::task::{self, JoinSet};

/// How many executions `body` has on a runtime, and what it came to in them.
fn exhaust<F: Future<Output = Vec<u32>> + 'static>(
    runtime: fn() -> Runtime,
    body: fn() -> F,
) -> (u64, BTreeSet<Vec<u32>>) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let exploration = drawloom::explore("exhaustive(max_schedules = 100000)".parse().unwrap(), move || {
        let outcome = runtime().block_on(body());
        theirs.lock().unwrap().insert(outcome);
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    let seen = seen.lock().unwrap();
    (exploration.executions(), seen.clone())
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn several_threads() -> Runtime {
    Builder::new_multi_thread().enable_all().build().unwrap()
}

/// What happens on one thread can happen on several. There are so many executions on one thread, and on several.
fn compare<F: Future<Output = Vec<u32>> + 'static>(name: &str, executions: (u64, u64), body: fn() -> F) {
    let (one, seen_by_one) = exhaust(one_thread, body);
    let (several, seen_by_several) = exhaust(several_threads, body);
    assert!(seen_by_one.is_subset(&seen_by_several), "{name}: {seen_by_one:?} {seen_by_several:?}");
    assert_eq!((one, several), executions, "{name}");
}

#[test]
fn polls_that_have_to_do_with_each_other_need_no_more_executions_than_on_several_threads() {
    compare("add", (5, 8), || async {
        let n = Arc::new(AtomicU32::new(0));
        let add = |n: Arc<AtomicU32>| async move { n.fetch_add(1, SeqCst) };
        let (one, two) = (task::spawn(add(n.clone())), task::spawn(add(n.clone())));
        vec![one.await.unwrap(), two.await.unwrap()]
    });
    compare("load yield store", (16, 16), || async {
        let n = Arc::new(AtomicU32::new(0));
        let add = |n: Arc<AtomicU32>| async move {
            let m = n.load(SeqCst);
            task::yield_now().await;
            n.store(m + 1, SeqCst);
        };
        let (one, two) = (task::spawn(add(n.clone())), task::spawn(add(n.clone())));
        one.await.unwrap();
        two.await.unwrap();
        vec![n.load(SeqCst)]
    });
    compare("load store", (5, 16), || async {
        let n = Arc::new(AtomicU32::new(0));
        let add = |n: Arc<AtomicU32>| async move {
            let m = n.load(SeqCst);
            n.store(m + 1, SeqCst);
        };
        let (one, two) = (task::spawn(add(n.clone())), task::spawn(add(n.clone())));
        one.await.unwrap();
        two.await.unwrap();
        vec![n.load(SeqCst)]
    });
    compare("mutex", (5, 16), || async {
        let n = Arc::new(sync::Mutex::new(0));
        let add = |n: Arc<sync::Mutex<u32>>| async move { *n.lock().await += 1 };
        let (one, two) = (task::spawn(add(n.clone())), task::spawn(add(n.clone())));
        one.await.unwrap();
        two.await.unwrap();
        vec![*n.lock().await]
    });
    compare("mpsc", (4, 340), || async {
        let (sender, mut receiver) = mpsc::channel(1);
        for n in 0..2 {
            let sender = sender.clone();
            task::spawn(async move { sender.send(n).await.unwrap() });
        }
        drop(sender);
        let mut all = vec![];
        while let Some(n) = receiver.recv().await {
            all.push(n);
        }
        all
    });
    compare("oneshot", (1, 2), || async {
        let (sender, receiver) = oneshot::channel();
        task::spawn(async move { sender.send(1).unwrap() });
        vec![receiver.await.unwrap()]
    });
    compare("notify", (1, 6), || async {
        let (notify, n) = (Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)));
        let (theirs, their_n) = (notify.clone(), n.clone());
        let other = task::spawn(async move {
            theirs.notified().await;
            their_n.fetch_add(1, SeqCst)
        });
        n.fetch_add(5, SeqCst);
        notify.notify_one();
        vec![other.await.unwrap(), n.load(SeqCst)]
    });
    compare("abort", (6, 6), || async {
        let n = Arc::new(AtomicU32::new(0));
        let theirs = n.clone();
        let other = task::spawn(async move {
            theirs.fetch_add(1, SeqCst);
            task::yield_now().await;
            theirs.fetch_add(1, SeqCst);
        });
        task::yield_now().await;
        other.abort();
        let ended = other.await.is_ok();
        vec![n.load(SeqCst), u32::from(ended)]
    });
    compare("select", (40, 324), || async {
        let ((one, mut ones), (two, mut twos)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        task::spawn(async move { one.send(1).unwrap_or_default() });
        task::spawn(async move { two.send(2).unwrap_or_default() });
        vec![select! { value = ones.recv() => value, value = twos.recv() => value }.unwrap_or(0)]
    });
    compare("blocking", (6, 6), || async {
        let n = Arc::new(AtomicU32::new(0));
        let theirs = n.clone();
        let other = task::spawn_blocking(move || theirs.fetch_add(1, SeqCst));
        let seen = n.load(SeqCst);
        task::yield_now().await;
        n.fetch_add(1, SeqCst);
        vec![seen, other.await.unwrap()]
    });
}

/// Who is polled first counts even where that makes no difference.
#[test]
fn polls_that_have_nothing_to_do_with_each_other_are_explored_in_each_order() {
    compare("nothing", (5, 4), || async {
        let (one, two) = (task::spawn(async {}), task::spawn(async {}));
        one.await.unwrap();
        two.await.unwrap();
        vec![]
    });
    compare("yields", (16, 4), || async {
        let (one, two) = (task::spawn(task::yield_now()), task::spawn(task::yield_now()));
        one.await.unwrap();
        two.await.unwrap();
        vec![]
    });
    compare("three", (510, 163), || async {
        let mut set = JoinSet::new();
        for n in 0..3 {
            set.spawn(async move { n });
        }
        let mut all = vec![];
        while let Some(n) = set.join_next().await {
            all.push(n.unwrap());
        }
        all
    });
}
