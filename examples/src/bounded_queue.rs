//! A bounded queue on a mutex and two condition variables, where a consumer believes that being woken
//! means that there is something to take.

use std::collections::VecDeque;

use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread;

/// A queue that holds `capacity` items and makes both ends wait.
pub struct BoundedQueue {
    items: Mutex<VecDeque<u32>>,
    capacity: usize,
    not_empty: Condvar,
    not_full: Condvar,
}

impl BoundedQueue {
    /// An empty queue.
    pub fn new(capacity: usize) -> Self {
        BoundedQueue {
            items: Mutex::new(VecDeque::new()),
            capacity,
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
        }
    }

    /// Adds an item, once there is room.
    pub fn push(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == self.capacity {
            items = self.not_full.wait(items).unwrap();
        }
        items.push_back(item);
        self.not_empty.notify_one();
    }

    /// Takes an item, but looks only once: another consumer may come between the notification and
    /// the end of the wait.
    pub fn pop_buggy(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        if items.is_empty() {
            items = self.not_empty.wait(items).unwrap();
        }
        let item = items.pop_front().expect("woken, so there is an item");
        self.not_full.notify_one();
        item
    }

    /// Takes an item, once there is one.
    pub fn pop_fixed(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.not_empty.wait(items).unwrap();
        }
        let item = items.pop_front().expect("not empty");
        self.not_full.notify_one();
        item
    }
}

/// One producer and two consumers: every item arrives once.
pub fn every_item_arrives_once(pop: fn(&BoundedQueue) -> u32) {
    let queue = Arc::new(BoundedQueue::new(1));
    let consumers: Vec<_> = (0..2)
        .map(|_| {
            let queue = queue.clone();
            thread::spawn(move || pop(&queue))
        })
        .collect();
    queue.push(1);
    queue.push(2);
    let mut items: Vec<u32> = consumers.into_iter().map(|c| c.join().unwrap()).collect();
    items.sort_unstable();
    assert_eq!(items, [1, 2]);
}
