//! Tasks that wait for ever, or are busy for ever.

use drawloom::sync::atomic::{AtomicBool, Ordering::SeqCst};
use drawloom::sync::{Arc, Condvar, Mutex, mpsc};
use drawloom::thread;

struct Account {
    balance: Mutex<u64>,
}

fn transfer(from: &Account, to: &Account, amount: u64) {
    let mut debit = from.balance.lock().unwrap();
    let mut credit = to.balance.lock().unwrap();
    *debit -= amount;
    *credit += amount;
}

/// AB/BA: two transfers in opposite directions.
pub fn opposite_order() {
    let ours = Arc::new(Account { balance: Mutex::new(100) });
    let theirs = Arc::new(Account { balance: Mutex::new(100) });
    drawloom::label(&ours.balance, "ours");
    drawloom::label(&theirs.balance, "theirs");
    let (from, to) = (ours.clone(), theirs.clone());
    let there = thread::spawn(move || transfer(&from, &to, 10));
    let back = thread::spawn(move || transfer(&theirs, &ours, 20));
    there.join().unwrap();
    back.join().unwrap();
}

/// Three philosophers, three forks.
pub fn three_cycle() {
    fn dine(left: &Mutex<()>, right: &Mutex<()>) {
        let _left = left.lock().unwrap();
        let _right = right.lock().unwrap();
    }
    let first = Arc::new(Mutex::new(()));
    let second = Arc::new(Mutex::new(()));
    let third = Arc::new(Mutex::new(()));
    let pairs = [(&first, &second), (&second, &third), (&third, &first)];
    let dinners = pairs.map(|(left, right)| {
        let (left, right) = (left.clone(), right.clone());
        thread::spawn(move || dine(&left, &right))
    });
    dinners.into_iter().for_each(|dinner| dinner.join().unwrap());
}

/// Lost wake-up: the notification falls between the look and the wait.
pub fn lost_wakeup() {
    struct Gate {
        open: AtomicBool,
        lock: Mutex<()>,
        opened: Condvar,
    }
    let gate = Arc::new(Gate { open: AtomicBool::new(false), lock: Mutex::new(()), opened: Condvar::new() });
    let theirs = gate.clone();
    let visitor = thread::spawn(move || {
        if !theirs.open.load(SeqCst) {
            let held = theirs.lock.lock().unwrap();
            drop(theirs.opened.wait(held).unwrap());
        }
    });
    gate.open.store(true, SeqCst);
    gate.opened.notify_one();
    visitor.join().unwrap();
}

/// Lost wake-up: the lock is given back between the look and the wait.
pub fn looked_in_a_section_before() {
    let door = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = door.clone();
    let visitor = thread::spawn(move || {
        let open = *theirs.0.lock().unwrap();
        if !open {
            let held = theirs.0.lock().unwrap();
            drop(theirs.1.wait(held).unwrap());
        }
    });
    *door.0.lock().unwrap() = true;
    door.1.notify_one();
    visitor.join().unwrap();
}

/// Lost wake-up: two wait, and one is woken. Nothing has a name where it is made.
pub fn one_of_several() {
    #[derive(Default)]
    struct Gate {
        open: Mutex<bool>,
        opened: Condvar,
    }
    impl Gate {
        fn pass(&self) {
            let mut open = self.open.lock().unwrap();
            while !*open {
                open = self.opened.wait(open).unwrap();
            }
        }
    }
    let gate = Arc::new(Gate::default());
    let visitors = [gate.clone(), gate.clone()].map(|gate| thread::spawn(move || gate.pass()));
    *gate.open.lock().unwrap() = true;
    gate.opened.notify_one();
    visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
}

/// Deadlock: who is waited for needs what the waiting one holds.
pub fn joined_under_a_lock() {
    let count = Arc::new(Mutex::new(0));
    let theirs = count.clone();
    let held = count.lock().unwrap();
    let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
    other.join().unwrap();
    drop(held);
}

/// Livelock: each lets the other go first.
pub fn livelock() {
    fn pass(mine: &AtomicBool, theirs: &AtomicBool) {
        while !theirs.load(SeqCst) {
            thread::yield_now();
        }
        mine.store(true, SeqCst);
    }
    let left = Arc::new(AtomicBool::new(false));
    let right = Arc::new(AtomicBool::new(false));
    let (mine, theirs) = (left.clone(), right.clone());
    let other = thread::spawn(move || pass(&mine, &theirs));
    pass(&right, &left);
    other.join().unwrap();
}

/// Starvation: the receiver waits for the channel to close, and a sender is kept.
pub fn channel_starvation() {
    let (sender, jobs) = mpsc::channel();
    let worker = thread::spawn(move || jobs.iter().sum::<u32>());
    let theirs = sender.clone();
    let producer = thread::spawn(move || theirs.send(1).unwrap());
    producer.join().unwrap();
    assert_eq!(worker.join().unwrap(), 1);
    drop(sender);
}
