//! Waiting for what another thread should do.

use std::collections::VecDeque;

use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread::{self, Thread};

#[derive(Default)]
struct Worker {
    jobs: Mutex<VecDeque<u32>>,
    asleep: AtomicBool,
    done: AtomicUsize,
}

impl Worker {
    fn next(&self) -> u32 {
        loop {
            if let Some(job) = self.jobs.lock().unwrap().pop_front() {
                return job;
            }
            self.asleep.store(true, Ordering::SeqCst);
            thread::park();
            self.asleep.store(false, Ordering::SeqCst);
        }
    }

    fn submit(&self, job: u32, thread: &Thread) {
        self.jobs.lock().unwrap().push_back(job);
        if self.asleep.load(Ordering::SeqCst) {
            thread.unpark();
        }
    }
}

/// Between the look into the queue and the note that it sleeps, nobody wakes the worker.
pub fn sleeping_worker() {
    let worker = Arc::new(Worker::default());
    let theirs = worker.clone();
    let handle = thread::spawn(move || {
        theirs.next();
        theirs.done.fetch_add(1, Ordering::Relaxed);
    });
    worker.submit(5, handle.thread());
    handle.join().unwrap();
    assert_eq!(worker.done.load(Ordering::Relaxed), 1);
}

#[derive(Default)]
struct Buffer {
    events: Mutex<VecDeque<u32>>,
    filled: Condvar,
}

impl Buffer {
    fn take(&self) -> u32 {
        let mut events = self.events.lock().unwrap();
        loop {
            if let Some(event) = events.pop_front() {
                return event;
            }
            events = self.filled.wait(events).unwrap();
        }
    }

    fn put(&self, event: u32) {
        self.events.lock().unwrap().push_back(event);
        self.filled.notify_one();
    }
}

#[derive(Default)]
struct Devices {
    registry: Mutex<Vec<&'static str>>,
    buffer: Buffer,
}

impl Devices {
    fn handle(&self) -> u32 {
        let registry = self.registry.lock().unwrap();
        let event = self.buffer.take();
        event + registry.len() as u32
    }

    fn plug(&self, name: &'static str) {
        let mut registry = self.registry.lock().unwrap();
        registry.push(name);
        self.buffer.put(100);
    }
}

/// The handler waits for an event with the lock that the next event needs.
pub fn plugged_device() {
    let devices = Arc::new(Devices::default());
    let theirs = devices.clone();
    let handler = thread::spawn(move || theirs.handle());
    devices.plug("mouse");
    assert_eq!(handler.join().unwrap(), 101);
}
