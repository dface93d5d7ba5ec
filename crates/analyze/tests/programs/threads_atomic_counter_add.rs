// expect: clean
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

static NEXT: AtomicU64 = AtomicU64::new(0);

fn next_id() -> u64 {
    NEXT.fetch_add(1, Ordering::SeqCst)
}

fn main() {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(next_id);
        }
    });
    println!("{}", NEXT.load(Ordering::SeqCst));
}
