//! Random programs with a channel, against brute force.

use std::sync::Arc;

use drawloom::future::block_on;
use drawloom::thread;
use drawloom_tokio::sync::mpsc;

use super::brute::{Log, Numbers, compare_random};

/// What a sender does.
#[derive(Clone, Copy, Debug)]
enum Sends {
    Send,
    TrySend,
    Reserve,
    GiveUp,
    Capacity,
    IsClosed,
}

/// What the receiver does.
#[derive(Clone, Copy, Debug)]
enum Receives {
    Recv,
    TryRecv,
    Many,
    Len,
    Close,
}

#[derive(Clone, Debug)]
struct Program {
    capacity: usize,
    before: usize,
    senders: Vec<Vec<Sends>>,
    receiver: Vec<Receives>,
}

fn program(seed: u64) -> Program {
    use Receives::{Close, Len, Many, Recv, TryRecv};
    use Sends::{Capacity, GiveUp, IsClosed, Reserve, Send, TrySend};
    let mut numbers = Numbers::new(seed);
    let capacity = 1 + numbers.below(3) as usize;
    let before = numbers.below(1 + capacity as u64) as usize;
    let sends = [Send, Send, Send, TrySend, TrySend, Reserve, GiveUp, Capacity, IsClosed];
    let receives = [Recv, Recv, TryRecv, TryRecv, TryRecv, Many, Len, Close];
    let senders = (0..1 + numbers.below(2)).map(|_| (0..1 + numbers.below(2)).map(|_| numbers.of(&sends)).collect());
    let senders: Vec<Vec<Sends>> = senders.collect();
    let receiver = (0..1 + numbers.below(3)).map(|_| numbers.of(&receives)).collect();
    Program { capacity, before, senders, receiver }
}

impl Program {
    fn run(&self, log: &Arc<Log>) {
        let (sender, mut receiver) = mpsc::channel(self.capacity);
        (0..self.before).for_each(|value| sender.try_send(value as i64).unwrap());
        let senders: Vec<_> = (1..)
            .zip(self.senders.clone())
            .map(|(me, sends)| {
                let (sender, log) = (sender.clone(), log.clone());
                thread::spawn(move || {
                    for (at, what) in sends.into_iter().enumerate() {
                        log.note(me, send(&sender, what, 10 * me as i64 + at as i64));
                    }
                })
            })
            .collect();
        drop(sender);
        for what in &self.receiver {
            match what {
                Receives::Recv => log.note(0, block_on(receiver.recv()).unwrap_or(-1)),
                Receives::TryRecv => log.note(0, receiver.try_recv().unwrap_or(-2)),
                Receives::Many => {
                    let mut all = Vec::new();
                    block_on(receiver.recv_many(&mut all, 2));
                    all.into_iter().for_each(|value| log.note(0, value));
                }
                Receives::Len => log.note(0, 100 + receiver.len() as i64),
                Receives::Close => receiver.close(),
            }
        }
        drop(receiver);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    }
}

fn send(sender: &mpsc::Sender<i64>, what: Sends, value: i64) -> i64 {
    match what {
        Sends::Send => i64::from(block_on(sender.send(value)).is_ok()),
        Sends::TrySend => i64::from(sender.try_send(value).is_ok()),
        Sends::Reserve => block_on(sender.reserve()).map_or(0, |permit| {
            permit.send(value);
            1
        }),
        // Polls once, and goes on without it.
        Sends::GiveUp => {
            let mut future = Box::pin(sender.send(value));
            block_on(std::future::poll_fn(|context| {
                let poll = future.as_mut().poll(context);
                std::task::Poll::Ready(if poll.is_pending() { 2 } else { 1 })
            }))
        }
        Sends::Capacity => 100 + sender.capacity() as i64,
        Sends::IsClosed => 200 + i64::from(sender.is_closed()),
    }
}

#[test]
fn random_programs_are_exhausted_class_by_class() {
    compare_random(0..40, 2_000, program, Program::run);
}

/// Some minutes: `cargo test --release -p drawloom-tokio --test exhaustive -- --include-ignored many_random`.
#[test]
#[ignore = "takes minutes"]
fn so_are_many_random_programs() {
    compare_random(0..1_000, 5_000, program, Program::run);
}
