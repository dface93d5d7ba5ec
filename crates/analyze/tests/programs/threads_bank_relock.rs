// expect: atomicity-gap lost-update
use std::sync::{Arc, Mutex};
use std::thread;

struct Bank {
    balance: Mutex<i64>,
}

fn withdraw(bank: &Bank, amount: i64) {
    let before = *bank.balance.lock().unwrap();
    let after = before - amount;
    *bank.balance.lock().unwrap() = after; // HERE
}

fn main() {
    let bank = Arc::new(Bank { balance: Mutex::new(100) });
    let other = bank.clone();
    let handle = thread::spawn(move || withdraw(&other, 10));
    withdraw(&bank, 20);
    handle.join().unwrap();
}
