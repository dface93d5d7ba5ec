//! Steps that belong together, and do not stay together.

use drawloom::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// Lost update: read, add, write back.
pub fn lost_update() {
    struct Account {
        balance: AtomicU64,
    }
    fn deposit(account: &Account) {
        let balance = account.balance.load(SeqCst);
        account.balance.store(balance + 10, SeqCst);
    }
    fn withdraw(account: &Account) {
        let balance = account.balance.load(SeqCst);
        account.balance.store(balance - 30, SeqCst);
    }
    let account = Arc::new(Account { balance: AtomicU64::new(100) });
    let (one, other) = (account.clone(), account.clone());
    let tasks = [thread::spawn(move || deposit(&one)), thread::spawn(move || withdraw(&other))];
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert_eq!(account.balance.load(SeqCst), 80, "money was lost or made");
}

/// Check-then-act: the last seat is sold twice.
pub fn check_then_act() {
    fn book(free: &AtomicUsize, sold: &AtomicUsize) {
        if free.load(SeqCst) > 0 {
            free.fetch_sub(1, SeqCst);
            sold.fetch_add(1, SeqCst);
        }
    }
    let free = Arc::new(AtomicUsize::new(1));
    let sold = Arc::new(AtomicUsize::new(0));
    let buyers = [0, 1].map(|_| {
        let (free, sold) = (free.clone(), sold.clone());
        thread::spawn(move || book(&free, &sold))
    });
    buyers.into_iter().for_each(|buyer| buyer.join().unwrap());
    assert!(sold.load(SeqCst) <= 1, "one seat, {} tickets", sold.load(SeqCst));
}

/// Atomicity gap: both halves hold the lock, but not from the one to the other.
pub fn two_locked_sections() {
    fn rename(names: &Mutex<Vec<&'static str>>, to: &'static str) {
        let position = names.lock().unwrap().len() - 1;
        names.lock().unwrap()[position] = to;
    }
    let names = Arc::new(Mutex::new(vec!["draft", "copy"]));
    let theirs = names.clone();
    let remover = thread::spawn(move || {
        theirs.lock().unwrap().pop();
    });
    rename(&names, "final");
    remover.join().unwrap();
}
