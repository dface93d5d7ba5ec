//! Cancellation, select, timeouts, channels and futures: what an exhaustive exploration runs is every class
//! that brute force finds, once, with the same outcomes.

use std::sync::Arc;

use drawloom::channel;
use drawloom::future::{self, block_on};
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Condvar, Mutex};
use drawloom::time::{Duration, SystemTime};
use drawloom::{select, task, thread};

use super::brute::{Log, compare, compare_with_early_timers};

#[test]
fn a_cancellation_strikes_before_during_and_after() {
    let (classes, _) = compare("cancel", |log| {
        let (sender, receiver) = channel::unbounded::<i64>();
        let theirs = log.clone();
        let task = task::spawn(move || {
            theirs.note(1, receiver.recv().unwrap_or(-1));
            theirs.note(1, receiver.recv().unwrap_or(-1));
        });
        sender.send(7).unwrap();
        task.cancel();
        log.note(0, i64::from(task.get().is_err()));
    });
    assert!(classes > 3, "{classes}");
}

#[test]
fn a_masked_section_is_not_interrupted() {
    compare("masked", |log| {
        let theirs = log.clone();
        let task = task::spawn(move || {
            task::masked(|| {
                task::checkpoint();
                theirs.note(1, 1);
            });
            task::checkpoint();
            theirs.note(1, 2);
        });
        task.cancel();
        log.note(0, i64::from(task.get().is_err()));
    });
}

#[test]
fn a_select_takes_any_arm_that_is_ready() {
    compare("select", |log| {
        let (first, ones) = channel::unbounded::<i64>();
        let (second, twos) = channel::unbounded::<i64>();
        first.send(1).unwrap();
        let sender = thread::spawn(move || second.send(2).is_ok());
        let got = select! {
            recv(ones) -> one => one.unwrap_or(-1),
            recv(twos) -> two => two.unwrap_or(-2),
        };
        log.note(0, got);
        sender.join().unwrap();
    });
}

#[test]
fn selects_with_a_default_do_not_wait() {
    compare("default", |log| {
        let (sender, receiver) = channel::bounded::<i64>(1);
        let theirs = log.clone();
        let task = thread::spawn(move || {
            select! {
                send(sender, 5) -> sent => theirs.note(1, i64::from(sent.is_ok())),
                default => theirs.note(1, -1),
            }
        });
        select! {
            recv(receiver) -> five => log.note(0, five.unwrap_or(-2)),
            default => log.note(0, -1),
        }
        drop(receiver);
        task.join().unwrap();
    });
}

#[test]
fn two_selects_meet_at_a_rendezvous() {
    compare("meet", |log| {
        let (sender, receiver) = channel::bounded::<i64>(0);
        let theirs = log.clone();
        let task = thread::spawn(move || {
            let never = channel::never::<i64>();
            select! {
                send(sender, 5) -> sent => theirs.note(1, i64::from(sent.is_ok())),
                recv(never) -> _ => theirs.note(1, -1),
            }
        });
        let never = channel::never::<i64>();
        select! {
            recv(receiver) -> five => log.note(0, five.unwrap_or(-2)),
            recv(never) -> _ => log.note(0, -1),
        }
        task.join().unwrap();
    });
}

#[test]
fn a_message_and_a_timeout_race() {
    fn body(log: &Arc<Log>) {
        let (sender, receiver) = channel::unbounded::<i64>();
        let task = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            sender.send(1).is_ok()
        });
        let got = receiver.recv_timeout(Duration::from_millis(1));
        log.note(0, got.map_or(-1, |message| message));
        task.join().unwrap();
    }
    compare("timeout", body);
    compare_with_early_timers(2, "early timeout", body);
}

#[test]
fn two_senders_wait_for_room() {
    compare("room", |log| {
        let (sender, receiver) = channel::bounded::<i64>(1);
        let other = sender.clone();
        let sending = thread::spawn(move || other.send(1).is_ok());
        sender.send(2).unwrap();
        let first = receiver.recv().unwrap_or(-1);
        log.note(0, first * 10 + receiver.recv().unwrap_or(-1));
        sending.join().unwrap();
    });
}

#[test]
fn an_abort_strikes_before_during_and_after() {
    compare("abort", |log| {
        let marks = Arc::new(AtomicU32::new(0));
        let theirs = marks.clone();
        let task = future::spawn(async move {
            theirs.fetch_add(1, SeqCst);
            future::yield_now().await;
            theirs.fetch_add(1, SeqCst);
        });
        task.abort();
        let failed = block_on(task).is_err();
        log.note(0, i64::from(marks.load(SeqCst)) * 2 + i64::from(failed));
    });
}

#[test]
fn a_message_and_what_time_brings_race() {
    compare("after", |log| {
        let (sender, receiver) = channel::unbounded::<i64>();
        let task = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            sender.send(1).is_ok()
        });
        let late = channel::after(Duration::from_millis(1));
        let got = select! {
            recv(receiver) -> message => message.unwrap_or(-1),
            recv(late) -> _ => -2,
        };
        log.note(0, got);
        task.join().unwrap();
    });
}

#[test]
fn two_wait_for_one_tick() {
    compare("tick", |log| {
        let once = channel::after(Duration::from_millis(1));
        let (theirs, other) = (log.clone(), once.clone());
        let task = thread::spawn(move || {
            let got = other.recv_timeout(Duration::from_millis(2));
            theirs.note(1, i64::from(got.is_ok()));
        });
        log.note(0, i64::from(once.recv_timeout(Duration::from_millis(2)).is_ok()));
        task.join().unwrap();
    });
}

#[test]
fn a_wait_may_give_up_although_there_is_time() {
    compare_with_early_timers(1, "early end of a wait", |log| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let (theirs, theirs_too) = (shared.clone(), log.clone());
        let task = thread::spawn(move || {
            let (value, changed) = &*theirs;
            let value = value.lock().unwrap();
            let (value, _) = changed.wait_timeout_while(value, Duration::from_secs(1), |value| *value == 0).unwrap();
            theirs_too.note(1, *value);
        });
        *shared.0.lock().unwrap() = 1;
        shared.1.notify_one();
        log.note(0, i64::from(task.join().is_ok()));
    });
}

#[test]
fn a_sleeper_may_wake_between_any_two_steps() {
    let (classes, _) = compare_with_early_timers(3, "sleeper", |log| {
        let value = Arc::new(AtomicU32::new(0));
        let (theirs, theirs_too) = (value.clone(), log.clone());
        let sleeper = thread::spawn(move || {
            thread::sleep(Duration::from_secs(1));
            theirs_too.note(1, i64::from(theirs.load(SeqCst)));
        });
        value.store(1, SeqCst);
        value.store(2, SeqCst);
        sleeper.join().unwrap();
    });
    assert_eq!(classes, 3);
}

/// Both timers fire at one instant: whether the token comes before the park gives up decides who takes it.
#[test]
fn a_park_whose_time_is_up_takes_a_token_that_is_there() {
    let (classes, _) = compare("token", |log| {
        let theirs = log.clone();
        let parked = thread::spawn(move || {
            thread::park_timeout(Duration::from_millis(1));
            thread::park_timeout(Duration::from_millis(1));
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            theirs.note(1, now.as_millis() as i64);
        });
        thread::sleep(Duration::from_millis(1));
        parked.thread().unpark();
        parked.join().unwrap();
    });
    assert!(classes > 1, "{classes}");
}
