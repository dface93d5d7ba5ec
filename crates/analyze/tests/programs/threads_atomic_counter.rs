// expect: atomicity-gap lost-update
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

static NEXT: AtomicU64 = AtomicU64::new(0);

fn next_id() -> u64 {
    let id = NEXT.load(Ordering::SeqCst);
    NEXT.store(id + 1, Ordering::SeqCst); // HERE
    id
}

fn main() {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(next_id);
        }
    });
}
