//! One test for each thing that the command line has to say.

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;
use sample::{deposit, deposit_in_two_steps, transfer};

fn both_arrive(deposit: fn(&Mutex<u32>, u32)) {
    let account = Arc::new(Mutex::new(100));
    drawloom::label(&account, "account");
    let theirs = account.clone();
    let other = thread::spawn(move || deposit(&theirs, 20));
    deposit(&account, 10);
    other.join().unwrap();
    assert_eq!(*account.lock().unwrap(), 130, "a deposit was lost");
}

#[drawloom::test(exhaustive)]
fn passes_in_every_order() {
    both_arrive(deposit);
}

#[drawloom::test(random(iterations = 50))]
fn passes_as_far_as_it_was_sampled() {
    let count = Arc::new(AtomicU32::new(0));
    let add = |times: u32| {
        let count = count.clone();
        thread::spawn(move || (0..times).for_each(|_| _ = count.fetch_add(1, SeqCst)))
    };
    let workers = [add(8), add(8), add(8)];
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(count.load(SeqCst), 24);
}

#[drawloom::test]
fn fails_when_a_deposit_comes_in_between() {
    // Somebody has fixed it.
    let fixed = std::env::var("SAMPLE_FIXED").is_ok();
    both_arrive(if fixed { deposit } else { deposit_in_two_steps });
}

#[drawloom::test]
fn deadlocks_when_transfers_cross() {
    let (one, two) = (Arc::new(Mutex::new(100)), Arc::new(Mutex::new(100)));
    drawloom::label(&one, "one");
    drawloom::label(&two, "two");
    let (theirs, ours) = (one.clone(), two.clone());
    let other = thread::spawn(move || transfer(&ours, &theirs, 20));
    transfer(&one, &two, 10);
    other.join().unwrap();
}

#[drawloom::test(exhaustive)]
fn fails_in_two_ways() {
    let flag = Arc::new(AtomicU32::new(0));
    let theirs = flag.clone();
    let other = thread::spawn(move || theirs.store(1, SeqCst));
    let (before, after) = (flag.load(SeqCst), flag.load(SeqCst));
    other.join().unwrap();
    assert!(before == 0, "the other was first");
    assert!(after == 0, "the other was in between");
}

#[drawloom::test(exhaustive(max_schedules = 1_000_000_000))]
fn takes_for_ever() {
    let cells: Vec<_> = (0..4).map(|_| Arc::new(AtomicU32::new(0))).collect();
    let work = |from: usize| {
        let cells = cells.clone();
        thread::spawn(move || (0..40).for_each(|i| _ = cells[(from + i) % 4].fetch_add(1, SeqCst)))
    };
    let workers = [work(0), work(1), work(2)];
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

#[drawloom::test]
#[should_panic(expected = "a deposit was lost")]
fn fails_as_it_should() {
    both_arrive(deposit_in_two_steps);
}

#[test]
fn explores_within_an_ordinary_test() {
    drawloom::check(|| both_arrive(deposit));
}

#[test]
#[ignore = "it never ends"]
fn hangs() {
    loop {
        std::thread::park();
    }
}

#[test]
#[ignore = "it takes the whole process down"]
fn crashes() {
    std::process::abort();
}

#[drawloom::test(random(iterations = 5))]
#[ignore = "it hangs when it is given another turn"]
fn waits_for_ever_with_another_seed() {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = count.clone();
    let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
    count.fetch_add(1, SeqCst);
    other.join().unwrap();
    let configured = std::env::var("DRAWLOOM_STRATEGY").is_ok();
    while configured {
        std::thread::park();
    }
}

#[test]
#[ignore = "it fails without exploring anything"]
fn goes_wrong_plainly() {
    println!("on the way");
    panic!("plainly wrong");
}

#[drawloom::test(random, shrink = false, fixes = 0, max_steps = 1_000_000)]
#[ignore = "its schedule is too long for a line"]
fn fails_after_many_steps() {
    let count = Arc::new(AtomicU32::new(0));
    let add = || {
        let count = count.clone();
        thread::spawn(move || (0..33_000).for_each(|_| _ = count.fetch_add(1, SeqCst)))
    };
    let workers = [add(), add(), add()];
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(count.load(SeqCst), 0, "there were many steps");
}
