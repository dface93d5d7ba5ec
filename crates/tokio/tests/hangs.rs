//! Tasks of tokio that never come back to the scheduler are told of, and end the test.

use drawloom_tokio as tokio;

#[path = "../../drawloom/tests/support/hang.rs"]
#[allow(dead_code)]
mod hang;

use hang::{Child, is_child, line_of};

fn here(name: &str) -> String {
    line_of(include_str!("hangs.rs"), file!(), name)
}

mod programs {
    use super::*;

    fn run(config: &'static str, body: fn()) {
        if is_child() {
            drawloom::__private::run_test("hangs::program", None, config, body);
        }
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_over_what_is_always_ready() {
        run("timeout = 3s", || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let other = tokio::spawn(async {});
                let mut ready = 0u64;
                loop {
                    tokio::select! {
                        biased;
                        () = std::future::ready(()) => ready = std::hint::black_box(ready + 1), // here: ready
                        () = std::future::pending() => break,
                    }
                }
                other.await.unwrap();
            });
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_over_a_channel_that_is_closed() {
        run("timeout = 3s, max_steps = 1_000_000_000", || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let (sender, mut receiver) = tokio::sync::mpsc::channel::<()>(1);
                let other = tokio::spawn(async move { drop(sender) });
                while receiver.recv().await.is_none() {} // here: closed
                other.await.unwrap();
            });
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    #[allow(clippy::await_holding_lock)]
    fn a_real_lock_held_over_an_await() {
        run("timeout = 3s", || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let lock = std::sync::Arc::new(std::sync::Mutex::new(0));
                let local = tokio::task::LocalSet::new();
                let work = |lock: std::sync::Arc<std::sync::Mutex<u32>>| async move {
                    let mut guard = lock.lock().unwrap(); // here: real lock
                    tokio::task::yield_now().await;
                    *guard += 1;
                };
                local
                    .run_until(async {
                        let others = [0, 1].map(|_| tokio::task::spawn_local(work(lock.clone())));
                        for other in others {
                            other.await.unwrap();
                        }
                    })
                    .await;
            });
        });
    }
}

#[test]
fn a_loop_over_what_is_always_ready_is_told() {
    let child = Child::of("programs::a_loop_over_what_is_always_ready");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("STUCK TASK in test \"hangs::program\"");
    child.says("a_loop_over_what_is_always_ready");
    child.says("crates/tokio/tests/hangs.rs:");
    let child = Child::of("programs::a_loop_over_a_channel_that_is_closed");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("OUT OF TIME in test \"hangs::program\"");
    child.says(&here("closed"));
}

#[test]
fn a_real_lock_held_over_an_await_is_told() {
    let child = Child::of("programs::a_real_lock_held_over_an_await");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("blocks its OS thread");
    child.says(&here("real lock"));
    child.says("The other tasks stand still:\n    Task 0 (main): before its park at ");
}
