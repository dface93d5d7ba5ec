//! State that is guarded in one place and not in another, and state that is gone when it is used.

use drawloom::cell::Cell;
use drawloom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// Missing guard: one side takes the lock for the pair, the other does not.
pub fn missing_guard() {
    struct Statistics {
        lock: Mutex<()>,
        sum: AtomicU64,
        count: AtomicU64,
    }
    fn record(statistics: &Statistics, value: u64) {
        let _held = statistics.lock.lock().unwrap();
        let sum = statistics.sum.load(SeqCst);
        statistics.sum.store(sum + value, SeqCst);
        let count = statistics.count.load(SeqCst);
        statistics.count.store(count + 1, SeqCst);
    }
    fn reset(statistics: &Statistics) {
        statistics.sum.store(0, SeqCst);
        statistics.count.store(0, SeqCst);
    }
    let statistics = Arc::new(Statistics { lock: Mutex::new(()), sum: AtomicU64::new(0), count: AtomicU64::new(0) });
    let (one, other) = (statistics.clone(), statistics.clone());
    let tasks = [thread::spawn(move || record(&one, 5)), thread::spawn(move || reset(&other))];
    tasks.into_iter().for_each(|task| task.join().unwrap());
    let (sum, count) = (statistics.sum.load(SeqCst), statistics.count.load(SeqCst));
    assert_eq!(sum, count * 5, "sum and count disagree");
}

/// Stale reference: the slot that was current is recycled while somebody still reads it.
pub fn stale_reference() {
    struct Configuration {
        current: AtomicUsize,
        slots: [AtomicU64; 2],
    }
    fn read(configuration: &Configuration) {
        let slot = configuration.current.load(SeqCst);
        let value = configuration.slots[slot].load(SeqCst);
        assert_ne!(value, 0, "read from a slot that was recycled");
    }
    fn replace(configuration: &Configuration) {
        configuration.slots[1].store(8, SeqCst);
        configuration.current.store(1, SeqCst);
        configuration.slots[0].store(0, SeqCst);
    }
    let configuration =
        Arc::new(Configuration { current: AtomicUsize::new(0), slots: [AtomicU64::new(7), AtomicU64::new(0)] });
    let (one, other) = (configuration.clone(), configuration.clone());
    let tasks = [thread::spawn(move || read(&one)), thread::spawn(move || replace(&other))];
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

/// A cell that tasks share, as those who implement locks have them.
struct Slot {
    value: Cell<i32>,
    full: AtomicBool,
}

// SAFETY: the tasks under control run one at a time; that nothing orders their accesses is what is tested.
unsafe impl Sync for Slot {}

/// Data race: the flag is set before the value is there.
pub fn data_race() {
    let slot = Arc::new(Slot { value: Cell::new(0), full: AtomicBool::new(false) });
    let theirs = slot.clone();
    let writer = thread::spawn(move || {
        theirs.full.store(true, SeqCst);
        theirs.value.set(42);
    });
    if slot.full.load(SeqCst) {
        slot.value.get();
    }
    writer.join().unwrap();
}

/// Data race: a lock made by hand, which is looked at and set in two steps.
pub fn lock_made_by_hand() {
    struct Spin {
        taken: AtomicBool,
        count: Cell<u32>,
    }
    // SAFETY: as above.
    unsafe impl Sync for Spin {}
    impl Spin {
        fn add(&self) {
            while self.taken.load(SeqCst) {
                thread::yield_now();
            }
            self.taken.store(true, SeqCst);
            self.count.set(1);
            self.taken.store(false, SeqCst);
        }
    }
    let spin = Arc::new(Spin { taken: AtomicBool::new(false), count: Cell::new(0) });
    let theirs = spin.clone();
    let other = thread::spawn(move || theirs.add());
    spin.add();
    other.join().unwrap();
}
