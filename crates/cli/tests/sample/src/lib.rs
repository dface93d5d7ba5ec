//! Accounts, some of them with a bug.

use drawloom::sync::Mutex;

#[cfg(feature = "broken")]
compile_error!("this project does not compile");

/// Takes the lock once.
pub fn deposit(account: &Mutex<u32>, amount: u32) {
    *account.lock().unwrap() += amount;
}

/// Takes the lock twice: another deposit may come in between.
pub fn deposit_in_two_steps(account: &Mutex<u32>, amount: u32) {
    let balance = *account.lock().unwrap();
    *account.lock().unwrap() = balance + amount;
}

/// Takes both locks, in the order in which they are given.
pub fn transfer(from: &Mutex<u32>, to: &Mutex<u32>, amount: u32) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    *from -= amount;
    *to += amount;
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ordinary_test() {
        assert_eq!(2 + 2, 4);
    }
}
