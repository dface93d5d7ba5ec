//! Small programs over every kind of operation of the public API, as values that can be generated.

use std::sync::{Mutex as Native, OnceLock as NativeOnce};

use drawloom::cell::UnsafeCell;
use drawloom::sync::atomic::{AtomicBool, AtomicI64};
use drawloom::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use drawloom::thread::{self, JoinHandle, Thread};
use drawloom_engine::Budgets;
use drawloom_engine::strategy::Tape;

use crate::brute::{Log, Subject};
use crate::running::{Ends, Running, Sending};

/// An operation, or one with others inside it.
#[derive(Clone, Debug)]
pub enum Op {
    Load(usize),
    Store(usize, i64),
    Swap(usize, i64),
    Add(usize, i64),
    Max(usize, i64),
    Cas(usize, i64, i64),
    CasWeak(usize, i64, i64),
    /// Spins until the atomic has this value, or any other.
    Await(usize, i64, bool),
    Update(usize),
    FlagNot,
    FlagLoad,
    Fence,
    /// What changes nothing.
    Yield,
    Lock(usize, Vec<Op>),
    TryLock(usize, Vec<Op>),
    /// Panics with the lock held.
    Poison(usize),
    IsPoisoned(usize),
    ClearPoison(usize),
    Read(Vec<Op>),
    Write(Vec<Op>),
    TryRead(Vec<Op>),
    TryWrite(Vec<Op>),
    Wait,
    WaitWhile,
    NotifyOne,
    NotifyAll,
    Arrive,
    CallOnce(Vec<Op>),
    IsCompleted,
    WaitForOnce,
    Get,
    Set(i64),
    GetOrInit(Vec<Op>),
    Send(usize, i64),
    TrySend(usize, i64),
    Recv(usize),
    TryRecv(usize),
    DropSender(usize),
    DropReceiver(usize),
    Park,
    Unpark(usize),
    IsFinished(usize),
    /// Milliseconds of virtual time, here and below.
    Sleep(u64),
    RecvTimeout(usize, u64),
    WaitTimeout(u64),
    ParkTimeout(u64),
    Now,
    Choose(usize),
    /// Plain memory, under the first mutex.
    Cell,
    /// Plain memory, read by whoever likes. Nobody writes it.
    CellRead,
    /// Panics for good if the atomic is not 0.
    Assert(usize),
}

fn put_yields(ops: &mut Vec<Op>, tape: &mut Tape) {
    for at in (0..=ops.len()).rev() {
        if let Some(inner) = at.checked_sub(1).and_then(|before| ops[before].inner_mut()) {
            put_yields(inner, tape);
        }
        if tape.below(2) == 0 {
            ops.insert(at, Op::Yield);
        }
    }
}

impl Op {
    fn inner(&self) -> &[Op] {
        match self {
            Op::Lock(_, inner) | Op::TryLock(_, inner) | Op::CallOnce(inner) | Op::GetOrInit(inner) => inner,
            Op::Read(inner) | Op::Write(inner) | Op::TryRead(inner) | Op::TryWrite(inner) => inner,
            _ => &[],
        }
    }

    /// The operations inside this one, to be changed.
    pub fn inner_mut(&mut self) -> Option<&mut Vec<Op>> {
        match self {
            Op::Lock(_, inner) | Op::TryLock(_, inner) | Op::CallOnce(inner) | Op::GetOrInit(inner) => Some(inner),
            Op::Read(inner) | Op::Write(inner) | Op::TryRead(inner) | Op::TryWrite(inner) => Some(inner),
            _ => None,
        }
    }

    fn any(&self, wanted: &impl Fn(&Op) -> bool) -> bool {
        wanted(self) || self.inner().iter().any(|op| op.any(wanted))
    }
}

/// Capacities of the channels; none is endless.
pub const CHANNELS: [Option<usize>; 3] = [None, Some(1), Some(0)];

/// Tasks that main spawns and joins.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub tasks: Vec<Vec<Op>>,
    /// By channel: the task that has its receiver.
    pub receivers: [usize; CHANNELS.len()],
    /// By task: the later one that has its handle, and joins it; main if none.
    pub joined_by: Vec<Option<usize>>,
    /// What tasks do not bring about, and may happen so many times.
    pub budgets: Budgets,
}

impl Program {
    /// The same with yields between operations, by `seed`.
    pub fn with_yields(&self, seed: u64) -> Program {
        let mut tape = Tape::new(seed);
        let mut program = self.clone();
        program.tasks.iter_mut().for_each(|task| put_yields(task, &mut tape));
        program
    }

    fn any(&self, wanted: impl Fn(&Op) -> bool) -> bool {
        self.tasks.iter().flatten().any(|op| op.any(&wanted))
    }

    fn sends(&self, task: usize, channel: usize) -> bool {
        let sends = |op: &Op| matches!(op, Op::Send(c, _) | Op::TrySend(c, _) | Op::DropSender(c) if *c == channel);
        self.tasks[task].iter().any(|op| op.any(&sends))
    }

    fn uses_channel(&self, channel: usize) -> bool {
        let receives = |op: &Op| matches!(op, Op::Recv(c) | Op::TryRecv(c) | Op::RecvTimeout(c, _) | Op::DropReceiver(c) if *c == channel);
        self.any(receives) || (0..self.tasks.len()).any(|task| self.sends(task, channel))
    }

    pub fn can_panic(&self) -> bool {
        self.any(|op| matches!(op, Op::Poison(_) | Op::Assert(_)))
    }

    /// Whether tasks need handles of each other, which are only there once all are spawned.
    pub fn has_gate(&self) -> bool {
        self.any(|op| matches!(op, Op::Unpark(_))) || self.joined_by.iter().any(Option::is_some)
    }

    /// The program as a body; its tasks are spawned last first if `reversed`.
    pub fn subject(&self, reversed: bool) -> Subject {
        let program = Arc::new(self.clone());
        Subject {
            has_gate: self.has_gate(),
            budgets: self.budgets,
            asks_for_exits: self.any(|op| matches!(op, Op::IsFinished(_))),
            has_signals: false,
            body: Arc::new(move |log| program.run(log, reversed)),
        }
    }

    fn run(self: &Arc<Self>, log: &Arc<Log>, reversed: bool) {
        let count = self.tasks.len();
        let shared = Arc::new(Shared {
            threads: (0..count).map(|_| NativeOnce::new()).collect(),
            handles: (0..count).map(|_| Native::new(None)).collect(),
            ..Shared::default()
        });
        let gate = self.has_gate().then(|| shared.gate.write().unwrap());
        let mut ends: Vec<Ends> = (0..count).map(|_| Ends::default()).collect();
        for (channel, capacity) in CHANNELS.iter().enumerate().filter(|(c, _)| self.uses_channel(*c)) {
            let (sender, receiver) = match capacity {
                None => {
                    let (sender, receiver) = mpsc::channel();
                    (Sending::Endless(sender), receiver)
                }
                Some(capacity) => {
                    let (sender, receiver) = mpsc::sync_channel(*capacity);
                    (Sending::Bounded(sender), receiver)
                }
            };
            ends[self.receivers[channel]].receivers[channel] = Some(receiver);
            for task in (0..count).filter(|task| self.sends(*task, channel)) {
                ends[task].senders[channel] = Some(sender.clone());
            }
        }
        let mut order: Vec<(usize, Ends)> = ends.into_iter().enumerate().collect();
        if reversed {
            order.reverse();
        }
        for (task, ends) in order {
            let running = Running { program: self.clone(), task, shared: shared.clone(), log: log.clone() };
            let handle = thread::spawn(move || running.run(ends));
            shared.threads[task].set(handle.thread().clone()).expect("each task is spawned once");
            *shared.handles[task].lock().unwrap() = Some(handle);
        }
        let mine: Vec<usize> = (0..count).filter(|task| self.joined_by[*task].is_none()).collect();
        let mine: Vec<_> = mine.into_iter().map(|task| shared.take_handle(task)).collect();
        drop(gate);
        let ends: Vec<bool> = mine.into_iter().map(|handle| handle.join().is_ok()).collect();
        ends.iter().for_each(|end| log.note(count, i64::from(*end)));
        // A task that panicked may have left others behind, which it was to join.
        if ends.iter().all(|end| *end) && !(self.can_panic() && self.joined_by.iter().any(Option::is_some)) {
            shared.note_what_is_left(log, count);
        }
    }
}

/// What the tasks share.
#[derive(Default)]
pub struct Shared {
    pub gate: RwLock<()>,
    pub atomics: [AtomicI64; 2],
    pub flag: AtomicBool,
    pub mutexes: [Mutex<i64>; 2],
    pub lock: RwLock<i64>,
    pub condvar: Condvar,
    pub barrier: TwoAtATime,
    pub once: Initialiser,
    pub value: OnceLock<i64>,
    pub cell: Plain,
    pub threads: Vec<NativeOnce<Thread>>,
    pub handles: Vec<Native<Option<JoinHandle<()>>>>,
}

pub struct TwoAtATime(pub Barrier);

impl Default for TwoAtATime {
    fn default() -> Self {
        TwoAtATime(Barrier::new(2))
    }
}

pub struct Initialiser(pub Once);

impl Default for Initialiser {
    fn default() -> Self {
        Initialiser(Once::new())
    }
}

#[derive(Default)]
pub struct Plain(pub [UnsafeCell<i64>; 2]);

// SAFETY: the first cell is only touched with the first mutex held, the second is only read.
unsafe impl Sync for Plain {}

impl Shared {
    /// The handle of `task`, for who is to join it.
    pub fn take_handle(&self, task: usize) -> JoinHandle<()> {
        self.handles[task].lock().unwrap().take().expect("a handle is taken once, after the gate")
    }

    /// The final values, without a step: all tasks are over.
    fn note_what_is_left(self: Arc<Self>, log: &Log, as_task: usize) {
        let shared = Arc::into_inner(self).expect("all tasks are over");
        let note = |value: i64| log.note(as_task, value);
        shared.atomics.into_iter().for_each(|atomic| note(atomic.into_inner()));
        note(i64::from(shared.flag.into_inner()));
        for mutex in shared.mutexes {
            let value = mutex.into_inner();
            note(i64::from(value.is_err()));
            note(value.unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        note(shared.lock.into_inner().unwrap_or(-1));
        note(shared.value.into_inner().unwrap_or(-1));
        shared.cell.0.into_iter().for_each(|cell| note(cell.into_inner()));
    }
}
