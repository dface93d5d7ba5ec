//! Locks and initialisers under control: what std cannot be made to show.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use drawloom::sync::atomic::{AtomicBool, AtomicUsize};
use drawloom::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard};
use drawloom::{Exploration, explore, thread};

fn configured(config: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    explore(format!("{config}, threads = 1, trace = false").parse().expect("a valid configuration"), body)
}

fn random(body: impl Fn() + Send + Sync + 'static) -> Exploration {
    configured("random(iterations = 200)", body)
}

fn nothing_found(exploration: &Exploration) {
    if let Some(failure) = exploration.findings().first() {
        panic!("{:?}", failure.finding);
    }
}

/// The word for what was found.
fn found(exploration: &Exploration) -> &'static str {
    exploration.findings().first().map_or("nothing", |failure| failure.finding.kind.word())
}

/// Without one, an exploration says that it explored nothing.
fn have_a_choice() {
    let other = thread::spawn(|| ());
    thread::yield_now();
    other.join().unwrap();
}

/// What the executions of `body` came to, without doubles.
fn results<T: Ord + Clone + Send + 'static>(config: &str, body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    nothing_found(&configured(config, move || {
        let result = body();
        theirs.lock().unwrap().insert(result);
    }));
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let body = || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = pair.clone();
        let waiter = thread::spawn(move || drop(theirs.1.wait(theirs.0.lock().unwrap()).unwrap()));
        pair.1.notify_one();
        waiter.join().unwrap();
    };
    // Main notifies before the waiter has begun, and waits for it then.
    assert_eq!(found(&configured("sequential", body)), "starvation");
    assert_eq!(found(&random(body)), "starvation");
}

#[test]
fn a_timeout_takes_no_real_time() {
    let began = Instant::now();
    nothing_found(&configured("random(iterations = 20), spurious_wakeups = 0", || {
        let (mutex, condvar) = (Mutex::new(0), Condvar::new());
        let hour = Duration::from_secs(3600);
        let (guard, result) = condvar.wait_timeout(mutex.lock().unwrap(), hour).unwrap();
        assert!(result.timed_out());
        let (guard, result) = condvar.wait_timeout_while(guard, hour, |value| *value == 0).unwrap();
        assert!(result.timed_out());
        drop(guard);
        have_a_choice();
    }));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_timed_wait_ends_by_whichever_comes() {
    let outcomes = results("random(iterations = 200), clock = explore, early_fires = 1", || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = pair.clone();
        let waiter = thread::spawn(move || {
            let guard = theirs.0.lock().unwrap();
            theirs.1.wait_timeout(guard, Duration::from_secs(1)).unwrap().1.timed_out()
        });
        pair.1.notify_one();
        waiter.join().unwrap()
    });
    assert_eq!(outcomes, BTreeSet::from([false, true]));
}

#[test]
fn a_wait_for_longer_than_time_is_a_wait_for_ever() {
    let exploration = configured("sequential", || {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        have_a_choice();
        let _ = condvar.wait_timeout(mutex.lock().unwrap(), Duration::MAX);
    });
    assert_eq!(found(&exploration), "starvation");
}

fn woken_without_a_reason() -> bool {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let waiter = thread::spawn(move || {
        let guard = theirs.0.lock().unwrap();
        if *guard { false } else { !*theirs.1.wait(guard).unwrap() }
    });
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one();
    waiter.join().unwrap()
}

#[test]
fn spurious_wake_ups_are_explored_within_their_budget() {
    let with = results("random(iterations = 200), spurious_wakeups = 1", woken_without_a_reason);
    assert_eq!(with, BTreeSet::from([false, true]));
    let without = results("random(iterations = 200), spurious_wakeups = 0", woken_without_a_reason);
    assert_eq!(without, BTreeSet::from([false]));
}

#[test]
fn tasks_that_fail_or_wake_at_the_same_time_share_one_budget() {
    fn failures() -> usize {
        let number = Arc::new(AtomicUsize::new(0));
        let tasks = [(); 3].map(|()| {
            let number = number.clone();
            // It is 0 all the time: only a weak failure keeps it from being exchanged.
            thread::spawn(move || number.compare_exchange_weak(0, 0, SeqCst, SeqCst).is_err())
        });
        tasks.into_iter().map(|task| usize::from(task.join().unwrap())).sum()
    }
    fn wake_ups() -> usize {
        let tokens = Arc::new([const { AtomicBool::new(false) }; 3]);
        let tasks = [0, 1, 2].map(|i| {
            let tokens = tokens.clone();
            thread::spawn(move || {
                thread::park();
                !tokens[i].load(SeqCst)
            })
        });
        for (task, token) in tasks.iter().zip(&*tokens) {
            token.store(true, SeqCst);
            task.thread().unpark();
        }
        tasks.into_iter().map(|task| usize::from(task.join().unwrap())).sum()
    }
    for strategy in ["exhaustive", "random(iterations = 300)"] {
        assert_eq!(results(&format!("{strategy}, weak_failures = 2"), failures), BTreeSet::from([0, 1, 2]));
        assert_eq!(results(&format!("{strategy}, spurious_wakeups = 1"), wake_ups), BTreeSet::from([0, 1]));
    }
}

#[test]
fn notify_one_wakes_one_and_notify_all_wakes_all() {
    let waiters = |all: bool| {
        move || {
            let shared = Arc::new((Mutex::new(0), Condvar::new()));
            let tasks: Vec<_> = (0..2)
                .map(|_| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let mut guard = shared.0.lock().unwrap();
                        *guard += 1;
                        drop(shared.1.wait(guard).unwrap());
                    })
                })
                .collect();
            while *shared.0.lock().unwrap() < 2 {
                thread::yield_now();
            }
            // Both wait: the count was raised under the mutex that a wait gives back.
            if all {
                shared.1.notify_all()
            } else {
                shared.1.notify_one()
            }
            tasks.into_iter().for_each(|task| task.join().unwrap());
        }
    };
    nothing_found(&random(waiters(true)));
    assert_eq!(found(&random(waiters(false))), "starvation");
}

#[test]
fn a_torn_down_wait_leaves_its_mutex_free() {
    struct LocksWhenDropped(Arc<(Mutex<()>, Condvar)>);
    impl Drop for LocksWhenDropped {
        fn drop(&mut self) {
            drop(self.0.0.lock());
        }
    }
    // Some executions end while the waiter has announced its wait and still has the mutex.
    for seed in 0..20 {
        let exploration = configured(&format!("random(iterations = 1, seed = {seed}), spurious_wakeups = 0"), || {
            let pair = Arc::new((Mutex::new(()), Condvar::new()));
            let theirs = pair.clone();
            let waiter = thread::spawn(move || {
                let _locks = LocksWhenDropped(theirs.clone());
                drop(theirs.1.wait(theirs.0.lock().unwrap()));
            });
            thread::yield_now();
            assert!(waiter.is_finished(), "it never is");
        });
        assert_eq!(found(&exploration), "panic");
    }
}

#[test]
fn a_read_within_a_read_deadlocks_with_a_writer_in_between() {
    let body = || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = lock.clone();
        let outer = lock.read().unwrap();
        let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
        let inner = lock.read().unwrap();
        drop((outer, inner));
        writer.join().unwrap();
    };
    assert_eq!(found(&random(body)), "deadlock");
    assert_eq!(found(&configured("round_robin", body)), "deadlock");
    nothing_found(&configured("sequential", body));
}

#[test]
fn readers_share_and_writers_do_not() {
    let most_at_once = |write: bool| {
        move || {
            let lock = Arc::new(RwLock::new(()));
            let inside = Arc::new(drawloom::sync::atomic::AtomicU32::new(0));
            let tasks: Vec<_> = (0..2)
                .map(|_| {
                    let (lock, inside) = (lock.clone(), inside.clone());
                    thread::spawn(move || {
                        let enter = || {
                            let now = inside.fetch_add(1, SeqCst) + 1;
                            thread::yield_now();
                            inside.fetch_sub(1, SeqCst);
                            now
                        };
                        if write {
                            let _guard = lock.write().unwrap();
                            enter()
                        } else {
                            let _guard = lock.read().unwrap();
                            enter()
                        }
                    })
                })
                .collect();
            tasks.into_iter().map(|task| task.join().unwrap()).max()
        }
    };
    assert_eq!(results("random(iterations = 200)", most_at_once(false)), BTreeSet::from([Some(1), Some(2)]));
    assert_eq!(results("random(iterations = 200)", most_at_once(true)), BTreeSet::from([Some(1)]));
}

#[test]
fn a_downgrade_lets_readers_in_and_no_writer() {
    nothing_found(&random(|| {
        let lock = Arc::new(RwLock::new(0));
        let mut writing = lock.write().unwrap();
        let (one, other) = (lock.clone(), lock.clone());
        let reader = thread::spawn(move || *one.read().unwrap());
        let writer = thread::spawn(move || *other.write().unwrap() += 10);
        *writing = 1;
        let reading = RwLockWriteGuard::downgrade(writing);
        assert_eq!(*reading, 1);
        drop(reading);
        assert!([1, 11].contains(&reader.join().unwrap()));
        writer.join().unwrap();
    }));
}

#[test]
fn a_barrier_has_exactly_one_leader_and_it_can_be_anybody() {
    let leaders = results("random(iterations = 200)", || {
        let barrier = Arc::new(Barrier::new(3));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let barrier = barrier.clone();
                thread::spawn(move || barrier.wait().is_leader())
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(leaders.iter().all(|leads| leads.iter().filter(|leads| **leads).count() == 1), "{leaders:?}");
    assert_eq!(leaders.len(), 3);
}

#[test]
fn a_barrier_that_not_enough_come_to_is_found() {
    let exploration = configured("sequential", || {
        let barrier = Arc::new(Barrier::new(3));
        let theirs = barrier.clone();
        let task = thread::spawn(move || theirs.wait().is_leader());
        barrier.wait();
        task.join().unwrap();
    });
    assert_eq!(found(&exploration), "starvation");
}

#[test]
fn a_once_runs_once_and_everybody_can_be_the_one() {
    let runners = results("random(iterations = 200)", || {
        let once = Arc::new((Once::new(), Mutex::new(Vec::new())));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let once = once.clone();
                thread::spawn(move || {
                    once.0.call_once(|| once.1.lock().unwrap().push(number));
                    assert_eq!(once.1.lock().unwrap().len(), 1, "it has run when `call_once` returns");
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        let runners = once.1.lock().unwrap();
        runners.clone()
    });
    assert_eq!(runners, BTreeSet::from([vec![0], vec![1], vec![2]]));
}

#[test]
fn an_initialiser_that_panics_poisons_for_those_who_wait_too() {
    nothing_found(&random(|| {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let first = thread::spawn(move || {
            theirs.call_once(|| {
                thread::yield_now();
                std::panic::resume_unwind(Box::new("deliberate"));
            });
        });
        let theirs = once.clone();
        let second = thread::spawn(move || theirs.call_once(|| std::panic::resume_unwind(Box::new("deliberate"))));
        assert!(first.join().is_err());
        assert!(second.join().is_err());
        let mut poisoned = false;
        once.call_once_force(|state| poisoned = state.is_poisoned());
        assert!(poisoned);
    }));
}

#[test]
fn an_initialiser_that_needs_itself_deadlocks() {
    let exploration = configured("sequential", || {
        static SELF: OnceLock<u32> = OnceLock::new();
        have_a_choice();
        SELF.get_or_init(|| *SELF.get_or_init(|| 1));
    });
    assert_eq!(found(&exploration), "deadlock");
}

#[test]
fn a_wait_for_what_nobody_initialises_is_found() {
    let exploration = configured("sequential", || {
        let cell = Arc::new(OnceLock::<u32>::new());
        let theirs = cell.clone();
        thread::spawn(move || *theirs.wait()).join().unwrap();
    });
    assert_eq!(found(&exploration), "starvation");
}

#[test]
fn a_static_lazy_lock_is_initialised_once_in_each_execution() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    static LAZY: LazyLock<Mutex<u32>> = LazyLock::new(|| {
        RUNS.fetch_add(1, SeqCst);
        Mutex::new(0)
    });
    nothing_found(&configured("random(iterations = 30)", || {
        EXECUTIONS.fetch_add(1, SeqCst);
        let tasks = [(); 2].map(|()| thread::spawn(|| *LAZY.lock().unwrap() += 1));
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*LAZY.lock().unwrap(), 2, "what an earlier execution left is not seen");
    }));
    let executions = EXECUTIONS.load(SeqCst);
    assert!(executions >= 30);
    assert_eq!(RUNS.load(SeqCst), executions);
    assert_eq!(*LAZY.lock().unwrap(), 0, "nor outside");
    assert_eq!(RUNS.load(SeqCst), executions + 1);
}

#[test]
fn a_lazy_lock_with_a_closure_keeps_its_value() {
    let runs = std::sync::Arc::new(AtomicU64::new(0));
    let theirs = runs.clone();
    let lazy = LazyLock::new(move || theirs.fetch_add(1, SeqCst));
    nothing_found(&configured("random(iterations = 10)", move || {
        have_a_choice();
        assert_eq!(*lazy, 0);
    }));
    assert_eq!(runs.load(SeqCst), 1);
}

#[test]
fn a_static_once_lock_starts_empty_in_each_execution() {
    static CELL: OnceLock<u32> = OnceLock::new();
    static ONCE: Once = Once::new();
    CELL.set(1).unwrap();
    ONCE.call_once(|| ());
    let winners = results("random(iterations = 100)", || {
        assert!(!ONCE.is_completed());
        assert_eq!(CELL.get(), None);
        let tasks = [2, 3].map(|value| thread::spawn(move || CELL.set(value).is_ok()));
        let won = tasks.map(|task| task.join().unwrap());
        ONCE.call_once(|| ());
        (won, *CELL.get().unwrap())
    });
    assert_eq!(winners, BTreeSet::from([([true, false], 2), ([false, true], 3)]));
    assert_eq!(CELL.get(), Some(&1));
}

#[test]
fn a_value_that_a_cell_was_made_with_is_there_in_each_execution() {
    let given = OnceLock::from(String::from("given"));
    let copy = given.clone();
    nothing_found(&configured("random(iterations = 10)", move || {
        have_a_choice();
        assert_eq!(given.get().map(String::as_str), Some("given"));
        assert_eq!(copy.set("other".into()), Err("other".into()));
    }));
}

#[test]
fn values_of_all_executions_are_dropped_with_their_cell() {
    struct Counted(std::sync::Arc<AtomicU64>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    static MADE: AtomicU64 = AtomicU64::new(0);
    let dropped = std::sync::Arc::new(AtomicU64::new(0));
    let theirs = dropped.clone();
    let cell = OnceLock::new();
    nothing_found(&configured("random(iterations = 10)", move || {
        have_a_choice();
        MADE.fetch_add(1, SeqCst);
        cell.get_or_init(|| Counted(theirs.clone()));
        assert_eq!(theirs.load(SeqCst), 0, "references to them may be alive");
    }));
    assert!(MADE.load(SeqCst) >= 10);
    assert_eq!(dropped.load(SeqCst), MADE.load(SeqCst));
}

#[test]
fn a_torn_down_execution_poisons_nothing() {
    static MUTEX: Mutex<()> = Mutex::new(());
    static LOCK: RwLock<()> = RwLock::new(());
    let exploration = configured("sequential", || {
        let (mutex, lock) = (MUTEX.lock().unwrap(), LOCK.write().unwrap());
        thread::spawn(|| drop(MUTEX.lock())).join().unwrap();
        drop((mutex, lock));
    });
    assert_eq!(found(&exploration), "deadlock");
    assert!(!MUTEX.is_poisoned());
    assert!(!LOCK.is_poisoned());
    assert!(MUTEX.try_lock().is_ok());
}
