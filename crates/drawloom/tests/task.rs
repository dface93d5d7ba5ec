//! Structured tasks, as users write them: under control and outside.

#[path = "support/outcomes.rs"]
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use drawloom::channel::{never, unbounded};
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{task, thread};

/// All that `body` comes to, over all of its schedules.
fn outcomes<T: Ord + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    support::outcomes("exhaustive".parse().expect("a strategy"), body).0
}

#[test]
fn a_result_is_got() {
    assert_eq!(task::spawn(|| 42).get().unwrap(), 42);
    assert_eq!(outcomes(|| task::spawn(|| 42).get().unwrap()), BTreeSet::from([42]));
}

#[test]
fn a_panic_is_got() {
    let message = || {
        let error = task::spawn(|| panic!("on purpose")).get().unwrap_err();
        error.to_string()
    };
    assert_eq!(outcomes(message), BTreeSet::from(["the task panicked: on purpose".to_string()]));
}

#[test]
fn who_waits_is_cancelled_there_and_its_destructors_run() {
    struct Mark(Arc<AtomicU32>);
    impl Drop for Mark {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let body = || {
        let marks = Arc::new(AtomicU32::new(0));
        let theirs = marks.clone();
        let task = task::spawn(move || {
            let _mark = Mark(theirs);
            let _ = never::<u32>().recv();
        });
        task.cancel();
        (task.get().unwrap_err().is_cancelled(), marks.load(SeqCst))
    };
    assert_eq!(body(), (true, 1));
    assert_eq!(outcomes(body), BTreeSet::from([(true, 1)]));
}

#[test]
fn a_cancellation_comes_anywhere() {
    let seen = outcomes(|| {
        let marks = Arc::new(AtomicU32::new(0));
        let theirs = marks.clone();
        let task = task::spawn(move || {
            theirs.store(1, SeqCst);
            task::checkpoint();
            theirs.store(2, SeqCst);
        });
        task.cancel();
        (task.get().is_err(), marks.load(SeqCst))
    });
    assert_eq!(seen, BTreeSet::from([(true, 1), (false, 2)]));
}

#[test]
fn a_task_that_waits_for_a_task_can_be_cancelled() {
    let seen = outcomes(|| {
        let (sender, receiver) = unbounded::<u32>();
        let outer = task::spawn(move || task::spawn(move || receiver.recv().unwrap_or(0)).get().unwrap());
        outer.cancel();
        let outcome = outer.get().is_err();
        drop(sender);
        outcome
    });
    assert_eq!(seen, BTreeSet::from([true]));
}

#[test]
fn a_detached_task_goes_on() {
    let seen = outcomes(|| {
        let (sender, receiver) = unbounded();
        task::spawn(move || sender.send(1).unwrap()).detach();
        receiver.recv().unwrap()
    });
    assert_eq!(seen, BTreeSet::from([1]));
}

#[test]
fn sleep_can_be_cancelled() {
    let task = task::spawn(|| task::sleep(Duration::from_secs(3600)));
    task.cancel();
    assert!(task.get().unwrap_err().is_cancelled());
}

#[test]
fn a_scope_borrows_and_waits() {
    let seen = outcomes(|| {
        let count = AtomicU32::new(0);
        task::scope(|scope| {
            let _first = scope.spawn(|| count.fetch_add(1, SeqCst));
            let _second = scope.spawn(|| count.fetch_add(1, SeqCst));
        });
        count.load(SeqCst)
    });
    assert_eq!(seen, BTreeSet::from([2]));
}

#[test]
fn a_scope_cancels_the_others_when_one_panics() {
    let seen = outcomes(|| {
        let outer = thread::spawn(|| {
            task::scope(|scope| {
                let _waits = scope.spawn(|| never::<u32>().recv().ok());
                let _panics = scope.spawn(|| panic!("one of them"));
            });
        });
        outer.join().is_err()
    });
    assert_eq!(seen, BTreeSet::from([true]));
}

#[test]
fn isolated_tasks_work_on_copies() {
    let seen = outcomes(|| {
        let mut words = vec![1];
        let task = task::spawn_isolated(&words, |mut words| {
            words.push(2);
            words.len()
        });
        words.push(3);
        words.push(4);
        (task.get().unwrap(), words.len())
    });
    assert_eq!(seen, BTreeSet::from([(2, 3)]));
}
