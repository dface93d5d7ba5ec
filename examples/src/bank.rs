//! A deposit that gets lost: the lock is taken twice, and what was read under the first is out of
//! date under the second.

use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// Adds to the balance, and may overwrite what another deposit has added meanwhile.
pub fn deposit_buggy(account: &Mutex<u32>, amount: u32) {
    let balance = *account.lock().unwrap();
    *account.lock().unwrap() = balance + amount;
}

/// Adds to the balance, which is read and written under one lock.
pub fn deposit_fixed(account: &Mutex<u32>, amount: u32) {
    *account.lock().unwrap() += amount;
}

/// Two deposits at the same time: both arrive.
pub fn both_arrive(deposit: fn(&Mutex<u32>, u32)) {
    let account = Arc::new(Mutex::new(100));
    drawloom::label(&account, "account");
    let theirs = account.clone();
    let other = thread::spawn(move || deposit(&theirs, 20));
    deposit(&account, 10);
    other.join().unwrap();
    assert_eq!(*account.lock().unwrap(), 130, "a deposit was lost");
}
