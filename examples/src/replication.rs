//! A leader that takes writes and a follower that is told about them: whoever reads from the follower may read what
//! has been overwritten before the read began.

use drawloom::history::Watch;
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::sync::mpsc::{Receiver, Sender, channel};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// A value and its replica.
pub struct Replicated {
    leader: Mutex<u32>,
    follower: Mutex<u32>,
    changes: Sender<u32>,
}

impl Replicated {
    /// A value of 0, and what the follower has to be [told](Self::follow).
    pub fn new() -> (Arc<Replicated>, Receiver<u32>) {
        let (changes, told) = channel();
        (Arc::new(Replicated { leader: Mutex::new(0), follower: Mutex::new(0), changes }), told)
    }

    /// Changes the value, and does not wait for the follower.
    pub fn write(&self, value: u32) {
        *self.leader.lock().unwrap() = value;
        self.changes.send(value).unwrap();
    }

    /// The value as the follower knows it.
    pub fn read_buggy(&self) -> u32 {
        *self.follower.lock().unwrap()
    }

    /// The value as the leader knows it.
    pub fn read_fixed(&self) -> u32 {
        *self.leader.lock().unwrap()
    }

    /// The follower: takes over one change.
    pub fn follow(&self, changes: &Receiver<u32>) {
        let value = changes.recv().unwrap();
        *self.follower.lock().unwrap() = value;
    }
}

/// One client writes, another reads.
pub fn is_one_register(read: fn(&Replicated) -> u32) {
    let watch = Watch::new(Register::new(0));
    let (store, changes) = Replicated::new();
    let (mut writer, mut reader) = (watch.client(), watch.client());
    let (of_follower, of_reader) = (store.clone(), store.clone());
    let follower = thread::spawn(move || of_follower.follow(&changes));
    let reader = thread::spawn(move || {
        reader.call(RegisterOp::Read, || RegisterRet::Value(read(&of_reader)));
    });
    writer.call(RegisterOp::Write(1), || {
        store.write(1);
        RegisterRet::Written
    });
    follower.join().unwrap();
    reader.join().unwrap();
}
