// expect: toctou
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Job {
    started: AtomicBool,
}

impl Job {
    fn start(&self) -> bool {
        if self.started.load(Ordering::SeqCst) {
            return false;
        }
        self.started.store(true, Ordering::SeqCst); // HERE
        true
    }
}

fn main() {
    let job = Arc::new(Job { started: AtomicBool::new(false) });
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let job = Arc::clone(&job);
            thread::spawn(move || job.start())
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
}
