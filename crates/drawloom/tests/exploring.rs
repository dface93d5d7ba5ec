//! Explorations as a whole: statics shared by workers, failures grouped by cause, budgets, what is
//! said when nothing was explored, and a stack that overflows.

use std::process::Command;
use std::time::Duration;

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, LazyLock, Mutex};
use drawloom::{Config, explore, thread};

fn config(text: &str) -> Config {
    text.parse().expect("a valid configuration")
}

#[test]
fn workers_that_share_a_static_do_not_disturb_each_other() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    static READY: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(0));
    let run = |threads: usize| {
        let exploration = explore(config(&format!("random(iterations = 3000), threads = {threads}")), || {
            let handles: Vec<_> = (0..2)
                .map(|_| {
                    thread::spawn(|| {
                        let mut inside = LOCK.lock().unwrap();
                        *inside += 1;
                        READY.fetch_add(1, SeqCst);
                        assert_eq!(*inside, 1, "another execution is inside");
                        *inside -= 1;
                    })
                })
                .collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
            assert_eq!(READY.load(SeqCst), 2, "fresh in every execution");
        });
        assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
        (exploration.executions(), exploration.steps())
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn failures_are_grouped_by_cause() {
    let exploration = explore(config("random(iterations = 300), keep_going = true"), || {
        let cell = Arc::new(AtomicU32::new(0));
        let theirs = cell.clone();
        let other = thread::spawn(move || theirs.store(1, SeqCst));
        match (cell.load(SeqCst), drawloom::choose(3)) {
            (1, 0) => panic!("the store came first"),
            (0, 1) => panic!("the load came first"),
            _ => other.join().unwrap(),
        }
    });
    let causes: Vec<&str> = exploration.findings().iter().map(|f| f.message()).collect();
    assert_eq!(exploration.executions(), 300);
    assert_eq!(causes.len(), 2, "{causes:?}");
    let occurrences: u64 = exploration.findings().iter().map(|f| f.occurrences()).sum();
    assert_eq!(occurrences, exploration.failing_executions());
    assert!(occurrences > 50 && occurrences < 250);
}

#[test]
fn a_budget_of_time_ends_an_exploration_and_is_said() {
    let config = config("random(iterations = 1_000_000_000), timeout = 50ms");
    let exploration = explore(config, || {
        let other = thread::spawn(thread::yield_now);
        thread::yield_now();
        other.join().unwrap();
    });
    assert!(exploration.timed_out());
    assert!(exploration.executions() > 0);
    let summary = exploration.summary();
    assert!(summary.contains("out of time after") && summary.contains("of 1000000000"), "{summary}");
}

#[test]
fn a_program_that_is_not_deterministic_is_said_to_be() {
    for strategy in ["random(iterations = 10)", "random(iterations = 100)", "auto(iterations = 2)", "auto"] {
        let runs = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let exploration = explore(config(strategy), move || {
            let cell = Arc::new(AtomicU32::new(0));
            let theirs = cell.clone();
            let other = thread::spawn(move || theirs.store(1, SeqCst));
            if runs.fetch_add(1, SeqCst) % 2 == 0 {
                cell.store(2, SeqCst);
            } else {
                cell.load(SeqCst);
            }
            other.join().unwrap();
        });
        let found = &exploration.findings()[0];
        assert_eq!(found.kind(), "divergence", "{strategy}");
        let report = found.report();
        assert!(report.contains("`store`") && report.contains("`load`"), "{strategy}: {report}");
        assert!(!exploration.exhausted(), "{strategy}: nothing is known");
    }
}

#[test]
fn a_failure_that_does_not_happen_again_is_said_not_to() {
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let exploration = explore(config("auto"), move || {
        let cell = Arc::new(AtomicU32::new(0));
        let theirs = cell.clone();
        let other = thread::spawn(move || theirs.store(1, SeqCst));
        cell.load(SeqCst);
        other.join().unwrap();
        assert_ne!(runs.fetch_add(1, SeqCst), 1, "the second time");
    });
    let kinds: Vec<_> = exploration.findings().iter().map(|finding| finding.kind()).collect();
    assert_eq!(kinds, ["divergence", "panic"]);
    assert!(exploration.findings()[1].message().contains("the second time"));
}

#[test]
fn tasks_that_are_never_joined_are_found_where_that_is_asked_for() {
    let body = || {
        let cell = Arc::new(AtomicU32::new(0));
        let theirs = cell.clone();
        drop(thread::spawn(move || theirs.store(1, SeqCst)));
        cell.load(SeqCst);
    };
    assert!(explore(config("random(iterations = 10)"), body).findings().is_empty());
    let asked = explore(config("random(iterations = 10), unjoined = true"), body);
    assert_eq!(asked.findings()[0].kind(), "unjoined task");
}

#[test]
fn an_exploration_within_an_exploration_is_refused() {
    let exploration = explore(config("random(iterations = 2)"), || {
        explore(config("random(iterations = 2)"), || {});
    });
    assert!(exploration.findings()[0].message().contains("from within an exploration"));
}

#[test]
fn a_stack_overflow_names_the_task_and_the_remedy() {
    const CHILD: &str = "DRAWLOOM_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        explore(config("random(iterations = 1), stack_size = 64KiB"), || {
            let deep = thread::Builder::new().name("deep".into()).spawn(|| endless(1)).expect("a task");
            drop(deep.join());
        });
        return;
    }
    let child = Command::new(std::env::current_exe().expect("the running test"))
        .args(["--exact", "a_stack_overflow_names_the_task_and_the_remedy", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the same test in another process");
    let text = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(!child.status.success());
    assert!(text.contains("task 0.1 (deep) overflowed its stack of 65536 bytes"), "{text}");
    assert!(text.contains("stack_size"), "{text}");
}

#[allow(unconditional_recursion)]
fn endless(depth: u64) -> u64 {
    let on_the_stack = std::hint::black_box([depth; 64]);
    endless(depth + 1) + on_the_stack[0]
}

#[test]
fn a_destructor_that_spins_in_teardown_is_leaked() {
    struct Spins;
    impl Drop for Spins {
        fn drop(&mut self) {
            loop {
                drawloom::hint::spin_loop();
            }
        }
    }
    let exploration = explore(config("sequential"), || {
        thread::spawn(|| {
            let _spins = Spins;
            thread::park();
        });
        thread::sleep(Duration::from_secs(1));
        panic!("main gives up");
    });
    assert_eq!(exploration.findings()[0].message(), "main gives up");
    assert_eq!(exploration.leaked_tasks(), 1);
}

#[test]
fn a_finding_is_kept_as_a_trace_and_as_a_page() {
    // What `#[drawloom::test]` expands to.
    let fail = |name: &'static str, config: &'static str| {
        let body = move || {
            let other = thread::spawn(|| {});
            other.join().unwrap();
            assert!(name.is_empty(), "found </script>");
        };
        let panic = std::panic::catch_unwind(|| drawloom::__private::run_test(name, None, config, body));
        *panic.expect_err("it fails").downcast::<String>().expect("the report")
    };
    let report = fail("exploring::kept", "");
    let files = report.lines().find(|line| line.starts_with("trace: ")).expect("the files are named");
    let (trace, page) = files["trace: ".len()..].split_once("  page: ").expect("both of them");
    assert!(std::fs::read_to_string(trace).unwrap().contains("\"message\":\"found </script>\""));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("other.join().unwrap();"), "the source is in it");
    assert!(!page.contains("found </script>"), "and cannot end its data");

    let silent = fail("exploring::not_kept", "trace = false");
    assert!(!silent.contains("page: "), "{silent}");
}
