//! A deposit that is lost.

use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

fn deposit(account: &Mutex<u32>, amount: u32) {
    let balance = *account.lock().unwrap();
    *account.lock().unwrap() = balance + amount;
}

#[drawloom::test]
fn a_deposit_is_lost() {
    let account = Arc::new(Mutex::new(100));
    let theirs = account.clone();
    let other = thread::spawn(move || deposit(&theirs, 20));
    deposit(&account, 10);
    other.join().unwrap();
    assert_eq!(*account.lock().unwrap(), 130);
}
