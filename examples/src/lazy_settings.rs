//! Double-checked initialisation that raises its flag too early: whoever sees the flag reads a value
//! that is not there yet.

use drawloom::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// A setting that is read from somewhere slow, once.
#[derive(Default)]
pub struct Settings {
    initialising: Mutex<()>,
    ready: AtomicBool,
    limit: AtomicU32,
}

fn read_slowly() -> u32 {
    64
}

impl Settings {
    /// The limit; raises the flag before the value is there.
    pub fn limit_buggy(&self) -> u32 {
        if !self.ready.load(SeqCst) {
            let _initialising = self.initialising.lock().unwrap();
            if !self.ready.load(SeqCst) {
                self.ready.store(true, SeqCst);
                self.limit.store(read_slowly(), SeqCst);
            }
        }
        self.limit.load(SeqCst)
    }

    /// The limit; the flag is the last thing that is written.
    pub fn limit_fixed(&self) -> u32 {
        if !self.ready.load(SeqCst) {
            let _initialising = self.initialising.lock().unwrap();
            if !self.ready.load(SeqCst) {
                self.limit.store(read_slowly(), SeqCst);
                self.ready.store(true, SeqCst);
            }
        }
        self.limit.load(SeqCst)
    }
}

/// Two tasks ask at the same time: both see the limit.
pub fn everybody_sees_the_limit(limit: fn(&Settings) -> u32) {
    let settings = Arc::new(Settings::default());
    let theirs = settings.clone();
    let other = thread::spawn(move || limit(&theirs));
    assert_eq!(limit(&settings), 64, "the limit was read before it was set");
    assert_eq!(other.join().unwrap(), 64, "the limit was read before it was set");
}
