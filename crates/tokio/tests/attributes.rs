//! `#[tokio::test]` and `#[tokio::main]`, and what happens outside of explorations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use drawloom_tokio::sync::{Mutex, mpsc};
use drawloom_tokio::{select, spawn, time};

#[drawloom_tokio::test(flavor = "multi_thread", worker_threads = 2, explore = "exhaustive")]
async fn a_test_explores() {
    let count = Arc::new(Mutex::new(0));
    let theirs = count.clone();
    let other = spawn(async move { *theirs.lock().await += 1 });
    *count.lock().await += 1;
    other.await.unwrap();
    assert_eq!(*count.lock().await, 2);
}

#[drawloom_tokio::test(flavor = "multi_thread", explore = "trace = false")]
#[should_panic(expected = "an update was lost")]
async fn a_lost_update_is_found() {
    let count = Arc::new(Mutex::new(0));
    let increment = |count: Arc<Mutex<u32>>| async move {
        let read = *count.lock().await;
        *count.lock().await = read + 1;
    };
    let other = spawn(increment(count.clone()));
    increment(count.clone()).await;
    other.await.unwrap();
    assert_eq!(*count.lock().await, 2, "an update was lost");
}

// Nothing in it can happen in another order, which is fine for a test that was not written to be explored.
#[drawloom_tokio::test(start_paused = true)]
async fn a_test_without_choices_passes() -> Result<(), time::error::Elapsed> {
    time::timeout(Duration::from_secs(2), time::sleep(Duration::from_secs(1))).await
}

#[drawloom_tokio::main]
async fn sum(values: Vec<u32>) -> u32 {
    let (sender, mut receiver) = mpsc::channel(1);
    spawn(async move {
        for value in values {
            sender.send(value).await.unwrap();
        }
    });
    let mut sum = 0;
    while let Some(value) = receiver.recv().await {
        sum += value;
    }
    sum
}

#[test]
fn outside_of_an_exploration_it_runs_on_threads() {
    assert_eq!(sum(vec![1, 2, 4]), 7);
}

#[test]
fn inside_of_one_a_main_is_a_runtime_of_its_own() {
    drawloom::check(|| assert_eq!(sum(vec![1, 2]), 3));
}

#[drawloom_tokio::main(flavor = "current_thread")]
async fn times_out() -> bool {
    select! {
        () = std::future::pending() => false,
        () = time::sleep(Duration::from_millis(5)) => true,
    }
}

#[test]
fn outside_of_an_exploration_time_is_real() {
    let start = std::time::Instant::now();
    assert!(times_out());
    assert!(start.elapsed() >= Duration::from_millis(5));
}

#[test]
fn dropping_a_runtime_outside_of_an_exploration_ends_its_tasks() {
    let dropped = Arc::new(AtomicU32::new(0));
    struct Mark(Arc<AtomicU32>);
    impl Drop for Mark {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let runtime = drawloom_tokio::runtime::Runtime::new().unwrap();
    let mark = Mark(dropped.clone());
    let task = runtime.spawn(async move {
        let _mark = mark;
        std::future::pending::<()>().await;
    });
    drop(runtime);
    let other = drawloom_tokio::runtime::Runtime::new().unwrap();
    assert!(other.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(dropped.load(SeqCst), 1);
}

#[drawloom_tokio::test(explore = "exhaustive")]
async fn ctrl_c_comes_when_the_test_says_so() {
    let server = spawn(async {
        select! {
            result = drawloom_tokio::signal::ctrl_c() => result.is_ok(),
            () = time::sleep(Duration::from_secs(60)) => false,
        }
    });
    time::sleep(Duration::from_secs(1)).await;
    drawloom_tokio::signal::raise_ctrl_c();
    assert!(server.await.unwrap());
}

#[drawloom_tokio::test]
async fn what_is_not_under_control_says_so() {
    let error = drawloom_tokio::net::TcpStream::connect("127.0.0.1:80").await.unwrap_err();
    assert!(error.to_string().contains("`tokio::net::TcpStream::connect` is not under control"), "{error}");
    let error = drawloom_tokio::fs::read("file").await.unwrap_err();
    assert!(error.to_string().contains("`tokio::fs::read`"), "{error}");
}

/// The hour costs about as many steps as it has ticks, whoever else is there.
#[test]
fn an_hour_of_ticks_is_a_few_steps_each() {
    let config = drawloom::Config::new().strategy(drawloom::StrategySpec::Sequential);
    let exploration = drawloom::explore(config, || {
        let runtime = drawloom_tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            for _ in 0..5 {
                spawn(std::future::pending::<()>());
            }
            let start = time::Instant::now();
            let mut interval = time::interval(Duration::from_secs(1));
            for _ in 0..=3600 {
                interval.tick().await;
            }
            assert_eq!(start.elapsed(), Duration::from_secs(3600));
        });
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    assert!(exploration.steps() < 2 * 6 * 3600, "{} steps", exploration.steps());
}
