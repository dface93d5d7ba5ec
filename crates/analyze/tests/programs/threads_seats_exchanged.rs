// expect: clean
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Hall {
    left: AtomicUsize,
}

impl Hall {
    fn sell(&self) -> bool {
        let mut seen = self.left.load(Ordering::Relaxed);
        while seen > 0 {
            match self.left.compare_exchange_weak(seen, seen - 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }
}

fn main() {
    let hall = Arc::new(Hall { left: AtomicUsize::new(10) });
    let desks: Vec<_> = (0..4)
        .map(|_| {
            let hall = Arc::clone(&hall);
            thread::spawn(move || while hall.sell() {})
        })
        .collect();
    for desk in desks {
        desk.join().unwrap();
    }
}
