//! A counter that is read and written in two steps: two clients are given the same number.

use drawloom::history::Watch;
use drawloom::history::model::{Counter as Sums, CounterOp, CounterRet};
use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicI64, Ordering};
use drawloom::thread;

/// Gives out numbers.
#[derive(Default)]
pub struct Counter(AtomicI64);

impl Counter {
    /// The next number, but another client may read the sum before this one has written it.
    pub fn next_buggy(&self) -> i64 {
        let sum = self.0.load(Ordering::SeqCst) + 1;
        self.0.store(sum, Ordering::SeqCst);
        sum
    }

    /// The next number.
    pub fn next_fixed(&self) -> i64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// Two clients take two numbers each.
pub fn counts(next: fn(&Counter) -> i64) {
    let (watch, counter) = (Watch::new(Sums::default()), Arc::new(Counter::default()));
    let clients = [watch.client(), watch.client()].map(|mut client| {
        let counter = counter.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                client.call(CounterOp::AddAndGet(1), || CounterRet::Sum(next(&counter)));
            }
        })
    });
    for client in clients {
        client.join().unwrap();
    }
}
