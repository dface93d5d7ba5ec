//! Channels under control: what only an exploration shows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::Exploration;
use drawloom::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use drawloom::{explore, thread};

fn random(executions: u32, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    let config = format!("random(iterations = {executions}), threads = 1, leaks = false");
    explore(config.parse().expect("a valid configuration"), body)
}

/// What the executions of `body` came to, without doubles.
fn results(executions: u32, body: impl Fn() -> String + Send + Sync + 'static) -> BTreeSet<String> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let exploration = random(executions, move || {
        let result = body();
        theirs.lock().unwrap().insert(result);
    });
    let wrong = exploration.findings().iter().find(|failure| failure.finding.kind.word() != "nothing explored");
    assert!(wrong.is_none(), "{:?}", exploration.findings()[0].finding);
    let seen = seen.lock().unwrap();
    seen.clone()
}

fn texts(expected: &[&str]) -> BTreeSet<String> {
    expected.iter().map(ToString::to_string).collect()
}

#[test]
fn both_orders_of_two_sends_are_explored() {
    let found = results(100, || {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let a = thread::spawn(move || sender.send('a').unwrap());
        let b = thread::spawn(move || other.send('b').unwrap());
        let got: String = receiver.iter().collect();
        a.join().unwrap();
        b.join().unwrap();
        got
    });
    assert_eq!(found, texts(&["ab", "ba"]));
}

#[test]
fn a_send_races_with_the_drop_of_the_receiver() {
    let found = results(100, || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1).is_ok());
        drop(receiver);
        other.join().unwrap().to_string()
    });
    assert_eq!(found, texts(&["false", "true"]));
}

#[test]
fn try_recv_comes_to_all_that_it_can() {
    let found = results(200, || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        let first = receiver.try_recv();
        let second = receiver.try_recv();
        other.join().unwrap();
        format!("{first:?} {second:?}")
    });
    let expected = texts(&["Err(Empty) Err(Empty)", "Err(Empty) Ok(1)", "Ok(1) Err(Empty)", "Ok(1) Err(Disconnected)"]);
    assert_eq!(found, expected);
}

#[test]
fn a_rendezvous_try_send_needs_a_receiver_that_waits() {
    let found = results(100, || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = thread::spawn(move || receiver.recv().is_ok());
        let sent = match sender.try_send(1) {
            Ok(()) => "sent",
            Err(TrySendError::Full(1)) => "full",
            Err(_) => "lost",
        };
        drop(sender);
        format!("{sent} {}", other.join().unwrap())
    });
    assert_eq!(found, texts(&["full false", "sent true"]));
}

#[test]
fn a_rendezvous_send_that_fails_gives_its_own_message_back() {
    let found = results(200, || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let senders: Vec<_> = ["a", "b", "c"]
            .map(|message| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(message).map_err(|returned| returned.0))
            })
            .into();
        let first = receiver.recv().unwrap();
        drop(receiver);
        for (i, sender) in senders.into_iter().enumerate() {
            let own = ["a", "b", "c"][i];
            match sender.join().unwrap() {
                Ok(()) => assert_eq!(own, first, "only what was received was sent"),
                Err(message) => {
                    assert_eq!(message, own, "a send that fails gives its own message back")
                }
            }
        }
        first.to_owned()
    });
    assert_eq!(found, texts(&["a", "b", "c"]));
}

#[test]
fn a_timeout_is_virtual_and_loses_to_a_sender_that_can_go_on() {
    let found = results(50, || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        let hour = Duration::from_secs(3600);
        let first = receiver.recv_timeout(hour);
        let _sender = other.join().unwrap();
        let second = receiver.recv_timeout(hour);
        assert_eq!(second, Err(RecvTimeoutError::Timeout));
        format!("{first:?}")
    });
    assert_eq!(found, texts(&["Ok(1)"]));
}

#[test]
fn a_receive_that_timed_out_has_taken_nothing() {
    let found = results(50, || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let late = receiver.recv_timeout(Duration::from_millis(1));
        let other = thread::spawn(move || sender.send(7).unwrap());
        let got = receiver.recv();
        other.join().unwrap();
        format!("{late:?} {got:?}")
    });
    assert_eq!(found, texts(&["Err(Timeout) Ok(7)"]));
}

#[test]
fn waiting_for_a_message_that_nobody_sends_is_a_deadlock() {
    let exploration = random(1, || {
        let (_sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv();
    });
    let finding = format!("{:?}", exploration.findings()[0].finding);
    assert!(finding.contains("Deadlock"), "{finding}");
}

#[test]
fn a_failed_execution_leaves_no_message_behind() {
    for capacity in [0, 1] {
        let message = Arc::new(());
        let theirs = message.clone();
        let exploration = random(1, move || {
            let (sender, receiver) = mpsc::sync_channel(capacity);
            let senders: Vec<_> = (0..3)
                .map(|_| {
                    let (sender, message) = (sender.clone(), theirs.clone());
                    thread::spawn(move || sender.send(message).is_ok())
                })
                .collect();
            senders.into_iter().for_each(|s| drop(s.join()));
            drop(receiver);
        });
        assert_eq!(exploration.findings().len(), 1, "the senders wait for a receive that never comes");
        drop(exploration);
        assert_eq!(Arc::strong_count(&message), 1, "capacity {capacity}");
    }
}

#[test]
fn a_channel_can_carry_its_own_sender() {
    let found = results(20, || {
        let (sender, receiver) = mpsc::channel();
        sender.send(Box::new(sender.clone()) as Box<dyn std::any::Any + Send>).unwrap();
        drop(receiver);
        sender.send(Box::new(())).is_err().to_string()
    });
    assert_eq!(found, texts(&["true"]));
}

#[test]
fn a_channel_from_outside_carries_results_out() {
    let (sender, receiver) = mpsc::channel();
    random(10, move || {
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.send(1).unwrap());
        sender.send(1).unwrap();
        other.join().unwrap();
    });
    let sum: i32 = receiver.try_iter().sum();
    assert!(sum >= 20, "{sum}");
}

#[test]
fn a_channel_that_outlives_its_execution_is_a_plain_queue() {
    type Ends = (mpsc::SyncSender<i32>, mpsc::Receiver<i32>);
    let ends: Arc<Mutex<Vec<Ends>>> = Arc::default();
    let theirs = ends.clone();
    random(1, move || {
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(1).unwrap();
        theirs.lock().unwrap().push((sender, receiver));
    });
    let (sender, receiver) = ends.lock().unwrap().pop().unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receiver.recv(), Ok(1));
    assert!(receiver.recv().is_err(), "it does not wait for ever");
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(Duration::from_secs(9)), Err(RecvTimeoutError::Timeout));
    sender.send(3).unwrap();
    let another = sender.clone();
    drop(sender);
    assert_eq!(receiver.recv(), Ok(3));
    drop(another);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn a_channel_of_an_earlier_execution_is_under_control_in_the_next() {
    type Ends = (mpsc::Sender<u64>, mpsc::Receiver<u64>);
    let ends: Arc<Mutex<Option<Ends>>> = Arc::default();
    let theirs = ends.clone();
    random(1, move || *theirs.lock().unwrap() = Some(mpsc::channel()));
    let exploration = random(20, move || {
        let (sender, receiver) = ends.lock().unwrap().take().unwrap();
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        other.join().unwrap();
        *ends.lock().unwrap() = Some((sender, receiver));
    });
    assert!(exploration.findings().is_empty(), "{:?}", exploration.findings()[0].finding);
    assert_eq!(exploration.executions(), 20);
}

#[test]
fn a_channel_can_be_named_wherever_it_was_made() {
    let (outside, _receiver) = mpsc::channel::<()>();
    drawloom::label(&outside, "outside");
    let found = results(1, move || {
        drawloom::label(&outside, "outside");
        let (sender, receiver) = mpsc::sync_channel::<()>(1);
        drawloom::label(&sender, "ours");
        drawloom::label(&receiver, "ours");
        String::new()
    });
    assert_eq!(found, texts(&[""]));
}
