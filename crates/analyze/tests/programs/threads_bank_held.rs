// expect: clean
use std::sync::{Arc, Mutex};
use std::thread;

struct Bank {
    balance: Mutex<i64>,
}

fn withdraw(bank: &Bank, amount: i64) {
    let mut balance = bank.balance.lock().unwrap();
    let before = *balance;
    *balance = before - amount;
}

fn main() {
    let bank = Arc::new(Bank { balance: Mutex::new(100) });
    let other = bank.clone();
    let handle = thread::spawn(move || withdraw(&other, 10));
    withdraw(&bank, 20);
    handle.join().unwrap();
}
