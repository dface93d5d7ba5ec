//! Tokens: every kind of finding is reproduced in a fresh process from the one line that was printed.

use std::process::Command;

use drawloom::history::Watch;
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, SeqCst},
};
use drawloom::sync::{Arc, Condvar, Mutex, mpsc};
use drawloom::{Exploration, hint, thread};

/// A program, how to explore it and what is found.
struct Case {
    name: &'static str,
    config: &'static str,
    finds: &'static str,
    program: fn(),
}

const CASES: &[Case] = &[
    Case { name: "lost update", config: "random", finds: "panic", program: lost_update },
    Case { name: "lock order", config: "random", finds: "deadlock", program: lock_order },
    Case { name: "nobody notifies", config: "sequential", finds: "starvation", program: nobody_notifies },
    Case { name: "polite", config: "round_robin, progress_bound = 50", finds: "livelock", program: polite },
    Case { name: "endless", config: "random, max_steps = 200", finds: "step limit", program: endless },
    Case { name: "too many", config: "random, max_tasks = 20", finds: "task limit", program: too_many },
    Case { name: "cycle", config: "random", finds: "leak", program: cycle },
    Case { name: "unordered", config: "random", finds: "data race", program: unordered },
    Case { name: "no such store", config: "random", finds: "panic", program: no_such_store },
    Case { name: "stale answer", config: "random", finds: "not linearizable", program: stale_answer },
    Case { name: "every answer", config: "exhaustive", finds: "not linearizable", program: stale_answer },
    Case { name: "choice", config: "random", finds: "panic", program: choice },
    Case { name: "early timer", config: "random, clock = explore", finds: "panic", program: early_timer },
    Case { name: "every update", config: "exhaustive", finds: "panic", program: lost_update },
    Case { name: "every spin", config: "exhaustive, progress_bound = 50", finds: "livelock", program: polite },
    Case { name: "sticky", config: "sticky", finds: "panic", program: lost_update },
];

fn explore(case: &Case, config: &str) -> Exploration {
    let config = config.parse::<drawloom::Config>().expect("a valid configuration").name(case.name);
    drawloom::explore(config, case.program)
}

#[test]
fn every_kind_of_finding_replays_in_a_fresh_process() {
    if let Ok(request) = std::env::var("DRAWLOOM_TEST_CHILD") {
        return replay_for_parent(&request);
    }
    for (number, case) in CASES.iter().enumerate() {
        let exploration = explore(case, case.config);
        let found = exploration.findings().first().unwrap_or_else(|| panic!("{}: nothing found", case.name));
        assert_eq!(found.kind(), case.finds, "{}: {}", case.name, found.report());
        let child = Command::new(std::env::current_exe().expect("the running test"))
            .args(["--exact", "every_kind_of_finding_replays_in_a_fresh_process", "--nocapture"])
            .env("DRAWLOOM_TEST_CHILD", format!("{number} {}", found.token()))
            .output()
            .expect("the same test in another process");
        let output = String::from_utf8_lossy(&child.stdout).into_owned();
        let steps = found.record().steps.len();
        let expected = format!("<<{} {} in {steps} steps>>", case.finds, found.message());
        assert!(output.contains(&expected), "{}: expected {expected} in\n{output}", case.name);
    }
}

fn replay_for_parent(request: &str) {
    let (number, token) = request.split_once(' ').expect("a number and a token");
    let case = &CASES[number.parse::<usize>().expect("a number")];
    // Everything but the strategy stays as it was.
    let rest = case.config.split_once(',').map_or("", |(_, rest)| rest);
    let exploration = explore(case, &format!("replay(token = \"{token}\"), {rest}"));
    let found = exploration.findings().first().expect("the finding again");
    println!("<<{} {} in {} steps>>", found.kind(), found.message(), found.record().steps.len());
}

#[test]
fn a_damaged_token_is_an_error_that_says_so() {
    let token = explore(&CASES[0], "random").findings()[0].token().to_owned();
    let mut damaged = token.clone();
    damaged.replace_range(10..11, if &token[10..11] == "A" { "B" } else { "A" });
    let error = |token: &str| {
        explore(&CASES[0], &format!("replay(token = \"{token}\")")).error().map(str::to_owned).unwrap_or_default()
    };
    assert!(error(&damaged).contains("damaged"), "{}", error(&damaged));
    assert!(error(&token[..20]).contains("damaged"));
    assert!(error("nonsense").contains("not a replay token"));
    assert!(error("").contains("not a replay token"));
    assert_eq!(error(&token), "");
}

#[test]
fn a_token_of_another_test_is_an_error_that_says_so() {
    let token = explore(&CASES[0], "random").findings()[0].token().to_owned();
    let other = explore(&CASES[1], &format!("replay(token = \"{token}\")"));
    assert!(other.error().is_some_and(|e| e.contains("belongs to another test")), "{:?}", other.error());
    assert_eq!(other.executions(), 0);
}

#[test]
fn a_changed_program_is_a_divergence_that_names_both_operations() {
    let token = explore(&CASES[0], "random").findings()[0].token().to_owned();
    let changed = Case { program: lost_update_changed, ..CASES[0] };
    let replayed = explore(&changed, &format!("replay(token = \"{token}\")"));
    let found = &replayed.findings()[0];
    assert_eq!(found.kind(), "divergence");
    let report = found.report();
    assert!(report.contains("expected: `load` by task"), "{report}");
    assert!(report.contains("found:    `read-modify-write` by task"), "{report}");
}

#[test]
fn a_lenient_replay_of_a_changed_program_goes_on() {
    let token = explore(&CASES[0], "random").findings()[0].token().to_owned();
    let changed = Case { program: lost_update_changed, ..CASES[0] };
    let replayed = explore(&changed, &format!("replay(token = \"{token}\", lenient = true)"));
    assert!(replayed.findings().is_empty(), "{}", replayed.findings()[0].report());
    assert_eq!(replayed.executions(), 1);
    let departure = replayed.departure().expect("it says where it no longer fits");
    assert!(departure.expected.starts_with("`load` by task"), "{departure}");
    assert!(departure.found.starts_with("`read-modify-write` by task"), "{departure}");
    let fits = explore(&CASES[0], &format!("replay(token = \"{token}\", lenient = true)"));
    assert_eq!((fits.findings().len(), fits.departure()), (1, None), "the program is as it was");
}

/// The access itself panics, in its turn: std has no acquire store.
fn no_such_store() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let child = thread::spawn(move || other.store(true, Acquire));
    flag.load(SeqCst);
    child.join().unwrap();
}

/// Whoever reads after the write has ended is told what was there before.
fn stale_answer() {
    let watch = Watch::new(Register::new(0));
    let (mut writer, mut reader) = (watch.client(), watch.client());
    let other = thread::spawn(move || reader.call(RegisterOp::Read, || RegisterRet::Value(0)));
    writer.call(RegisterOp::Write(1), || RegisterRet::Written);
    other.join().unwrap();
}

fn lost_update() {
    increment_twice(|n| n.store(n.load(SeqCst) + 1, SeqCst));
}

fn lost_update_changed() {
    increment_twice(|n| {
        n.fetch_add(1, SeqCst);
    });
}

fn increment_twice(increment: fn(&AtomicU32)) {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = count.clone();
    let other = thread::spawn(move || increment(&theirs));
    increment(&count);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

fn lock_order() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let theirs = locks.clone();
    let other = thread::spawn(move || {
        let _b = theirs.1.lock();
        let _a = theirs.0.lock();
    });
    let a = locks.0.lock();
    let b = locks.1.lock();
    drop((a, b));
    other.join().unwrap();
}

fn nobody_notifies() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let other = thread::spawn(move || *theirs.0.lock().unwrap() = true);
    let waiting = pair.1.wait_while(pair.0.lock().unwrap(), |done| !*done);
    drop(waiting);
    other.join().unwrap();
}

fn polite() {
    let flags = Arc::new((AtomicBool::new(true), AtomicBool::new(true)));
    let theirs = flags.clone();
    let other = thread::spawn(move || {
        while theirs.0.load(SeqCst) {
            hint::spin_loop();
        }
        theirs.1.store(false, SeqCst);
    });
    while flags.1.load(SeqCst) {
        hint::spin_loop();
    }
    flags.0.store(false, SeqCst);
    other.join().unwrap();
}

fn endless() {
    let flag = Arc::new(AtomicBool::new(true));
    let theirs = flag.clone();
    let other = thread::spawn(move || while theirs.load(SeqCst) {});
    other.join().unwrap();
}

fn too_many() {
    let handles: Vec<_> = (0..100).map(|_| thread::spawn(thread::yield_now)).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

struct Node {
    next: Mutex<Option<Arc<Node>>>,
}

fn cycle() {
    let node = Arc::new(Node { next: Mutex::new(None) });
    let theirs = node.clone();
    thread::spawn(move || *theirs.next.lock().unwrap() = Some(theirs.clone())).join().unwrap();
}

struct Plain(drawloom::cell::Cell<u32>);
// SAFETY: tasks of an execution take turns; this is what a user promises wrongly.
unsafe impl Sync for Plain {}

fn unordered() {
    let plain = Arc::new(Plain(drawloom::cell::Cell::new(0)));
    let theirs = plain.clone();
    let other = thread::spawn(move || {
        let plain = &theirs;
        plain.0.set(1);
    });
    plain.0.get();
    other.join().unwrap();
}

fn choice() {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || sender.send(drawloom::choose(10)).unwrap());
    let chosen = receiver.recv().unwrap();
    other.join().unwrap();
    assert_ne!(chosen, 7, "it was the seventh");
}

fn early_timer() {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || {
        let _ = sender.send(1);
    });
    let received = receiver.recv_timeout(std::time::Duration::from_secs(1));
    other.join().unwrap();
    assert!(received.is_ok(), "the timeout came first");
}
