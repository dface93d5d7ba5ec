//! Programs of threads.

use std::collections::BTreeMap;

use drawloom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex, RwLock};
use drawloom::thread;

struct Ring {
    slots: [AtomicU32; 2],
    tail: AtomicUsize,
    dropped: AtomicUsize,
}

impl Ring {
    fn push(&self, sample: u32) {
        let at = self.tail.fetch_add(1, Ordering::SeqCst);
        self.slots[at % 2].store(sample, Ordering::SeqCst);
    }

    fn pop(&self, head: usize) -> Option<u32> {
        if head == self.tail.load(Ordering::SeqCst) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(self.slots[head % 2].load(Ordering::SeqCst))
    }
}

/// The end of the ring is moved before the sample is in it.
fn ring_buffer() {
    let ring = Ring { slots: Default::default(), tail: AtomicUsize::new(0), dropped: AtomicUsize::new(0) };
    let ring = Arc::new(ring);
    let theirs = ring.clone();
    let sensor = thread::spawn(move || theirs.push(17));
    let sample = ring.pop(0);
    sensor.join().unwrap();
    assert!(matches!(sample, None | Some(17)), "{sample:?}");
}

struct Screen {
    front: AtomicUsize,
    frames: [Mutex<Vec<u32>>; 2],
    flips: AtomicUsize,
}

impl Screen {
    fn render(&self, number: u32) {
        let back = 1 - self.front.load(Ordering::SeqCst);
        let mut frame = self.frames[back].lock().unwrap();
        *frame = vec![number; 3];
        drop(frame);
        self.front.store(back, Ordering::SeqCst);
        self.flips.fetch_add(1, Ordering::Relaxed);
    }

    fn shown(&self, since: u32) -> u32 {
        let front = self.front.load(Ordering::SeqCst);
        let frame = self.frames[front].lock().unwrap();
        frame.first().copied().unwrap_or(since)
    }
}

/// Two painters take the same buffer for the one that is not shown.
fn double_buffer() {
    let frames = [Mutex::new(vec![1]), Mutex::new(vec![0])];
    let screen = Arc::new(Screen { front: AtomicUsize::new(0), frames, flips: AtomicUsize::new(0) });
    let theirs = screen.clone();
    let painter = thread::spawn(move || theirs.render(2));
    screen.render(2);
    painter.join().unwrap();
    // Twice to the back is to the front again.
    assert_eq!(screen.front.load(Ordering::SeqCst), 0, "shows {}", screen.shown(0));
}

#[derive(Default)]
struct Preview {
    dirty: AtomicBool,
    busy: Mutex<()>,
    text: AtomicU32,
    drawn: AtomicU32,
}

impl Preview {
    fn refresh(&self) {
        let Ok(_busy) = self.busy.try_lock() else { return };
        while self.dirty.swap(false, Ordering::SeqCst) {
            let text = self.text.load(Ordering::SeqCst);
            self.drawn.store(text, Ordering::SeqCst);
        }
    }

    fn edit(&self, text: u32) {
        self.text.store(text, Ordering::SeqCst);
        self.dirty.store(true, Ordering::SeqCst);
        self.refresh();
    }
}

/// Who finds the preview busy leaves its edit to somebody who does not look any more.
fn preview() {
    let preview = Arc::new(Preview::default());
    let theirs = preview.clone();
    let typing = thread::spawn(move || theirs.edit(2));
    preview.refresh();
    typing.join().unwrap();
    assert_eq!(preview.drawn.load(Ordering::SeqCst), 2);
}

#[derive(Default)]
struct Pool {
    closed: Mutex<bool>,
    wakeup: Condvar,
    idle: AtomicUsize,
}

impl Pool {
    fn work(&self) {
        let mut closed = self.closed.lock().unwrap();
        while !*closed {
            closed = self.wakeup.wait(closed).unwrap();
        }
        self.idle.fetch_add(1, Ordering::Relaxed);
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true;
        self.wakeup.notify_one();
    }
}

/// One of two workers is told that the pool is closed.
fn pool_close() {
    let pool = Arc::new(Pool::default());
    let workers = [pool.clone(), pool.clone()].map(|pool| thread::spawn(move || pool.work()));
    pool.close();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(pool.idle.load(Ordering::Relaxed), 2);
}

#[derive(Default)]
struct Table {
    rows: RwLock<Vec<Option<&'static str>>>,
    updates: AtomicUsize,
}

impl Table {
    fn find(&self, name: &str) -> Option<usize> {
        self.rows.read().unwrap().iter().position(|row| *row == Some(name))
    }

    fn rename(&self, name: &str, to: &'static str) {
        let Some(at) = self.find(name) else { return };
        let mut rows = self.rows.write().unwrap();
        rows[at] = Some(to);
        drop(rows);
        self.updates.fetch_add(1, Ordering::Relaxed);
    }

    fn compact(&self) {
        self.rows.write().unwrap().retain(Option::is_some);
    }
}

/// The rows move up between the search and the change.
fn compacted_table() {
    let table = Arc::new(Table::default());
    table.rows.write().unwrap().extend([None, Some("ann"), Some("bob")]);
    let theirs = table.clone();
    let cleaner = thread::spawn(move || theirs.compact());
    table.rename("ann", "eve");
    cleaner.join().unwrap();
    let rows = table.rows.read().unwrap();
    assert!(rows.contains(&Some("bob")), "{rows:?}");
}

struct Clearing {
    accounts: Vec<Mutex<i32>>,
    booked: AtomicUsize,
}

impl Clearing {
    fn pay(&self, from: usize, to: usize) {
        let mut payer = self.accounts[from].lock().unwrap();
        let mut payee = self.accounts[to].lock().unwrap();
        *payer -= 5;
        *payee += 5;
        self.booked.fetch_add(1, Ordering::Relaxed);
    }
}

/// Three banks pay in a circle, and each holds its own account.
fn three_banks() {
    let accounts = (0..3).map(|_| Mutex::new(100)).collect();
    let clearing = Arc::new(Clearing { accounts, booked: AtomicUsize::new(0) });
    let banks = [1, 2].map(|bank| {
        let theirs = clearing.clone();
        thread::spawn(move || theirs.pay(bank, (bank + 1) % 3))
    });
    clearing.pay(0, 1);
    banks.into_iter().for_each(|bank| bank.join().unwrap());
    assert_eq!(clearing.booked.load(Ordering::Relaxed), 3);
}

#[derive(Default)]
struct Journal {
    value: AtomicU32,
    undo: Mutex<BTreeMap<u32, u32>>,
}

impl Journal {
    fn write(&self, id: u32, value: u32) {
        let old = self.value.swap(value, Ordering::SeqCst);
        self.undo.lock().unwrap().insert(id, old);
    }

    fn roll_back(&self, id: u32) {
        if let Some(old) = self.undo.lock().unwrap().remove(&id) {
            self.value.store(old, Ordering::SeqCst);
        }
    }
}

/// What is to be undone has been written, and is not in the journal yet.
fn rollback() {
    let journal = Arc::new(Journal::default());
    journal.value.store(7, Ordering::SeqCst);
    let theirs = journal.clone();
    let transaction = thread::spawn(move || theirs.write(1, 8));
    journal.roll_back(1);
    let seen = journal.value.load(Ordering::SeqCst);
    transaction.join().unwrap();
    assert_eq!(seen, 7);
}

use crate::judge::Fresh;

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "ring_buffer",
        body: ring_buffer,
        classes: "order-violation|atomicity-gap",
        blames: &["tail", "slots"],
        observers: &["dropped"],
        lines: &["self.tail.fetch_add(1|self.slots[at % 2].store(", "self.slots[head % 2].load("],
        mentions: &[],
    },
    Fresh {
        name: "double_buffer",
        body: double_buffer,
        classes: "atomicity-gap|toctou|stale-reference",
        blames: &["front"],
        observers: &["flips"],
        lines: &["1 - self.front.load(", "self.front.store(back"],
        mentions: &[],
    },
    Fresh {
        name: "preview",
        body: preview,
        classes: "toctou|atomicity-gap|order-violation|lost-wakeup",
        blames: &["dirty", "busy"],
        observers: &["drawn"],
        lines: &["self.busy.try_lock()", "self.dirty.swap(false"],
        mentions: &[],
    },
    Fresh {
        name: "pool_close",
        body: pool_close,
        classes: "lost-wakeup|starvation",
        blames: &["wakeup"],
        observers: &["idle"],
        lines: &["self.wakeup.notify_one()", "self.wakeup.wait(closed)"],
        mentions: &[],
    },
    Fresh {
        name: "compacted_table",
        body: compacted_table,
        classes: "stale-reference|toctou|atomicity-gap",
        blames: &["rows"],
        observers: &["updates"],
        lines: &["self.rows.read().unwrap().iter().position(|self.find(name)", "let mut rows = self.rows.write()"],
        mentions: &[],
    },
    Fresh {
        name: "three_banks",
        body: three_banks,
        classes: "deadlock",
        blames: &["accounts"],
        observers: &["booked"],
        lines: &["self.accounts[from].lock()", "self.accounts[to].lock()"],
        mentions: &[],
    },
    // To read in the middle is the mistake; that the journal comes second makes it possible.
    Fresh {
        name: "rollback",
        body: rollback,
        classes: "atomicity-gap|order-violation",
        blames: &["value", "undo"],
        observers: &[],
        lines: &[
            "self.value.swap(value|self.undo.lock().unwrap().insert(",
            "self.undo.lock().unwrap().remove(|journal.value.load(",
        ],
        mentions: &[],
    },
];
