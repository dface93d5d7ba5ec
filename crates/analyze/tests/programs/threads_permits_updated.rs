// expect: clean
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Permits {
    left: AtomicUsize,
}

impl Permits {
    fn take(&self) -> bool {
        if self.left.load(Ordering::Relaxed) == 0 {
            return false;
        }
        self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1)).is_ok()
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
