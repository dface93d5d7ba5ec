//! Random concurrent programs over the public API.

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use drawloom::thread;
use proptest::prelude::*;

/// One operation on one of the shared objects.
#[derive(Clone, Debug)]
pub enum Op {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Exchange(usize),
    Locked(usize),
    Nested(usize, usize),
    TryLock(usize),
    Read,
    Write,
    Notify,
    Send(u32),
    Yield,
    Sleep(u64),
    Choose,
    AssertSmall(usize),
}

/// Tasks, each a list of operations; main joins all.
#[derive(Clone, Debug)]
pub struct Program {
    tasks: Vec<Vec<Op>>,
}

/// Programs of 2 to 4 tasks with up to 6 operations each. Some deadlock, some panic.
pub fn programs() -> impl Strategy<Value = Program> {
    let op = prop_oneof![
        (0..2usize).prop_map(Op::Load),
        (0..2usize, 0..4u32).prop_map(|(i, v)| Op::Store(i, v)),
        (0..2usize).prop_map(Op::Add),
        (0..2usize).prop_map(Op::Exchange),
        (0..2usize).prop_map(Op::Locked),
        (0..2usize, 0..2usize).prop_map(|(a, b)| Op::Nested(a, b)),
        (0..2usize).prop_map(Op::TryLock),
        Just(Op::Read),
        Just(Op::Write),
        Just(Op::Notify),
        (0..9u32).prop_map(Op::Send),
        Just(Op::Yield),
        (0..3u64).prop_map(Op::Sleep),
        Just(Op::Choose),
        (0..2usize).prop_map(Op::AssertSmall),
    ];
    let task = proptest::collection::vec(op, 1..6);
    proptest::collection::vec(task, 2..4).prop_map(|tasks| Program { tasks })
}

struct Shared {
    atomics: [AtomicU32; 2],
    mutexes: [Mutex<u32>; 2],
    lock: RwLock<u32>,
    condvar: Condvar,
}

impl Program {
    /// Runs it once.
    pub fn run(&self) {
        let shared = Arc::new(Shared {
            atomics: [AtomicU32::new(0), AtomicU32::new(0)],
            mutexes: [Mutex::new(0), Mutex::new(0)],
            lock: RwLock::new(0),
            condvar: Condvar::new(),
        });
        let (sender, receiver) = mpsc::sync_channel(1);
        let handles: Vec<_> = self
            .tasks
            .iter()
            .map(|ops| {
                let (ops, shared, sender) = (ops.clone(), shared.clone(), sender.clone());
                thread::spawn(move || ops.iter().for_each(|op| op.run(&shared, &sender)))
            })
            .collect();
        drop(sender);
        let received: u32 = receiver.iter().sum();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert!(received < 1000);
    }
}

impl Op {
    fn run(&self, shared: &Shared, sender: &mpsc::SyncSender<u32>) {
        match *self {
            Op::Load(i) => drop(shared.atomics[i].load(SeqCst)),
            Op::Store(i, v) => shared.atomics[i].store(v, SeqCst),
            Op::Add(i) => drop(shared.atomics[i].fetch_add(1, SeqCst)),
            Op::Exchange(i) => drop(shared.atomics[i].compare_exchange(0, 5, SeqCst, SeqCst)),
            Op::Locked(i) => *shared.mutexes[i].lock().unwrap() += 1,
            Op::Nested(a, b) => {
                let _first = shared.mutexes[a].lock().unwrap();
                let _second = shared.mutexes[b].lock().unwrap();
            }
            Op::TryLock(i) => drop(shared.mutexes[i].try_lock()),
            Op::Read => drop(shared.lock.read().unwrap()),
            Op::Write => *shared.lock.write().unwrap() += 1,
            Op::Notify => shared.condvar.notify_all(),
            Op::Send(v) => sender.send(v).unwrap(),
            Op::Yield => thread::yield_now(),
            Op::Sleep(ms) => thread::sleep(std::time::Duration::from_millis(ms)),
            Op::Choose => drop(drawloom::choose(3)),
            Op::AssertSmall(i) => assert!(shared.atomics[i].load(SeqCst) < 6, "the atomic grew"),
        }
    }
}
