//! `hint::spin_until`: a loop that only looks is a wait, under every strategy.

use drawloom::cell::{UnsafeCell, UnsafeCellExt};
use drawloom::hint::spin_until;
use drawloom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::{Exploration, explore, hint, thread};

fn exploring(config: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    explore(config.parse().expect("a valid configuration"), body)
}

fn exhaustive(body: impl Fn() + Send + Sync + 'static) -> Exploration {
    let exploration = exploring("exhaustive, weak_failures = 0", body);
    assert!(exploration.exhausted(), "{}", exploration.summary());
    exploration
}

/// Two tasks that take turns, `rounds` times each; `wait` waits for a turn.
fn turns(rounds: usize, wait: fn(&AtomicUsize, usize)) {
    let shared = Arc::new((AtomicUsize::new(0), Mutex::new(Vec::new())));
    let tasks = [0, 1].map(|me| {
        let shared = shared.clone();
        thread::spawn(move || {
            for _ in 0..rounds {
                wait(&shared.0, me);
                shared.1.lock().unwrap().push(me);
                shared.0.store(1 - me, SeqCst);
            }
        })
    });
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert_eq!(*shared.1.lock().unwrap(), [0, 1].repeat(rounds));
}

/// Tasks that enter one after the other; `wait` waits for a number to be served.
fn ticket_lock(tasks: usize, wait: fn(&AtomicUsize, usize)) {
    let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let lock = lock.clone();
            thread::spawn(move || {
                let ticket = lock.0.fetch_add(1, SeqCst);
                wait(&lock.1, ticket);
                assert_eq!(lock.1.fetch_add(1, SeqCst), ticket, "two tasks are inside");
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

fn wait(atomic: &AtomicUsize, number: usize) {
    assert_eq!(spin_until(atomic, SeqCst, |value| value == number), number);
}

fn look_again_and_again(atomic: &AtomicUsize, number: usize) {
    while atomic.load(SeqCst) != number {
        hint::spin_loop();
    }
}

/// The number of behaviours of a program without a bug.
fn behaviours(body: impl Fn() + Send + Sync + 'static) -> u64 {
    let exploration = exhaustive(body);
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    exploration.executions()
}

#[test]
fn taking_turns_is_one_behaviour() {
    assert_eq!(behaviours(|| turns(5, wait)), 1);
}

#[test]
fn a_ticket_lock_has_as_many_behaviours_as_orders() {
    assert_eq!([2, 3, 4].map(|tasks| behaviours(move || ticket_lock(tasks, wait))), [2, 6, 24]);
}

/// The table of book/src/explanation/exhaustive.md.
#[test]
fn rounds_that_fail_are_behaviours_of_a_loop_that_is_written_down() {
    let behaviours = |body: Box<dyn Fn() + Send + Sync>| {
        let exploration = exploring("exhaustive(max_schedules = 100000), weak_failures = 0", body);
        assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
        assert_eq!(exploration.cut_spin_rounds(), Some(3), "{}", exploration.summary());
        exploration.executions()
    };
    assert_eq!(behaviours(Box::new(|| turns(2, look_again_and_again))), 95);
    assert_eq!([2, 3].map(|tasks| behaviours(Box::new(move || ticket_lock(tasks, look_again_and_again)))), [10, 582]);
}

/// A value that is there for a moment only may be missed, and then nobody brings it again.
fn a_moment() {
    let state = Arc::new(AtomicU32::new(0));
    let theirs = state.clone();
    let other = thread::spawn(move || {
        theirs.store(1, SeqCst);
        theirs.store(2, SeqCst);
    });
    spin_until(&state, SeqCst, |value| value == 1);
    other.join().unwrap();
}

#[test]
fn what_is_waited_for_in_vain_is_no_livelock() {
    for strategy in ["exhaustive", "exhaustive(threads = 2)", "random(iterations = 200)", "pct(iterations = 200)"] {
        let exploration = exploring(&format!("{strategy}, progress_bound = 100"), a_moment);
        let found = &exploration.findings()[0];
        assert_eq!(found.kind(), "starvation", "{strategy}");
        let report = found.report();
        assert!(report.contains("waits for another value of"), "{report}");
        assert!(report.contains("spin_until"), "{report}");
        assert!(report.contains("tests/spin_until.rs:"), "{report}");
    }
    let exploration = exploring("exhaustive", a_moment);
    assert_eq!((exploration.executions(), exploration.failing_executions()), (2, 1));
}

#[test]
fn what_is_found_is_replayed_and_made_simple() {
    let exploration = exploring("random(iterations = 200), shrink = full", a_moment);
    let token = exploration.findings()[0].token().to_owned();
    let again = exploring(&format!("replay(token = \"{token}\")"), a_moment);
    assert_eq!(again.findings()[0].kind(), "starvation");
}

#[test]
fn pointers_and_flags_can_be_waited_for() {
    let exploration = exhaustive(|| {
        let shared = Arc::new((AtomicPtr::new(std::ptr::null_mut::<u32>()), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let value = spin_until(&theirs.0, SeqCst, |pointer| !pointer.is_null());
            // SAFETY: it was leaked by the other task, and is nobody else's.
            assert_eq!(unsafe { *Box::from_raw(value) }, 7);
            theirs.1.store(true, SeqCst);
        });
        shared.0.store(Box::into_raw(Box::new(7)), SeqCst);
        assert!(spin_until(&shared.1, SeqCst, |done| done));
        other.join().unwrap();
    });
    assert_eq!(exploration.executions(), 1);
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}

#[test]
fn what_was_written_before_is_seen() {
    struct Handed(UnsafeCell<u32>, AtomicBool);
    // SAFETY: the cell is written before the flag is set, and read after.
    unsafe impl Sync for Handed {}
    let exploration = exhaustive(|| {
        let shared = Arc::new(Handed(UnsafeCell::new(0), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            // SAFETY: nobody reads it before the flag is set.
            theirs.0.with_mut(|value| unsafe { *value = 7 });
            theirs.1.store(true, SeqCst);
        });
        spin_until(&shared.1, SeqCst, |set| set);
        // SAFETY: nobody writes it after the flag is set.
        assert_eq!(shared.0.with(|value| unsafe { *value }), 7);
        other.join().unwrap();
    });
    assert_eq!((exploration.executions(), exploration.findings().len()), (1, 0));
}

#[test]
fn a_condition_that_does_more_than_look_is_refused() {
    let exploration = exploring("random(iterations = 10)", || {
        let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(true)));
        let theirs = shared.clone();
        let other = thread::spawn(move || theirs.0.store(true, SeqCst));
        spin_until(&shared.0, SeqCst, |set| set && shared.1.load(SeqCst));
        other.join().unwrap();
    });
    let message = exploration.findings()[0].message().to_owned();
    assert!(message.contains("the condition of a wait must not touch shared state"), "{message}");
}

#[test]
fn destructors_may_wait_while_what_is_left_is_unwound() {
    struct WaitsInDrop(Arc<AtomicBool>);
    impl Drop for WaitsInDrop {
        fn drop(&mut self) {
            spin_until(&self.0, SeqCst, |set| set);
        }
    }
    let exploration = exploring("random(iterations = 20)", || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let _other = thread::spawn(move || {
            let _waits = WaitsInDrop(theirs.clone());
            spin_until(&theirs, SeqCst, |set| set);
        });
        panic!("main gives up");
    });
    assert_eq!(exploration.findings()[0].message(), "main gives up");
}

#[test]
fn outside_an_exploration_it_spins() {
    let state = Arc::new(AtomicU32::new(0));
    let theirs = state.clone();
    let other = thread::spawn(move || theirs.store(3, SeqCst));
    assert_eq!(spin_until(&state, SeqCst, |value| value > 2), 3);
    other.join().unwrap();
}
