//! What is begun once and ended once.

use std::collections::HashMap;

use drawloom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

#[derive(Default)]
struct Session {
    started: AtomicBool,
    token: AtomicU32,
    logins: AtomicUsize,
}

impl Session {
    fn log_in(&self) -> u32 {
        self.logins.fetch_add(1, Ordering::Relaxed);
        4711
    }

    fn token(&self) -> u32 {
        if !self.started.swap(true, Ordering::SeqCst) {
            let token = self.log_in();
            self.token.store(token, Ordering::SeqCst);
        }
        self.token.load(Ordering::SeqCst)
    }
}

/// Who comes second takes for done what the first has only begun.
pub fn session_token() {
    let session = Arc::new(Session::default());
    let theirs = session.clone();
    let upload = thread::spawn(move || assert_ne!(theirs.token(), 0, "no token"));
    assert_ne!(session.token(), 0, "no token");
    upload.join().unwrap();
    assert_eq!(session.logins.load(Ordering::Relaxed), 1);
}

struct Tape {
    device: Mutex<Option<u32>>,
    ejected: Mutex<Vec<u32>>,
}

impl Tape {
    fn eject(&self, device: u32) {
        self.ejected.lock().unwrap().push(device);
    }

    fn close(&self) {
        let open = *self.device.lock().unwrap();
        if let Some(device) = open {
            self.eject(device);
            *self.device.lock().unwrap() = None;
        }
    }
}

/// Two close it, and both find it open.
pub fn tape_close() {
    let tape = Arc::new(Tape { device: Mutex::new(Some(3)), ejected: Mutex::default() });
    let theirs = tape.clone();
    let on_error = thread::spawn(move || theirs.close());
    tape.close();
    on_error.join().unwrap();
    assert_eq!(*tape.ejected.lock().unwrap(), [3]);
}

#[derive(Default)]
struct Client {
    pending: Mutex<HashMap<u32, &'static str>>,
    answered: AtomicUsize,
}

impl Client {
    fn is_pending(&self, id: u32) -> bool {
        self.pending.lock().unwrap().contains_key(&id)
    }

    fn answer(&self, id: u32) {
        if self.is_pending(id) {
            self.answered.fetch_add(1, Ordering::Relaxed);
            let method = self.pending.lock().unwrap().remove(&id).expect("it is pending");
            assert_eq!(method, "ping");
        }
    }

    fn give_up(&self, id: u32) {
        self.pending.lock().unwrap().remove(&id);
    }
}

/// The call is given up while its answer is handled.
pub fn late_answer() {
    let client = Arc::new(Client::default());
    client.pending.lock().unwrap().insert(1, "ping");
    let theirs = client.clone();
    let reader = thread::spawn(move || theirs.answer(1));
    client.give_up(1);
    reader.join().unwrap();
}

#[derive(Default)]
struct Group {
    running: AtomicUsize,
    thumbnails: Mutex<Vec<u32>>,
}

impl Group {
    fn work(&self, picture: u32) {
        self.running.fetch_add(1, Ordering::SeqCst);
        self.thumbnails.lock().unwrap().push(picture);
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    fn is_idle(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 0
    }
}

/// A worker counts itself when it runs, not when it is made: until then nobody seems to be at work.
pub fn wait_group() {
    let group = Arc::new(Group::default());
    let theirs = group.clone();
    let worker = thread::spawn(move || theirs.work(12));
    while !group.is_idle() {
        thread::yield_now();
    }
    let made = group.thumbnails.lock().unwrap().len();
    worker.join().unwrap();
    assert_eq!(made, 1);
}
