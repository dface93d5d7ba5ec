//! Channels and select, as users write them: under control and outside.

#[path = "support/outcomes.rs"]
mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use drawloom::channel::{
    self, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, bounded, never, unbounded,
};
use drawloom::{select, thread, time};

/// All that `body` comes to, over all of its schedules.
fn outcomes<T: Ord + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    support::outcomes("exhaustive".parse().expect("a strategy"), body).0
}

/// What holds of channels wherever they are used.
fn laws() {
    let (sender, receiver) = bounded(2);
    assert_eq!((sender.len(), sender.capacity(), sender.is_full()), (0, Some(2), false));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert!(receiver.is_full() && !receiver.is_empty());
    let timed_out = sender.send_timeout(3, Duration::from_millis(1)).unwrap_err();
    assert!(timed_out.is_timeout());
    assert_eq!(timed_out.into_inner(), 3);
    let other = receiver.clone();
    assert!(other.same_channel(&receiver));
    assert_eq!(other.recv(), Ok(1));
    drop(sender);
    assert!(receiver.is_closed());
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [2]);
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Disconnected));

    let (sender, receiver) = unbounded();
    sender.send(1).unwrap();
    assert!(sender.close());
    assert!(!receiver.close());
    assert_eq!(sender.send(2), Err(SendError(2)));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
    drop(receiver);

    let (sender, receiver) = bounded::<u32>(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    drop(receiver);
    assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));

    assert_eq!(never::<u32>().recv_deadline(time::Instant::now()), Err(RecvTimeoutError::Timeout));
}

#[test]
fn the_laws_hold_outside_of_an_exploration() {
    laws();
}

#[test]
fn the_laws_hold_under_control() {
    outcomes(|| {
        thread::spawn(thread::yield_now);
        laws();
    });
}

fn pass_on_threads() -> i32 {
    let (sender, receiver) = bounded(0);
    let (done, finished) = unbounded();
    let producer = thread::spawn(move || (0..100).for_each(|n| sender.send(n).unwrap()));
    let consumers: Vec<_> = (0..3)
        .map(|_| {
            let (receiver, done) = (receiver.clone(), done.clone());
            thread::spawn(move || receiver.iter().for_each(|n: i32| done.send(n).unwrap()))
        })
        .collect();
    drop((receiver, done));
    producer.join().unwrap();
    consumers.into_iter().for_each(|consumer| consumer.join().unwrap());
    finished.iter().sum()
}

#[test]
fn threads_pass_messages_from_hand_to_hand() {
    assert_eq!(pass_on_threads(), 4950);
}

#[drawloom::test(iterations = 20)]
fn tasks_pass_messages_from_hand_to_hand() {
    assert_eq!(pass_on_threads(), 4950);
}

#[test]
fn each_message_is_received_once_by_somebody() {
    let seen = outcomes(|| {
        let (sender, receiver) = unbounded();
        let other = receiver.clone();
        let theirs = thread::spawn(move || other.recv().ok());
        sender.send(1).unwrap();
        drop(sender);
        (receiver.recv().ok(), theirs.join().unwrap())
    });
    assert_eq!(seen, BTreeSet::from([(Some(1), None), (None, Some(1))]));
}

#[test]
fn a_select_explores_every_arm_that_is_ready() {
    let seen = outcomes(|| {
        let (first, ones) = bounded(1);
        let (second, twos) = bounded(1);
        first.send(1).unwrap();
        second.send(2).unwrap();
        thread::spawn(thread::yield_now);
        select! {
            recv(ones) -> one => one.unwrap(),
            recv(twos) -> two => two.unwrap(),
            default => 0,
        }
    });
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

#[test]
fn a_select_may_break_a_loop() {
    let (numbers, incoming) = unbounded();
    let (stop, stopped) = bounded::<()>(0);
    let worker = thread::spawn(move || {
        let mut sum = 0;
        loop {
            select! {
                recv(incoming) -> number => match number {
                    Ok(number) => sum += number,
                    Err(_) => break,
                },
                recv(stopped) -> _ => { break }
            }
        }
        sum
    });
    (1..=3).for_each(|n| numbers.send(n).unwrap());
    drop(numbers);
    assert_eq!(worker.join().unwrap(), 6);
    drop(stop);
}

#[test]
fn a_select_can_give_up_in_time() {
    let waited = select! {
        recv(never::<u32>()) -> _ => false,
        default(Duration::from_millis(1)) => true,
    };
    assert!(waited);
}

#[drawloom::test(trace = false)]
#[should_panic(expected = "STARVATION")]
fn a_channel_that_nobody_serves_is_found() {
    let (sender, receiver) = channel::bounded::<u32>(0);
    let theirs = receiver.clone();
    let other = thread::spawn(move || theirs.recv());
    let _ = receiver.recv();
    drop(sender);
    let _ = other.join();
}
