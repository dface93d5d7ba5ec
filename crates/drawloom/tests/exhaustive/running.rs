//! A task of a random program, and how it carries out its operations.

use drawloom::cell::UnsafeCellExt;
use drawloom::hint;
use drawloom::sync::atomic::{Ordering::SeqCst, fence};
use drawloom::sync::mpsc::{self, Receiver, Sender, SyncSender};
use drawloom::sync::{Arc, TryLockError};
use drawloom::thread::{self, JoinHandle};
use drawloom::time::{Duration, SystemTime};

use crate::brute::Log;
use crate::random_program::{CHANNELS, Op, Program, Shared};

/// A sending end of either kind.
#[derive(Clone)]
pub enum Sending {
    Endless(Sender<i64>),
    Bounded(SyncSender<i64>),
}

/// The ends of channels that a task has.
#[derive(Default)]
pub struct Ends {
    pub senders: [Option<Sending>; CHANNELS.len()],
    pub receivers: [Option<Receiver<i64>>; CHANNELS.len()],
}

/// A task that has been spawned.
pub struct Running {
    pub program: Arc<Program>,
    pub task: usize,
    pub shared: Arc<Shared>,
    pub log: Arc<Log>,
}

impl Running {
    /// Runs it to its end.
    pub fn run(self, mut ends: Ends) {
        let mut handles = Vec::new();
        if self.program.has_gate() {
            drop(self.shared.gate.read().unwrap());
            let mine = |task: &usize| self.program.joined_by[*task] == Some(self.task);
            let tasks = (0..self.program.tasks.len()).filter(mine);
            handles.extend(tasks.map(|task| (task, self.shared.take_handle(task))));
        }
        self.carry_out(&self.program.tasks[self.task], &mut ends, &handles);
        for (_, handle) in handles {
            self.note(handle.join().is_ok());
        }
    }

    fn note(&self, value: impl Into<i64>) {
        self.log.note(self.task, value.into());
    }

    fn carry_out(&self, ops: &[Op], ends: &mut Ends, handles: &[(usize, JoinHandle<()>)]) {
        for op in ops {
            self.step(op, ends, handles);
        }
    }

    fn step(&self, op: &Op, ends: &mut Ends, handles: &[(usize, JoinHandle<()>)]) {
        let shared = &*self.shared;
        let all = |inner: &[Op], ends: &mut Ends| self.carry_out(inner, ends, handles);
        match op {
            Op::Load(a) => self.note(shared.atomics[*a].load(SeqCst)),
            Op::Store(a, v) => shared.atomics[*a].store(*v, SeqCst),
            Op::Swap(a, v) => self.note(shared.atomics[*a].swap(*v, SeqCst)),
            Op::Add(a, v) => self.note(shared.atomics[*a].fetch_add(*v, SeqCst)),
            Op::Max(a, v) => self.note(shared.atomics[*a].fetch_max(*v, SeqCst)),
            Op::Cas(a, e, n) => {
                self.note(shared.atomics[*a].compare_exchange(*e, *n, SeqCst, SeqCst).unwrap_or_else(|v| 100 + v));
            }
            Op::CasWeak(a, e, n) => {
                self.note(shared.atomics[*a].compare_exchange_weak(*e, *n, SeqCst, SeqCst).unwrap_or_else(|v| 100 + v));
            }
            Op::Update(a) => {
                let doubled = |v: i64| (v < 4).then_some(2 * v + 1);
                self.note(shared.atomics[*a].fetch_update(SeqCst, SeqCst, doubled).unwrap_or_else(|v| 100 + v));
            }
            Op::Await(a, v, wanted) => {
                self.note(hint::spin_until(&shared.atomics[*a], SeqCst, |x| (x == *v) == *wanted))
            }
            Op::FlagNot => self.note(shared.flag.fetch_not(SeqCst)),
            Op::FlagLoad => self.note(shared.flag.load(SeqCst)),
            Op::Fence => fence(SeqCst),
            Op::Yield => thread::yield_now(),
            Op::Lock(m, inner) => {
                let guard = shared.mutexes[*m].lock();
                self.note(guard.is_err());
                let mut guard = guard.unwrap_or_else(|poisoned| poisoned.into_inner());
                *guard += 1;
                self.note(*guard);
                all(inner, ends);
            }
            Op::TryLock(m, inner) => match shared.mutexes[*m].try_lock() {
                Ok(mut guard) => {
                    *guard += 1;
                    self.note(*guard);
                    all(inner, ends);
                }
                Err(TryLockError::Poisoned(poisoned)) => self.note(100 + **poisoned.get_ref()),
                Err(TryLockError::WouldBlock) => self.note(-1),
            },
            Op::Poison(m) => {
                let _guard = shared.mutexes[*m].lock();
                panic!("with the lock held");
            }
            Op::IsPoisoned(m) => self.note(shared.mutexes[*m].is_poisoned()),
            Op::ClearPoison(m) => shared.mutexes[*m].clear_poison(),
            Op::Read(inner) => {
                let guard = shared.lock.read().unwrap();
                self.note(*guard);
                all(inner, ends);
            }
            Op::Write(inner) => {
                let mut guard = shared.lock.write().unwrap();
                *guard += 1;
                self.note(*guard);
                all(inner, ends);
            }
            Op::TryRead(inner) => match shared.lock.try_read() {
                Ok(guard) => {
                    self.note(*guard);
                    all(inner, ends);
                }
                Err(_) => self.note(-1),
            },
            Op::TryWrite(inner) => match shared.lock.try_write() {
                Ok(mut guard) => {
                    *guard += 1;
                    self.note(*guard);
                    all(inner, ends);
                }
                Err(_) => self.note(-1),
            },
            _ => self.rarer(op, ends, handles),
        }
    }

    fn rarer(&self, op: &Op, ends: &mut Ends, handles: &[(usize, JoinHandle<()>)]) {
        let shared = &*self.shared;
        let locked = || shared.mutexes[0].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match op {
            Op::Wait => {
                let guard = shared.condvar.wait(locked());
                self.note(*guard.unwrap_or_else(|poisoned| poisoned.into_inner()));
            }
            Op::WaitWhile => {
                let guard = shared.condvar.wait_while(locked(), |value| *value == 0);
                self.note(*guard.unwrap_or_else(|poisoned| poisoned.into_inner()));
            }
            Op::NotifyOne => shared.condvar.notify_one(),
            Op::NotifyAll => shared.condvar.notify_all(),
            Op::Arrive => self.note(shared.barrier.0.wait().is_leader()),
            Op::CallOnce(inner) => {
                let mut ran = false;
                shared.once.0.call_once(|| {
                    ran = true;
                    self.carry_out(inner, ends, handles);
                });
                self.note(ran);
            }
            Op::IsCompleted => self.note(shared.once.0.is_completed()),
            Op::WaitForOnce => shared.once.0.wait(),
            Op::Get => self.note(shared.value.get().copied().unwrap_or(-1)),
            Op::Set(v) => self.note(shared.value.set(*v).is_ok()),
            Op::GetOrInit(inner) => {
                let value = shared.value.get_or_init(|| {
                    self.carry_out(inner, ends, handles);
                    10 + self.task as i64
                });
                self.note(*value);
            }
            Op::Send(c, v) => {
                let sent = ends.senders[*c].as_ref().map(|sender| match sender {
                    Sending::Endless(sender) => sender.send(*v).is_ok(),
                    Sending::Bounded(sender) => sender.send(*v).is_ok(),
                });
                self.note(sent.map_or(-1, i64::from));
            }
            Op::TrySend(c, v) => {
                let sent = ends.senders[*c].as_ref().map(|sender| match sender {
                    Sending::Endless(sender) => i64::from(sender.send(*v).is_ok()),
                    Sending::Bounded(sender) => match sender.try_send(*v) {
                        Ok(()) => 1,
                        Err(mpsc::TrySendError::Full(_)) => 2,
                        Err(mpsc::TrySendError::Disconnected(_)) => 3,
                    },
                });
                self.note(sent.unwrap_or(-1));
            }
            Op::Recv(c) => {
                let received = ends.receivers[*c].as_ref().map(|receiver| receiver.recv().unwrap_or(100));
                self.note(received.unwrap_or(-1));
            }
            Op::TryRecv(c) => {
                let received = ends.receivers[*c].as_ref().map(|receiver| match receiver.try_recv() {
                    Ok(value) => value,
                    Err(mpsc::TryRecvError::Empty) => 101,
                    Err(mpsc::TryRecvError::Disconnected) => 102,
                });
                self.note(received.unwrap_or(-1));
            }
            Op::DropSender(c) => drop(ends.senders[*c].take()),
            Op::DropReceiver(c) => drop(ends.receivers[*c].take()),
            Op::Park => thread::park(),
            Op::Unpark(t) => shared.threads[*t].get().expect("the gate is open").unpark(),
            Op::IsFinished(t) => {
                let (_, handle) = handles.iter().find(|(task, _)| task == t).expect("its handle is here");
                self.note(handle.is_finished());
            }
            Op::Sleep(time) => thread::sleep(Duration::from_millis(*time)),
            Op::RecvTimeout(c, time) => {
                let time = Duration::from_millis(*time);
                let received = ends.receivers[*c].as_ref().map(|receiver| match receiver.recv_timeout(time) {
                    Ok(value) => value,
                    Err(mpsc::RecvTimeoutError::Timeout) => 103,
                    Err(mpsc::RecvTimeoutError::Disconnected) => 100,
                });
                self.note(received.unwrap_or(-1));
            }
            Op::WaitTimeout(time) => {
                let waited = shared.condvar.wait_timeout(locked(), Duration::from_millis(*time));
                let (guard, result) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
                self.note(*guard + 100 * i64::from(result.timed_out()));
            }
            Op::ParkTimeout(time) => thread::park_timeout(Duration::from_millis(*time)),
            Op::Now => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                self.note(since.map_or(-1, |since| since.as_millis() as i64));
            }
            Op::Choose(outcomes) => self.note(drawloom::choose(*outcomes) as i64),
            Op::Cell => {
                let _guard = locked();
                let value = shared.cell.0[0].with_mut(|value| {
                    // SAFETY: the first mutex is held.
                    unsafe {
                        *value += 1;
                        *value
                    }
                });
                self.note(value);
            }
            Op::CellRead => {
                // SAFETY: nobody writes the second cell while tasks run.
                self.note(shared.cell.0[1].with(|value| unsafe { *value }));
            }
            Op::Assert(a) => assert_eq!(shared.atomics[*a].load(SeqCst), 0, "the atomic has changed"),
            _ => unreachable!("one of the more frequent operations"),
        }
    }
}
