// expect: toctou
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Hall {
    left: AtomicUsize,
}

impl Hall {
    fn sell(&self) -> bool {
        if self.left.load(Ordering::SeqCst) > 0 {
            self.left.fetch_sub(1, Ordering::SeqCst); // HERE
            true
        } else {
            false
        }
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
