// expect: toctou
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Permits {
    left: AtomicUsize,
}

impl Permits {
    fn take(&self) -> bool {
        if self.left.load(Ordering::Acquire) == 0 {
            return false;
        }
        self.left.fetch_sub(1, Ordering::AcqRel); // HERE
        true
    }
}

fn main() {
    let permits = Arc::new(Permits { left: AtomicUsize::new(3) });
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let permits = permits.clone();
            thread::spawn(move || permits.take())
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
}
