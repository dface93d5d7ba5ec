//! Things that are made once and kept.

use std::collections::HashMap;

use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Mutex, RwLock};
use drawloom::thread;

struct Profiles {
    entries: RwLock<HashMap<u32, String>>,
    loads: AtomicUsize,
}

impl Profiles {
    fn get(&self, user: u32) -> String {
        if let Some(found) = self.cached(user) {
            return found;
        }
        let loaded = self.load(user);
        self.entries.write().unwrap().insert(user, loaded.clone());
        loaded
    }

    fn cached(&self, user: u32) -> Option<String> {
        self.entries.read().unwrap().get(&user).cloned()
    }

    fn load(&self, user: u32) -> String {
        self.loads.fetch_add(1, Ordering::Relaxed);
        format!("user {user}")
    }
}

/// Two misses of one key load it twice.
pub fn stampede() {
    let profiles = Arc::new(Profiles { entries: RwLock::default(), loads: AtomicUsize::new(0) });
    let theirs = profiles.clone();
    let request = thread::spawn(move || theirs.get(7));
    let mine = profiles.get(7);
    assert_eq!(mine, request.join().unwrap());
    assert_eq!(profiles.loads.load(Ordering::Relaxed), 1, "loaded more than once");
}

struct Recent {
    entries: Mutex<HashMap<&'static str, u32>>,
    order: Mutex<Vec<&'static str>>,
    capacity: usize,
}

impl Recent {
    fn touch(&self, key: &'static str) {
        if self.entries.lock().unwrap().contains_key(key) {
            let mut order = self.order.lock().unwrap();
            let at = order.iter().position(|k| *k == key).expect("an entry has a place in the order");
            let key = order.remove(at);
            order.push(key);
        }
    }

    fn put(&self, key: &'static str, value: u32) {
        if self.entries.lock().unwrap().len() == self.capacity {
            let oldest = self.order.lock().unwrap().remove(0);
            self.entries.lock().unwrap().remove(oldest);
        }
        self.entries.lock().unwrap().insert(key, value);
        self.order.lock().unwrap().push(key);
    }
}

/// What is in the map may be gone from the order.
pub fn least_recently_used() {
    let recent = Arc::new(Recent { entries: Mutex::default(), order: Mutex::default(), capacity: 2 });
    recent.put("a", 1);
    recent.put("b", 2);
    let theirs = recent.clone();
    let reader = thread::spawn(move || theirs.touch("a"));
    recent.put("c", 3);
    reader.join().unwrap();
    assert_eq!(recent.entries.lock().unwrap().len(), recent.order.lock().unwrap().len());
}

#[derive(Default)]
struct Settings {
    ready: AtomicBool,
    endpoint: AtomicUsize,
    reads: AtomicUsize,
}

impl Settings {
    fn endpoint(&self) -> usize {
        if !self.ready.swap(true, Ordering::SeqCst) {
            self.initialise();
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.endpoint.load(Ordering::SeqCst)
    }

    fn initialise(&self) {
        let port = 8080;
        self.endpoint.store(port, Ordering::SeqCst);
    }
}

/// Ready is said before it is so.
pub fn early_flag() {
    let settings = Arc::new(Settings::default());
    let theirs = settings.clone();
    let client = thread::spawn(move || theirs.endpoint());
    let mine = settings.endpoint();
    let theirs = client.join().unwrap();
    assert_eq!((mine, theirs), (8080, 8080), "after {} reads", settings.reads.load(Ordering::Relaxed));
}

const NONE: usize = usize::MAX;

/// Free slots as a linked list of indices.
struct Slots {
    head: AtomicUsize,
    next: [AtomicUsize; 3],
}

impl Slots {
    fn new() -> Self {
        Slots { head: AtomicUsize::new(0), next: [1, 2, NONE].map(AtomicUsize::new) }
    }

    fn take(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Ordering::SeqCst);
            if head == NONE {
                return None;
            }
            let next = self.next[head].load(Ordering::SeqCst);
            if self.head.compare_exchange(head, next, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return Some(head);
            }
        }
    }

    fn give(&self, slot: usize) {
        loop {
            let head = self.head.load(Ordering::SeqCst);
            self.next[slot].store(head, Ordering::SeqCst);
            if self.head.compare_exchange(head, slot, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return;
            }
        }
    }
}

/// A slot that went and came back looks as if nothing had happened.
pub fn free_list() {
    let slots = Arc::new(Slots::new());
    let theirs = slots.clone();
    let other = thread::spawn(move || {
        let first = theirs.take();
        let second = theirs.take();
        if let Some(first) = first {
            theirs.give(first);
        }
        second
    });
    let mine = [slots.take(), slots.take()];
    let kept = other.join().unwrap();
    if let Some(kept) = kept {
        assert!(!mine.contains(&Some(kept)), "slot {kept} has two owners");
    }
}
