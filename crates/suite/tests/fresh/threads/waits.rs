//! Threads that wait.

use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread;

#[derive(Default)]
struct Worker {
    jobs: Mutex<Vec<u32>>,
    wake: Condvar,
    stop: AtomicBool,
    done: AtomicUsize,
}

impl Worker {
    fn run(&self) {
        let mut jobs = self.jobs.lock().unwrap();
        while !self.stop.load(Ordering::SeqCst) {
            if let Some(job) = jobs.pop() {
                self.done.fetch_add(job as usize, Ordering::Relaxed);
            } else {
                jobs = self.wake.wait(jobs).unwrap();
            }
        }
    }

    fn submit(&self, job: u32) {
        self.jobs.lock().unwrap().push(job);
        self.wake.notify_one();
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }
}

/// The flag is set without the lock, between the look at it and the wait.
pub fn worker_shutdown() {
    let worker = Arc::new(Worker::default());
    let theirs = worker.clone();
    let thread = thread::Builder::new().name("worker".into()).spawn(move || theirs.run()).unwrap();
    worker.submit(1);
    worker.stop();
    thread.join().unwrap();
    assert!(worker.done.load(Ordering::Relaxed) <= 1);
}

/// A channel for one item, with one condition variable for both sides.
#[derive(Default)]
struct Handover {
    item: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Handover {
    fn put(&self, value: u32) {
        let mut item = self.item.lock().unwrap();
        while item.is_some() {
            item = self.changed.wait(item).unwrap();
        }
        *item = Some(value);
        self.changed.notify_one();
    }

    fn take(&self) -> u32 {
        let mut item = self.item.lock().unwrap();
        loop {
            if let Some(value) = item.take() {
                self.changed.notify_one();
                return value;
            }
            item = self.changed.wait(item).unwrap();
        }
    }
}

/// A notification that wakes one of the wrong side.
pub fn wrong_waiter() {
    let handover = Arc::new(Handover::default());
    let mut all = Vec::new();
    for value in 1..=2 {
        let theirs = handover.clone();
        all.push(thread::Builder::new().name(format!("taker {value}")).spawn(move || theirs.take()).unwrap());
    }
    for value in 1..=2 {
        let theirs = handover.clone();
        let put = move || {
            theirs.put(value);
            0
        };
        all.push(thread::Builder::new().name(format!("giver {value}")).spawn(put).unwrap());
    }
    let sum: u32 = all.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(sum, 3);
}

struct Account {
    balance: i64,
}

struct Bank {
    accounts: Vec<Mutex<Account>>,
    transfers: AtomicUsize,
}

impl Bank {
    fn transfer(&self, from: usize, to: usize, amount: i64) {
        let mut from = self.accounts[from].lock().unwrap();
        let mut to = self.accounts[to].lock().unwrap();
        from.balance -= amount;
        to.balance += amount;
        self.transfers.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two transfers in opposite directions.
pub fn two_accounts() {
    let accounts = [100, 50].map(|balance| Mutex::new(Account { balance })).into();
    let bank = Arc::new(Bank { accounts, transfers: AtomicUsize::new(0) });
    let theirs = bank.clone();
    let other = thread::spawn(move || theirs.transfer(1, 0, 10));
    bank.transfer(0, 1, 30);
    other.join().unwrap();
    assert_eq!(bank.accounts.iter().map(|account| account.lock().unwrap().balance).sum::<i64>(), 150);
}
