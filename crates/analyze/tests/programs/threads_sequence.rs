// expect: atomicity-gap lost-update
use std::sync::{Arc, Mutex};
use std::thread;

struct Sequence {
    next: Mutex<u64>,
}

impl Sequence {
    fn peek(&self) -> u64 {
        *self.next.lock().unwrap()
    }

    fn set(&self, value: u64) {
        *self.next.lock().unwrap() = value; // HERE
    }

    fn advance(&self) -> u64 {
        let now = self.peek();
        self.set(now + 1);
        now
    }
}

fn main() {
    let sequence = Arc::new(Sequence { next: Mutex::new(0) });
    let all: Vec<_> = (0..4)
        .map(|_| {
            let sequence = Arc::clone(&sequence);
            thread::spawn(move || sequence.advance())
        })
        .collect();
    for one in all {
        one.join().unwrap();
    }
}
