//! Channels with many senders.

use std::sync::Arc;

use drawloom::future::block_on;
use drawloom::thread;
use drawloom_tokio::sync::mpsc::{self, error::TryRecvError};

use super::brute::{Log, compare};

/// Compares with brute force; there are so many classes.
fn classes(name: &str, expected: usize, body: impl Fn(&Arc<Log>) + Send + Sync + 'static) {
    let (classes, schedules) = compare(name, body);
    assert_eq!(classes, expected, "{name}: {schedules} schedules");
}

fn receive_all(log: &Log, mut receiver: mpsc::Receiver<i64>) {
    while let Some(value) = block_on(receiver.recv()) {
        log.note(0, value);
    }
}

#[test]
fn a_message_is_received_after_it_was_sent() {
    classes("one message", 2, |log| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        other.join().unwrap();
    });
}

#[test]
fn sending_does_not_depend_on_receiving_what_was_sent_before() {
    classes("three messages", 1, |log| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.send(2).unwrap());
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        other.join().unwrap();
    });
}

#[test]
fn two_senders_are_received_in_either_order() {
    classes("two senders", 72, |log| {
        let (sender, receiver) = mpsc::channel(4);
        let theirs = sender.clone();
        let first = thread::spawn(move || block_on(theirs.send(1)).unwrap());
        let second = thread::spawn(move || block_on(sender.send(2)).unwrap());
        receive_all(log, receiver);
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn a_full_channel_lets_senders_wait_for_room() {
    classes("no room", 64, |log| {
        let (sender, receiver) = mpsc::channel(1);
        let other = thread::spawn(move || (0..3).for_each(|value| block_on(sender.send(value)).unwrap()));
        receive_all(log, receiver);
        other.join().unwrap();
    });
}

#[test]
fn a_sender_needs_the_room_that_one_receive_makes() {
    classes("room for two", 7, |log| {
        let (sender, mut receiver) = mpsc::channel(2);
        sender.try_send(0).unwrap();
        sender.try_send(1).unwrap();
        let theirs = log.clone();
        let other = thread::spawn(move || {
            theirs.note(1, i64::from(sender.try_send(2).is_ok()));
            theirs.note(1, i64::from(sender.try_send(3).is_ok()));
        });
        for _ in 0..3 {
            log.note(0, receiver.try_recv().unwrap_or(-1));
        }
        other.join().unwrap();
    });
}

#[test]
fn two_wait_for_room() {
    classes("two wait", 1560, |log| {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(0).unwrap();
        let senders: Vec<_> = (1..3)
            .map(|value| {
                let sender = sender.clone();
                thread::spawn(move || block_on(sender.send(value)).is_ok())
            })
            .collect();
        for _ in 0..3 {
            log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        }
        drop(senders);
    });
}

#[test]
fn trying_fails_where_nothing_is() {
    classes("tries", 8, |log| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        for _ in 0..3 {
            log.note(
                0,
                match receiver.try_recv() {
                    Ok(value) => value,
                    Err(TryRecvError::Empty) => -1,
                    Err(TryRecvError::Disconnected) => -2,
                },
            );
        }
        other.join().unwrap();
    });
}

#[test]
fn a_receiver_closes_while_others_send() {
    classes("closing", 68, |log| {
        let (sender, mut receiver) = mpsc::channel(1);
        let theirs = log.clone();
        let other = thread::spawn(move || {
            for value in 0..2 {
                theirs.note(1, i64::from(block_on(sender.send(value)).is_ok()));
            }
        });
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        receiver.close();
        receive_all(log, receiver);
        other.join().unwrap();
    });
}

#[test]
fn a_dropped_receiver_takes_what_is_there_along() {
    classes("receiver dropped", 6, |log| {
        let (sender, receiver) = mpsc::channel(2);
        let other = thread::spawn(move || drop(receiver));
        for value in 0..2 {
            log.note(0, i64::from(sender.try_send(value).is_ok()));
        }
        other.join().unwrap();
    });
}

#[test]
fn permits_are_room_that_is_kept() {
    classes("permits", 264, |log| {
        let (sender, receiver) = mpsc::channel(2);
        let theirs = sender.clone();
        let first = thread::spawn(move || {
            let permit = block_on(theirs.reserve()).unwrap();
            permit.send(1);
        });
        let second = thread::spawn(move || block_on(sender.send(2)).unwrap());
        receive_all(log, receiver);
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn what_looks_at_a_channel_sees_who_was_first() {
    classes("looks", 5, |log| {
        let (sender, mut receiver) = mpsc::channel(3);
        sender.try_send(0).unwrap();
        let theirs = log.clone();
        let other = thread::spawn(move || {
            sender.try_send(1).unwrap();
            theirs.note(1, sender.capacity() as i64);
        });
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        log.note(0, receiver.len() as i64);
        other.join().unwrap();
    });
}

#[test]
fn several_are_received_at_once() {
    classes("many", 60, |log| {
        let (sender, mut receiver) = mpsc::channel(2);
        let other = thread::spawn(move || (0..3).for_each(|value| block_on(sender.send(value)).unwrap()));
        let mut all = Vec::new();
        while block_on(receiver.recv_many(&mut all, 2)) > 0 {
            log.note(0, all.len() as i64);
        }
        other.join().unwrap();
    });
}

#[test]
fn a_weak_sender_finds_the_channel_open_or_not() {
    classes("weak", 11, |log| {
        let (sender, receiver) = mpsc::channel(1);
        let weak = sender.downgrade();
        let theirs = log.clone();
        let other = thread::spawn(move || {
            let sender = weak.upgrade();
            theirs.note(1, i64::from(sender.is_some()));
            sender.into_iter().for_each(|sender| block_on(sender.send(7)).unwrap());
        });
        drop(sender);
        receive_all(log, receiver);
        other.join().unwrap();
    });
}

#[test]
fn who_gives_up_waiting_for_room_lets_the_next_have_it() {
    classes("giving up", 9, |log| {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(0).unwrap();
        let theirs = sender.clone();
        let first = thread::spawn(move || {
            let mut polls = 0;
            let mut send = Box::pin(theirs.send(1));
            block_on(std::future::poll_fn(|context| {
                polls += 1;
                match send.as_mut().poll(context) {
                    std::task::Poll::Pending if polls == 1 => std::task::Poll::Ready(false),
                    poll => poll.map(|sent| sent.is_ok()),
                }
            }))
        });
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
        log.note(0, i64::from(block_on(sender.send(2)).is_ok()));
        log.note(1, i64::from(first.join().unwrap()));
        log.note(0, block_on(receiver.recv()).unwrap_or(-1));
    });
}

#[test]
fn a_request_is_answered() {
    classes("requests", 40, |log| {
        let (requests, mut asked) = mpsc::channel::<(i64, mpsc::UnboundedSender<i64>)>(1);
        let server = thread::spawn(move || {
            while let Some((value, answer)) = block_on(asked.recv()) {
                answer.send(value + 1).unwrap();
            }
        });
        let (answer, mut answers) = mpsc::unbounded_channel();
        for value in 0..2 {
            block_on(requests.send((value, answer.clone()))).unwrap();
            log.note(0, block_on(answers.recv()).unwrap_or(-1));
        }
        drop(requests);
        server.join().unwrap();
    });
}
