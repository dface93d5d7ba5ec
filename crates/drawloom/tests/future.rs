//! Futures under control, as users write them.

#[path = "support/outcomes.rs"]
mod support;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::{Arc, Mutex as Native};
use std::task::{Poll, Waker};
use std::time::Duration;

use drawloom::future::{self, JoinHandle, block_on, sleep, spawn, timeout, yield_now};
use drawloom::object::Object;
use drawloom::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use drawloom::sync::mpsc;
use drawloom::time::Instant;
use drawloom::{Config, StrategySpec, explore, thread};

fn exhaustive() -> Config {
    "exhaustive".parse().expect("a strategy")
}

/// All that `body` comes to, and in how many classes.
fn outcomes<T: Ord + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> (BTreeSet<T>, u64) {
    support::outcomes(exhaustive(), body)
}

fn finding(body: impl Fn() + Send + Sync + 'static) -> (String, String) {
    let exploration = explore(exhaustive(), body);
    let found = exploration.findings().first().expect("something is to be found");
    (found.kind().to_string(), found.message().to_string())
}

#[drawloom::test]
async fn a_test_may_be_async() {
    let other = spawn(async { 20 });
    assert_eq!(other.await.unwrap() + 22, 42);
}

#[drawloom::test]
async fn an_async_test_may_return_a_result() -> Result<(), std::num::ParseIntError> {
    let parsed = spawn(async { "42".parse::<u32>() }).await.expect("it does not panic")?;
    assert_eq!(parsed, 42);
    Ok(())
}

#[drawloom::test(trace = false)]
#[should_panic(expected = "an update was lost")]
async fn futures_race_like_threads() {
    let count = Arc::new(AtomicU32::new(0));
    let increment = |count: Arc<AtomicU32>| async move {
        let read = count.load(SeqCst);
        yield_now().await;
        count.store(read + 1, SeqCst);
    };
    let other = spawn(increment(count.clone()));
    increment(count.clone()).await;
    other.await.unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

/// An event with a waker, in one step each: right.
#[derive(Default)]
struct Event(Object<(bool, Option<Waker>)>);

impl Event {
    fn set(&self) {
        let waker = self.0.update(|(set, waker)| {
            *set = true;
            waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wait(&self) -> impl Future<Output = ()> + '_ {
        poll_fn(|context| {
            let waker = context.waker().clone();
            self.0.update(|(set, waiting)| match set {
                true => Poll::Ready(()),
                false => {
                    *waiting = Some(waker);
                    Poll::Pending
                }
            })
        })
    }
}

#[test]
fn an_event_is_seen_whenever_it_is_set() {
    let (_, classes) = outcomes(|| {
        let event = Arc::new(Event::default());
        let theirs = event.clone();
        let setter = thread::spawn(move || theirs.set());
        block_on(event.wait());
        setter.join().unwrap();
    });
    // The event is set before it is looked at; or after, and then the waiter is woken.
    assert_eq!(classes, 2);
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let (kind, message) = finding(|| {
        // Looks first and leaves its waker later: whoever sets the event in between wakes nobody.
        let set = Arc::new(AtomicBool::new(false));
        let waker = Arc::new(Object::new(None::<Waker>));
        let (their_set, their_waker) = (set.clone(), waker.clone());
        thread::spawn(move || {
            their_set.store(true, SeqCst);
            if let Some(waker) = their_waker.update(Option::take) {
                waker.wake();
            }
        });
        block_on(poll_fn(|context| {
            if set.load(SeqCst) {
                return Poll::Ready(());
            }
            let mine = context.waker().clone();
            waker.update(|waker| *waker = Some(mine));
            Poll::Pending
        }));
    });
    assert!(kind == "deadlock" || kind == "starvation", "{kind}: {message}");
}

#[test]
fn an_abort_comes_before_during_or_after() {
    // The task makes two marks with a wait between; the abort comes anywhere.
    let (outcomes, _) = outcomes(|| {
        let marks = Arc::new(AtomicU32::new(0));
        let theirs = marks.clone();
        let task = spawn(async move {
            theirs.fetch_add(1, SeqCst);
            yield_now().await;
            theirs.fetch_add(1, SeqCst);
        });
        task.abort();
        let result = block_on(task);
        (marks.load(SeqCst), result.is_err())
    });
    assert_eq!(outcomes, BTreeSet::from([(0, true), (1, true), (2, false)]));
}

#[test]
fn an_aborted_future_is_dropped_before_it_is_awaited() {
    struct Mark(Arc<AtomicU32>);
    impl Drop for Mark {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let (outcomes, _) = outcomes(|| {
        let dropped = Arc::new(AtomicU32::new(0));
        let mark = Mark(dropped.clone());
        let task = spawn(async move {
            let _mark = mark;
            std::future::pending::<()>().await;
        });
        task.abort();
        assert!(block_on(task).unwrap_err().is_cancelled());
        dropped.load(SeqCst)
    });
    assert_eq!(outcomes, BTreeSet::from([1]));
}

#[test]
fn a_panic_goes_to_who_awaits() {
    let (outcomes, _) = outcomes(|| {
        let task = spawn(async {
            yield_now().await;
            panic!("on purpose");
        });
        let error: drawloom::future::JoinError = block_on(task).unwrap_err();
        (error.is_panic(), error.to_string())
    });
    assert_eq!(outcomes, BTreeSet::from([(true, r#"task panicked with message "on purpose""#.to_string())]));
}

#[test]
fn a_panic_that_nobody_awaits_is_found() {
    let (kind, message) = finding(|| {
        drop(spawn(async { panic!("nobody listens") }));
        thread::yield_now();
    });
    assert_eq!(kind, "panic");
    assert!(message.contains("nobody listens"), "{message}");
}

#[test]
fn tasks_that_still_wait_end_with_the_test() {
    let (outcomes, _) = outcomes(|| {
        let alive = Arc::new(());
        let theirs = alive.clone();
        future::run(async move {
            spawn(async move {
                let _theirs = theirs;
                loop {
                    sleep(Duration::from_secs(1)).await;
                }
            });
        });
        Arc::strong_count(&alive)
    });
    assert_eq!(outcomes, BTreeSet::from([1]));
}

#[test]
fn an_hour_of_ticks_is_cheap_and_exact() {
    let exploration = explore(Config::new().strategy(StrategySpec::Sequential).max_steps(10_000_000), || {
        future::run(async {
            for _ in 0..5 {
                spawn(std::future::pending::<()>());
            }
            let start = Instant::now();
            for tick in 1..=3600 {
                sleep(Duration::from_secs(1)).await;
                assert_eq!(start.elapsed(), Duration::from_secs(tick));
            }
        });
    });
    assert!(exploration.findings().is_empty());
}

#[test]
fn a_timeout_ends_what_takes_too_long_and_nothing_else() {
    let (outcomes, _) = outcomes(|| {
        let bystander = spawn(yield_now());
        let outcome = block_on(async {
            let start = Instant::now();
            let late = timeout(Duration::from_secs(1), sleep(Duration::from_secs(2))).await;
            let early = timeout(Duration::from_secs(2), sleep(Duration::from_secs(1))).await;
            let together = timeout(Duration::from_secs(1), sleep(Duration::from_secs(1))).await;
            (late.is_err(), early.is_ok(), together.is_ok(), start.elapsed().as_secs())
        });
        block_on(bystander).unwrap();
        outcome
    });
    assert_eq!(outcomes, BTreeSet::from([(true, true, true, 3)]));
}

#[test]
fn threads_channels_and_futures_mix() {
    let (outcomes, _) = outcomes(|| {
        future::run(async {
            let (sender, receiver) = mpsc::channel();
            let from_task = sender.clone();
            let task = spawn(async move { from_task.send(1).unwrap() });
            let worker = future::spawn_blocking(move || receiver.iter().collect::<Vec<u32>>());
            sender.send(2).unwrap();
            drop(sender);
            task.await.unwrap();
            worker.await.unwrap()
        })
    });
    assert_eq!(outcomes, BTreeSet::from([vec![1, 2], vec![2, 1]]));
}

#[test]
fn local_futures_need_not_be_send() {
    let (outcomes, _) = outcomes(|| {
        future::run(async {
            let count = Rc::new(Cell::new(0));
            let tasks: Vec<JoinHandle<()>> = (0..2)
                .map(|_| {
                    let count = count.clone();
                    future::spawn_local(async move { count.set(count.get() + 1) })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            count.get()
        })
    });
    assert_eq!(outcomes, BTreeSet::from([2]));
}

#[test]
fn a_future_within_a_future_does_not_swallow_wake_ups() {
    let (outcomes, _) = outcomes(|| {
        let (outer, inner) = (Arc::new(Event::default()), Arc::new(Event::default()));
        let (their_outer, their_inner) = (outer.clone(), inner.clone());
        let setter = thread::spawn(move || {
            their_outer.set();
            their_inner.set();
        });
        let mut waited = false;
        block_on(poll_fn(|context| {
            if !std::mem::replace(&mut waited, true) {
                let mut wait = std::pin::pin!(outer.wait());
                if wait.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                // Blocks while its own waker is with the event.
                block_on(inner.wait());
            }
            std::pin::pin!(outer.wait()).poll(context)
        }));
        setter.join().unwrap();
    });
    assert_eq!(outcomes.len(), 1);
}

#[test]
fn outside_of_an_exploration_futures_run_on_threads() {
    let task = spawn(async {
        sleep(Duration::from_millis(2)).await;
        yield_now().await;
        42
    });
    assert_eq!(block_on(task).unwrap(), 42);
    let idle = spawn(std::future::pending::<()>());
    idle.abort();
    assert!(block_on(idle).unwrap_err().is_cancelled());
    let elapsed = block_on(timeout(Duration::from_millis(1), std::future::pending::<()>()));
    assert_eq!(elapsed.unwrap_err().to_string(), "deadline has elapsed");
}

#[test]
fn the_same_seed_makes_the_same_trace() {
    let run = || {
        let exploration = explore(Config::new().strategy(StrategySpec::Random).seed(7).iterations(50), || {
            future::run(async {
                let event = Arc::new(Event::default());
                let theirs = event.clone();
                spawn(async move {
                    sleep(Duration::from_millis(1)).await;
                    theirs.set();
                });
                let waiters: Vec<_> = (0..3)
                    .map(|_| {
                        let event = event.clone();
                        spawn(async move { timeout(Duration::from_millis(1), event.wait()).await.is_ok() })
                    })
                    .collect();
                let mut seen = 0;
                for waiter in waiters {
                    seen += u32::from(waiter.await.unwrap());
                }
                assert_ne!(seen, 1, "one of three");
            });
        });
        exploration.findings().iter().map(|found| found.report().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

/// As libraries have it that were not written for control: it wakes while it holds a lock of its own.
#[derive(Default)]
struct Mailbox {
    inner: Native<(Vec<u32>, Option<Waker>)>,
}

impl Mailbox {
    fn send(&self, value: u32) {
        let mut inner = self.inner.lock().unwrap();
        inner.0.push(value);
        if let Some(waker) = inner.1.take() {
            waker.wake();
        }
        drop(inner);
    }

    fn recv(&self) -> impl Future<Output = u32> + '_ {
        poll_fn(|context| {
            let mut inner = self.inner.lock().unwrap();
            match inner.0.pop() {
                Some(value) => Poll::Ready(value),
                None => {
                    inner.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

#[test]
fn a_library_may_wake_while_it_holds_a_lock() {
    let (seen, classes) = outcomes(|| {
        let (mailbox, count) = (Arc::new(Mailbox::default()), Arc::new(AtomicU32::new(0)));
        let senders: Vec<_> = (1..=2)
            .map(|value| {
                let (mailbox, count) = (mailbox.clone(), count.clone());
                thread::spawn(move || {
                    count.fetch_add(1, SeqCst);
                    mailbox.send(value);
                })
            })
            .collect();
        let sum = block_on(async { mailbox.recv().await + mailbox.recv().await });
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        (sum, count.load(SeqCst))
    });
    assert_eq!(seen, BTreeSet::from([(3, 2)]));
    assert!(classes > 1, "{classes}");
}
