//! Small bugs, and their fixed twins.
//!
//! Of a buggy program the number of failing classes is known exactly: by brute force, and where it is one
//! of the [usual ones](crate::sctbench), from a model of it as well. Its fixed twin is proved: everything
//! has been explored, and nothing found.

use std::collections::BTreeMap;

use drawloom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use drawloom::sync::{Arc, Condvar, Mutex, OnceLock, mpsc};
use drawloom::thread;
use drawloom_engine::Budgets;

use crate::brute::{Lab, Subject};
use crate::sctbench;

/// Two tasks, joined.
fn both(first: impl FnOnce() + Send + 'static, second: impl FnOnce() + Send + 'static) {
    let tasks = [thread::spawn(first), thread::spawn(second)];
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

fn update(fixed: bool) {
    let count = Arc::new(AtomicU32::new(0));
    let increment = |count: Arc<AtomicU32>| {
        move || {
            if fixed {
                count.fetch_add(1, SeqCst);
            } else {
                count.store(count.load(SeqCst) + 1, SeqCst);
            }
        }
    };
    both(increment(count.clone()), increment(count.clone()));
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

fn two_locks(fixed: bool) {
    let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let in_order = |first: usize, second: usize| {
        let locks = locks.clone();
        move || {
            let _outer = locks[first].lock().unwrap();
            let _inner = locks[second].lock().unwrap();
        }
    };
    if fixed { both(in_order(0, 1), in_order(0, 1)) } else { both(in_order(0, 1), in_order(1, 0)) }
}

fn philosophers(fixed: bool) {
    let forks: Arc<[Mutex<()>; 3]> = Arc::default();
    let seats = (0..3).map(|seat| {
        let forks = forks.clone();
        thread::spawn(move || {
            let (mut first, mut second) = (seat, (seat + 1) % 3);
            if fixed && seat == 2 {
                std::mem::swap(&mut first, &mut second);
            }
            let _first = forks[first].lock().unwrap();
            let _second = forks[second].lock().unwrap();
        })
    });
    let seats: Vec<_> = seats.collect();
    seats.into_iter().for_each(|seat| seat.join().unwrap());
}

fn consumers(fixed: bool) {
    let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let consume = |shared: Arc<(Mutex<Vec<u32>>, Condvar)>| {
        move || {
            let (queue, filled) = &*shared;
            let mut queue = queue.lock().unwrap();
            if fixed {
                queue = filled.wait_while(queue, |queue| queue.is_empty()).unwrap();
            } else if queue.is_empty() {
                queue = filled.wait(queue).unwrap();
            }
            queue.pop().expect("woken although there is nothing");
        }
    };
    let consumers = [thread::spawn(consume(shared.clone())), thread::spawn(consume(shared.clone()))];
    for item in 0..2 {
        shared.0.lock().unwrap().push(item);
        shared.1.notify_one();
    }
    consumers.into_iter().for_each(|consumer| consumer.join().unwrap());
}

fn wake_up(fixed: bool) {
    let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let theirs = shared.clone();
    let waiter = thread::spawn(move || {
        let (lock, woken, ready) = &*theirs;
        if fixed {
            drop(woken.wait_while(lock.lock().unwrap(), |()| !ready.load(SeqCst)).unwrap());
        } else if !ready.load(SeqCst) {
            drop(woken.wait(lock.lock().unwrap()).unwrap());
        }
    });
    let guard = fixed.then(|| shared.0.lock().unwrap());
    shared.2.store(true, SeqCst);
    drop(guard);
    shared.1.notify_one();
    waiter.join().unwrap();
}

fn check_then_act(fixed: bool) {
    let accounts: Arc<Mutex<BTreeMap<&str, u32>>> = Arc::default();
    let open = |accounts: Arc<Mutex<BTreeMap<&'static str, u32>>>, deposit| {
        move || {
            if fixed {
                *accounts.lock().unwrap().entry("ada").or_insert(0) += deposit;
            } else {
                let known = accounts.lock().unwrap().contains_key("ada");
                let mut accounts = accounts.lock().unwrap();
                if known {
                    *accounts.get_mut("ada").unwrap() += deposit;
                } else {
                    accounts.insert("ada", deposit);
                }
            }
        }
    };
    both(open(accounts.clone(), 40), open(accounts.clone(), 2));
    assert_eq!(accounts.lock().unwrap()["ada"], 42, "a deposit was overwritten");
}

fn initialise(fixed: bool) {
    let value = Arc::new(OnceLock::new());
    let get = |value: Arc<OnceLock<u32>>| {
        move || {
            if fixed {
                assert_eq!(*value.get_or_init(|| 7), 7);
            } else if value.get().is_none() {
                value.set(7).expect("nobody has set it");
            }
        }
    };
    both(get(value.clone()), get(value.clone()));
}

/// Peterson's algorithm, but who would have to wait leaves.
fn peterson(fixed: bool) {
    #[derive(Default)]
    struct Shared {
        wants: [AtomicBool; 2],
        turn: AtomicUsize,
        inside: AtomicBool,
    }
    let shared: Arc<Shared> = Arc::default();
    let enter = |shared: Arc<Shared>, me: usize| {
        move || {
            let other = 1 - me;
            if fixed || me == 0 {
                shared.wants[me].store(true, SeqCst);
            }
            shared.turn.store(other, SeqCst);
            if !shared.wants[other].load(SeqCst) || shared.turn.load(SeqCst) == me {
                assert!(!shared.inside.swap(true, SeqCst), "both are inside");
                shared.inside.store(false, SeqCst);
            }
            shared.wants[me].store(false, SeqCst);
        }
    };
    both(enter(shared.clone(), 0), enter(shared.clone(), 1));
}

fn channel(fixed: bool) {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let workers = [
        thread::spawn(move || sender.send(1).expect("somebody listens")),
        thread::spawn(move || other.send(2).expect("somebody listens")),
    ];
    let received: u32 = if fixed { receiver.iter().sum() } else { receiver.iter().take(1).sum() };
    drop(receiver);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert!(received > 0);
}

fn publish(fixed: bool) {
    let shared = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
    let (writing, reading) = (shared.clone(), shared.clone());
    let write = move || {
        if fixed {
            writing.0.store(42, SeqCst);
        }
        writing.1.store(true, SeqCst);
        if !fixed {
            writing.0.store(42, SeqCst);
        }
    };
    both(write, move || {
        if reading.1.load(SeqCst) {
            assert_eq!(reading.0.load(SeqCst), 42, "published before it was written");
        }
    });
}

/// A pair of programs: the kind of the bug's finding, the classes of the buggy one and how many of them
/// fail, the classes of the fixed one.
pub struct Pair {
    pub name: &'static str,
    pub body: fn(bool),
    pub kind: &'static str,
    pub classes: u64,
    pub failing: u64,
    pub fixed: u64,
}

const PAIRS: &[Pair] = &[
    Pair { name: "lost update", body: update, kind: "panic", classes: 4, failing: 2, fixed: 2 },
    Pair { name: "two locks", body: two_locks, kind: "deadlock", classes: 3, failing: 1, fixed: 2 },
    Pair { name: "philosophers", body: philosophers, kind: "deadlock", classes: 7, failing: 1, fixed: 6 },
    Pair { name: "if, not while", body: consumers, kind: "panic", classes: 28, failing: 4, fixed: 28 },
    Pair { name: "lost wake-up", body: wake_up, kind: "starvation", classes: 3, failing: 1, fixed: 2 },
    Pair { name: "check, then act", body: check_then_act, kind: "panic", classes: 6, failing: 4, fixed: 2 },
    Pair { name: "initialised twice", body: initialise, kind: "panic", classes: 4, failing: 2, fixed: 2 },
    Pair { name: "Peterson", body: peterson, kind: "panic", classes: 16, failing: 4, fixed: 14 },
    Pair { name: "closed too early", body: channel, kind: "panic", classes: 4, failing: 2, fixed: 2 },
    Pair { name: "published too early", body: publish, kind: "panic", classes: 3, failing: 1, fixed: 2 },
];

/// Programs with more classes have too many schedules to try them all.
const FEW: u64 = 60;

/// The number of classes by brute force, and of failing ones.
fn count(lab: &mut Lab, body: fn(bool), fixed: bool) -> (u64, u64) {
    let body = move |_: &_| body(fixed);
    let subject = Subject {
        body: Arc::new(body),
        asks_for_exits: false,
        has_gate: false,
        has_signals: false,
        budgets: Budgets::NONE,
    };
    let made = lab.every_schedule(&subject, 200_000).expect("a small program");
    assert!(made.problems.is_empty(), "{:?}", made.problems);
    let failing = made.classes.values().filter(|(_, finding)| finding.is_some()).count();
    (made.classes.len() as u64, failing as u64)
}

fn explore(body: fn(bool), fixed: bool) -> drawloom::Exploration {
    let config = "exhaustive(spurious_wakeups = 0)".parse().expect("a configuration");
    drawloom::explore(config, move || body(fixed))
}

#[test]
fn the_failing_classes_of_a_bug_are_counted_exactly() {
    for pair in PAIRS.iter().chain(sctbench::PAIRS) {
        let explored = explore(pair.body, false);
        let found = (explored.executions(), explored.failing_executions(), explored.exhausted());
        assert_eq!(found, (pair.classes, pair.failing, true), "{}", pair.name);
        let kinds: Vec<_> = explored.findings().iter().map(|found| found.kind()).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == pair.kind), "{}: {kinds:?}", pair.name);
    }
}

#[test]
fn a_fixed_program_is_proved() {
    for pair in PAIRS.iter().chain(sctbench::PAIRS) {
        let explored = explore(pair.body, true);
        let found = (explored.executions(), explored.failing_executions(), explored.exhausted());
        assert_eq!(found, (pair.fixed, 0, true), "{}: {}", pair.name, explored.summary());
        assert!(explored.findings().is_empty(), "{}", pair.name);
    }
}

#[test]
fn brute_force_counts_the_same() {
    let mut lab = Lab::new();
    for pair in PAIRS.iter().chain(sctbench::PAIRS).filter(|pair| pair.classes <= FEW) {
        assert_eq!(count(&mut lab, pair.body, false), (pair.classes, pair.failing), "{}", pair.name);
        assert_eq!(count(&mut lab, pair.body, true), (pair.fixed, 0), "{}, fixed", pair.name);
    }
}
