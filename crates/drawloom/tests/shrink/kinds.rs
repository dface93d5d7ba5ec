//! Every kind of finding stays what it is, and the same input gives the same output.

use std::time::Duration;

use drawloom::sync::atomic::{AtomicBool, Ordering::SeqCst};
use drawloom::sync::{Arc, Condvar, Mutex, mpsc};
use drawloom::{Config, Exploration, Failure, StrategySpec, hint, thread};

use crate::programs;

/// Explores `program` as `config` says; the result replays, and is the same kind of finding.
fn minimised(config: &str, program: fn(), kind: &str) -> Exploration {
    let config: Config = config.parse().expect("a valid configuration");
    let exploration = drawloom::explore(config.clone().name("a test"), program);
    let found = exploration.findings().first().unwrap_or_else(|| panic!("no {kind} is found"));
    assert_eq!(found.kind(), kind, "{}", found.report());
    let shrunk = found.minimised().unwrap_or_else(|| panic!("not minimised: {}", found.report()));
    assert!(shrunk.after <= shrunk.before, "{shrunk:?}");
    for token in [found.token(), found.original_token()] {
        let strategy = StrategySpec::Replay { token: token.to_owned(), lenient: false };
        let again = drawloom::explore(config.clone().strategy(strategy).name("a test"), program);
        assert_eq!(again.findings()[0].kind(), kind, "{}", again.findings()[0].report());
    }
    exploration
}

fn preemptions(exploration: &Exploration) -> u64 {
    exploration.findings()[0].preemptions()
}

fn starved() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    // The flag is looked at without the lock, so that the notification may come too early.
    let done = *pair.0.lock().unwrap();
    if !done {
        drop(pair.1.wait(pair.0.lock().unwrap()));
    }
    other.join().unwrap();
}

#[test]
fn a_starvation_stays_one() {
    let found = minimised("random, spurious_wakeups = 0", starved, "starvation");
    assert_eq!(preemptions(&found), 1, "{}", found.findings()[0].report());
}

fn spin_for_ever() {
    let flags = Arc::new([const { AtomicBool::new(true) }; 2]);
    let theirs = flags.clone();
    let other = thread::spawn(move || {
        while theirs[0].load(SeqCst) {
            hint::spin_loop();
        }
    });
    flags[1].store(false, SeqCst);
    other.join().unwrap();
}

#[test]
fn a_livelock_stays_one() {
    for strategy in ["random", "exhaustive"] {
        let found = minimised(&format!("{strategy}, progress_bound = 50"), spin_for_ever, "livelock");
        assert_eq!(preemptions(&found), 0, "{}", found.findings()[0].report());
    }
}

fn endless() {
    let flag = Arc::new(AtomicBool::new(true));
    let theirs = flag.clone();
    let other = thread::spawn(move || while theirs.load(SeqCst) {});
    while flag.load(SeqCst) {}
    other.join().unwrap();
}

#[test]
fn a_step_limit_stays_one_and_becomes_a_short_token() {
    let found = minimised("random, max_steps = 20_000", endless, "step limit");
    let found = &found.findings()[0];
    assert_eq!(found.preemptions(), 0);
    assert!(found.original_token().len() > 10_000, "{}", found.original_token().len());
    assert!(found.token().len() < 200, "{}", found.token());
}

fn too_many_tasks() {
    let handles: Vec<_> = (0..40).map(|_| thread::spawn(thread::yield_now)).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

#[test]
fn a_task_limit_stays_one() {
    let found = minimised("random, max_tasks = 20", too_many_tasks, "task limit");
    assert_eq!(preemptions(&found), 0);
}

struct Plain(drawloom::cell::Cell<u32>);
// SAFETY: tasks of an execution take turns; this is what a user promises wrongly.
unsafe impl Sync for Plain {}

fn unordered() {
    let shared = Arc::new((Plain(drawloom::cell::Cell::new(0)), Mutex::new(())));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        let (plain, lock) = &*theirs;
        drop(lock.lock());
        plain.0.set(1);
        drop(lock.lock());
    });
    drop(shared.1.lock());
    shared.0.0.get();
    other.join().unwrap();
}

#[test]
fn a_data_race_stays_one() {
    let found = minimised("random", unordered, "data race");
    assert_eq!(preemptions(&found), 0, "{}", found.findings()[0].report());
}

struct Node(Mutex<Option<Arc<Node>>>);

fn leaks_if_late() {
    let node = Arc::new(Node(Mutex::new(None)));
    let theirs = node.clone();
    let other = thread::spawn(move || *theirs.0.lock().unwrap() = Some(theirs.clone()));
    node.0.lock().unwrap().take();
    other.join().unwrap();
}

#[test]
fn a_leak_stays_one() {
    let found = minimised("random", leaks_if_late, "leak");
    assert_eq!(preemptions(&found), 0, "{}", found.findings()[0].report());
}

#[test]
fn an_unjoined_task_stays_one() {
    fn forgets() {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        drop(thread::spawn(move || drop(theirs.lock())));
        drop(lock.lock());
    }
    minimised("random, unjoined = true", forgets, "unjoined task");
}

#[test]
fn choices_become_small_and_faults_go_away() {
    fn chooses() {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            let (a, b) = (drawloom::choose(100), drawloom::choose(100));
            sender.send((a, b, drawloom::random::coin())).unwrap();
        });
        let (a, b, _) = receiver.recv().unwrap();
        other.join().unwrap();
        assert!(a < 17, "{a} is too much, whatever {b} is");
    }
    let found = minimised("random", chooses, "panic");
    assert!(
        found.findings()[0].message().contains("17 is too much, whatever 0 is"),
        "{}",
        found.findings()[0].message()
    );
    assert_eq!(found.findings()[0].minimised().map(|m| (m.after.faults, m.after.data)), Some((0, 17)));
}

#[test]
fn early_timers_are_kept_only_where_they_matter() {
    fn impatient() {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            let _ = sender.send(1);
        });
        let received = receiver.recv_timeout(Duration::from_secs(1));
        other.join().unwrap();
        assert!(received.is_ok(), "the timeout came first");
    }
    let found = minimised("random, clock = explore", impatient, "panic");
    let after = found.findings()[0].minimised().map(|m| (m.after.preemptions, m.after.faults));
    assert!(after <= Some((0, 2)), "{}", found.findings()[0].report());
}

#[test]
fn what_an_exhaustive_exploration_finds_is_minimised_too() {
    let found = minimised("exhaustive", programs::lost_update, "panic");
    assert_eq!(preemptions(&found), 1);
}

#[test]
fn every_finding_is_minimised_where_several_are_collected() {
    fn one(v: &programs::Memory<1>, _: &[Mutex<()>; 0]) {
        v.add(0, 1);
    }
    fn three_updates() {
        let shared = programs::tasks::<1, 0>(&[], &[one, one, one]);
        let count = shared.0.get(0);
        assert_ne!(count, 1, "two were lost");
        assert_ne!(count, 2, "one was lost");
    }
    let found = minimised("random(iterations = 200), keep_going = true", three_updates, "panic");
    let mut fewest: Vec<_> = found.findings().iter().map(|f| (f.message().contains("two"), f.preemptions())).collect();
    fewest.sort_unstable();
    assert_eq!(fewest, [(false, 1), (true, 1)]);
}

#[test]
fn the_same_exploration_is_minimised_to_the_same_schedule() {
    let token = || minimised("random", programs::two_stages, "panic").findings()[0].token().to_owned();
    assert_eq!(token(), token());
}

fn shrunk_again(token: &str, program: fn()) -> Exploration {
    let strategy = StrategySpec::Replay { token: token.to_owned(), lenient: false };
    let config = Config::new().strategy(strategy).name("a test").shrink(drawloom::Shrink::Full);
    drawloom::explore(config, program)
}

#[test]
fn a_token_is_minimised_on_demand_and_what_is_minimal_stays_as_it_is() {
    let found = minimised("random, shrink = true", programs::lost_update_padded, "panic");
    let found: &Failure = &found.findings()[0];
    let on_demand = shrunk_again(found.original_token(), programs::lost_update_padded);
    assert_eq!(on_demand.findings()[0].token(), found.token());
    let again = shrunk_again(found.token(), programs::lost_update_padded);
    assert_eq!(again.findings()[0].token(), found.token());
    assert!(again.findings()[0].report().contains("no simpler schedule in "), "{}", again.findings()[0].report());
}

#[test]
fn shrinking_can_be_turned_off() {
    let config: Config = "random, shrink = false".parse().expect("a valid configuration");
    let found = drawloom::explore(config.name("a test"), programs::lost_update_padded);
    let found = &found.findings()[0];
    assert!(found.minimised().is_none() && found.preemptions() > 5);
    assert_eq!(found.token(), found.original_token());
    assert!(!found.report().contains("minimised"));
}

#[test]
fn the_report_says_what_has_become_less() {
    let found = minimised("random, threads = 1", programs::lost_update_padded, "panic");
    let report = found.findings()[0].report();
    let line = report.lines().find(|line| line.starts_with("minimised ")).unwrap_or_default();
    let shape: String = line.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(shape, "minimised 99 → 9 preemptions in 99 replays", "{report}");
    let found = minimised("random", programs::freed_early, "panic");
    let report = found.findings()[0].report();
    assert_eq!(report.matches("preempted").count(), 1, "{report}");
}
