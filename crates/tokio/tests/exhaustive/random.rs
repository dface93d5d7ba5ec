//! Random programs with a channel, against brute force.

use std::sync::Arc;

use drawloom::future::block_on;
use drawloom::thread;
use drawloom_tokio::sync::mpsc;

use super::brute::{Enumerated, Lab, Log, Subject, exhaust_with_two};

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

/// The numbers of a program, from its seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

fn program(seed: u64) -> Program {
    use Receives::{Close, Len, Many, Recv, TryRecv};
    use Sends::{Capacity, GiveUp, IsClosed, Reserve, Send, TrySend};
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
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

/// Compares with brute force; false if there are too many schedules.
fn is_exhausted(seed: u64, most: u64) -> bool {
    let program = program(seed);
    let body = program.clone();
    let subject =
        Subject { body: Arc::new(move |log| body.run(log)), asks_for_exits: false, has_gate: false, early_fires: 0 };
    let mut lab = Lab::new();
    let Some(Enumerated { classes, problems, .. }) = lab.every_schedule(&subject, most) else { return false };
    assert!(problems.is_empty(), "{seed}: {program:?}: {problems:?}");
    for mut ran in [lab.exhaust(&subject), exhaust_with_two(&subject)] {
        ran.sort();
        let distinct: std::collections::BTreeMap<_, _> = ran.iter().cloned().collect();
        assert_eq!(distinct.len(), ran.len(), "{seed}: {program:?}: a class was run twice");
        assert_eq!(distinct, classes, "{seed}: {program:?}");
    }
    true
}

fn compare_some(seeds: std::ops::Range<u64>, most: u64) {
    let number = seeds.end - seeds.start;
    let compared = seeds.filter(|seed| is_exhausted(*seed, most)).count() as u64;
    eprintln!("{compared} of {number} random programs compared");
    assert!(compared * 3 > number, "{compared} of {number}");
}

#[test]
fn random_programs_are_exhausted_class_by_class() {
    compare_some(0..40, 2_000);
}

/// Some minutes: `cargo test --release -p drawloom-tokio --test exhaustive -- --include-ignored many_random`.
#[test]
#[ignore = "takes minutes"]
fn so_are_many_random_programs() {
    compare_some(0..1_000, 5_000);
}
