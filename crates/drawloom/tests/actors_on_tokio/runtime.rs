//! What is up to the runtime: its clock, its end, other futures beside processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use drawloom::actor::{self, Ctx, ExitReason, System};

use crate::limited;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

#[test]
fn ten_thousand_processes_need_no_thread_of_their_own() {
    let count = limited(|| {
        runtime().block_on(actor::run_on_tokio(async |mut ctx: Ctx<u32>| {
            for n in 0..10_000 {
                let me = ctx.me().clone();
                ctx.spawn(async move |ctx: Ctx<()>| ctx.send(&me, n % 2));
            }
            let mut count = 0;
            for _ in 0..10_000 {
                count += ctx.recv_message().await;
            }
            count
        }))
    });
    assert_eq!(count, 5_000);
}

#[test]
fn an_hour_passes_at_once_where_the_clock_of_the_runtime_is_paused() {
    let told = limited(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(actor::run_on_tokio(async |mut ctx: Ctx<&'static str>| {
            ctx.send_after(Duration::from_secs(3600), ctx.me(), "an hour");
            let early = ctx.recv_timeout(Duration::from_secs(1800)).await.is_some();
            let later = ctx.recv_message().await;
            (early, later, ctx.now())
        }))
    });
    assert_eq!((told.0, told.1), (false, "an hour"));
    assert!(told.2 >= Duration::from_secs(3600) && told.2 < Duration::from_secs(3601), "{:?}", told.2);
}

#[test]
fn a_process_awaits_what_is_no_message() {
    let sum = limited(|| {
        runtime().block_on(async {
            let (sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
            let system = actor::run_on_tokio(async move |mut ctx: Ctx<u32>| {
                let me = ctx.me().clone();
                ctx.spawn(async move |ctx: Ctx<()>| {
                    while let Some(n) = receiver.recv().await {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        ctx.send(&me, n);
                    }
                });
                ctx.recv_message().await + ctx.recv_message().await
            });
            let feed = async {
                sender.send(20).await.unwrap();
                sender.send(22).await.unwrap();
            };
            tokio::join!(system, feed).0
        })
    });
    assert_eq!(sum, 42);
}

/// Counts its destructor.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn who_drops_the_system_ends_its_processes() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&dropped);
    limited(move || {
        runtime().block_on(async {
            let system = actor::run_on_tokio(async move |mut ctx: Ctx<u32>| {
                for _ in 0..3 {
                    let kept = Dropped(Arc::clone(&theirs));
                    ctx.spawn(async move |mut ctx: Ctx<u32>| {
                        ctx.recv().await;
                        drop(kept);
                    });
                }
                ctx.recv().await;
            });
            assert!(tokio::time::timeout(Duration::from_millis(20), system).await.is_err(), "nobody sends");
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        });
    });
    assert_eq!(dropped.load(SeqCst), 3);
}

#[test]
fn a_runtime_that_goes_away_takes_its_processes_with_it() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let began = Arc::new(AtomicBool::new(false));
    let (theirs, says) = (Arc::clone(&dropped), Arc::clone(&began));
    limited(move || {
        let runtime = runtime();
        runtime.spawn(actor::run_on_tokio(async move |mut ctx: Ctx<u32>| {
            let kept = Dropped(theirs);
            says.store(true, SeqCst);
            ctx.recv().await;
            drop(kept);
        }));
        runtime.block_on(tokio::task::yield_now());
        drop(runtime);
    });
    assert!(began.load(SeqCst));
    assert_eq!(dropped.load(SeqCst), 1);
}

#[test]
fn nobody_goes_on_where_a_test_settles() {
    let seen = limited(|| {
        runtime().block_on(actor::run_on_tokio(async |mut ctx: Ctx<u32>| {
            let me = ctx.me().clone();
            ctx.spawn(async move |mut ctx: Ctx<u32>| {
                for n in 0..50 {
                    tokio::task::yield_now().await;
                    ctx.send(&me, n);
                }
                ctx.recv().await;
            });
            ctx.settle().await;
            let mut seen = 0;
            while ctx.recv_timeout(Duration::ZERO).await.is_some() {
                seen += 1;
            }
            seen
        }))
    });
    assert_eq!(seen, 50);
}

#[test]
fn a_runtime_of_ones_own_takes_a_few_lines() {
    /// A thread for each future.
    struct Threads;

    impl actor::Runtime for Threads {
        fn spawn(&self, process: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>) {
            std::thread::spawn(|| runtime().block_on(process));
        }

        fn sleep(&self, time: Duration) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                let (done, over) = tokio::sync::oneshot::channel();
                std::thread::spawn(move || {
                    std::thread::sleep(time);
                    let _ = done.send(());
                });
                let _ = over.await;
            })
        }
    }

    let told = limited(|| {
        let system = System::new().run_on(Threads, async |mut ctx: Ctx<u32>| {
            let child = ctx.spawn_link(async |_: Ctx<()>| ExitReason::Normal);
            let monitor = ctx.monitor(&child);
            let reason = ctx.recv_down(monitor).await.reason;
            ctx.sleep(Duration::from_millis(2)).await;
            reason == ExitReason::Normal || reason == ExitReason::NoProc
        });
        runtime().block_on(system)
    });
    assert_eq!(told, Ok(true));
}
