//! Random programs over what the other generators leave out, mixed with each other: locks, condition variables and guards of
//! `parking_lot`, queues of crossbeam, latches, cells that are written once, objects, `select!`, cancelled tasks, scopes, awaited
//! values; and waits that end, and exchanges that fail, without a reason. Exhaustive exploration against every schedule there is.

use std::panic::catch_unwind;
use std::sync::Arc;

use drawloom::channel::{self, Receiver, Sender};
use drawloom::crossbeam::queue::ArrayQueue;
use drawloom::object::Object;
use drawloom::once_cell::sync::OnceCell;
use drawloom::parking_lot;
use drawloom::sync::atomic::{AtomicI64, Ordering::SeqCst};
use drawloom::sync::{Condvar, Latch, Mutex, RwLock};
use drawloom::time::Duration;
use drawloom::{hint, select, task, thread};
use drawloom_engine::{Budget, Budgets};

use super::brute::{Log, Numbers, Subject, compare_subject};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Load,
    Store,
    CasWeak,
    Await,
    Lock,
    TryLock,
    /// Adds under the lock while it is unlocked in between.
    Unlocked,
    Read,
    Write,
    Downgrade,
    StdWrite,
    WaitOn,
    WaitFor,
    StdWait,
    NotifyOne,
    NotifyAll,
    CountDown,
    WaitOpen,
    WaitOpenFor,
    IsOpen,
    Init,
    TryInit,
    Set,
    Get,
    WaitInit,
    Push,
    ForcePush,
    Pop,
    Update,
    Look,
    Send,
    TrySend,
    Recv,
    RecvEither,
    RecvOrNot,
    SendOrRecv,
    Park,
    Scope,
    ScopeOfTwo,
    Masked,
    Checkpoint,
}

/// How a program may go wrong, what its tasks do, and which of them main cancels.
#[derive(Debug)]
struct Program {
    budgets: Budgets,
    tasks: Vec<Vec<Does>>,
    cancelled: Option<usize>,
    unparked: Option<usize>,
}

fn program(seed: u64) -> Program {
    use Does::*;
    #[rustfmt::skip]
    let all = [
        Load, Store, CasWeak, CasWeak, Await, Lock, TryLock, Unlocked, Read, Write, Downgrade, StdWrite, WaitOn, WaitOn, WaitFor,
        StdWait, NotifyOne, NotifyAll, NotifyAll, CountDown, CountDown, WaitOpen, WaitOpenFor, IsOpen, Init, TryInit, Set, Get,
        WaitInit, Push, ForcePush, Pop, Update, Look, Send, TrySend, Recv, RecvEither, RecvOrNot, SendOrRecv, Park, Park, Scope,
        ScopeOfTwo, Masked, Checkpoint,
    ];
    let mut numbers = Numbers::new(seed ^ 0x5EED);
    let _ = [(); 3].map(|()| numbers.below(2));
    // Few kinds per program, so that tasks meet at the same things.
    let palette: Vec<Does> = (0..4).map(|_| numbers.of(&all)).collect();
    let count = numbers.of(&[2, 2, 2, 3]);
    let most = if count == 2 { 2 } else { 1 };
    let tasks = (0..count).map(|_| (0..1 + numbers.below(most)).map(|_| numbers.of(&palette)).collect()).collect();
    let spurious = numbers.below(2) as u32;
    let weak = numbers.below(2) as u32;
    let budgets = Budgets::NONE.with(Budget::SpuriousWakeups, spurious).with(Budget::WeakFailures, weak);
    let early = numbers.below(8).saturating_sub(6) as u32;
    let budgets = budgets.with(Budget::EarlyFires, early);
    let some = |numbers: &mut Numbers, odds: u64| (numbers.below(odds) == 0).then(|| numbers.below(count) as usize);
    let cancelled = some(&mut numbers, 6);
    let unparked = some(&mut numbers, 4);
    Program { budgets, tasks, cancelled, unparked }
}

struct Shared {
    atomic: AtomicI64,
    mutex: parking_lot::Mutex<i64>,
    condvar: parking_lot::Condvar,
    rwlock: parking_lot::RwLock<i64>,
    std_mutex: Mutex<i64>,
    std_condvar: Condvar,
    std_rwlock: RwLock<i64>,
    latch: Latch,
    cell: OnceCell<i64>,
    queue: ArrayQueue<i64>,
    object: Object<i64>,
}

impl Shared {
    fn new() -> Shared {
        Shared {
            atomic: AtomicI64::new(0),
            mutex: parking_lot::Mutex::new(0),
            condvar: parking_lot::Condvar::new(),
            rwlock: parking_lot::RwLock::new(0),
            std_mutex: Mutex::new(0),
            std_condvar: Condvar::new(),
            std_rwlock: RwLock::new(0),
            latch: Latch::new(2),
            cell: OnceCell::new(),
            queue: ArrayQueue::new(1),
            object: Object::new(0),
        }
    }
}

/// The ends of two channels.
struct Ends {
    one: (Sender<i64>, Receiver<i64>),
    other: (Sender<i64>, Receiver<i64>),
}

fn add(number: &mut i64) -> i64 {
    *number += 1;
    *number
}

fn act(what: Does, me: i64, shared: &Shared, ends: &Ends) -> i64 {
    use Does::*;
    let soon = Duration::from_millis(1);
    let ignored = |poisoned: std::sync::PoisonError<_>| poisoned.into_inner();
    match what {
        Load => shared.atomic.load(SeqCst),
        Store => {
            shared.atomic.store(me, SeqCst);
            0
        }
        CasWeak => shared.atomic.compare_exchange_weak(0, me, SeqCst, SeqCst).unwrap_or_else(|seen| 100 + seen),
        Await => hint::spin_until(&shared.atomic, SeqCst, |value| value != 0),
        Lock => add(&mut shared.mutex.lock()),
        TryLock => shared.mutex.try_lock().map_or(-1, |mut guard| add(&mut guard)),
        Unlocked => {
            let mut guard = shared.mutex.lock();
            let before = add(&mut guard);
            let between = parking_lot::MutexGuard::unlocked(&mut guard, || shared.atomic.load(SeqCst));
            10_000 * before + 100 * between + *guard
        }
        Read => *shared.rwlock.read(),
        Write => add(&mut shared.rwlock.write()),
        Downgrade => {
            let mut guard = shared.rwlock.write();
            add(&mut guard);
            let guard = parking_lot::RwLockWriteGuard::downgrade(guard);
            100 * shared.atomic.load(SeqCst) + *guard
        }
        StdWrite => add(&mut shared.std_rwlock.write().unwrap_or_else(|poisoned| poisoned.into_inner())),
        WaitOn => {
            let mut guard = shared.mutex.lock();
            shared.condvar.wait(&mut guard);
            *guard
        }
        WaitFor => {
            let mut guard = shared.mutex.lock();
            let result = shared.condvar.wait_for(&mut guard, soon);
            100 * i64::from(result.timed_out()) + *guard
        }
        StdWait => {
            let guard = shared.std_mutex.lock().unwrap_or_else(ignored);
            *shared.std_condvar.wait(guard).unwrap_or_else(ignored)
        }
        NotifyOne => {
            shared.std_condvar.notify_one();
            shared.condvar.notify_one();
            0
        }
        NotifyAll => {
            shared.std_condvar.notify_all();
            shared.condvar.notify_all();
            0
        }
        CountDown => {
            shared.latch.count_down();
            0
        }
        WaitOpen => {
            shared.latch.wait();
            0
        }
        WaitOpenFor => i64::from(shared.latch.wait_timeout(soon)),
        IsOpen => i64::from(shared.latch.is_open()),
        Init => *shared.cell.get_or_init(|| 100 * shared.atomic.load(SeqCst) + me),
        TryInit => shared.cell.get_or_try_init(|| if me == 1 { Err(()) } else { Ok(me) }).map_or(-1, |value| *value),
        Set => i64::from(shared.cell.set(me).is_ok()),
        Get => shared.cell.get().copied().unwrap_or(-1),
        WaitInit => *shared.cell.wait(),
        Push => i64::from(shared.queue.push(me).is_ok()),
        ForcePush => shared.queue.force_push(me).unwrap_or(-1),
        Pop => shared.queue.pop().unwrap_or(-1),
        Update => shared.object.update(add),
        Look => shared.object.look(|value| *value),
        Send => i64::from(ends.one.0.send(me).is_ok()),
        TrySend => i64::from(ends.other.0.try_send(me).is_ok()),
        Recv => ends.one.1.recv().unwrap_or(-1),
        RecvEither => select! {
            recv(ends.one.1) -> value => value.unwrap_or(-1),
            recv(ends.other.1) -> value => 100 + value.unwrap_or(-1),
        },
        RecvOrNot => select! {
            recv(ends.other.1) -> value => value.unwrap_or(-1),
            default => -2,
        },
        SendOrRecv => select! {
            send(ends.other.0, me) -> sent => 10 + i64::from(sent.is_ok()),
            recv(ends.one.1) -> value => value.unwrap_or(-1),
        },
        Park => {
            thread::park();
            0
        }
        Scope => thread::scope(|scope| scope.spawn(|| add(&mut shared.mutex.lock())).join().unwrap_or(-1)),
        ScopeOfTwo => thread::scope(|scope| {
            let load = scope.spawn(|| shared.atomic.load(SeqCst));
            let push = scope.spawn(|| i64::from(shared.queue.push(10 + me).is_ok()));
            10 * load.join().unwrap_or(-1) + push.join().unwrap_or(-1)
        }),
        Masked => task::masked(|| {
            task::checkpoint();
            add(&mut shared.mutex.lock())
        }),
        Checkpoint => {
            task::checkpoint();
            0
        }
    }
}

impl Program {
    fn run(&self, log: &Arc<Log>) {
        let shared = Arc::new(Shared::new());
        // Main has them until all tasks are over: nobody learns that others have left, which is another race.
        let ends = Arc::new(Ends { one: channel::bounded(1), other: channel::bounded(0) });
        let bodies = (1..).zip(&self.tasks).map(|(me, all)| {
            let (shared, ends, log, all) = (shared.clone(), ends.clone(), log.clone(), all.clone());
            move || all.into_iter().for_each(|what| log.note(me, act(what, me as i64, &shared, &ends)))
        });
        if self.cancelled.is_none() {
            let threads: Vec<_> = bodies.map(thread::spawn).collect();
            if let Some(task) = self.unparked {
                threads[task].thread().unpark();
            }
            return threads.into_iter().for_each(|thread| log.note(0, i64::from(thread.join().is_ok())));
        }
        let tasks: Vec<_> = bodies.map(task::spawn).collect();
        if let Some(task) = self.unparked {
            tasks[task].thread().unpark();
        }
        if let Some(task) = self.cancelled {
            tasks[task].cancel();
        }
        for task in tasks {
            log.note(0, i64::from(task.get().is_ok()));
        }
    }
}

/// Compares the programs of these seeds that have at most `most` schedules; how many these are.
fn compare(seeds: std::ops::Range<u64>, most: u64) -> u64 {
    let (mut compared, mut wrong) = (0, Vec::new());
    for seed in seeds {
        let told = program(seed);
        let budgets = told.budgets;
        let asks_for_exits = told.cancelled.is_some();
        let body = move |log: &Arc<Log>| told.run(log);
        let subject = Subject { body: Arc::new(body), asks_for_exits, has_gate: false, has_signals: false, budgets };
        let name = format!("{seed}: {:?}", program(seed));
        match catch_unwind(std::panic::AssertUnwindSafe(|| compare_subject(&subject, &name, most).is_some())) {
            Ok(is_compared) => compared += u64::from(is_compared),
            Err(_) => wrong.push(name),
        }
    }
    assert!(wrong.is_empty(), "{} wrong beside {compared} compared:\n{}", wrong.len(), wrong.join("\n"));
    compared
}

#[test]
fn what_is_mixed_has_no_other_classes() {
    assert!(compare(0..100, 300) > 20);
}

/// `cargo test --release -p drawloom --test exhaustive -- --include-ignored so_have_many`.
#[test]
#[ignore = "a long run: use --release"]
fn so_have_many_programs_of_what_is_mixed() {
    let programs = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    println!("{} programs", compare(0..programs, 3_000));
}
