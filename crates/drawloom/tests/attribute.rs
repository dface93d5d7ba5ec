//! `#[drawloom::test]` as users write it.

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

fn locked_increments() -> u32 {
    let count = Arc::new(Mutex::new(0));
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || *count.lock().unwrap() += 1)
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    Arc::into_inner(count).expect("the last").into_inner().unwrap()
}

#[drawloom::test]
fn without_arguments() {
    assert_eq!(locked_increments(), 2);
}

#[drawloom::test(sequential)]
fn one_task_after_the_other() {
    assert_eq!(locked_increments(), 2);
}

#[drawloom::test(round_robin, max_steps = 1_000)]
fn in_turns() {
    assert_eq!(locked_increments(), 2);
}

#[drawloom::test(random(iterations = 100, seed = 42), threads = 2, timeout = 60s)]
fn at_random() {
    assert_eq!(locked_increments(), 2);
}

#[drawloom::test(random(iterations = 20))]
fn with_a_result() -> Result<(), std::num::ParseIntError> {
    let parser = thread::spawn(|| "42".parse::<u32>());
    thread::yield_now();
    assert_eq!(parser.join().unwrap()?, 42);
    Ok(())
}

#[drawloom::test(random(iterations = 20), trace = false)]
#[should_panic(expected = "the test returned an error")]
fn an_error_fails_the_test() -> Result<(), std::num::ParseIntError> {
    thread::spawn(thread::yield_now);
    "forty-two".parse::<u32>().map(drop)
}

#[drawloom::test(random(iterations = 1000), trace = false)]
#[should_panic(expected = "an update was lost")]
fn a_lost_update_fails_the_test() {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = count.clone();
    let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    count.store(count.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

#[drawloom::test(trace = false)]
#[should_panic(expected = "NOTHING EXPLORED")]
fn a_test_without_tasks_is_not_passed_silently() {
    assert_eq!(1 + 1, 2);
}

#[test]
fn an_ordinary_test_in_the_same_crate_goes_on_working() {
    assert_eq!(locked_increments(), 2);
}
