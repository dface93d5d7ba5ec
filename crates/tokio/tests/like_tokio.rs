//! What tokio does, and this crate once did not: one test each.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use drawloom::sync::atomic::AtomicBool;
use drawloom_tokio as tokio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Handle, LocalOptions, LocalRuntime, Runtime};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, RwLock, RwLockWriteGuard, SetOnce, broadcast, mpsc, oneshot};
use tokio::task::{LocalSet, coop};

/// Runs `f` on a thread; fails if it has not ended after a minute.
fn within_a_minute<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(f()));
    result.recv_timeout(Duration::from_secs(60)).expect("it ends, and does not panic")
}

/// What `f` panics with.
fn panics(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&str>().map(|message| message.to_string()).unwrap_or_default(),
    }
}

struct CountsDrops(Arc<AtomicU32>);

impl Drop for CountsDrops {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

// Channels.

#[drawloom_tokio::test(explore = "exhaustive")]
async fn a_reserve_that_fails_wakes_the_closed_receiver() {
    let (tx, mut rx) = mpsc::channel::<()>(1);
    let permit = tx.clone().try_reserve_owned().unwrap();
    let waits = tokio::spawn(async move { tx.reserve().await.is_err() });
    tokio::task::yield_now().await;
    rx.close();
    let gives_back = tokio::spawn(async move { drop(permit) });
    assert_eq!(rx.recv().await, None);
    assert!(waits.await.unwrap());
    gives_back.await.unwrap();
}

#[test]
fn a_reserve_that_is_dropped_wakes_the_closed_receiver_and_nobody_earlier() {
    let (tx, mut rx) = mpsc::channel::<()>(2);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let permit = tx.try_reserve().unwrap();
    let mut reserve = Box::pin(tx.reserve_many(2));
    assert!(reserve.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    rx.close();
    let mut recv = Box::pin(rx.recv());
    assert!(recv.as_mut().poll(&mut context).is_pending());
    drop(permit);
    assert_eq!(woken.0.load(SeqCst), 0);
    drop(reserve);
    assert_eq!(woken.0.load(SeqCst), 1);
    assert_eq!(recv.as_mut().poll(&mut context), Poll::Ready(None));
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn try_reserve_many_of_too_many_says_that_it_is_full() {
    let (tx, rx) = mpsc::channel::<()>(1);
    assert_eq!(tx.try_reserve_many(0).unwrap().len(), 0);
    assert!(matches!(tx.try_reserve_many(2), Err(TrySendError::Full(()))));
    assert!(matches!(tx.try_reserve_many(usize::MAX), Err(TrySendError::Full(()))));
    drop(rx);
    assert!(matches!(tx.try_reserve_many(2), Err(TrySendError::Closed(()))));
}

/// Sends when it is dropped.
struct SendsOnDrop(broadcast::Sender<()>);

impl Wake for SendsOnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for SendsOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn a_waker_that_is_replaced_may_use_its_channel() {
    within_a_minute(|| {
        let (tx, mut rx) = broadcast::channel(16);
        let mut recv = Box::pin(rx.recv());
        let waker = Waker::from(Arc::new(SendsOnDrop(tx)));
        assert!(recv.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        let _ = recv.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    });
}

static ONCE: SetOnce<u32> = SetOnce::const_new();

#[drawloom_tokio::test(explore = "exhaustive")]
async fn a_static_set_once_begins_anew() {
    tokio::spawn(async { ONCE.set(5) });
    assert_eq!(*ONCE.wait().await, 5);
}

// Locks.

#[test]
fn downgrade_map_lets_nobody_in_before_it_is_over() {
    let lock = RwLock::new(0);
    let mut context = Context::from_waker(Waker::noop());
    let writes = lock.try_write().unwrap();
    let mut read = Box::pin(lock.read());
    assert!(read.as_mut().poll(&mut context).is_pending());
    let reads = RwLockWriteGuard::downgrade_map(writes, |value| {
        assert!(read.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        value
    });
    assert!(read.as_mut().poll(&mut context).is_ready());
    assert_eq!(*reads, 0);
}

#[test]
fn locks_show_their_value_or_that_they_are_locked() {
    let mutex = Mutex::new("data");
    assert_eq!(format!("{mutex:?}"), r#"Mutex { data: "data" }"#);
    let _locked = mutex.try_lock().unwrap();
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    assert_eq!(format!("{:?}", RwLock::new(1)), "RwLock { data: 1 }");
}

// Local tasks.

#[drawloom_tokio::test(explore = "exhaustive")]
async fn a_local_set_with_tasks_that_wait_can_be_dropped() {
    let dropped = Arc::new(AtomicU32::new(0));
    let set = LocalSet::new();
    let counts = CountsDrops(dropped.clone());
    set.spawn_local(async move {
        let _counts = counts;
        std::future::pending::<()>().await;
    });
    set.run_until(tokio::task::yield_now()).await;
    drop(set);
    assert_eq!(dropped.load(SeqCst), 1);
}

#[drawloom_tokio::test(flavor = "local", explore = "exhaustive")]
async fn a_local_runtime_spawns_what_is_not_send() {
    let shared = std::rc::Rc::new(1);
    let theirs = shared.clone();
    assert_eq!(tokio::task::spawn_local(async move { *theirs }).await.unwrap(), *shared);
}

#[test]
fn a_local_set_works_outside_of_an_exploration() {
    within_a_minute(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let set = LocalSet::new();
        let order = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let order = order.clone();
                set.spawn_local(async move {
                    order.borrow_mut().push(number);
                    tokio::task::yield_now().await;
                    order.borrow_mut().push(number + 10);
                })
            })
            .collect();
        set.block_on(&runtime, async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(*order.borrow(), [0, 1, 2, 10, 11, 12]);
        let forever = set.spawn_local(std::future::pending::<()>());
        drop(set);
        assert!(runtime.block_on(forever).unwrap_err().is_cancelled());
    });
}

#[test]
fn a_local_runtime_is_of_its_thread() {
    within_a_minute(|| {
        let runtime = LocalRuntime::new().unwrap();
        let _entered = runtime.enter();
        let task = tokio::task::spawn_local(async { 5 });
        assert_eq!(runtime.block_on(task).unwrap(), 5);
        let handle = runtime.handle().clone();
        let elsewhere = std::thread::spawn(move || {
            panics(|| {
                let _entered = handle.enter();
                drop(tokio::task::spawn_local(async {}));
            })
        });
        assert!(elsewhere.join().unwrap().contains("from the thread the runtime was created on"));
    });
}

// Time.

#[test]
fn a_sleep_wakes_whichever_executor_polls_it() {
    within_a_minute(|| {
        let runtime = Runtime::new().unwrap();
        let blocking = runtime.spawn_blocking(|| {
            futures::executor::block_on(tokio::time::sleep(Duration::from_millis(5)));
        });
        runtime.block_on(blocking).unwrap();
    });
}

#[drawloom_tokio::test]
async fn a_sleep_has_elapsed_when_it_was_polled() {
    let mut sleep = std::pin::pin!(tokio::time::sleep_until(tokio::time::Instant::now()));
    assert!(!sleep.is_elapsed());
    sleep.as_mut().await;
    assert!(sleep.is_elapsed());
}

// Cooperative scheduling.

/// Polls `future` until it is ready, but gives up as soon as it yields: whether it did.
async fn yields(future: impl Future<Output = ()>) -> bool {
    let mut future = std::pin::pin!(future);
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

#[drawloom_tokio::test]
async fn who_never_waits_uses_up_the_budget() {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let (mutex, budget) = (Mutex::new(0), 128);
    let done = AtomicU32::new(0);
    let endless = async {
        loop {
            match done.load(SeqCst) % 2 {
                0 => drop(mutex.lock().await),
                _ => {
                    tx.send(()).unwrap();
                    rx.recv().await.unwrap();
                }
            }
            done.fetch_add(1, SeqCst);
        }
    };
    assert!(yields(endless).await);
    assert_eq!(done.load(SeqCst), budget);
    assert!(!coop::has_budget_remaining());
    tokio::task::yield_now().await;
    assert!(coop::has_budget_remaining());
}

#[drawloom_tokio::test]
async fn without_a_budget_nobody_yields() {
    let mutex = Mutex::new(0);
    let thousand = coop::unconstrained(async {
        for _ in 0..1000 {
            *mutex.lock().await += 1;
        }
    });
    assert!(!yields(thousand).await);
}

#[drawloom_tokio::test]
async fn a_set_of_many_tasks_yields_and_loses_none() {
    let mut set: tokio::task::JoinSet<u32> = (0..200).map(std::future::ready).collect();
    let mut seen = 0;
    while let Some(number) = set.join_next().await {
        seen += number.unwrap();
    }
    assert_eq!(seen, (0..200).sum::<u32>());
}

// Runtimes.

#[test]
fn dropping_a_runtime_drops_its_tasks_in_its_context() {
    struct LooksOnDrop(mpsc::UnboundedSender<bool>);
    impl Drop for LooksOnDrop {
        fn drop(&mut self) {
            let _ = self.0.send(Handle::try_current().is_ok());
        }
    }
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let runtime = builder.build().unwrap();
        for _ in 0..3 {
            let looks = LooksOnDrop(tx.clone());
            runtime.spawn(async move {
                let _looks = looks;
                std::future::pending::<()>().await;
            });
        }
        drop(runtime);
        drop(tx);
        let seen: Vec<bool> = std::iter::from_fn(|| rx.try_recv().ok()).collect();
        assert_eq!(seen, [true; 3]);
    }
}

#[test]
fn dropping_a_runtime_in_an_exploration_drops_its_tasks() {
    drawloom::check(|| {
        let dropped = Arc::new(AtomicU32::new(0));
        let runtime = Runtime::new().unwrap();
        let counts = CountsDrops(dropped.clone());
        runtime.spawn(async move {
            let _counts = counts;
            std::future::pending::<()>().await;
        });
        drop(runtime);
        assert_eq!(dropped.load(SeqCst), 1);
    });
}

#[test]
fn outside_of_an_exploration_tasks_of_one_thread_run_in_order_and_only_while_it_is_driven() {
    within_a_minute(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (tx, mut rx) = mpsc::unbounded_channel();
        for number in 0..3 {
            let tx = tx.clone();
            runtime.spawn(async move { tx.send(number) });
        }
        std::thread::sleep(Duration::from_millis(20));
        assert!(rx.try_recv().is_err());
        runtime.block_on(async {
            for number in 0..3 {
                assert_eq!(rx.recv().await, Some(number));
            }
        });
    });
}

#[test]
fn a_runtime_is_dropped_while_its_tasks_run_and_spawn() {
    within_a_minute(|| {
        for _ in 0..300 {
            let runtime = Runtime::new().unwrap();
            for _ in 0..3 {
                runtime.spawn(async {
                    loop {
                        tokio::spawn(std::future::pending::<()>());
                        tokio::task::yield_now().await;
                    }
                });
            }
            drop(runtime);
        }
    });
}

#[test]
fn a_runtime_that_has_ended_spawns_nothing() {
    within_a_minute(|| {
        for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
            let runtime = builder.enable_all().build().unwrap();
            let handle = runtime.handle().clone();
            drop(runtime);
            let other = Runtime::new().unwrap();
            assert!(other.block_on(handle.spawn(async {})).unwrap_err().is_cancelled());
            assert!(other.block_on(handle.spawn_blocking(|| ())).unwrap_err().is_cancelled());
        }
    });
}

#[test]
fn a_thread_that_spawns_while_the_runtime_is_dropped_meets_both_orders() {
    let outcomes = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let seen = outcomes.clone();
    let exploration = drawloom::explore("exhaustive".parse().unwrap(), move || {
        let runtime = Runtime::new().unwrap();
        let handle = runtime.handle().clone();
        let dropped = Arc::new(AtomicBool::new(false));
        let is_dropped = dropped.clone();
        let spawner = drawloom::thread::spawn(move || {
            let too_late = is_dropped.load(SeqCst);
            let task = handle.spawn(std::future::ready(()));
            (too_late, drawloom::future::block_on(task).is_ok())
        });
        drop(runtime);
        dropped.store(true, SeqCst);
        seen.lock().unwrap().insert(spawner.join().unwrap());
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    assert!(exploration.exhausted());
    // Too late it is never spawned; in time it may end, and may be ended.
    assert_eq!(*outcomes.lock().unwrap(), BTreeSet::from([(false, false), (false, true), (true, false)]));
}

#[test]
fn a_guard_does_not_keep_its_runtime() {
    let runtime = Runtime::new().unwrap();
    let _entered = runtime.enter();
    runtime.shutdown_background();
    assert!(Handle::try_current().is_ok());
}

#[test]
fn a_runtime_has_a_name_and_numbers() {
    let runtime = Builder::new_multi_thread().worker_threads(3).name("mine").build().unwrap();
    assert_eq!(runtime.handle().name(), Some("mine"));
    assert_eq!(Runtime::new().unwrap().handle().name(), None);
    assert_eq!(runtime.metrics().num_workers(), 3);
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    assert_eq!(runtime.metrics().global_queue_depth(), 0);
    let task = runtime.spawn(std::future::pending::<()>());
    assert_eq!(runtime.metrics().num_alive_tasks(), 1);
    task.abort();
}

#[drawloom_tokio::test]
async fn an_output_that_panics_when_it_is_dropped_is_lost() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("as it is dropped");
        }
    }
    let task = tokio::spawn(async { Panics });
    while !task.is_finished() {
        tokio::task::yield_now().await;
    }
    drop(task);
}

#[drawloom_tokio::test(name = "of a test")]
async fn a_test_names_its_runtime() {
    assert_eq!(Handle::current().name(), Some("of a test"));
}

// Panics.

#[test]
fn what_tokio_panics_at_panics() {
    let missing = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
    let without_time = || Builder::new_current_thread().build().unwrap();
    let second = Duration::from_secs(1);
    type Case = (&'static str, Box<dyn FnOnce()>);
    let cases: Vec<Case> = vec![
        (missing, Box::new(|| drop(tokio::spawn(async {})))),
        (missing, Box::new(|| drop(tokio::task::spawn_blocking(|| ())))),
        (missing, Box::new(|| drop(Handle::current()))),
        (missing, Box::new(move || drop(tokio::time::sleep(second)))),
        (missing, Box::new(|| drop(tokio::time::sleep_until(tokio::time::Instant::now())))),
        (missing, Box::new(move || drop(tokio::time::timeout(second, async {})))),
        (missing, Box::new(move || drop(tokio::time::interval(second)))),
        (missing, Box::new(tokio::time::pause)),
        (missing, Box::new(tokio::time::resume)),
        (missing, Box::new(|| drop(tokio::task::JoinSet::new().spawn(async {})))),
        (missing, Box::new(|| drop(futures::executor::block_on(tokio::net::TcpStream::connect("127.0.0.1:80"))))),
        ("timers are disabled", Box::new(move || without_time().block_on(async { drop(tokio::time::sleep(second)) }))),
        (
            "timers are disabled",
            Box::new(move || without_time().block_on(async { drop(tokio::time::timeout(second, async {})) })),
        ),
        (
            "it is being shutdown",
            Box::new(move || {
                let runtime = Runtime::new().unwrap();
                let sleep = {
                    let _entered = runtime.enter();
                    tokio::time::sleep(Duration::from_secs(3600))
                };
                drop(runtime);
                Runtime::new().unwrap().block_on(sleep);
            }),
        ),
        ("a RwLock may not be created with 0 readers", Box::new(|| drop(RwLock::with_max_readers(1, 0)))),
        (
            "Max blocking threads cannot be set to 0",
            Box::new(|| _ = Builder::new_multi_thread().max_blocking_threads(0)),
        ),
        (
            "global_queue_interval must be greater than 0",
            Box::new(|| _ = Builder::new_multi_thread().global_queue_interval(0)),
        ),
        ("event_interval must be greater than 0", Box::new(|| _ = Builder::new_multi_thread().event_interval(0))),
        (
            "max_io_events_per_tick must be non-zero",
            Box::new(|| _ = Builder::new_multi_thread().max_io_events_per_tick(0)),
        ),
        ("runtime name shouldn't be empty", Box::new(|| _ = Builder::new_multi_thread().name(" "))),
        (
            "multi_thread is not supported for LocalRuntime",
            Box::new(|| drop(Builder::new_multi_thread().build_local(LocalOptions::default()))),
        ),
        (
            "dropped out of order",
            Box::new(|| {
                let runtime = Runtime::new().unwrap();
                let (first, second) = (runtime.enter(), runtime.enter());
                drop(first);
                drop(second);
            }),
        ),
        (
            "can call blocking only when running on the multi-threaded runtime",
            Box::new(|| {
                let blocks = async { tokio::task::block_in_place(|| ()) };
                Runtime::new().unwrap().block_on(async { LocalSet::new().run_until(blocks).await });
            }),
        ),
    ];
    for (expected, case) in cases {
        let message = panics(case);
        assert!(message.contains(expected), "{message:?} instead of {expected:?}");
    }
}

// Macros.

#[drawloom_tokio::test]
async fn select_binds_by_mutable_reference() {
    let selected = tokio::select! {
        Some(ref mut value) = async { Some(String::from("1")) } => {
            value.push('2');
            value.clone()
        },
    };
    assert_eq!(selected, "12");
}

#[drawloom_tokio::test]
async fn select_does_not_use_what_the_budget_forbids() {
    for _ in 0..128 {
        coop::consume_budget().await;
    }
    let selects = async {
        tokio::select! {
            () = std::future::ready(()) => {}
        }
    };
    assert!(yields(selects).await);
}

// Streams of bytes, signals, descriptors.

#[drawloom_tokio::test]
async fn pipes_write_several_slices_at_once() {
    let slices = [IoSlice::new(b"hello, "), IoSlice::new(b"world")];
    let (mut one, mut other) = tokio::io::duplex(64);
    assert!(tokio::io::AsyncWrite::is_write_vectored(&one));
    assert_eq!(one.write_vectored(&slices).await.unwrap(), 12);
    drop(one);
    let mut text = String::new();
    other.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "hello, world");
    let (one, _other) = tokio::io::duplex(8);
    let (_, mut write) = tokio::io::split(one);
    assert!(tokio::io::AsyncWrite::is_write_vectored(&write));
    assert_eq!(write.write_vectored(&slices).await.unwrap(), 8);
}

#[cfg(unix)]
#[drawloom_tokio::test(explore = "exhaustive")]
async fn signals_come_when_the_test_says_so() {
    use tokio::signal::unix::{SignalKind, raise, signal};
    let (ready, is_ready) = oneshot::channel();
    let server = tokio::spawn(async move {
        let mut hangups = signal(SignalKind::hangup()).unwrap();
        let mut terminate = signal(SignalKind::terminate()).unwrap();
        ready.send(()).unwrap();
        tokio::select! {
            _ = hangups.recv() => "hangup",
            _ = terminate.recv() => "terminate",
        }
    });
    is_ready.await.unwrap();
    raise(SignalKind::terminate());
    assert_eq!(server.await.unwrap(), "terminate");
    assert!(signal(SignalKind::from_raw(9)).is_err());
}

#[cfg(unix)]
#[test]
fn a_descriptor_that_would_be_watched_says_that_it_is_not_under_control() {
    let error = tokio::io::unix::AsyncFd::new(std::io::stdin()).map(drop).unwrap_err();
    assert!(error.to_string().contains("`tokio::io::unix::AsyncFd::new` is not under control"), "{error}");
}

#[test]
fn outside_of_an_exploration_sockets_and_files_are_those_of_the_system() {
    within_a_minute(|| {
        for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
            builder.enable_all().build().unwrap().block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let server = tokio::spawn(async move {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let mut request = [0; 4];
                    stream.read_exact(&mut request).await.unwrap();
                    stream.write_all(&request).await.unwrap();
                });
                let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
                client.write_all(b"ping").await.unwrap();
                let mut reply = Vec::new();
                client.read_to_end(&mut reply).await.unwrap();
                assert_eq!(reply, b"ping");
                server.await.unwrap();
                assert!(tokio::fs::read_to_string("Cargo.toml").await.unwrap().contains("drawloom-tokio"));
            });
        }
    });
}

#[test]
fn a_socket_of_a_runtime_that_has_ended_says_so() {
    let first = Runtime::new().unwrap();
    let listener = first.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    drop(first);
    let error = Runtime::new().unwrap().block_on(listener.accept()).map(drop).unwrap_err();
    assert!(tokio::runtime::is_rt_shutdown_err(&error), "{error}");
}

// The crate itself.

/// `features = [...]` of a dependency on tokio must not be an error here.
#[test]
fn it_has_every_feature_of_tokio() {
    let features = |manifest: &str| -> Vec<String> {
        let from = manifest.find("[features]").expect("it has features") + "[features]".len();
        let section = manifest[from..].split("\n[").next().unwrap_or_default();
        let name = |line: &str| line.split_once(" = [").map(|(name, _)| name.to_string());
        section.lines().filter_map(name).collect()
    };
    let ours = features(include_str!("../Cargo.toml"));
    let names = "default fs full io-std io-uring io-util macros net parking_lot process rt rt-multi-thread \
                 schedule-latency signal sync taskdump test-util time tracing bytes libc mio signal-hook-registry \
                 socket2 tokio-macros windows-sys";
    for name in names.split_whitespace() {
        assert!(ours.iter().any(|known| known == name), "no feature {name}: {ours:?}");
    }
}

#[test]
fn a_set_that_is_kept_for_a_thread_ends_with_it() {
    std::thread_local! {
        static KEPT: (Runtime, LocalSet) = (Builder::new_current_thread().build().unwrap(), LocalSet::new());
    }
    let thread = std::thread::spawn(|| {
        KEPT.with(|(runtime, set)| {
            set.block_on(runtime, async {
                tokio::task::spawn_local(async {});
            });
        });
    });
    thread.join().unwrap();
}

/// A runtime of several threads ends when its tasks are polled no more: one that is being polled goes on until it waits.
#[test]
fn a_task_that_begins_to_sleep_while_its_runtime_ends_is_dropped() {
    let exploration = drawloom::explore("exhaustive".parse().unwrap(), || {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.spawn(async {
            tokio::task::yield_now().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
        drop(runtime);
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_once_cell_begins_anew() {
    static CELL: tokio::sync::OnceCell<u32> = tokio::sync::OnceCell::const_new();
    let made = Arc::new(drawloom::sync::atomic::AtomicU32::new(0));
    let others = [0, 1].map(|_| {
        let made = made.clone();
        tokio::spawn(async move {
            let make = || async { made.fetch_add(1, drawloom::sync::atomic::Ordering::SeqCst) };
            *CELL.get_or_init(make).await
        })
    });
    for other in others {
        assert_eq!(other.await.expect("it ends"), 0);
    }
    assert_eq!(made.load(drawloom::sync::atomic::Ordering::SeqCst), 1);
}
