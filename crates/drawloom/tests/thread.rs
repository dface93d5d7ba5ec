//! Threads under control: what only an exploration shows.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use drawloom::{Exploration, explore, thread};

fn random(body: impl Fn() + Send + Sync + 'static) -> Exploration {
    configured("", body)
}

fn configured(more: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    let config = format!("random(iterations = 100), threads = 1, trace = false{more}");
    explore(config.parse().expect("a valid configuration"), body)
}

/// What the executions of `body` came to, without doubles.
fn results<T: Ord + Clone + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let exploration = random(move || {
        let result = body();
        theirs.lock().unwrap().insert(result);
    });
    nothing_found(&exploration);
    let seen = seen.lock().unwrap();
    seen.clone()
}

fn nothing_found(exploration: &Exploration) {
    if let Some(failure) = exploration.findings().iter().find(|f| f.finding.kind.word() != "nothing explored") {
        panic!("{:?}", failure.finding);
    }
}

fn found(exploration: &Exploration) -> (&'static str, String) {
    let finding = &exploration.findings().first().expect("a finding").finding;
    (finding.kind.word(), format!("{:?}", finding.kind))
}

#[test]
fn sleepers_wake_in_the_order_of_their_deadlines_and_an_hour_costs_nothing() {
    let began = std::time::Instant::now();
    let orders = results(|| {
        let woken = Arc::new(drawloom::sync::Mutex::new(Vec::new()));
        let sleepers: Vec<_> = [3, 1, 2]
            .map(|hours| {
                let woken = woken.clone();
                thread::spawn(move || {
                    thread::sleep(Duration::from_secs(hours * 3600));
                    woken.lock().unwrap().push(hours);
                })
            })
            .into();
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
        drawloom::sync::Arc::try_unwrap(woken).unwrap().into_inner().unwrap()
    });
    assert_eq!(orders, [vec![1, 2, 3]].into());
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_token_is_kept_but_not_counted() {
    let exploration = random(|| {
        let parked = thread::spawn(|| {
            thread::park();
            thread::park();
        });
        parked.thread().unpark();
        parked.thread().unpark();
        parked.join().unwrap();
    });
    assert_eq!(found(&exploration).0, "starvation", "both unparks may come before the first park");
}

#[test]
fn a_park_without_an_unpark_is_found() {
    let exploration = random(|| thread::spawn(thread::park).join().unwrap());
    assert!(["deadlock", "starvation"].contains(&found(&exploration).0));
}

#[test]
fn a_park_with_a_timeout_ends_by_itself_or_spuriously() {
    let passed = results(|| {
        let before = drawloom::time::Instant::now();
        thread::park_timeout(Duration::from_secs(5));
        before.elapsed()
    });
    assert_eq!(passed, [Duration::ZERO, Duration::from_secs(5)].into());
}

#[test]
fn a_park_for_no_time_takes_the_token_or_leaves_at_once() {
    let waits = results(|| {
        let before = drawloom::time::Instant::now();
        let me = thread::current();
        let other = thread::spawn(move || me.unpark());
        thread::park_timeout(Duration::ZERO);
        other.join().unwrap();
        // Whether the token is still there: the unpark may have come later.
        thread::park_timeout(Duration::from_secs(1));
        before.elapsed().as_secs()
    });
    assert_eq!(waits, [0, 1].into());
}

#[test]
fn a_park_may_end_without_a_reason_where_that_is_asked_for() {
    let exploration = configured(", spurious_wakeups = 1", || {
        let ready = Arc::new(AtomicBool::new(false));
        let theirs = ready.clone();
        let waiter = thread::spawn(move || {
            thread::park();
            assert!(theirs.load(SeqCst), "woken too early");
        });
        ready.store(true, SeqCst);
        waiter.thread().unpark();
        waiter.join().unwrap();
    });
    assert!(found(&exploration).1.contains("woken too early"));
}

#[test]
fn is_finished_is_explored_both_ways() {
    let seen = results(|| {
        let other = thread::spawn(|| ());
        let finished = other.is_finished();
        other.join().unwrap();
        finished
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn a_joined_panic_is_no_finding() {
    let exploration = random(|| {
        let joined: thread::Result<()> = thread::spawn(|| panic!("deliberate")).join();
        let payload = joined.unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"deliberate"));
        thread::spawn(|| ()).join().unwrap();
    });
    nothing_found(&exploration);
}

#[test]
fn an_unjoined_panic_is_a_finding() {
    for keep_handle in [false, true] {
        let exploration = random(move || {
            let handle = thread::spawn(|| panic!("nobody hears me"));
            if keep_handle {
                thread::yield_now();
            }
            drop(handle);
        });
        let (word, text) = found(&exploration);
        assert_eq!(word, "panic");
        assert!(text.contains("nobody hears me"), "{text}");
    }
}

#[test]
fn a_panic_that_a_join_passes_on_is_told_as_it_was() {
    let body = || {
        let other: thread::JoinHandle<()> = thread::spawn(|| panic!("the other one failed"));
        if let Err(payload) = other.join() {
            std::panic::resume_unwind(payload);
        }
    };
    // Also if nobody joins who passes it on.
    for exploration in [random(body), random(move || drop(thread::spawn(body)))] {
        assert_eq!(exploration.findings()[0].message(), "the other one failed");
    }
}

#[test]
fn a_scope_joins_all_and_reports_what_really_happened() {
    let exploration = random(|| {
        let count = AtomicU32::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| count.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(count.load(SeqCst), 3);
    });
    nothing_found(&exploration);

    let exploration = random(|| {
        thread::scope(|s| {
            s.spawn(|| panic!("the cause"));
        });
    });
    let (word, text) = found(&exploration);
    assert_eq!(word, "panic");
    assert!(text.contains("the cause"), "{text}");
}

#[test]
fn scoped_tasks_are_gone_before_what_they_borrow() {
    // The execution fails while a task still borrows from main; its destructor looks at it.
    struct Look<'a>(&'a drawloom::sync::Mutex<Vec<u32>>);
    impl Drop for Look<'_> {
        fn drop(&mut self) {
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(1);
        }
    }
    let exploration = random(|| {
        let shared = drawloom::sync::Mutex::new(vec![0]);
        thread::scope(|s| {
            s.spawn(|| {
                let _look = Look(&shared);
                thread::park();
            });
            let _held = shared.lock();
            thread::park();
        });
    });
    assert!(["deadlock", "starvation"].contains(&found(&exploration).0));
}

#[test]
fn a_destructor_that_joins_is_survived() {
    struct Pool(Option<thread::JoinHandle<()>>);
    impl Drop for Pool {
        fn drop(&mut self) {
            self.0.take().unwrap().join().unwrap();
        }
    }
    // Left by a panic, and by a wait that never ends: natively the first would hang as well.
    for wait in [false, true] {
        let exploration = random(move || {
            let _pool = Pool(Some(thread::spawn(thread::park)));
            if wait {
                thread::park();
            }
            panic!("while the pool is alive");
        });
        assert!(["panic", "deadlock", "starvation"].contains(&found(&exploration).0));
    }
}

#[test]
fn locals_are_fresh_in_every_execution_and_dropped_with_their_task() {
    struct Dropped(Arc<AtomicU32>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    drawloom::thread_local! {
        static USES: Cell<u32> = const { Cell::new(0) };
        static GUARD: RefCell<Option<Dropped>> = const { RefCell::new(None) };
    }
    let exploration = random(|| {
        assert_eq!(USES.replace(1), 0);
        let dropped = Arc::new(AtomicU32::new(0));
        let theirs = dropped.clone();
        let other = thread::spawn(move || {
            assert_eq!(USES.replace(5), 0);
            thread::yield_now();
            GUARD.set(Some(Dropped(theirs)));
            assert_eq!(USES.get(), 5);
        });
        other.join().unwrap();
        assert_eq!(dropped.load(SeqCst), 1);
        assert_eq!(USES.get(), 1);
    });
    nothing_found(&exploration);
    assert_eq!(USES.get(), 0, "the harness's own thread has its own value");
}

#[test]
fn main_is_called_main_and_the_machine_does_not_matter() {
    let seen = results(|| {
        let other = thread::spawn(|| format!("{:?}", thread::current().id()));
        let name = thread::current().name().map(str::to_owned);
        (name, thread::available_parallelism().unwrap().get(), other.join().unwrap())
    });
    assert_eq!(seen, [(Some("main".to_owned()), 4, "ThreadId(2)".to_owned())].into());
}

#[test]
fn a_handle_that_has_left_its_exploration_does_not_hang() {
    let kept: Arc<Mutex<Vec<thread::JoinHandle<u32>>>> = Arc::default();
    let theirs = kept.clone();
    let exploration = random(move || {
        let handle = thread::spawn(|| 7);
        theirs.lock().unwrap().push(handle);
    });
    nothing_found(&exploration);
    for handle in kept.lock().unwrap().drain(..) {
        handle.thread().unpark();
        assert!(handle.is_finished());
        assert_eq!(handle.join().unwrap(), 7);
    }
}

#[test]
fn panicking_is_told_apart_between_tasks() {
    struct Unwinding(Arc<AtomicBool>, Arc<AtomicBool>);
    impl Drop for Unwinding {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
            while !self.1.load(SeqCst) {
                thread::yield_now();
            }
            assert!(thread::panicking());
        }
    }
    let exploration = random(|| {
        let (begun, looked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let unwinding = Unwinding(begun.clone(), looked.clone());
        let other: thread::JoinHandle<()> = thread::spawn(move || {
            let _unwinding = unwinding;
            panic!("deliberate");
        });
        while !begun.load(SeqCst) {
            thread::yield_now();
        }
        assert!(!thread::panicking());
        looked.store(true, SeqCst);
        assert!(other.join().is_err());
    });
    nothing_found(&exploration);
}

#[test]
fn choices_of_the_program_are_explored_and_names_change_nothing() {
    assert_eq!(drawloom::choose(3), 0, "outside an exploration it is the first");
    let seen = results(|| {
        drawloom::name_task("chooser");
        let cell = drawloom::cell::Cell::new(0);
        drawloom::label(&cell, "chosen");
        cell.set(drawloom::choose(3));
        drawloom::yield_now();
        (cell.get(), thread::current().name().map(str::to_owned))
    });
    assert_eq!(seen, [0, 1, 2].map(|n| (n, Some("main".to_owned()))).into());
}

#[test]
fn randomness_is_a_choice_and_no_two_draws_are_equal() {
    use rand_core::RngCore;
    let seen = results(|| {
        let (a, b) = (drawloom::random::bits(), drawloom::random::Rng.next_u64());
        assert_ne!(a, b);
        assert!(drawloom::random::pick::<u8>(&[]).is_none());
        (drawloom::random::below(3), drawloom::random::coin())
    });
    assert_eq!(seen.len(), 6);

    let first = |seed: u32| {
        let drawn = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let theirs = drawn.clone();
        let config = format!("random(iterations = 1, seed = {seed}), threads = 1");
        explore(config.parse().unwrap(), move || theirs.store(drawloom::random::bits(), SeqCst));
        drawn.load(SeqCst)
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    assert!(drawloom::random::below(10) < 10);
    assert_ne!(drawloom::random::bits(), drawloom::random::bits());
}
