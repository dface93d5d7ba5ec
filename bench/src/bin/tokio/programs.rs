//! The programs, in the words of both.

use std::sync::Arc;
use std::time::Duration;

use drawloom::{Config, StrategySpec};

use crate::OPERATIONS;

macro_rules! programs {
    ($module:ident, $tokio:ident, $block_on:path) => {
        pub mod $module {
            use std::sync::Arc;

            use $tokio::spawn;
            use $tokio::sync::{Semaphore, mpsc};

            use crate::OPERATIONS;

            /// A value goes to and fro through two channels with room for one.
            pub fn ping_pong() {
                $block_on(async {
                    let (ping, mut pinged) = mpsc::channel(1);
                    let (pong, mut ponged) = mpsc::channel(1);
                    let other = spawn(async move {
                        while let Some(value) = pinged.recv().await {
                            pong.send(value).await.unwrap();
                        }
                    });
                    for round in 0..OPERATIONS / 2 {
                        ping.send(round).await.unwrap();
                        assert_eq!(ponged.recv().await, Some(round));
                    }
                    drop(ping);
                    other.await.unwrap();
                });
            }

            /// Three tasks take the one permit of a semaphore again and again.
            pub fn semaphore_loop() {
                $block_on(async {
                    let semaphore = Arc::new(Semaphore::new(1));
                    let tasks: Vec<_> = (0..3)
                        .map(|_| {
                            let semaphore = semaphore.clone();
                            spawn(async move {
                                for _ in 0..OPERATIONS / 3 {
                                    drop(semaphore.acquire().await.unwrap());
                                }
                            })
                        })
                        .collect();
                    for task in tasks {
                        task.await.unwrap();
                    }
                });
            }
        }
    };
}

programs!(ours, drawloom_tokio, crate::programs::in_runtime);
programs!(theirs, shuttle_tokio, shuttle::future::block_on);

/// Runs a future in a runtime of several threads: tasks are spawned within one only.
pub fn in_runtime<F: Future>(future: F) -> F::Output {
    drawloom_tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}

/// Two threads wake each other in turn.
pub fn threads_park() {
    let main = drawloom::thread::current();
    let other = drawloom::thread::spawn(move || {
        for _ in 0..OPERATIONS / 2 {
            drawloom::thread::park();
            main.unpark();
        }
    });
    for _ in 0..OPERATIONS / 2 {
        other.thread().unpark();
        drawloom::thread::park();
    }
    other.join().unwrap();
}

/// Two futures wake each other in turn.
pub fn futures_wake() {
    in_runtime(async {
        let (ping, pong) =
            (Arc::new(drawloom_tokio::sync::Notify::new()), Arc::new(drawloom_tokio::sync::Notify::new()));
        let (their_ping, their_pong) = (ping.clone(), pong.clone());
        let other = drawloom_tokio::spawn(async move {
            for _ in 0..OPERATIONS / 2 {
                their_ping.notified().await;
                their_pong.notify_one();
            }
        });
        for _ in 0..OPERATIONS / 2 {
            ping.notify_one();
            pong.notified().await;
        }
        other.await.unwrap();
    });
}

/// Three threads take a mutex again and again.
pub fn threads_lock() {
    let mutex = Arc::new(drawloom::sync::Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let mutex = mutex.clone();
            drawloom::thread::spawn(move || {
                for _ in 0..OPERATIONS / 3 {
                    *mutex.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Three futures take a mutex again and again.
pub fn futures_lock() {
    in_runtime(async {
        let mutex = Arc::new(drawloom_tokio::sync::Mutex::new(0));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let mutex = mutex.clone();
                drawloom_tokio::spawn(async move {
                    for _ in 0..OPERATIONS / 3 {
                        *mutex.lock().await += 1;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// One execution.
pub fn an_hour_of_ticks() {
    let config = Config::new().strategy(StrategySpec::Sequential).max_steps(10_000_000);
    let exploration = drawloom::explore(config, || {
        let runtime = drawloom_tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            for _ in 0..5 {
                drawloom_tokio::spawn(std::future::pending::<()>());
            }
            let start = drawloom_tokio::time::Instant::now();
            let mut interval = drawloom_tokio::time::interval(Duration::from_secs(1));
            for _ in 0..=3600 {
                interval.tick().await;
            }
            assert_eq!(start.elapsed(), Duration::from_secs(3600));
        });
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}
