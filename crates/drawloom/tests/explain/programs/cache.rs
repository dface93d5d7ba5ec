//! A cache of shared resources, each with a lock for its key. Whoever leaves last removes the lock, and a task
//! of the cache's own takes the resource down afterwards.

use std::collections::HashMap;

use drawloom::sync::{Arc, Mutex, mpsc};
use drawloom::thread;

type Key = &'static str;

struct Cache {
    locks: Mutex<HashMap<Key, Arc<Mutex<()>>>>,
    values: Mutex<HashMap<Key, u32>>,
    resources: Mutex<HashMap<Key, u32>>,
    no_more_users: Mutex<mpsc::Sender<Key>>,
}

impl Cache {
    fn lock_of(&self, key: Key) -> Arc<Mutex<()>> {
        let new_lock = Arc::new(Mutex::new(()));
        self.locks.lock().unwrap().entry(key).or_insert(new_lock).clone()
    }

    /// Opens the resource, or uses the one that is open.
    fn open(&self, key: Key) {
        let lock = self.lock_of(key);
        let _held = lock.lock().unwrap();
        if !self.values.lock().unwrap().contains_key(key) {
            let earlier = self.resources.lock().unwrap().insert(key, 1);
            assert!(earlier.is_none(), "the resource is still there");
            self.values.lock().unwrap().insert(key, 1);
        }
    }

    /// The last user leaves.
    fn close(&self, key: Key) {
        self.no_more_users.lock().unwrap().send(key).unwrap();
        self.locks.lock().unwrap().remove(key);
    }

    /// Takes the resource down when nobody uses it any more.
    fn run_context(&self, no_more_users: &mpsc::Receiver<Key>) {
        let key = no_more_users.recv().unwrap();
        self.values.lock().unwrap().remove(key);
        thread::yield_now();
        self.resources.lock().unwrap().remove(key);
    }
}

/// Lifetime mismatch: the lock of a key is gone before what it protects is.
pub fn lifetime_mismatch() {
    let (sender, no_more_users) = mpsc::channel();
    let cache = Arc::new(Cache {
        locks: Mutex::new(HashMap::new()),
        values: Mutex::new(HashMap::new()),
        resources: Mutex::new(HashMap::new()),
        no_more_users: Mutex::new(sender),
    });
    let (one, other, own) = (cache.clone(), cache.clone(), cache.clone());
    let run_context = thread::spawn(move || own.run_context(&no_more_users));
    let first = thread::spawn(move || {
        one.open("key");
        one.close("key");
    });
    first.join().unwrap();
    let second = thread::spawn(move || other.open("key"));
    second.join().unwrap();
    run_context.join().unwrap();
}
