// expect: clean
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

type Accounts = Arc<Mutex<HashMap<u32, i64>>>;

fn withdraw(accounts: &Accounts, id: u32, amount: i64) -> bool {
    let mut accounts = accounts.lock().unwrap();
    let balance = accounts.entry(id).or_insert(0);
    if *balance < amount {
        return false;
    }
    *balance -= amount;
    true
}

fn main() {
    let accounts: Accounts = Arc::new(Mutex::new(HashMap::from([(1, 100)])));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let accounts = accounts.clone();
            thread::spawn(move || withdraw(&accounts, 1, 80))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
