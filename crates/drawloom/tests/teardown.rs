//! Teardown: whatever an execution leaves behind, the next one starts clean.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use drawloom::sync::atomic::{AtomicBool, Ordering::SeqCst};
use drawloom::sync::{Arc, Barrier, Condvar, Mutex, mpsc};
use drawloom::{explore, thread};

fn config(text: &str) -> drawloom::Config {
    text.parse().expect("a valid configuration")
}

/// Counts how many of it are alive, in the whole process.
struct Counted(&'static AtomicUsize);

impl Counted {
    fn new(count: &'static AtomicUsize) -> Counted {
        count.fetch_add(1, Relaxed);
        Counted(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[test]
fn destructors_of_blocked_tasks_run() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    let exploration = explore(config("random(iterations = 50), keep_going = true, threads = 1"), || {
        let _mine = Counted::new(&ALIVE);
        let (sender, receiver) = mpsc::channel::<()>();
        let _blocked = thread::spawn(move || {
            let _theirs = Counted::new(&ALIVE);
            let _ = receiver.recv();
        });
        let _never_started_at_all = thread::spawn(|| drop(Counted::new(&ALIVE)));
        let held = Box::new(sender);
        panic!("main gives up {}", std::mem::size_of_val(&held));
    });
    assert_eq!(exploration.failing_executions(), 50);
    assert_eq!(exploration.leaked_tasks(), 0);
    assert_eq!(ALIVE.load(Relaxed), 0);
}

/// A destructor that takes a lock, as many do.
struct LocksWhenDropped(Arc<Mutex<u32>>);

impl Drop for LocksWhenDropped {
    fn drop(&mut self) {
        if let Ok(mut count) = self.0.lock() {
            *count += 1;
        }
    }
}

#[test]
fn destructors_that_lock_get_the_lock_from_whoever_holds_it() {
    let exploration = explore(config("random(iterations = 200), keep_going = true, threads = 1"), || {
        let lock = Arc::new(Mutex::new(0));
        let gate = Arc::new(Barrier::new(3));
        for _ in 0..2 {
            let (lock, gate) = (lock.clone(), gate.clone());
            thread::spawn(move || {
                let _locks = LocksWhenDropped(lock.clone());
                let guard = lock.lock();
                thread::yield_now();
                drop(guard);
                gate.wait();
            });
        }
        let _locks = LocksWhenDropped(lock.clone());
        thread::yield_now();
        panic!("with locks held by others");
    });
    assert_eq!(exploration.failing_executions(), 200);
    assert_eq!(exploration.leaked_tasks(), 0);
}

#[test]
fn a_static_lock_is_neither_held_nor_poisoned_in_the_next_execution() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let exploration = explore(config("random(iterations = 100), keep_going = true"), || {
        let guard = LOCK.lock().expect("not poisoned by the execution before");
        let other = thread::spawn(|| drop(LOCK.lock().expect("not poisoned")));
        if drawloom::choose(2) == 0 {
            // The other task is blocked on the lock, this one on the other task: a deadlock that is
            // torn down with the lock held.
            other.join().unwrap();
        }
        drop(guard);
    });
    assert!(exploration.failing_executions() > 20);
    assert!(exploration.findings().iter().all(|f| f.kind() == "deadlock"), "{}", exploration.findings()[0].report());
    assert!(LOCK.try_lock().is_ok(), "free again, outside as well");
}

#[test]
fn a_task_that_catches_every_panic_is_leaked_rather_than_looped_for_ever() {
    let exploration = explore(config("random(iterations = 3), keep_going = true, threads = 1"), || {
        let stop = Arc::new(AtomicBool::new(false));
        thread::spawn(move || {
            while !std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stop.load(SeqCst))).unwrap_or(false) {}
        });
        thread::yield_now();
        panic!("main gives up");
    });
    assert_eq!(exploration.failing_executions(), 3);
    assert_eq!(exploration.leaked_tasks(), 3);
}

#[test]
fn a_destructor_that_waits_for_ever_is_leaked() {
    struct Waits(Arc<(Mutex<bool>, Condvar)>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let guard = self.0.0.lock().unwrap();
            drop(self.0.1.wait_while(guard, |done| !*done));
        }
    }
    let exploration = explore(config("sequential"), || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Waits(pair.clone());
        thread::spawn(move || {
            let _theirs = theirs;
            thread::park();
        });
        thread::yield_now();
        panic!("main gives up");
    });
    assert_eq!(exploration.findings()[0].kind(), "panic");
    assert_eq!(exploration.leaked_tasks(), 1);
}

#[test]
fn scoped_tasks_are_unwound_before_what_they_borrow() {
    let exploration = explore(config("random(iterations = 100), keep_going = true, threads = 1"), || {
        let data = Mutex::new(vec![1, 2, 3]);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut held = data.lock().unwrap();
                    held.push(4);
                    if held.len() == 5 {
                        panic!("in the second");
                    }
                });
            }
        });
    });
    assert_eq!(exploration.failing_executions(), 100);
    assert_eq!(exploration.findings()[0].message(), "in the second");
}

#[test]
fn teardown_can_be_told_to_leak() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    let exploration = explore(config("sequential, teardown = leak"), || {
        thread::spawn(|| {
            let _kept = Counted::new(&ALIVE);
            thread::park();
        });
        thread::yield_now();
        panic!("main gives up");
    });
    assert_eq!(exploration.findings()[0].kind(), "panic");
    assert_eq!(ALIVE.load(Relaxed), 1);
}

#[test]
fn a_panic_while_another_task_unwinds_is_kept_apart() {
    struct LocksAndYields(Arc<Mutex<()>>);
    impl Drop for LocksAndYields {
        fn drop(&mut self) {
            drop(self.0.lock());
            thread::yield_now();
        }
    }
    let exploration = explore(config("random(iterations = 200)"), || {
        let lock = Arc::new(Mutex::new(()));
        let handles: Vec<_> = (0..3)
            .map(|i| {
                let lock = lock.clone();
                thread::spawn(move || {
                    let _slow = LocksAndYields(lock);
                    panic!("task {i}");
                })
            })
            .collect();
        let messages: Vec<String> = handles
            .into_iter()
            .map(|handle| *handle.join().unwrap_err().downcast::<String>().expect("a text"))
            .collect();
        assert_eq!(messages, ["task 0", "task 1", "task 2"]);
        assert!(!lock.is_poisoned(), "nobody held it while panicking began");
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}
