//! Poison is part of what a lock is, and not of how it was scheduled.

use drawloom::sync::{Arc, Mutex, RwLock};
use drawloom::thread;

fn explore(body: impl Fn() + Send + Sync + 'static) -> drawloom::Exploration {
    drawloom::explore("exhaustive".parse().expect("a configuration"), body)
}

#[test]
fn whoever_panics_poisons_also_while_another_task_unwinds() {
    let explored = explore(|| {
        let mutexes: Arc<[Mutex<()>; 2]> = Arc::default();
        let locks: Arc<[RwLock<()>; 2]> = Arc::default();
        let tasks = [0, 1].map(|i| {
            let (mutexes, locks) = (mutexes.clone(), locks.clone());
            thread::spawn(move || {
                let _guards = (mutexes[i].lock().unwrap(), locks[i].write().unwrap());
                panic!("with the locks held");
            })
        });
        tasks.into_iter().for_each(|task| assert!(task.join().is_err()));
        assert!(mutexes.iter().all(Mutex::is_poisoned));
        assert!(locks.iter().all(RwLock::is_poisoned));
    });
    assert!(explored.exhausted() && explored.findings().is_empty(), "{}", explored.summary());
}

#[test]
fn whether_a_lock_is_poisoned_is_asked_before_and_after() {
    let explored = explore(|| {
        let mutex = Arc::new(Mutex::new(()));
        let theirs = mutex.clone();
        let task = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("with the lock held");
        });
        let poisoned = mutex.is_poisoned();
        assert!(task.join().is_err());
        assert!(!poisoned, "asked after the panic");
    });
    assert!(explored.exhausted());
    assert_eq!(explored.failing_executions(), 1, "{}", explored.summary());
}

#[test]
fn poison_that_is_cleared_may_be_seen_before() {
    let explored = explore(|| {
        let mutex = Arc::new(Mutex::new(()));
        let theirs = mutex.clone();
        let panics = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("with the lock held");
        });
        assert!(panics.join().is_err());
        let theirs = mutex.clone();
        let clears = thread::spawn(move || theirs.clear_poison());
        let poisoned = mutex.lock().is_err();
        clears.join().unwrap();
        assert!(!poisoned, "locked before it was cleared");
    });
    assert!(explored.exhausted());
    assert_eq!(explored.executions(), 2 + 1, "before the lock, after it, and while it is held");
    assert_eq!(explored.failing_executions(), 2, "{}", explored.summary());
}
