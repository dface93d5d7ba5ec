//! State that several threads keep.

use drawloom::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Mutex, RwLock};
use drawloom::thread;

struct Gauge {
    value: Mutex<u64>,
}

impl Gauge {
    fn get(&self) -> u64 {
        let value = self.value.lock().unwrap();
        *value
    }

    fn set(&self, new: u64) {
        let mut value = self.value.lock().unwrap();
        *value = new;
    }

    fn add(&self, amount: u64) {
        let before = self.get();
        self.set(before + amount);
    }
}

struct Station {
    kilowatts: Gauge,
    samples: AtomicU64,
}

impl Station {
    fn record(&self, load: u64) {
        self.samples.fetch_add(1, Ordering::Relaxed);
        self.kilowatts.add(load);
    }

    fn average(&self) -> u64 {
        self.kilowatts.get() / self.samples.load(Ordering::Relaxed)
    }
}

/// Each method of the gauge locks, and adding takes two of them.
pub fn meter_readings() {
    let station = Arc::new(Station { kilowatts: Gauge { value: Mutex::new(0) }, samples: AtomicU64::new(0) });
    let theirs = station.clone();
    let roof = thread::spawn(move || theirs.record(4));
    station.record(8);
    roof.join().unwrap();
    assert_eq!(station.average(), 6, "the average of 4 and 8");
}

#[derive(Default)]
struct Sprite {
    x: AtomicI64,
    y: AtomicI64,
    moving: Mutex<()>,
}

impl Sprite {
    fn step(&self) {
        let _moving = self.moving.lock().unwrap();
        self.x.fetch_add(1, Ordering::SeqCst);
        self.y.fetch_add(1, Ordering::SeqCst);
    }

    fn position(&self) -> (i64, i64) {
        (self.x.load(Ordering::SeqCst), self.y.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
struct Screen {
    drawn: Mutex<Vec<(i64, i64)>>,
    frames: AtomicUsize,
}

impl Screen {
    fn draw(&self, sprite: &Sprite) {
        let position = sprite.position();
        self.drawn.lock().unwrap().push(position);
        self.frames.fetch_add(1, Ordering::Relaxed);
    }
}

/// A figure that goes along the diagonal is drawn beside it.
pub fn sprite_position() {
    let (sprite, screen) = (Arc::new(Sprite::default()), Screen::default());
    let theirs = sprite.clone();
    let player = thread::spawn(move || theirs.step());
    screen.draw(&sprite);
    player.join().unwrap();
    screen.draw(&sprite);
    let drawn = screen.drawn.lock().unwrap();
    assert!(drawn.iter().all(|(x, y)| x == y), "{drawn:?} in {} frames", screen.frames.load(Ordering::Relaxed));
}

struct Resolver {
    zone: AtomicU32,
    cached: Mutex<Option<u32>>,
    misses: AtomicUsize,
}

impl Resolver {
    fn query(&self) -> u32 {
        self.misses.fetch_add(1, Ordering::Relaxed);
        self.zone.load(Ordering::SeqCst)
    }

    fn lookup(&self) -> u32 {
        let known = *self.cached.lock().unwrap();
        if let Some(address) = known {
            return address;
        }
        let address = self.query();
        *self.cached.lock().unwrap() = Some(address);
        address
    }

    fn update(&self, address: u32) {
        self.zone.store(address, Ordering::SeqCst);
        *self.cached.lock().unwrap() = None;
    }
}

/// A slow answer goes to the cache after the cache was emptied for the new address.
pub fn dns_cache() {
    let resolver =
        Arc::new(Resolver { zone: AtomicU32::new(10), cached: Mutex::new(None), misses: AtomicUsize::new(0) });
    let theirs = resolver.clone();
    let client = thread::spawn(move || theirs.lookup());
    resolver.update(20);
    client.join().unwrap();
    assert_eq!(resolver.lookup(), 20, "after {} misses", resolver.misses.load(Ordering::Relaxed));
}

struct Account {
    balance: AtomicI64,
    receipts: Mutex<Vec<i64>>,
}

impl Account {
    fn send_receipt(&self, amount: i64) {
        self.receipts.lock().unwrap().push(amount);
    }

    fn charge(&self, amount: i64) {
        loop {
            let before = self.balance.load(Ordering::SeqCst);
            self.send_receipt(amount);
            let after = before - amount;
            if self.balance.compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return;
            }
        }
    }

    fn charged(&self) -> i64 {
        100 - self.balance.load(Ordering::SeqCst)
    }
}

/// An attempt that has to be repeated has sent its receipt already.
pub fn repeated_receipt() {
    let account = Arc::new(Account { balance: AtomicI64::new(100), receipts: Mutex::new(Vec::new()) });
    let theirs = account.clone();
    let subscription = thread::spawn(move || theirs.charge(30));
    account.charge(20);
    subscription.join().unwrap();
    let receipts: i64 = account.receipts.lock().unwrap().iter().sum();
    assert_eq!(receipts, account.charged(), "the receipts are for what was charged");
}

const PENDING: u8 = 0;
const FIRED: u8 = 1;
const CANCELLED: u8 = 2;

struct Reminder {
    phase: AtomicU8,
    sent: AtomicUsize,
}

impl Reminder {
    fn is_pending(&self) -> bool {
        self.phase.load(Ordering::SeqCst) == PENDING
    }

    fn fire(&self) {
        if self.is_pending() {
            self.phase.store(FIRED, Ordering::SeqCst);
            self.sent.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether it will not be sent any more.
    fn cancel(&self) -> bool {
        let in_time = self.is_pending();
        if in_time {
            self.phase.store(CANCELLED, Ordering::SeqCst);
        }
        in_time
    }
}

/// A reminder that was cancelled in time, as the user is told, is sent.
pub fn cancelled_reminder() {
    let reminder = Arc::new(Reminder { phase: AtomicU8::new(PENDING), sent: AtomicUsize::new(0) });
    let theirs = reminder.clone();
    let clock = thread::spawn(move || theirs.fire());
    let cancelled = reminder.cancel();
    clock.join().unwrap();
    let sent = reminder.sent.load(Ordering::Relaxed);
    assert_eq!(sent, usize::from(!cancelled), "cancelled: {cancelled}");
}

type Segment = Arc<Vec<u32>>;

struct Index {
    segments: RwLock<Vec<Segment>>,
    merges: AtomicUsize,
}

impl Index {
    fn add(&self, document: u32) {
        let segment = Arc::new(vec![document]);
        self.segments.write().unwrap().push(segment);
    }

    fn snapshot(&self) -> Vec<Segment> {
        self.segments.read().unwrap().clone()
    }

    fn merge(&self) {
        let old = self.snapshot();
        let merged: Vec<u32> = old.iter().flat_map(|segment| segment.iter().copied()).collect();
        *self.segments.write().unwrap() = vec![Arc::new(merged)];
        self.merges.fetch_add(1, Ordering::Relaxed);
    }

    fn documents(&self) -> usize {
        self.snapshot().iter().map(|segment| segment.len()).sum()
    }
}

/// A document that is added during a merge is in none of the merged segments.
pub fn segment_merge() {
    let index =
        Index { segments: RwLock::new(vec![Arc::new(vec![1]), Arc::new(vec![2])]), merges: AtomicUsize::new(0) };
    let index = Arc::new(index);
    let theirs = index.clone();
    let crawler = thread::spawn(move || theirs.add(3));
    index.merge();
    crawler.join().unwrap();
    assert_eq!(index.documents(), 3, "after {} merges", index.merges.load(Ordering::Relaxed));
}
