//! State that is read in one moment and relied on in another.

use std::collections::{BTreeMap, HashSet};

use drawloom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

#[derive(Default)]
struct Payments {
    handled: Mutex<HashSet<&'static str>>,
    charged: AtomicU32,
}

impl Payments {
    fn charge(&self, cents: u32) {
        self.charged.fetch_add(cents, Ordering::SeqCst);
    }

    fn pay(&self, key: &'static str, cents: u32) {
        if self.handled.lock().unwrap().contains(key) {
            return;
        }
        self.charge(cents);
        self.handled.lock().unwrap().insert(key);
    }
}

/// A retry with the same key comes before the first attempt is recorded.
pub fn retried_payment() {
    let payments = Arc::new(Payments::default());
    let theirs = payments.clone();
    let retry = thread::spawn(move || theirs.pay("order-7", 250));
    payments.pay("order-7", 250);
    retry.join().unwrap();
    assert_eq!(payments.charged.load(Ordering::SeqCst), 250);
}

#[derive(Default)]
struct Quote {
    version: AtomicU64,
    bid: AtomicU64,
    ask: AtomicU64,
}

impl Quote {
    fn publish(&self, bid: u64, ask: u64) {
        self.bid.store(bid, Ordering::SeqCst);
        self.ask.store(ask, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    fn read(&self) -> (u64, u64) {
        loop {
            let before = self.version.load(Ordering::SeqCst);
            let quote = (self.bid.load(Ordering::SeqCst), self.ask.load(Ordering::SeqCst));
            if self.version.load(Ordering::SeqCst) == before {
                return quote;
            }
        }
    }
}

/// The version says that a quote has been written, and never that one is being written.
pub fn quote_feed() {
    let quote = Arc::new(Quote::default());
    quote.publish(100, 101);
    let feed = quote.clone();
    let feed = thread::spawn(move || feed.publish(200, 201));
    let (bid, ask) = quote.read();
    feed.join().unwrap();
    assert_eq!(ask - bid, 1, "{bid} {ask}");
}

#[derive(Default)]
struct Newsletter {
    members: Mutex<Vec<&'static str>>,
    posted: Mutex<Vec<&'static str>>,
}

impl Newsletter {
    fn size(&self) -> usize {
        self.members.lock().unwrap().len()
    }

    fn member(&self, index: usize) -> Option<&'static str> {
        self.members.lock().unwrap().get(index).copied()
    }

    fn post(&self) {
        for index in 0..self.size() {
            if let Some(member) = self.member(index) {
                self.posted.lock().unwrap().push(member);
            }
        }
    }

    fn unsubscribe(&self, name: &str) {
        self.members.lock().unwrap().retain(|member| *member != name);
    }
}

/// Who leaves moves the others up, and one of them gets nothing.
pub fn newsletter() {
    let letter = Arc::new(Newsletter::default());
    letter.members.lock().unwrap().extend(["ann", "bob", "cleo"]);
    let theirs = letter.clone();
    let leaving = thread::spawn(move || theirs.unsubscribe("ann"));
    letter.post();
    leaving.join().unwrap();
    let posted = letter.posted.lock().unwrap();
    assert!(posted.contains(&"bob") && posted.contains(&"cleo"), "{posted:?}");
}

struct Warehouses {
    north: Mutex<u32>,
    south: Mutex<u32>,
    moves: AtomicUsize,
}

impl Warehouses {
    fn relocate(&self, boxes: u32) {
        *self.north.lock().unwrap() -= boxes;
        self.moves.fetch_add(1, Ordering::Relaxed);
        *self.south.lock().unwrap() += boxes;
    }

    fn stock(&self) -> u32 {
        let north = self.north.lock().unwrap();
        let south = self.south.lock().unwrap();
        *north + *south
    }
}

/// Boxes on their way are in no warehouse.
pub fn stocktaking() {
    let houses = Warehouses { north: Mutex::new(8), south: Mutex::new(2), moves: AtomicUsize::new(0) };
    let houses = Arc::new(houses);
    let theirs = houses.clone();
    let driver = thread::spawn(move || theirs.relocate(5));
    let counted = houses.stock();
    driver.join().unwrap();
    assert_eq!(counted, 10, "after {} moves", houses.moves.load(Ordering::Relaxed));
}

#[derive(Default)]
struct World {
    slots: Mutex<Vec<Option<&'static str>>>,
    names: Mutex<BTreeMap<&'static str, usize>>,
}

impl World {
    fn spawn(&self, name: &'static str) {
        let mut slots = self.slots.lock().unwrap();
        let free = slots.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            slots.push(None);
            slots.len() - 1
        });
        slots[slot] = Some(name);
        self.names.lock().unwrap().insert(name, slot);
    }

    fn despawn(&self, name: &str) {
        let mut slots = self.slots.lock().unwrap();
        if let Some(slot) = self.names.lock().unwrap().remove(name) {
            slots[slot] = None;
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.names.lock().unwrap().get(name).copied()
    }

    fn hit(&self, slot: usize) -> Option<&'static str> {
        self.slots.lock().unwrap()[slot].take()
    }
}

/// A slot that was looked up belongs to another one when it is used.
pub fn reused_slot() {
    let world = Arc::new(World::default());
    world.spawn("orc");
    let theirs = world.clone();
    let wave = thread::spawn(move || {
        theirs.despawn("orc");
        theirs.spawn("elf");
    });
    let slot = world.find("orc");
    let hit = slot.and_then(|slot| world.hit(slot));
    wave.join().unwrap();
    assert_ne!(hit, Some("elf"));
}

struct Smoothing {
    cells: [AtomicU32; 2],
    smooth: [AtomicU32; 2],
}

impl Smoothing {
    fn pass(&self, index: usize, raw: u32) {
        self.cells[index].store(raw, Ordering::SeqCst);
        let neighbour = self.cells[1 - index].load(Ordering::SeqCst);
        self.smooth[index].store((raw + neighbour) / 2, Ordering::SeqCst);
    }
}

/// Nobody waits until the neighbour's cell is filled.
pub fn smoothing() {
    let grid = Smoothing { cells: Default::default(), smooth: Default::default() };
    let grid = Arc::new(grid);
    let theirs = grid.clone();
    let right = thread::spawn(move || theirs.pass(1, 30));
    grid.pass(0, 10);
    right.join().unwrap();
    let smooth = grid.smooth.each_ref().map(|cell| cell.load(Ordering::SeqCst));
    assert_eq!(smooth, [20, 20]);
}
