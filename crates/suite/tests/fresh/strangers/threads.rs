//! Programs of threads as they stand in tutorials, answers and first drafts: what a stranger would try first.

use std::collections::{HashMap, VecDeque};

use drawloom::cell::{UnsafeCell, UnsafeCellExt};
use drawloom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use drawloom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use drawloom::sync::mpsc::{channel, sync_channel};
use drawloom::sync::{Arc, Condvar, Mutex, RwLock};
use drawloom::thread;

use crate::judge::Fresh;

// upgrade of a read lock by hand
struct Inventory {
    stock: RwLock<HashMap<&'static str, u32>>,
    sold: AtomicUsize,
}
impl Inventory {
    fn reserve(&self, item: &'static str) -> bool {
        let left = self.stock.read().unwrap()[item];
        if left == 0 {
            return false;
        }
        let mut stock = self.stock.write().unwrap();
        stock.insert(item, left - 1);
        self.sold.fetch_add(1, SeqCst);
        true
    }
}
fn inventory() {
    let shop = Arc::new(Inventory { stock: RwLock::new(HashMap::from([("lamp", 1)])), sold: AtomicUsize::new(0) });
    let theirs = shop.clone();
    let other = thread::spawn(move || {
        theirs.reserve("lamp");
    });
    shop.reserve("lamp");
    other.join().unwrap();
    assert_eq!(shop.sold.load(SeqCst), 1);
}

// a spin lock that loads, then stores
struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}
// SAFETY: whoever uses the value has taken the lock; that two can is what the test is about.
unsafe impl<T: Send> Sync for SpinLock<T> {}
impl<T> SpinLock<T> {
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.locked.load(Acquire) {
            drawloom::hint::spin_loop();
        }
        self.locked.store(true, Relaxed);
        // SAFETY: as above.
        let result = self.value.with_mut(|value| f(unsafe { &mut *value }));
        self.locked.store(false, Release);
        result
    }
}
fn spin_lock() {
    let lock = Arc::new(SpinLock { locked: AtomicBool::new(false), value: UnsafeCell::new(0u32) });
    let theirs = lock.clone();
    let other = thread::spawn(move || theirs.with(|n| *n += 1));
    lock.with(|n| *n += 1);
    other.join().unwrap();
    assert_eq!(lock.with(|n| *n), 2);
}

// a ticket lock whose ticket is drawn in two steps
#[derive(Default)]
struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
    inside: AtomicUsize,
}
impl TicketLock {
    fn enter(&self) {
        let mine = self.next.load(Relaxed);
        self.next.store(mine + 1, Relaxed);
        while self.serving.load(Acquire) != mine {
            drawloom::hint::spin_loop();
        }
        assert_eq!(self.inside.fetch_add(1, SeqCst), 0, "two are inside");
    }
    fn leave(&self) {
        self.inside.fetch_sub(1, SeqCst);
        self.serving.fetch_add(1, Release);
    }
}
fn ticket_lock() {
    let lock = Arc::new(TicketLock::default());
    let theirs = lock.clone();
    let other = thread::spawn(move || {
        theirs.enter();
        theirs.leave();
    });
    lock.enter();
    lock.leave();
    other.join().unwrap();
}

// a wait in an `if`
#[derive(Default)]
struct Mailbox {
    letters: Mutex<VecDeque<u32>>,
    arrived: Condvar,
}
impl Mailbox {
    fn take(&self) -> u32 {
        let mut letters = self.letters.lock().unwrap();
        if letters.is_empty() {
            letters = self.arrived.wait(letters).unwrap();
        }
        letters.pop_front().expect("a letter has arrived")
    }
    fn put(&self, letter: u32) {
        self.letters.lock().unwrap().push_back(letter);
        self.arrived.notify_all();
    }
}
fn mailbox() {
    let mailbox = Arc::new(Mailbox::default());
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.take())
        })
        .collect();
    mailbox.put(1);
    mailbox.put(2);
    let sum: u32 = readers.into_iter().map(|r| r.join().unwrap()).sum();
    assert_eq!(sum, 3);
}

// the condition is changed without the lock
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}
impl Gate {
    fn pass(&self) {
        let mut guard = self.lock.lock().unwrap();
        while !self.open.load(SeqCst) {
            guard = self.opened.wait(guard).unwrap();
        }
    }
    fn open(&self) {
        self.open.store(true, SeqCst);
        self.opened.notify_all();
    }
}
fn gate() {
    let gate = Arc::new(Gate::default());
    let theirs = gate.clone();
    let other = thread::spawn(move || theirs.pass());
    gate.open();
    other.join().unwrap();
}

// rendezvous: both send first
fn rendezvous() {
    let (to_a, from_b) = sync_channel::<u32>(0);
    let (to_b, from_a) = sync_channel::<u32>(0);
    let b = thread::spawn(move || {
        to_a.send(1).unwrap();
        from_a.recv().unwrap()
    });
    to_b.send(2).unwrap();
    assert_eq!(from_b.recv().unwrap(), 1);
    assert_eq!(b.join().unwrap(), 2);
}

// a sender that is kept
fn kept_sender() {
    let (results, inbox) = channel();
    let workers: Vec<_> = (0..2)
        .map(|n| {
            let results = results.clone();
            thread::spawn(move || results.send(n).unwrap())
        })
        .collect();
    let sum: u32 = inbox.iter().sum();
    for worker in workers {
        worker.join().unwrap();
    }
    drop(results);
    assert_eq!(sum, 1);
}

// lazy initialisation by hand
#[derive(Default)]
struct Registry {
    id: AtomicU64,
    source: AtomicU64,
}
impl Registry {
    fn id(&self) -> u64 {
        let id = self.id.load(Acquire);
        if id != 0 {
            return id;
        }
        let fresh = self.source.fetch_add(1, SeqCst) + 1;
        self.id.store(fresh, Release);
        fresh
    }
}
fn lazy_id() {
    let registry = Arc::new(Registry::default());
    let theirs = registry.clone();
    let other = thread::spawn(move || theirs.id());
    let mine = registry.id();
    assert_eq!(mine, other.join().unwrap(), "one id");
}

// a seqlock reader that looks only once
#[derive(Default)]
struct SeqPair {
    sequence: AtomicUsize,
    x: AtomicUsize,
    y: AtomicUsize,
}
impl SeqPair {
    fn write(&self, v: usize) {
        self.sequence.fetch_add(1, SeqCst);
        self.x.store(v, SeqCst);
        self.y.store(v, SeqCst);
        self.sequence.fetch_add(1, SeqCst);
    }
    fn read(&self) -> (usize, usize) {
        loop {
            if self.sequence.load(SeqCst) % 2 == 0 {
                return (self.x.load(SeqCst), self.y.load(SeqCst));
            }
            drawloom::hint::spin_loop();
        }
    }
}
fn seqlock() {
    let pair = Arc::new(SeqPair::default());
    let theirs = pair.clone();
    let writer = thread::spawn(move || theirs.write(7));
    let (x, y) = pair.read();
    assert_eq!(x, y);
    writer.join().unwrap();
}

// write while reading
struct Settings {
    values: RwLock<HashMap<&'static str, String>>,
}
impl Settings {
    fn get_or(&self, key: &'static str, default: &str) -> String {
        let values = self.values.read().unwrap();
        match values.get(key) {
            Some(value) => value.clone(),
            None => {
                self.values.write().unwrap().insert(key, default.to_owned());
                default.to_owned()
            }
        }
    }
}
fn settings() {
    let settings = Arc::new(Settings { values: RwLock::default() });
    let theirs = settings.clone();
    let other = thread::spawn(move || theirs.values.read().unwrap().len());
    settings.get_or("colour", "blue");
    other.join().unwrap();
}

// a permit that an early return keeps
struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
}
impl Permits {
    fn acquire(&self) {
        let mut free = self.free.lock().unwrap();
        while *free == 0 {
            free = self.returned.wait(free).unwrap();
        }
        *free -= 1;
    }
    fn release(&self) {
        *self.free.lock().unwrap() += 1;
        self.returned.notify_one();
    }
}
fn download(permits: &Permits, done: &AtomicUsize) {
    permits.acquire();
    if done.fetch_add(1, SeqCst) >= 1 {
        return;
    }
    permits.release();
}
fn permits() {
    let permits = Arc::new(Permits { free: Mutex::new(1), returned: Condvar::new() });
    let done = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let (p, d) = (permits.clone(), done.clone());
            thread::spawn(move || download(&p, &d))
        })
        .collect();
    for w in workers {
        w.join().unwrap();
    }
}

// a count of references in two steps
struct Shared {
    count: AtomicUsize,
    freed: AtomicUsize,
}
impl Shared {
    fn release(&self) {
        self.count.fetch_sub(1, AcqRel);
        if self.count.load(Acquire) == 0 {
            self.freed.fetch_add(1, SeqCst);
        }
    }
}
fn refcount() {
    let shared = Arc::new(Shared { count: AtomicUsize::new(2), freed: AtomicUsize::new(0) });
    let theirs = shared.clone();
    let other = thread::spawn(move || theirs.release());
    shared.release();
    other.join().unwrap();
    assert_eq!(shared.freed.load(SeqCst), 1, "freed once");
}

// transfers in both directions
struct Account {
    balance: Mutex<i64>,
}
fn transfer(from: &Account, to: &Account, amount: i64) {
    let mut source = from.balance.lock().unwrap();
    let mut target = to.balance.lock().unwrap();
    *source -= amount;
    *target += amount;
}
fn transfers() {
    let alice = Arc::new(Account { balance: Mutex::new(100) });
    let bob = Arc::new(Account { balance: Mutex::new(100) });
    let (a, b) = (alice.clone(), bob.clone());
    let other = thread::spawn(move || transfer(&a, &b, 10));
    transfer(&bob, &alice, 5);
    other.join().unwrap();
}

// a job that comes after the queue was drained
struct Pool {
    running: AtomicBool,
    jobs: Mutex<Vec<u32>>,
    executed: AtomicUsize,
}
impl Pool {
    fn submit(&self, job: u32) -> bool {
        if !self.running.load(SeqCst) {
            return false;
        }
        self.jobs.lock().unwrap().push(job);
        true
    }
    fn shutdown(&self) {
        self.running.store(false, SeqCst);
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        self.executed.fetch_add(jobs.len(), SeqCst);
    }
}
fn shutdown() {
    let pool = Arc::new(Pool { running: AtomicBool::new(true), jobs: Mutex::default(), executed: AtomicUsize::new(0) });
    let theirs = pool.clone();
    let client = thread::spawn(move || theirs.submit(1));
    pool.shutdown();
    let accepted = client.join().unwrap();
    assert_eq!(pool.executed.load(SeqCst), accepted as usize, "each accepted job is executed");
}

// two atomics that belong together
#[derive(Default)]
struct Latency {
    total: AtomicU64,
    samples: AtomicU64,
}
impl Latency {
    fn record(&self, millis: u64) {
        self.total.fetch_add(millis, Relaxed);
        self.samples.fetch_add(1, Relaxed);
    }
    fn mean(&self) -> u64 {
        let total = self.total.load(Relaxed);
        let samples = self.samples.load(Relaxed);
        total.checked_div(samples).unwrap_or(0)
    }
}
fn latency() {
    let latency = Arc::new(Latency::default());
    let theirs = latency.clone();
    let other = thread::spawn(move || {
        theirs.record(10);
        theirs.record(10);
    });
    let mean = latency.mean();
    other.join().unwrap();
    assert!(mean == 0 || mean == 10, "mean {mean}");
}

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "inventory",
        body: inventory,
        classes: "toctou",
        blames: &["stock"],
        observers: &["sold"],
        lines: &["self.stock.read()", "self.stock.write()"],
        mentions: &[],
    },
    Fresh {
        name: "spin_lock",
        body: spin_lock,
        classes: "data-race",
        blames: &["locked", "value"],
        observers: &[],
        lines: &["self.locked.load(", "self.locked.store(true"],
        mentions: &["swap(true"],
    },
    Fresh {
        name: "ticket_lock",
        body: ticket_lock,
        classes: "atomicity-gap|livelock|toctou",
        blames: &["next", "serving"],
        observers: &[],
        lines: &["self.next.load(|self.serving.load("],
        mentions: &[],
    },
    Fresh {
        name: "mailbox",
        body: mailbox,
        classes: "toctou|order-violation",
        blames: &["letters"],
        observers: &[],
        lines: &["self.arrived.wait("],
        mentions: &["while letters.is_empty()"],
    },
    Fresh {
        name: "gate",
        body: gate,
        classes: "lost-wakeup",
        blames: &["opened", "open"],
        observers: &[],
        lines: &["self.opened.wait(", "self.opened.notify_all("],
        mentions: &[],
    },
    Fresh {
        name: "rendezvous",
        body: rendezvous,
        classes: "deadlock",
        blames: &["from_a", "from_b"],
        observers: &[],
        lines: &["to_a.send(1)", "to_b.send(2)"],
        mentions: &["Receive before sending"],
    },
    Fresh {
        name: "kept_sender",
        body: kept_sender,
        classes: "starvation",
        blames: &["inbox"],
        observers: &[],
        lines: &["inbox.iter().sum()"],
        mentions: &["sender"],
    },
    Fresh {
        name: "lazy_id",
        body: lazy_id,
        classes: "toctou",
        blames: &["id"],
        observers: &["source"],
        lines: &["self.id.load(", "self.id.store("],
        mentions: &[],
    },
    Fresh {
        name: "seqlock",
        body: seqlock,
        classes: "toctou|atomicity-gap|stale-reference",
        blames: &["x", "y", "sequence"],
        observers: &[],
        lines: &["self.x.load(", "self.x.store("],
        mentions: &[],
    },
    Fresh {
        name: "settings",
        body: settings,
        classes: "deadlock",
        blames: &["values"],
        observers: &[],
        lines: &["self.values.read()", "self.values.write()"],
        mentions: &[],
    },
    Fresh {
        name: "permits",
        body: permits,
        classes: "starvation|lost-wakeup",
        blames: &["returned", "free"],
        observers: &["done"],
        lines: &["self.returned.wait("],
        mentions: &[],
    },
    Fresh {
        name: "refcount",
        body: refcount,
        classes: "atomicity-gap|toctou|stale-reference",
        blames: &["count"],
        observers: &["freed"],
        lines: &["self.count.fetch_sub(", "self.count.load("],
        mentions: &["let before = self.count.fetch_sub("],
    },
    Fresh {
        name: "transfers",
        body: transfers,
        classes: "deadlock",
        blames: &["balance"],
        observers: &[],
        lines: &["from.balance.lock()", "to.balance.lock()"],
        mentions: &[],
    },
    Fresh {
        name: "shutdown",
        body: shutdown,
        classes: "toctou",
        blames: &["running", "jobs"],
        observers: &["executed"],
        lines: &["self.running.load(", "self.running.store(false", "self.jobs.lock().unwrap().push("],
        mentions: &[],
    },
    Fresh {
        name: "latency",
        body: latency,
        classes: "atomicity-gap",
        blames: &["total", "samples"],
        observers: &[],
        lines: &["self.total.fetch_add(", "self.samples.load("],
        mentions: &[],
    },
];
