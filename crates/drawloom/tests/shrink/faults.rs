//! Faults that a bug does not need (spurious wake-ups, weak failures, early timers) are taken out of its schedule.

use std::time::Duration;

use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use drawloom::sync::{Arc, Condvar, Mutex, mpsc};
use drawloom::{Config, Exploration, StrategySpec, thread};

/// A bug that needs no fault, and what finds it in executions with faults.
struct Case {
    name: &'static str,
    program: fn(),
    finds: &'static str,
    config: &'static str,
}

const CASES: &[Case] = &[
    Case { name: "mailbox", program: mailbox, finds: "deadlock", config: "spurious_wakeups = 2" },
    Case { name: "one of several", program: one_of_several, finds: "starvation", config: "spurious_wakeups = 1" },
    Case { name: "sleeping worker", program: sleeping_worker, finds: "starvation", config: "spurious_wakeups = 2" },
    Case { name: "weak exchange", program: weak_exchange, finds: "panic", config: "weak_failures = 2" },
    Case { name: "early timers", program: timers, finds: "panic", config: "clock = explore" },
];

/// One condition variable for two conditions: a notification may wake the wrong task.
fn mailbox() {
    #[derive(Default)]
    struct Mailbox {
        letter: Mutex<Option<u32>>,
        changed: Condvar,
    }
    impl Mailbox {
        fn put(&self, letter: u32) {
            let mut place = self.letter.lock().unwrap();
            while place.is_some() {
                place = self.changed.wait(place).unwrap();
            }
            *place = Some(letter);
            self.changed.notify_one();
        }

        fn take(&self) -> u32 {
            let mut place = self.letter.lock().unwrap();
            loop {
                if let Some(letter) = place.take() {
                    self.changed.notify_one();
                    return letter;
                }
                place = self.changed.wait(place).unwrap();
            }
        }
    }
    let mailbox = Arc::new(Mailbox::default());
    let takers = [(); 2].map(|()| {
        let mailbox = mailbox.clone();
        thread::spawn(move || mailbox.take())
    });
    mailbox.put(1);
    mailbox.put(2);
    takers.into_iter().for_each(|taker| assert!(taker.join().unwrap() > 0));
}

/// Two wait, one is woken.
fn one_of_several() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let visitors = [(); 2].map(|()| {
        let gate = gate.clone();
        thread::spawn(move || {
            let mut open = gate.0.lock().unwrap();
            while !*open {
                open = gate.1.wait(open).unwrap();
            }
        })
    });
    *gate.0.lock().unwrap() = true;
    gate.1.notify_one();
    visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
}

/// Nobody wakes a worker that has looked into its queue and has not yet said that it sleeps.
fn sleeping_worker() {
    #[derive(Default)]
    struct Worker {
        jobs: Mutex<Vec<u32>>,
        asleep: AtomicBool,
    }
    let worker = Arc::new(Worker::default());
    let theirs = worker.clone();
    let handle = thread::spawn(move || {
        let mut done = 0;
        while done < 2 {
            if theirs.jobs.lock().unwrap().pop().is_some() {
                done += 1;
                continue;
            }
            theirs.asleep.store(true, SeqCst);
            thread::park();
            theirs.asleep.store(false, SeqCst);
        }
    });
    for job in 0..2 {
        worker.jobs.lock().unwrap().push(job);
        if worker.asleep.load(SeqCst) {
            handle.thread().unpark();
        }
    }
    handle.join().unwrap();
}

/// A lost update, between exchanges that may fail for no reason.
fn weak_exchange() {
    fn add(number: &AtomicUsize) {
        let mut seen = number.load(SeqCst);
        while let Err(now) = number.compare_exchange_weak(seen, seen + 1, SeqCst, SeqCst) {
            seen = now;
        }
    }
    let numbers = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let tasks = [(); 2].map(|()| {
        let numbers = numbers.clone();
        thread::spawn(move || {
            add(&numbers.0);
            let seen = numbers.1.load(SeqCst);
            add(&numbers.0);
            numbers.1.store(seen + 1, SeqCst);
        })
    });
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert_eq!(numbers.1.load(SeqCst), 2);
}

/// A lost update, between waits with a timeout that somebody ends in time.
fn timers() {
    let number = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = mpsc::channel();
    let theirs = number.clone();
    let other = thread::spawn(move || {
        let seen = theirs.load(SeqCst);
        sender.send(()).unwrap();
        theirs.store(seen + 1, SeqCst);
    });
    while receiver.recv_timeout(Duration::from_millis(10)).is_err_and(|e| e == mpsc::RecvTimeoutError::Timeout) {}
    number.fetch_add(1, SeqCst);
    other.join().unwrap();
    assert_eq!(number.load(SeqCst), 2);
}

/// Waits once, and takes it for granted that nobody wakes it for nothing.
fn trusting() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut done = pair.0.lock().unwrap();
    if !*done {
        done = pair.1.wait(done).unwrap();
    }
    assert!(*done, "woken too early");
    drop(done);
    other.join().unwrap();
}

/// Without a limit in time, so that a slow machine shows the same.
fn explore(strategy: &str, more: &str, program: fn()) -> Exploration {
    let config = format!("{strategy}, threads = 1, trace = false, fixes = 0, shrink = full, {more}");
    let config: Config = config.parse().expect("a valid configuration");
    drawloom::explore(config.name("a test"), program)
}

#[test]
fn a_bug_that_needs_no_fault_is_shown_without_one() {
    for Case { name, program, finds, config } in CASES {
        let (mut with_faults, mut seed) = (0, 0);
        while with_faults < 6 {
            let exploration = explore(&format!("random(seed = {seed}, iterations = 2_000)"), config, *program);
            let found = exploration.findings().first().unwrap_or_else(|| panic!("{name}: nothing, seed {seed}"));
            assert_eq!(found.kind(), *finds, "{name}: {}", found.report());
            let minimised = found.minimised().unwrap_or_else(|| panic!("{name}: not minimised, seed {seed}"));
            assert_eq!(minimised.after.faults, 0, "{name}, seed {seed}: {minimised:?}\n{}", found.report());
            with_faults += u64::from(minimised.before.faults > 0);
            seed += 1;
            assert!(seed < 100, "{name}: hardly a schedule has a fault");
        }
    }
}

#[test]
fn what_an_exhaustive_search_meets_with_a_fault_is_shown_without_it_too() {
    for Case { name, program, config, .. } in CASES.iter().filter(|case| case.name != "early timers") {
        let exploration =
            explore("exhaustive(max_schedules = 5_000)", &format!("keep_going = true, {config}"), *program);
        assert!(!exploration.findings().is_empty(), "{name}");
        for found in exploration.findings() {
            let minimised = found.minimised().unwrap_or_else(|| panic!("{name}: not minimised"));
            assert_eq!(minimised.after.faults, 0, "{name}: {minimised:?}\n{}", found.report());
        }
    }
}

#[test]
fn a_fault_that_the_bug_needs_stays_and_the_report_counts_it() {
    let exploration = explore("random", "spurious_wakeups = 3", trusting);
    let found = &exploration.findings()[0];
    let after = found.minimised().map(|minimised| (minimised.after.preemptions, minimised.after.faults));
    assert_eq!(after, Some((0, 1)), "{}", found.report());
    let strategy = StrategySpec::Replay { token: found.token().to_owned(), lenient: false };
    let config = Config::new().strategy(strategy).name("a test").shrink(drawloom::Shrink::Full);
    let again = drawloom::explore(config, trusting);
    let report = again.findings()[0].report();
    let line = report.lines().find(|line| line.starts_with("no simpler schedule in ")).unwrap_or_default();
    assert!(line.ends_with(" replays (0 preemptions, 1 fault)"), "{report}");
}
