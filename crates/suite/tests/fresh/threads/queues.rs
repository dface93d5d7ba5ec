//! Things that are handed on.

use std::collections::VecDeque;

use drawloom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Mutex, RwLock};
use drawloom::thread;

#[derive(Default)]
struct Inbox {
    items: Mutex<VecDeque<String>>,
    len: AtomicUsize,
    taken: AtomicUsize,
}

impl Inbox {
    fn put(&self, item: &str) {
        self.items.lock().unwrap().push_back(item.to_owned());
        self.len.fetch_add(1, Ordering::SeqCst);
    }

    fn poll(&self) -> Option<String> {
        if self.len.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let item = self.items.lock().unwrap().pop_front().expect("the inbox is not empty");
        self.len.fetch_sub(1, Ordering::SeqCst);
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(item)
    }
}

/// The length is in a field of its own.
pub fn two_takers() {
    let inbox = Arc::new(Inbox::default());
    inbox.put("hello");
    let theirs = inbox.clone();
    let other = thread::Builder::new().name("taker".into()).spawn(move || theirs.poll()).unwrap();
    let mine = inbox.poll();
    let theirs = other.join().unwrap();
    assert!(mine.is_some() != theirs.is_some());
    assert_eq!(inbox.taken.load(Ordering::Relaxed), 1);
}

#[derive(Default)]
struct Flusher {
    pending: Mutex<Vec<u32>>,
    sink: Mutex<Vec<u32>>,
    flushes: AtomicUsize,
}

impl Flusher {
    fn log(&self, event: u32) {
        self.pending.lock().unwrap().push(event);
    }

    fn flush(&self) {
        let batch = self.pending.lock().unwrap().clone();
        if batch.is_empty() {
            return;
        }
        self.write(&batch);
        self.pending.lock().unwrap().clear();
        self.flushes.fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, batch: &[u32]) {
        self.sink.lock().unwrap().extend(batch);
    }
}

/// What comes while a batch is written is cleared with it.
pub fn batch_flusher() {
    let flusher = Arc::new(Flusher::default());
    flusher.log(1);
    let theirs = flusher.clone();
    let background = thread::spawn(move || theirs.flush());
    flusher.log(2);
    background.join().unwrap();
    flusher.flush();
    let mut written = flusher.sink.lock().unwrap().clone();
    written.sort_unstable();
    assert_eq!(written, [1, 2]);
}

#[derive(Default)]
struct Executor {
    jobs: Mutex<Vec<u32>>,
    closed: AtomicBool,
    accepted: AtomicUsize,
    finished: AtomicUsize,
}

impl Executor {
    fn submit(&self, job: u32) -> bool {
        if self.closed.load(Ordering::SeqCst) {
            return false;
        }
        self.jobs.lock().unwrap().push(job);
        self.accepted.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn run_pending(&self) {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        for job in jobs {
            assert!(job > 0);
            self.finished.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn shut_down(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.run_pending();
    }
}

/// A job that is accepted after the last look at the jobs is never done.
pub fn late_submission() {
    let executor = Arc::new(Executor::default());
    let theirs = executor.clone();
    let client = thread::spawn(move || {
        theirs.submit(1);
        theirs.submit(2);
    });
    executor.shut_down();
    client.join().unwrap();
    let (accepted, finished) = (executor.accepted.load(Ordering::Relaxed), executor.finished.load(Ordering::Relaxed));
    assert_eq!(accepted, finished, "jobs were accepted and never done");
}

#[derive(Default)]
struct Subscriber {
    closed: AtomicBool,
    seen: AtomicUsize,
}

impl Subscriber {
    fn deliver(&self, event: usize) {
        assert!(!self.closed.load(Ordering::SeqCst), "event {event} for a closed subscriber");
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct Bus {
    subscribers: RwLock<Vec<Arc<Subscriber>>>,
}

impl Bus {
    fn publish(&self, event: usize) {
        let everyone = self.subscribers.read().unwrap().clone();
        for subscriber in everyone {
            subscriber.deliver(event);
        }
    }

    fn unsubscribe(&self, gone: &Arc<Subscriber>) {
        self.subscribers.write().unwrap().retain(|subscriber| !Arc::ptr_eq(subscriber, gone));
        gone.close();
    }
}

/// Who has left may still be on a copy of the list.
pub fn event_bus() {
    let bus = Arc::new(Bus::default());
    let (first, second) = (Arc::new(Subscriber::default()), Arc::new(Subscriber::default()));
    bus.subscribers.write().unwrap().extend([first.clone(), second]);
    let theirs = bus.clone();
    let publisher = thread::spawn(move || {
        theirs.publish(1);
        theirs.publish(2);
    });
    bus.unsubscribe(&first);
    publisher.join().unwrap();
}
