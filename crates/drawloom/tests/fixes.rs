//! Fixes are tried out before they are shown.

use std::time::Duration;

use drawloom::guard::{Guard, Region, Site};
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Condvar, Mutex, mpsc};
use drawloom::{Config, Failure, explore, thread, try_fix};

fn config(text: &str) -> Config {
    format!("{text}, trace = false").parse().expect("a configuration")
}

/// Two tasks read a counter, and write it back.
fn lost_update() {
    let count = Arc::new(AtomicU32::new(0));
    let theirs = Arc::clone(&count);
    let increment = |count: &AtomicU32| {
        let seen = count.load(SeqCst);
        count.store(seen + 1, SeqCst);
    };
    let other = thread::spawn(move || increment(&theirs));
    increment(&count);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

/// The place of the `nth` operation, from 0, in this file on a line that contains `text`.
fn at(nth: usize, text: &str) -> Site {
    let lines = (1..).zip(include_str!("fixes.rs").lines());
    let (line, _) = lines.filter(|(_, line)| line.contains(text)).nth(nth).expect("a line");
    Site { file: file!().to_owned(), line, column: 0 }
}

fn region(enter: Site, leave: Site) -> Region {
    Region { enter, leave, whole: false }
}

fn texts(failure: &Failure) -> Vec<String> {
    let explanation = failure.record().explanation.as_ref().expect("an explanation");
    explanation.fixes.iter().filter_map(|fix| Some(fix.verified.as_ref()?.text.clone())).collect()
}

#[test]
fn a_report_says_what_trying_its_fixes_came_to() {
    let found = explore(config("auto"), lost_update);
    let report = found.findings()[0].report();
    assert!(report.contains("(verified: all 2 schedules, none fails)"), "{report}");
    assert!(report.contains("the same schedule passes with step"), "{report}");
}

#[test]
fn verdicts_do_not_depend_on_the_number_of_os_threads_nor_on_the_strategy_that_ran_before() {
    let verdicts = |text: &str| texts(&explore(config(text), lost_update).findings()[0]);
    let alone = verdicts("random(seed = 7), threads = 1");
    assert!(!alone.is_empty());
    for threads in ["threads = 4", "threads = 2", "threads = 1"] {
        assert_eq!(verdicts(&format!("random(seed = 7), {threads}")), alone);
    }
    for strategy in ["exhaustive", "pct(depth = 3)", "surw"] {
        assert!(verdicts(strategy).iter().all(|text| text.starts_with("verified: ")), "{strategy}");
    }
}

#[test]
fn a_wrong_fix_says_what_is_wrong_with_it() {
    let found = explore(config("auto"), lost_update);
    let token = found.findings()[0].token();
    let (load, store) = (at(0, "count.load(SeqCst);"), at(0, "count.store(seen + 1, SeqCst);"));
    let verdict = |guard: &Guard| try_fix(config("auto"), token, guard, lost_update).expect("a verdict");
    let each = Guard::Lock(vec![region(load.clone(), load.clone()), region(store.clone(), store.clone())]);
    assert_eq!(verdict(&each).text, "does not help: still fails in schedule 1");
    let never = Guard::Order { before: at(0, "an update was lost"), after: load };
    let text = verdict(&never).text;
    let starves =
        "does not help: deadlocks in schedule 1: 0 waits for the new order at crates/drawloom/tests/fixes.rs:";
    assert!(text.starts_with(starves), "{text}");
    let nowhere = Guard::Lock(vec![region(at(0, "nobody is ever here"), at(0, "nobody is ever here"))]);
    assert_eq!(verdict(&nowhere).text, "does not help: still fails in schedule 1");
}

/// A cache gives its lock back after a look, computes what is missing, and takes the lock again to keep it.
fn filled_twice() {
    struct Cache {
        entries: Mutex<Vec<u32>>,
        computed: AtomicU32,
    }
    let get = |cache: &Cache| {
        if cache.entries.lock().unwrap().is_empty() {
            cache.computed.fetch_add(1, SeqCst);
            cache.entries.lock().unwrap().push(7);
        }
    };
    let cache = Arc::new(Cache { entries: Mutex::new(Vec::new()), computed: AtomicU32::new(0) });
    let theirs = Arc::clone(&cache);
    let other = thread::spawn(move || get(&theirs));
    get(&cache);
    other.join().unwrap();
    assert_eq!(cache.computed.load(SeqCst), 1, "computed twice");
}

#[test]
fn who_acts_upon_what_it_saw_keeps_the_lock_until_then() {
    let found = explore(config("auto"), filled_twice);
    let record = found.findings()[0].record();
    let fix = &record.explanation.as_ref().expect("an explanation").fixes[0];
    assert!(fix.sketch.contains("push(7)"), "{}", fix.sketch);
    let verdict = fix.verified.as_ref().expect("it was tried");
    assert!(verdict.text.starts_with("verified: "), "{}: {}", fix.title, verdict.text);
}

#[test]
fn what_cannot_be_tried_is_an_error() {
    let guard = Guard::Lock(Vec::new());
    let error = try_fix(config("auto"), "dl1nonsense", &guard, lost_update).expect_err("no token");
    assert!(!error.is_empty());
    let found = explore(config("auto"), lost_update);
    let error = try_fix(config("auto"), found.findings()[0].token(), &guard, || {
        thread::spawn(|| ()).join().unwrap();
    });
    assert_eq!(error.expect_err("it passes"), "nothing fails under this schedule");
}

#[test]
fn a_fix_may_deadlock_and_the_verdict_says_who_waits() {
    fn hand_over() {
        let (sender, receiver) = mpsc::channel();
        let ready = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&ready);
        let other = thread::spawn(move || {
            theirs.store(1, SeqCst);
            sender.send(()).unwrap();
        });
        assert_eq!(ready.load(SeqCst), 0, "it was ready already");
        receiver.recv().unwrap();
        other.join().unwrap();
    }
    let found = explore(config("auto"), hand_over);
    let token = found.findings()[0].token();
    // The message is sent after what is to wait for its arrival.
    let guard = Guard::Order { before: at(0, "receiver.recv().unwrap();"), after: at(0, "theirs.store(1, SeqCst);") };
    let verdict = try_fix(config("auto"), token, &guard, hand_over).expect("a verdict");
    assert!(!verdict.helps);
    let text = verdict.text.replace(|c: char| c.is_ascii_digit(), "9");
    let file = "crates/drawloom/tests/fixes.rs";
    let expected = format!(
        "does not help: deadlocks in schedule 9: 9 waits for a channel at {file}:999; \
         9.9 waits for the new order at {file}:999"
    );
    assert_eq!(text, expected);
    let guard = Guard::Order { before: at(0, "ready.load(SeqCst), 0"), after: at(0, "theirs.store(1, SeqCst);") };
    let verdict = try_fix(config("auto"), token, &guard, hand_over).expect("a verdict");
    assert!(verdict.helps && verdict.exhausted, "{}", verdict.text);
}

#[test]
fn waits_with_a_timeout_keep_it_inside_a_region() {
    fn slow() {
        let (sender, receiver) = mpsc::channel::<()>();
        let state = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&state);
        let other = thread::spawn(move || {
            let before = theirs.load(SeqCst);
            let timed_out = receiver.recv_timeout(Duration::from_secs(1)).is_err();
            theirs.store(before + u32::from(timed_out), SeqCst);
        });
        let seen = state.load(SeqCst);
        state.store(seen + 1, SeqCst);
        other.join().unwrap();
        drop(sender);
        assert_eq!(state.load(SeqCst), 2, "one of the two was lost");
    }
    let found = explore(config("auto"), slow);
    let token = found.findings()[0].token();
    let theirs = region(at(0, "let before = theirs.load"), at(0, "theirs.store(before"));
    let own = region(at(0, "let seen = state.load"), at(0, "state.store(seen + 1"));
    let verdict = try_fix(config("auto"), token, &Guard::Lock(vec![theirs, own]), slow).expect("a verdict");
    assert!(verdict.helps, "{}", verdict.text);
}

#[test]
fn a_lock_that_is_kept_longer_is_given_back_by_waits_as_it_is_now() {
    fn two_takers() {
        let slot = Arc::new((Mutex::new(0), Condvar::new()));
        let take = |slot: Arc<(Mutex<u32>, Condvar)>| {
            let mut items = slot.0.lock().unwrap();
            while *items == 0 {
                items = slot.1.wait(items).unwrap();
            }
            drop(items);
            let mut items = slot.0.lock().unwrap();
            *items = items.checked_sub(1).expect("somebody else has taken it");
        };
        let takers = [slot.clone(), slot.clone()].map(|slot| thread::spawn(move || take(slot)));
        for _ in 0..2 {
            *slot.0.lock().unwrap() += 1;
            slot.1.notify_all();
        }
        takers.into_iter().for_each(|taker| taker.join().unwrap());
    }
    let settings = "auto, iterations = 5_000, spurious_wakeups = 0";
    let found = explore(config(settings), two_takers);
    let token = found.findings()[0].token();
    let (look, take) = (at(0, "let mut items = slot.0.lock()"), at(1, "let mut items = slot.0.lock()"));
    let put = at(0, "*slot.0.lock().unwrap() += 1;");
    let kept = Guard::Lock(vec![region(look.clone(), take.clone()), region(put.clone(), put.clone())]);
    let verdict = try_fix(config(settings), token, &kept, two_takers).expect("a verdict");
    assert!(verdict.helps, "{}", verdict.text);
    let apart = Guard::Lock(vec![region(look.clone(), look), region(take.clone(), take), region(put.clone(), put)]);
    let verdict = try_fix(config(settings), token, &apart, two_takers).expect("a verdict");
    assert!(!verdict.helps, "{}", verdict.text);
}

#[test]
fn the_page_has_the_minimised_the_original_and_a_passing_execution() {
    let panic = std::panic::catch_unwind(|| {
        drawloom::__private::run_test("fixes::page", None, "random, regressions = false", lost_update);
    });
    let report = *panic.expect_err("it fails").downcast::<String>().expect("the report");
    let files = report.lines().find(|line| line.starts_with("trace: ")).expect("the files are named");
    let (_, page) = files.split_once("  page: ").expect("both of them");
    let page = std::fs::read_to_string(page).expect("the page");
    for label in ["minimised", "original", "passing"] {
        assert!(page.contains(&format!("\"label\":\"{label}\"")), "{label}");
    }
}

#[test]
fn a_notification_for_all_is_tried_in_place_of_one_for_one() {
    fn gate() {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let visitors = [gate.clone(), gate.clone()].map(|gate| {
            thread::spawn(move || {
                let mut open = gate.0.lock().unwrap();
                while !*open {
                    open = gate.1.wait(open).unwrap();
                }
            })
        });
        *gate.0.lock().unwrap() = true;
        gate.1.notify_one(); // for two
        visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
    }
    let found = explore(config("auto"), gate);
    let token = found.findings()[0].token();
    let guard = Guard::NotifyAll(vec![at(0, "notify_one(); // for two")]);
    let verdict = try_fix(config("exhaustive"), token, &guard, gate).expect("a verdict");
    assert!(verdict.helps && verdict.exhausted, "{}", verdict.text);
    let elsewhere = Guard::NotifyAll(vec![at(0, "visitor.join().unwrap());")]);
    let verdict = try_fix(config("exhaustive"), token, &elsewhere, gate).expect("a verdict");
    assert!(!verdict.helps, "{}", verdict.text);
}
