//! `drawloom::channel`: putting something in and taking something else out commute.

use std::sync::Arc;

use drawloom::channel::{self, Receiver, Sender};
use drawloom::thread;

use super::brute::{Log, Numbers, compare, compare_random};

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

/// What a task does with its end of a channel.
#[derive(Clone, Copy, Debug)]
enum Does {
    Send,
    TrySend,
    Recv,
    TryRecv,
    Len,
    Close,
}

/// A channel with so much room, what is in it at first, and what its tasks do, each with an end of either side of its own.
#[derive(Debug)]
struct Program {
    capacity: Option<usize>,
    before: usize,
    tasks: Vec<Vec<Does>>,
}

fn program(seed: u64) -> Program {
    use Does::{Close, Len, Recv, Send, TryRecv, TrySend};
    let mut numbers = Numbers::new(seed);
    let capacity = numbers.of(&[None, Some(0), Some(1), Some(2), Some(2), Some(3)]);
    let before = numbers.below(1 + capacity.unwrap_or(2) as u64) as usize;
    let all = [Send, Send, TrySend, TrySend, Recv, TryRecv, TryRecv, TryRecv, Len, Close];
    let tasks = (0..2).map(|_| (0..1 + numbers.below(2)).map(|_| numbers.of(&all)).collect()).collect();
    Program { capacity, before, tasks }
}

impl Program {
    fn run(&self, log: &Arc<Log>) {
        let (sender, receiver) = self.capacity.map_or_else(channel::unbounded, channel::bounded);
        (0..self.before as i64).for_each(|value| sender.send(value).unwrap());
        let tasks: Vec<_> = (1..)
            .zip(self.tasks.clone())
            .map(|(me, all)| {
                let (sender, receiver, log) = (sender.clone(), receiver.clone(), log.clone());
                thread::spawn(move || {
                    for (value, what) in (10 * me..).zip(all) {
                        log.note(me as usize, act(what, value, &sender, &receiver));
                    }
                })
            })
            .collect();
        drop((sender, receiver));
        tasks.into_iter().for_each(|task| task.join().unwrap());
    }
}

fn act(what: Does, value: i64, sender: &Sender<i64>, receiver: &Receiver<i64>) -> i64 {
    match what {
        Does::Send => i64::from(sender.send(value).is_ok()),
        Does::TrySend => i64::from(sender.try_send(value).is_ok()),
        Does::Recv => receiver.recv().unwrap_or(-1),
        Does::TryRecv => receiver.try_recv().unwrap_or(-2),
        Does::Len => 100 + receiver.len() as i64,
        Does::Close => 200 + i64::from(receiver.close()),
    }
}

#[test]
fn random_programs_are_exhausted_class_by_class() {
    compare_random(0..30, 4_000, program, Program::run);
}

/// A minute: `cargo test --release -p drawloom --test exhaustive -- --include-ignored so_are_many_random`.
#[test]
#[ignore = "takes a minute: run in release"]
fn so_are_many_random_programs() {
    compare_random(0..1_000, 5_000, program, Program::run);
}
