//! Things that begin, are shared, and end.

use std::collections::VecDeque;

use drawloom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread;

#[derive(Default)]
struct Upload {
    size: AtomicU64,
    sent: AtomicU64,
}

impl Upload {
    fn percent(&self) -> u64 {
        let sent = self.sent.load(Ordering::SeqCst);
        sent * 100 / self.size.load(Ordering::SeqCst)
    }
}

#[derive(Default)]
struct Transfers {
    active: Mutex<Vec<Arc<Upload>>>,
    started: AtomicUsize,
}

impl Transfers {
    fn begin(&self, size: u64) -> Arc<Upload> {
        let upload = Arc::new(Upload::default());
        self.active.lock().unwrap().push(upload.clone());
        self.started.fetch_add(1, Ordering::Relaxed);
        upload.size.store(size, Ordering::SeqCst);
        upload
    }

    fn progress(&self) -> Vec<u64> {
        let active = self.active.lock().unwrap().clone();
        active.iter().map(|upload| upload.percent()).collect()
    }
}

/// An upload is in the list before its size is known.
pub fn upload_progress() {
    let transfers = Arc::new(Transfers::default());
    let theirs = transfers.clone();
    let sender = thread::spawn(move || {
        let upload = theirs.begin(8);
        upload.sent.fetch_add(4, Ordering::SeqCst);
    });
    let shown = transfers.progress();
    sender.join().unwrap();
    assert!(shown.iter().all(|percent| *percent <= 50), "{shown:?}");
}

struct Socket {
    users: AtomicUsize,
    closed: AtomicBool,
    frames: AtomicUsize,
}

impl Socket {
    fn acquire(&self) -> bool {
        if self.users.load(Ordering::SeqCst) == 0 {
            return false;
        }
        self.users.fetch_add(1, Ordering::SeqCst);
        true
    }

    fn release(&self) {
        if self.users.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.closed.store(true, Ordering::SeqCst);
        }
    }

    fn send(&self) -> Result<(), &'static str> {
        if self.closed.load(Ordering::SeqCst) {
            return Err("the socket is closed");
        }
        self.frames.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Somebody gets hold of a socket that its last user has just let go.
pub fn closed_socket() {
    let socket = Socket { users: AtomicUsize::new(1), closed: AtomicBool::new(false), frames: AtomicUsize::new(0) };
    let socket = Arc::new(socket);
    let theirs = socket.clone();
    let ping = thread::spawn(move || {
        if !theirs.acquire() {
            return Ok(());
        }
        let sent = theirs.send();
        theirs.release();
        sent
    });
    socket.release();
    let sent = ping.join().unwrap();
    assert_eq!(sent, Ok(()), "whoever holds it can send");
}

#[derive(Default)]
struct Outbox {
    queue: Mutex<VecDeque<&'static str>>,
    changed: Condvar,
    stopped: AtomicBool,
    delivered: Mutex<Vec<&'static str>>,
}

impl Outbox {
    fn submit(&self, mail: &'static str) {
        self.queue.lock().unwrap().push_back(mail);
        self.changed.notify_one();
    }

    fn stop(&self) {
        let _queue = self.queue.lock().unwrap();
        self.stopped.store(true, Ordering::SeqCst);
        self.changed.notify_one();
    }

    fn run(&self) {
        loop {
            let mut queue = self.queue.lock().unwrap();
            while queue.is_empty() && !self.stopped.load(Ordering::SeqCst) {
                queue = self.changed.wait(queue).unwrap();
            }
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            let mail = queue.pop_front();
            drop(queue);
            self.delivered.lock().unwrap().extend(mail);
        }
    }
}

/// The mailer stops with a letter in its queue.
pub fn undelivered_mail() {
    let outbox = Arc::new(Outbox::default());
    let theirs = outbox.clone();
    let mailer = thread::spawn(move || theirs.run());
    outbox.submit("invoice");
    outbox.stop();
    mailer.join().unwrap();
    let delivered = outbox.delivered.lock().unwrap();
    assert_eq!(*delivered, ["invoice"], "what was submitted before the end is delivered");
}
