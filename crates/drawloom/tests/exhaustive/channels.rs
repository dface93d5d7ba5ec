//! `drawloom::channel`: putting something in and taking something else out commute.

use std::sync::Arc;

use drawloom::channel::{self, Receiver, Sender};
use drawloom::thread;

use super::brute::{Log, compare};

/// Compares with brute force; there are so many classes.
fn classes(name: &str, expected: usize, body: impl Fn(&Arc<Log>) + Send + Sync + 'static) {
    let (classes, schedules) = compare(name, body);
    assert_eq!(classes, expected, "{name}: {schedules} schedules");
}

fn sends(sender: Sender<i64>, values: std::ops::Range<i64>) -> thread::JoinHandle<()> {
    thread::spawn(move || values.for_each(|value| sender.send(value).unwrap_or_default()))
}

fn receives(log: &Log, task: usize, receiver: &Receiver<i64>, number: usize) {
    (0..number).for_each(|_| log.note(task, receiver.recv().unwrap_or(-1)));
}

#[test]
fn sending_does_not_depend_on_receiving_what_was_sent_before() {
    classes("sent before", 1, |log| {
        let (sender, receiver) = channel::unbounded();
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let other = sends(sender, 2..4);
        receives(log, 0, &receiver, 2);
        other.join().unwrap();
    });
}

#[test]
fn two_send_and_one_receives() {
    classes("two send", 28, |log| {
        let (sender, receiver) = channel::unbounded();
        let others = [sends(sender.clone(), 1..2), sends(sender, 2..3)];
        receives(log, 0, &receiver, 2);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn two_receive_what_is_there() {
    classes("two receive", 3, |log| {
        let (sender, receiver) = channel::unbounded();
        (0..3).for_each(|value| sender.send(value).unwrap());
        let (theirs, second) = (log.clone(), receiver.clone());
        let other = thread::spawn(move || receives(&theirs, 1, &second, 1));
        receives(log, 0, &receiver, 1);
        other.join().unwrap();
    });
}

#[test]
fn room_is_made_by_one_receive() {
    classes("room", 5, |log| {
        let (sender, receiver) = channel::bounded(2);
        sender.send(0).unwrap();
        let theirs = log.clone();
        let other =
            thread::spawn(move || (1..4).for_each(|value| theirs.note(1, i64::from(sender.try_send(value).is_ok()))));
        (0..2).for_each(|_| log.note(0, receiver.try_recv().unwrap_or(-1)));
        other.join().unwrap();
    });
}

#[test]
fn both_sides_wait() {
    classes("both wait", 16, |log| {
        let (sender, receiver) = channel::bounded(1);
        let other = sends(sender, 0..2);
        receives(log, 0, &receiver, 3);
        other.join().unwrap();
    });
}

#[test]
fn who_closes_it_is_seen_by_all() {
    classes("closed", 6, |log| {
        let (sender, receiver) = channel::bounded(2);
        let (theirs, closing) = (log.clone(), receiver.clone());
        let other = thread::spawn(move || theirs.note(1, i64::from(closing.close())));
        log.note(0, i64::from(sender.try_send(1).is_ok()));
        log.note(0, receiver.try_recv().unwrap_or(-1));
        other.join().unwrap();
    });
}
