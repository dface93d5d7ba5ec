//! What does not come back is told of, and ends the test: loops without a step, locks that are not under control, panics
//! that cannot go on, more tasks than there are stacks for.
//!
//! Each program is a test of its own, which does nothing unless another process of this binary is asked for it.

#[path = "support/hang.rs"]
mod hang;

use std::panic::catch_unwind;

use drawloom::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::{explore, explore_with, thread};
use hang::{Child, is_child, line_of};

fn config(text: &str) -> drawloom::Config {
    text.parse().expect("a valid configuration")
}

/// The line of this file that has the comment `// here: {name}`.
fn here(name: &str) -> String {
    line_of(include_str!("hangs.rs"), file!(), name)
}

/// The line after the one that has the comment `// here: {name}`.
fn line_after(name: &str) -> String {
    let place = here(name);
    let (file, line) = place.rsplit_once(':').expect("a line");
    format!("{file}:{}", line.parse::<u32>().expect("a number") + 1)
}

mod programs {
    use super::*;

    fn run(config: &'static str, body: fn()) {
        if is_child() {
            drawloom::__private::run_test("hangs::program", None, config, body);
        }
    }

    // Of one line, so that all of its code is of this line.
    #[rustfmt::skip]
    fn loops_for_ever(done: &std::sync::atomic::AtomicBool) { while !std::hint::black_box(done.load(std::sync::atomic::Ordering::Relaxed)) {} } // here: loop

    fn spins() {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let spinner = thread::spawn(move || {
            let mut guard = theirs.lock().unwrap(); // here: taken
            static DONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
            loops_for_ever(&DONE);
            *guard += 1;
        });
        *lock.lock().unwrap() += 1;
        spinner.join().unwrap();
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_without_a_step() {
        run("", spins);
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_without_a_step_within_a_time_limit() {
        run("timeout = 3s", spins);
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_without_a_step_explored_exhaustively_by_several_workers() {
        run("exhaustive, timeout = 3s, threads = 2", spins);
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_without_a_step_of_which_all_findings_are_wanted() {
        run("random, timeout = 3s, keep_going = true, threads = 2", spins);
    }

    fn real_lock() {
        let lock = Arc::new(std::sync::Mutex::new(0));
        let count = Arc::new(AtomicU64::new(0));
        let work = |lock: Arc<std::sync::Mutex<u32>>, count: Arc<AtomicU64>| {
            move || {
                let mut guard = lock.lock().unwrap(); // here: real lock
                count.fetch_add(1, SeqCst); // here: step under the lock
                *guard += 1;
            }
        };
        let other = thread::spawn(work(lock.clone(), count.clone()));
        work(lock, count)();
        other.join().unwrap();
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_real_lock_held_over_a_step() {
        run("random(iterations = 1000), seed = 1, timeout = 3s", real_lock);
    }

    #[allow(clippy::await_holding_lock)]
    async fn with_real_lock(lock: Arc<std::sync::Mutex<u32>>) {
        let mut guard = lock.lock().unwrap(); // here: real lock of a future
        drawloom::future::yield_now().await;
        *guard += 1;
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_real_lock_held_over_an_await() {
        run("timeout = 3s", || {
            drawloom::future::block_on(async {
                let lock = Arc::new(std::sync::Mutex::new(0));
                let others = [0, 1].map(|_| drawloom::future::spawn_local(with_real_lock(lock.clone())));
                for other in others {
                    other.await.unwrap();
                }
            });
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_over_futures_that_are_always_ready() {
        run("timeout = 3s", || {
            drawloom::future::block_on(async {
                let other = drawloom::future::spawn_local(async {});
                loop {
                    std::future::ready(()).await; // here: ready
                    if std::hint::black_box(false) {
                        break;
                    }
                }
                other.await.unwrap();
            });
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_that_prints() {
        run("timeout = 2s", || {
            let other = thread::spawn(|| {});
            // here: before the loop
            while !std::hint::black_box(false) {
                // Nothing: a line each time would be a gigabyte, and most of the time of this test.
                print!("{}", std::hint::black_box("")); // here: prints
            }
            other.join().unwrap();
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_that_allocates() {
        run("timeout = 2s", || {
            let other = thread::spawn(|| {});
            while !std::hint::black_box(Vec::<String>::new()).contains(&format!("{:?}", std::hint::black_box(3))) {} // here: allocates
            other.join().unwrap();
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn steps_that_never_end() {
        run("timeout = 3s, max_steps = 1_000_000_000", || {
            let stop = Arc::new(AtomicBool::new(false));
            let theirs = stop.clone();
            let other = thread::spawn(move || while !theirs.load(SeqCst) {}); // here: steps
            while !stop.load(SeqCst) {}
            other.join().unwrap();
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn slow_steps_of_a_single_task() {
        run("timeout = 3s", || {
            let stop = AtomicBool::new(false);
            while !stop.load(SeqCst) {
                std::thread::sleep(std::time::Duration::from_millis(20)); // here: slow
            }
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_long_execution_after_short_ones() {
        run("random, timeout = 3s, max_steps = 1_000_000_000, threads = 1", || {
            let stop = Arc::new(AtomicBool::new(drawloom::choose(64) > 0));
            let theirs = stop.clone();
            let other = thread::spawn(move || while !theirs.load(SeqCst) {});
            while !stop.load(SeqCst) {}
            other.join().unwrap();
        });
    }

    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in a destructor"); // here: destructor
        }
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_panic_while_a_task_unwinds() {
        run("", || {
            let unlucky = thread::Builder::new().name("unlucky".into()).spawn(|| {
                let _panics = Panics;
                panic!("the first panic"); // here: first
            });
            drop(unlucky.unwrap().join());
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_panic_in_a_destructor_of_a_task_that_is_torn_down() {
        run("", || {
            thread::spawn(|| {
                let _panics = Panics;
                thread::park();
            });
            thread::yield_now();
            panic!("what was found"); // here: found
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_loop_in_a_destructor_of_a_task_that_is_torn_down() {
        struct Spins;
        impl Drop for Spins {
            fn drop(&mut self) {
                while !std::hint::black_box(false) {} // here: spins when dropped
            }
        }
        run("timeout = 2s", || {
            thread::spawn(|| {
                let _spins = Spins;
                thread::park();
            });
            thread::yield_now();
            panic!("what was found");
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn more_tasks_than_stacks() {
        run("random(iterations = 1), teardown = leak", || {
            let gate = Arc::new((Mutex::new(false), drawloom::sync::Condvar::new()));
            for _ in 0..40_000 {
                let gate = gate.clone();
                thread::spawn(move || drop(gate.1.wait_while(gate.0.lock().unwrap(), |open| !*open)));
            }
        });
    }

    /// Never says who goes next.
    struct Undecided;

    impl drawloom::strategy::Strategy for Undecided {
        fn begin(&mut self, _: u64) {}

        fn pick(
            &mut self,
            view: &drawloom::strategy::View<'_>,
        ) -> Result<drawloom::strategy::TaskId, Box<drawloom::strategy::Divergence>> {
            while !std::hint::black_box(false) {} // here: undecided
            Ok(view.ready()[0])
        }
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_strategy_that_never_returns() {
        if is_child() {
            let body = || {
                let other = thread::spawn(thread::yield_now);
                thread::yield_now();
                other.join().unwrap();
            };
            explore_with(config("timeout = 3s"), || Undecided, body);
        }
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_short_budget() {
        run("random, timeout = 1ms", || {
            let other = thread::spawn(|| std::thread::sleep(std::time::Duration::from_millis(700)));
            thread::yield_now();
            other.join().unwrap();
        });
    }

    #[test]
    #[ignore = "a program for other tests"]
    fn a_test_that_passes() {
        run("random(iterations = 10)", || {
            let count = Arc::new(AtomicU64::new(0));
            let theirs = count.clone();
            let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
            count.fetch_add(1, SeqCst);
            other.join().unwrap();
            assert_eq!(count.load(SeqCst), 2);
        });
    }
}

#[test]
fn a_loop_without_a_step_is_told_with_its_place_and_what_it_holds() {
    let child = Child::of("programs::a_loop_without_a_step");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("STUCK TASK in test \"hangs::program\"");
    child.says(&format!(" at {}", here("loop")));
    child.says(&format!("taken at {}", here("taken")));
    child.says("code that drawloom does not control");
    insta::assert_snapshot!("a_loop_without_a_step", child.report());
}

#[test]
fn a_time_limit_is_heeded_by_whoever_explores() {
    for program in [
        "a_loop_without_a_step_within_a_time_limit",
        "a_loop_without_a_step_explored_exhaustively_by_several_workers",
        "a_loop_without_a_step_of_which_all_findings_are_wanted",
    ] {
        let child = Child::of(&format!("programs::{program}"));
        assert_eq!(child.code, Some(101), "{}", child.text);
        child.says("STUCK TASK");
        child.says(&here("loop"));
    }
}

#[test]
fn a_real_lock_is_told_with_its_place_and_who_stands_where() {
    let child = Child::of("programs::a_real_lock_held_over_a_step");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says(&format!("at {}", here("real lock")));
    child.says(&format!("before its read-modify-write of atomic `count` at {}", here("step under the lock")));
    insta::assert_snapshot!("a_real_lock", child.report());
    let child = Child::of("programs::a_real_lock_held_over_an_await");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("blocks its OS thread");
    child.says(&format!("at {}", here("real lock of a future")));
}

#[test]
fn futures_that_are_always_ready_are_told() {
    let child = Child::of("programs::a_loop_over_futures_that_are_always_ready");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("STUCK TASK");
    child.says("a_loop_over_futures_that_are_always_ready");
}

#[test]
fn a_loop_that_holds_what_others_need_now_and_then_is_left_where_it_does_not() {
    let child = Child::of("programs::a_loop_that_prints");
    assert_eq!(child.code, Some(101), "{}", child.text);
    let lines = [here("prints"), line_after("before the loop")];
    assert!(lines.iter().any(|line| child.text.contains(&format!("at {line}"))), "{}", child.text);
    let child = Child::of("programs::a_loop_that_allocates");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says(&format!("at {}", here("allocates")));
}

#[test]
fn other_tests_of_the_process_go_on() {
    let child = Child::of_all(&["programs::a_loop_without_a_step_within_a_time_limit", "programs::a_test_that_passes"]);
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("test programs::a_test_that_passes ... ok");
    child.says("test result: FAILED. 1 passed; 1 failed");
}

#[test]
fn steps_that_go_on_end_with_the_time() {
    let child = Child::of("programs::steps_that_never_end");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("OUT OF TIME in test \"hangs::program\"");
    child.says(&format!("the last at {}", here("steps")));
    let child = Child::of("programs::slow_steps_of_a_single_task");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("OUT OF TIME");
}

#[test]
fn an_execution_that_is_cut_by_the_time_is_not_counted() {
    let child = Child::of("programs::a_long_execution_after_short_ones");
    assert_eq!(child.code, Some(0), "{}", child.text);
    child.says("test result: ok. 1 passed");
}

#[test]
fn a_time_limit_that_is_a_budget_lets_the_first_execution_end() {
    let child = Child::of("programs::a_short_budget");
    assert_eq!(child.code, Some(0), "{}", child.text);
    child.says("test result: ok. 1 passed");
}

#[test]
fn a_strategy_that_never_returns_ends_the_process() {
    let child = Child::of("programs::a_strategy_that_never_returns");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("and cannot be abandoned. The process ends.");
    child.says(&here("undecided"));
}

#[test]
fn a_second_panic_of_a_task_is_told_with_the_first() {
    let child = Child::of("programs::a_panic_while_a_task_unwinds");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says(&format!("panicked at {}", here("first")));
    child.says("the first panic");
    child.says(&format!("a destructor panicked at {}", here("destructor")));
    insta::assert_snapshot!("a_panic_while_a_task_unwinds", child.report());
}

#[test]
fn what_was_found_survives_a_destructor() {
    let child = Child::of("programs::a_panic_in_a_destructor_of_a_task_that_is_torn_down");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says(&format!("panicked at {}", here("found")));
    child.says(&format!("a destructor panicked at {}", here("destructor")));
    insta::assert_snapshot!("a_panic_in_a_destructor", child.report());
    let child = Child::of("programs::a_loop_in_a_destructor_of_a_task_that_is_torn_down");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("what was found");
    child.says(&format!("did not return from code that drawloom does not control at {}", here("spins when dropped")));
}

#[test]
fn tasks_for_which_there_is_no_stack_are_told() {
    let child = Child::of("programs::more_tasks_than_stacks");
    assert_eq!(child.code, Some(101), "{}", child.text);
    child.says("TASK LIMIT in test \"hangs::program\"");
    child.says("vm.max_map_count");
}

#[test]
fn an_exploration_after_one_that_was_left_behind_is_as_any_other() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let first = explore(config("random(iterations = 10), keep_going = true"), || {
        let other = thread::spawn(|| {
            let _panics = Panics;
            panic!("the first panic");
        });
        drop(other.join());
    });
    assert_eq!(first.findings()[0].message(), "the first panic");
    assert!(std::thread::panicking(), "a task was left in the middle of a panic");
    let second = explore(config("random(iterations = 100)"), || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        *lock.lock().unwrap() += 1;
        other.join().unwrap();
        assert!(!lock.is_poisoned() && !drawloom::thread::panicking());
    });
    assert!(second.findings().is_empty(), "{}", second.findings()[0].report());
    assert!(catch_unwind(|| panic!("caught")).is_err());
}
