//! Data races: found in any order of the accesses, and not found where something orders them.

use drawloom::cell::{Cell, UnsafeCell, UnsafeCellExt};
use drawloom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use drawloom::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use drawloom::{Exploration, hint, thread};

/// Plain memory that two tasks share, on the promise that they do not meet.
struct Shared(UnsafeCell<u32>);

// SAFETY: tasks of an execution take turns, so nothing breaks if the promise does.
unsafe impl Sync for Shared {}

impl Shared {
    #[track_caller]
    fn read(&self) -> u32 {
        // SAFETY: as above; the pointer does not leave the closure.
        self.0.with(|p| unsafe { *p })
    }

    #[track_caller]
    fn write(&self, value: u32) {
        // SAFETY: as above.
        self.0.with_mut(|p| unsafe { *p = value });
    }
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared(UnsafeCell::new(0)))
}

fn explored(config: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    drawloom::explore(format!("{config}, trace = false").parse().expect("a valid configuration"), body)
}

/// Under every strategy: found in the first execution, whatever its schedule.
#[track_caller]
fn races(body: impl Fn() + Send + Sync + Clone + 'static) -> Exploration {
    for config in ["sequential", "round_robin", "sticky(iterations = 100)", "exhaustive"] {
        let exploration = explored(config, body.clone());
        let kinds: Vec<_> = exploration.findings().iter().map(|f| f.kind()).collect();
        assert_eq!(kinds, ["data race"], "{config}");
    }
    let exploration = explored("random(iterations = 100)", body);
    assert_eq!(exploration.findings()[0].kind(), "data race");
    exploration
}

#[track_caller]
fn is_clean(body: impl Fn() + Send + Sync + Clone + 'static) {
    for config in ["sequential", "round_robin", "random(iterations = 200)", "exhaustive"] {
        for finding in explored(config, body.clone()).findings() {
            assert_eq!(finding.kind(), "nothing explored", "{}", finding.report());
        }
    }
}

/// Runs `theirs` in a task and `mine` besides.
fn two(theirs: impl FnOnce(&Shared) + Send + 'static, mine: impl FnOnce(&Shared)) {
    let cell = shared();
    let other = cell.clone();
    let task = thread::spawn(move || theirs(&other));
    mine(&cell);
    task.join().unwrap();
    cell.read();
}

#[test]
fn two_writes_race() {
    races(|| two(|cell| cell.write(1), |cell| cell.write(2)));
}

#[test]
fn a_write_and_a_read_race_and_the_report_shows_both() {
    let exploration = races(|| {
        two(
            |cell| cell.write(1), // theirs
            |cell| {
                cell.read(); // mine
            },
        )
    });
    let report = exploration.findings()[0].report();
    assert!(report.starts_with("DATA RACE in "), "{report}");
    for part in ["writes it in step", "reads it in step", "// theirs", "// mine", "Nothing orders them: "] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
}

#[test]
fn cells_race_as_unsafe_cells_do() {
    struct Counter(Cell<u32>);
    // SAFETY: as for `Shared`.
    unsafe impl Sync for Counter {}
    impl Counter {
        fn add(&self) {
            self.0.update(|n| n + 1);
        }
    }
    races(|| {
        let counter = Arc::new(Counter(Cell::new(0)));
        let theirs = counter.clone();
        let task = thread::spawn(move || theirs.add());
        counter.add();
        task.join().unwrap();
    });
}

#[test]
fn a_lock_on_one_side_only_protects_nothing() {
    races(|| {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        two(
            move |cell| {
                let _held = theirs.lock().unwrap();
                cell.write(1);
            },
            |cell| cell.write(2),
        );
        drop(lock);
    });
}

#[test]
fn two_locks_protect_nothing() {
    races(|| {
        let other = Mutex::new(());
        two(
            move |cell| {
                let _held = other.lock().unwrap();
                cell.write(1);
            },
            |cell| {
                let mine = Mutex::new(());
                let _held = mine.lock().unwrap();
                cell.write(2);
            },
        );
    });
}

#[test]
fn a_sleep_orders_nothing() {
    races(|| {
        two(
            |cell| cell.write(1),
            |cell| {
                thread::sleep(std::time::Duration::from_secs(1));
                cell.read();
            },
        )
    });
}

#[test]
fn readers_do_not_race() {
    is_clean(|| {
        two(
            |cell| {
                cell.read();
            },
            |cell| {
                cell.read();
            },
        )
    });
}

#[test]
fn a_mutex_orders() {
    is_clean(|| {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        let add = |cell: &Shared, lock: &Mutex<()>| {
            let _held = lock.lock().unwrap();
            cell.write(cell.read() + 1);
        };
        two(move |cell| add(cell, &theirs), |cell| add(cell, &lock));
    });
}

#[test]
fn a_mutex_that_is_tried_for_orders() {
    is_clean(|| {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        let add = |cell: &Shared, lock: &Mutex<()>| {
            if let Ok(_held) = lock.try_lock() {
                cell.write(cell.read() + 1);
            }
        };
        two(move |cell| add(cell, &theirs), |cell| add(cell, &lock));
    });
}

#[test]
fn a_reader_writer_lock_orders() {
    is_clean(|| {
        let lock = Arc::new(RwLock::new(()));
        let theirs = lock.clone();
        two(
            move |cell| {
                let held = theirs.write().unwrap();
                cell.write(1);
                drop(held);
                let _held = theirs.read().unwrap();
                cell.read();
            },
            |cell| {
                let held = lock.read().unwrap();
                cell.read();
                drop(held);
                let _held = lock.write().unwrap();
                cell.write(2);
            },
        );
    });
}

#[test]
fn a_channel_orders() {
    is_clean(|| {
        let (sender, receiver) = mpsc::channel();
        two(
            move |cell| {
                cell.write(1);
                sender.send(()).unwrap();
            },
            |cell| {
                receiver.recv().unwrap();
                cell.write(2);
            },
        );
    });
    // The room in a bounded channel does, too; and its end.
    is_clean(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        two(
            move |cell| {
                sender.send(()).unwrap();
                cell.write(1);
                drop(sender);
            },
            |cell| {
                cell.write(2);
                receiver.recv().unwrap();
                receiver.recv().unwrap_err();
                cell.write(3);
            },
        );
    });
}

#[test]
fn a_spawn_and_a_join_order() {
    is_clean(|| {
        let cell = shared();
        cell.write(1);
        let theirs = cell.clone();
        let idle = thread::spawn(thread::yield_now);
        thread::spawn(move || theirs.write(2)).join().unwrap();
        cell.write(3);
        thread::scope(|scope| {
            scope.spawn(|| cell.write(4));
        });
        cell.write(5);
        idle.join().unwrap();
    });
}

#[test]
fn a_park_token_orders() {
    is_clean(|| {
        let main = thread::current();
        let ready = Arc::new(AtomicBool::new(false));
        let flag = ready.clone();
        two(
            move |cell| {
                cell.write(1);
                flag.store(true, Ordering::Relaxed);
                main.unpark();
            },
            |cell| {
                while !ready.load(Ordering::Relaxed) {
                    thread::park();
                }
                cell.write(2);
            },
        );
    });
}

#[test]
fn a_park_orders_unless_it_returns_unasked() {
    let body = || {
        let main = thread::current();
        two(
            move |cell| {
                cell.write(1);
                main.unpark();
            },
            |cell| {
                thread::park();
                cell.write(2);
            },
        );
    };
    let asked = explored("random(iterations = 200), spurious_wakeups = 0", body);
    assert!(asked.findings().is_empty(), "{}", asked.findings()[0].report());
    let unasked = explored("random(iterations = 200)", body);
    assert_eq!(unasked.findings()[0].kind(), "data race");
}

#[test]
fn a_barrier_orders() {
    is_clean(|| {
        let barrier = Arc::new(Barrier::new(2));
        let theirs = barrier.clone();
        two(
            move |cell| {
                cell.write(1);
                theirs.wait();
                theirs.wait();
                cell.write(3);
            },
            |cell| {
                barrier.wait();
                cell.write(2);
                barrier.wait();
            },
        );
    });
}

#[test]
fn an_initialiser_orders() {
    is_clean(|| {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let use_it = |cell: &Shared, once: &Once| {
            once.call_once(|| cell.write(1));
            cell.read();
        };
        two(move |cell| use_it(cell, &theirs), |cell| use_it(cell, &once));
    });
    is_clean(|| {
        let lock = Arc::new(OnceLock::new());
        let theirs = lock.clone();
        two(
            move |cell| {
                cell.write(1);
                theirs.set(1).unwrap();
            },
            |cell| {
                if lock.get().is_some() {
                    cell.write(2);
                }
            },
        );
    });
}

#[test]
fn a_condition_variable_orders() {
    is_clean(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = pair.clone();
        two(
            move |cell| {
                cell.write(1);
                *theirs.0.lock().unwrap() = true;
                theirs.1.notify_one();
            },
            |cell| {
                let ready = pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap();
                drop(ready);
                cell.write(2);
            },
        );
    });
}

#[test]
fn a_flag_orders() {
    is_clean(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        two(
            move |cell| {
                cell.write(1);
                theirs.store(true, Ordering::Release);
            },
            |cell| {
                while !flag.load(Ordering::Acquire) {
                    hint::spin_loop();
                }
                cell.write(2);
            },
        );
    });
}

#[test]
fn a_spin_lock_orders_and_one_that_is_not_given_back_properly_does_not() {
    fn add(cell: &Shared, lock: &AtomicU32, unlock_early: bool) {
        while lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            hint::spin_loop();
        }
        if unlock_early {
            lock.store(0, Ordering::Release);
        }
        cell.write(cell.read() + 1);
        if !unlock_early {
            lock.store(0, Ordering::Release);
        }
    }
    let program = |unlock_early| {
        move || {
            let lock = Arc::new(AtomicU32::new(0));
            let theirs = lock.clone();
            two(move |cell| add(cell, &theirs, unlock_early), |cell| add(cell, &lock, unlock_early));
        }
    };
    is_clean(program(false));
    races(program(true));
}

#[test]
fn a_panic_comes_first() {
    let exploration = explored("sequential", || {
        two(|cell| cell.write(1), |cell| cell.write(2));
        panic!("for another reason");
    });
    assert_eq!(exploration.findings()[0].kind(), "panic");
}

#[test]
fn races_at_the_same_two_places_are_one_finding_on_any_number_of_workers() {
    let findings = |threads: u32| {
        let config = format!("random(iterations = 200), keep_going = true, threads = {threads}");
        let exploration = explored(&config, || {
            two(
                |cell| cell.write(1),
                |cell| {
                    cell.write(2);
                    cell.read();
                },
            )
        });
        let told = |f: &drawloom::Failure| (f.iteration(), f.occurrences(), f.record().write());
        exploration.findings().iter().map(told).collect::<Vec<_>>()
    };
    let one = findings(1);
    assert!((1..=2).contains(&one.len()), "{one:?}");
    assert_eq!(one, findings(2));
}
