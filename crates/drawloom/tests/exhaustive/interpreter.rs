//! Runs programs of the engine's tests (`crates/engine/tests/programs/README.md`) on the public API.
//!
//! Main makes everything, spawns the threads and joins those that no other thread joins. None of that
//! is a race. Ends of channels are dropped by main when all is over: a thread that dropped its own
//! would be one of another program, since an end that goes away races with who polls the channel.
//!
//! The API is that of `super::library`: drawloom here, and each of its peers in `bench/`. What they share
//! is owned by std's `Arc`, whose counts nobody explores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Native};

use drawloom_engine::{OpKind, ResourceKind, State, UNBOUNDED};

use super::instruction::{Instruction, Into, Target, Value, When};
use super::library;
use super::library::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::library::sync::mpsc::{self, Receiver, Sender, SyncSender};
use super::library::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use super::library::thread::{self, JoinHandle};
use super::program::Program;

/// A thing of a program, as std has it.
enum Object {
    Variable(AtomicI64),
    Mutex(Mutex<()>),
    RwLock(RwLock<()>),
    Condvar(Condvar),
    /// Whoever receives holds the receiver while it runs.
    Channel(Sending, Native<Option<Receiver<i64>>>),
}

enum Sending {
    Endless(Sender<i64>),
    Bounded(SyncSender<i64>),
}

struct Shared {
    program: Arc<Program>,
    objects: Vec<Object>,
    /// Threads that somebody else than main joins.
    handles: Vec<Native<Option<JoinHandle<()>>>>,
}

/// Runs `program` once, with its threads spawned in the order of the text.
pub fn run(program: &Arc<Program>) {
    let handles = program.threads.iter().map(|_| Native::new(None)).collect();
    let objects = program.things.iter().map(|thing| object(thing.kind, thing.state, thing.initial)).collect();
    let shared = Arc::new(Shared { program: program.clone(), objects, handles });
    let of_others = joined_by_others(program);
    let mut mine = Vec::new();
    for (index, _) in program.threads.iter().enumerate().filter(|(_, thread)| !thread.off) {
        let handle = shared.spawn(index);
        if of_others[index] {
            *shared.handles[index].lock().unwrap() = Some(handle);
        } else {
            mine.push(handle);
        }
    }
    for handle in mine {
        handle.join().unwrap();
    }
}

fn object(kind: ResourceKind, state: State, initial: i64) -> Object {
    match (kind, state) {
        (ResourceKind::Atomic, _) => Object::Variable(AtomicI64::new(initial)),
        (ResourceKind::Mutex, _) => Object::Mutex(Mutex::new(())),
        (ResourceKind::RwLock, _) => Object::RwLock(RwLock::new(())),
        (ResourceKind::Condvar, _) => Object::Condvar(Condvar::new()),
        (ResourceKind::Channel, State::Channel(state)) if state.capacity == UNBOUNDED => {
            let (sender, receiver) = mpsc::channel();
            Object::Channel(Sending::Endless(sender), Native::new(Some(receiver)))
        }
        (ResourceKind::Channel, State::Channel(state)) => {
            let (sender, receiver) = mpsc::sync_channel(state.capacity as usize);
            Object::Channel(Sending::Bounded(sender), Native::new(Some(receiver)))
        }
        other => panic!("no program needs {other:?} here"),
    }
}

fn joined_by_others(program: &Program) -> Vec<bool> {
    let mut joined = vec![false; program.threads.len()];
    for (_, instruction) in program.threads.iter().flat_map(|thread| &thread.code) {
        if let Instruction::Join(thread) = instruction {
            joined[*thread] = true;
        }
    }
    joined
}

impl Shared {
    fn spawn(self: &Arc<Self>, thread: usize) -> JoinHandle<()> {
        let shared = self.clone();
        thread::spawn(move || Running::new(&shared).run(thread))
    }

    fn index(&self, target: Target, registers: &[i64; 8]) -> usize {
        target.first + value(target.index, registers) as usize
    }
}

fn value(value: Value, registers: &[i64; 8]) -> i64 {
    match value {
        Value::Number(number) => number,
        Value::Register(register) => registers[register],
    }
}

/// A thread and what it holds, by the number of the object.
struct Running<'a> {
    shared: &'a Arc<Shared>,
    registers: [i64; 8],
    locked: HashMap<usize, MutexGuard<'a, ()>>,
    reading: HashMap<usize, RwLockReadGuard<'a, ()>>,
    writing: HashMap<usize, RwLockWriteGuard<'a, ()>>,
    receiving: HashMap<usize, Receiver<i64>>,
}

impl<'a> Running<'a> {
    fn new(shared: &'a Arc<Shared>) -> Self {
        Running {
            shared,
            registers: [0; 8],
            locked: HashMap::new(),
            reading: HashMap::new(),
            writing: HashMap::new(),
            receiving: HashMap::new(),
        }
    }

    fn run(mut self, thread: usize) {
        let program = self.shared.program.clone();
        let code = &program.threads[thread].code;
        let mut at = 0;
        while let Some((line, instruction)) = code.get(at) {
            at += 1;
            match *instruction {
                Instruction::Jump { when, to } => {
                    let jump = match when {
                        When::Always => true,
                        When::Zero(v) => self.value(v) == 0,
                        When::NotZero(v) => self.value(v) != 0,
                    };
                    if jump {
                        at = to;
                    }
                }
                Instruction::Assert(v) => assert!(self.value(v) != 0, "line {line}"),
                other => self.carry_out(other),
            }
        }
        for (index, receiver) in self.receiving.drain() {
            let Object::Channel(_, slot) = &self.shared.objects[index] else { unreachable!("a channel") };
            *slot.lock().unwrap() = Some(receiver);
        }
    }

    fn value(&self, of: Value) -> i64 {
        value(of, &self.registers)
    }

    fn set(&mut self, register: Into, value: i64) {
        if let Some(register) = register {
            self.registers[register] = value;
        }
    }

    fn object(&self, at: Target) -> (usize, &'a Object) {
        let index = self.shared.index(at, &self.registers);
        (index, &self.shared.objects[index])
    }

    fn variable(&self, at: Target) -> &'a AtomicI64 {
        match self.object(at).1 {
            Object::Variable(variable) => variable,
            _ => panic!("not a variable"),
        }
    }

    fn carry_out(&mut self, instruction: Instruction) {
        use Instruction as I;
        match instruction {
            I::Load { to, at } => {
                let found = self.variable(at).load(SeqCst);
                self.set(to, found);
            }
            // As every library can.
            I::Await { to, at, op, value } => loop {
                let found = self.variable(at).load(SeqCst);
                if op.apply(found, self.value(value)) != 0 {
                    self.set(to, found);
                    break;
                }
                thread::yield_now();
            },
            I::Store { at, value } => self.variable(at).store(self.value(value), SeqCst),
            I::Add { to, at, value } => {
                let old = self.variable(at).fetch_add(self.value(value), SeqCst);
                self.set(to, old);
            }
            I::Exchange { to, at, value } => {
                let old = self.variable(at).swap(self.value(value), SeqCst);
                self.set(to, old);
            }
            I::Cas { ok, at, expected, new } => {
                let result = self.variable(at).compare_exchange(self.value(expected), self.value(new), SeqCst, SeqCst);
                self.set(ok, i64::from(result.is_ok()));
            }
            I::Simple { kind, at, ok } => self.simple(kind, at, ok),
            I::RwUnlock { at } => {
                let (index, _) = self.object(at);
                drop(self.reading.remove(&index));
                drop(self.writing.remove(&index));
            }
            I::CondWait { at, mutex, timeout: None, .. } => {
                let (Object::Condvar(condvar), (index, _)) = (self.object(at).1, self.object(mutex)) else {
                    panic!("not a condition variable")
                };
                let guard = self.locked.remove(&index).expect("a wait needs the mutex");
                let guard = condvar.wait(guard).unwrap();
                self.locked.insert(index, guard);
            }
            I::Send { kind, at, value, ok } => {
                let value = self.value(value);
                let Object::Channel(sending, _) = self.object(at).1 else { panic!("not a channel") };
                let sent = match (sending, kind) {
                    (Sending::Endless(sender), _) => sender.send(value).is_ok(),
                    (Sending::Bounded(sender), OpKind::Send) => sender.send(value).is_ok(),
                    (Sending::Bounded(sender), _) => sender.try_send(value).is_ok(),
                };
                self.set(ok, i64::from(sent));
            }
            I::Recv { kind, at, to, ok, timeout: None } => {
                let (index, object) = self.object(at);
                let Object::Channel(_, slot) = object else { panic!("not a channel") };
                let receiver = self
                    .receiving
                    .entry(index)
                    .or_insert_with(|| slot.lock().unwrap().take().expect("one thread receives from a channel"));
                let received = match kind {
                    OpKind::Recv => receiver.recv().ok(),
                    _ => receiver.try_recv().ok(),
                };
                self.set(ok, i64::from(received.is_some()));
                if received.is_some() {
                    self.set(to, received.unwrap_or(0));
                }
            }
            I::Spawn(thread) => {
                let handle = self.shared.spawn(thread);
                *self.shared.handles[thread].lock().unwrap() = Some(handle);
            }
            I::Join(thread) => {
                let handle = self.shared.handles[thread].lock().unwrap().take();
                handle.expect("who is joined was spawned before, and is joined once").join().unwrap();
            }
            I::Choose { to, count } => {
                let chosen = library::choose(self.value(count) as usize);
                self.set(to, chosen as i64);
            }
            I::Set { to, a, op, b } => {
                let result = op.apply(self.value(a), self.value(b));
                self.set(to, result);
            }
            // What is assumed and does not hold is waited for in vain.
            I::Assume(v) => {
                if self.value(v) == 0 {
                    thread::park();
                    unreachable!("nobody unparks");
                }
            }
            other => panic!("no program needs {other:?} here"),
        }
    }

    fn simple(&mut self, kind: OpKind, at: Target, ok: Into) {
        let (index, object) = self.object(at);
        match (object, kind) {
            (Object::Mutex(mutex), OpKind::Lock) => drop(self.locked.insert(index, mutex.lock().unwrap())),
            (Object::Mutex(mutex), OpKind::TryLock) => {
                let guard = mutex.try_lock().ok();
                self.set(ok, i64::from(guard.is_some()));
                self.locked.extend(guard.map(|guard| (index, guard)));
            }
            (Object::Mutex(_), OpKind::Unlock) => drop(self.locked.remove(&index)),
            (Object::RwLock(lock), OpKind::Read) => drop(self.reading.insert(index, lock.read().unwrap())),
            (Object::RwLock(lock), OpKind::Write) => drop(self.writing.insert(index, lock.write().unwrap())),
            (Object::Condvar(condvar), OpKind::NotifyOne) => condvar.notify_one(),
            (Object::Condvar(condvar), OpKind::NotifyAll) => condvar.notify_all(),
            (_, other) => panic!("no program needs {other:?} here"),
        }
    }
}
