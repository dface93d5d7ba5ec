// expect: clean
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub struct Window {
    core: Mutex<()>,
    limit: AtomicU64,
}

impl Window {
    pub fn acknowledge(&self, value: u64) {
        let _guard = self.core.lock().unwrap();
        let limit = self.limit.load(Ordering::SeqCst);
        if value > limit {
            self.limit.store(value, Ordering::SeqCst);
        }
    }
}

fn main() {
    let window = Window { core: Mutex::new(()), limit: AtomicU64::new(0) };
    thread::scope(|scope| {
        for value in 0..4 {
            let window = &window;
            scope.spawn(move || window.acknowledge(value));
        }
    });
}
