//! `select!`: which branch is polled first is a choice, each poll is steps of its own, as it is on several threads, and what is
//! not taken is dropped.

use std::sync::Arc;

use drawloom::future::block_on;
use drawloom::thread;
use drawloom_tokio::select;
use drawloom_tokio::sync::{Notify, mpsc, oneshot};

use super::brute::{Log, compare};

/// Compares with brute force; there are so many classes.
fn classes(name: &str, expected: usize, body: impl Fn(&Arc<Log>) + Send + Sync + 'static) {
    let (classes, schedules) = compare(name, body);
    assert_eq!(classes, expected, "{name}: {schedules} schedules");
}

#[test]
fn what_is_ready_is_taken_in_the_order_of_a_choice() {
    classes("two that are ready", 2, |log| {
        let ((one, mut ones), (two, mut twos)) = (mpsc::channel(1), mpsc::channel(1));
        one.try_send(1).unwrap();
        two.try_send(2).unwrap();
        let first = block_on(async {
            select! { value = ones.recv() => value, value = twos.recv() => value }
        });
        log.note(0, first.unwrap_or(-1));
    });
}

#[test]
fn two_channels_are_listened_to() {
    classes("two channels", 14, |log| {
        let ((one, mut ones), (two, mut twos)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let other = thread::spawn(move || {
            one.send(1).unwrap();
            two.send(2).unwrap();
        });
        let first = block_on(async {
            select! { value = ones.recv() => value, value = twos.recv() => value }
        });
        log.note(0, first.unwrap_or(-1));
        other.join().unwrap();
    });
}

#[test]
fn the_first_branch_comes_first_if_it_is_biased() {
    classes("biased", 4, |log| {
        let ((one, mut ones), (two, mut twos)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let other = thread::spawn(move || {
            one.send(1).unwrap();
            two.send(2).unwrap();
        });
        let first = async {
            select! { biased; value = ones.recv() => value, value = twos.recv() => value }
        };
        log.note(0, block_on(first).unwrap_or(-1));
        other.join().unwrap();
    });
}

#[test]
fn a_message_or_the_end() {
    classes("a message or the end", 5, |log| {
        let (sender, mut receiver) = mpsc::channel(1);
        let (stop, mut stopped) = oneshot::channel();
        let other = thread::spawn(move || {
            let sent = sender.try_send(1).is_ok();
            let _ = stop.send(());
            sent
        });
        let first = async {
            select! { biased; _ = &mut stopped => -2, value = receiver.recv() => value.unwrap_or(-1) }
        };
        log.note(0, block_on(first));
        log.note(1, i64::from(other.join().unwrap()));
    });
}

#[test]
fn a_send_that_is_not_taken_sends_nothing() {
    classes("a send or a notification", 15, |log| {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(1).unwrap();
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let other = thread::spawn(move || {
            theirs.notify_one();
            let first = receiver.try_recv().unwrap_or(-1);
            (first, receiver.try_recv().unwrap_or(-1))
        });
        let first = async {
            select! { biased; _ = notify.notified() => 0, _ = sender.send(2) => 1 }
        };
        log.note(0, block_on(first));
        let (first, second) = other.join().unwrap();
        log.note(1, first);
        log.note(1, second);
    });
}

#[test]
fn what_is_sent_after_the_other_was_taken_is_still_there() {
    classes("what is left", 2, |log| {
        let ((one, mut ones), (two, mut twos)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let other = thread::spawn(move || two.send(2).unwrap());
        one.send(1).unwrap();
        let first = async {
            select! { biased; value = ones.recv() => value, value = twos.recv() => value }
        };
        log.note(0, block_on(first).unwrap_or(-1));
        log.note(0, twos.try_recv().unwrap_or(-1));
        other.join().unwrap();
    });
}
