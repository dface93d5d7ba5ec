//! A register on three replicas, as Attiya, Bar-Noy and Dolev have it: whoever writes or reads asks two of the three. A
//! reader that does not write back what it has read may be the only one who knows of a write that has not ended, and the
//! next reader, who asks another two, reads the value before.

use drawloom::history::Watch;
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

/// Which write a value is of, and the value.
pub type Version = (u32, u32);

/// Three replicas; to lock one is to send it a message and to get the answer.
#[derive(Default)]
pub struct Replicas([Mutex<Version>; 3]);

impl Replicas {
    /// Writes a version to two replicas.
    pub fn write(&self, quorum: [usize; 2], version: Version) {
        for replica in quorum {
            let mut there = self.0[replica].lock().unwrap();
            *there = version.max(*there);
        }
    }

    /// The newest version that two replicas know.
    pub fn read_buggy(&self, quorum: [usize; 2]) -> Version {
        quorum.map(|replica| *self.0[replica].lock().unwrap()).into_iter().max().unwrap_or_default()
    }

    /// The newest version that two replicas know, once both of them do.
    pub fn read_fixed(&self, quorum: [usize; 2]) -> Version {
        let version = self.read_buggy(quorum);
        self.write(quorum, version);
        version
    }
}

/// One client writes; another reads twice, from whichever two replicas answer first.
pub fn is_one_register(read: fn(&Replicas, [usize; 2]) -> Version) {
    const QUORUMS: [[usize; 2]; 3] = [[0, 1], [1, 2], [0, 2]];
    let (watch, replicas) = (Watch::new(Register::new(0)), Arc::new(Replicas::default()));
    let (mut writer, mut reader) = (watch.client(), watch.client());
    let theirs = replicas.clone();
    let reader = thread::spawn(move || {
        for _ in 0..2 {
            reader.call(RegisterOp::Read, || {
                let (_, value) = read(&theirs, QUORUMS[drawloom::choose(QUORUMS.len())]);
                RegisterRet::Value(value)
            });
        }
    });
    writer.call(RegisterOp::Write(7), || {
        replicas.write(QUORUMS[0], (1, 7));
        RegisterRet::Written
    });
    reader.join().unwrap();
}
