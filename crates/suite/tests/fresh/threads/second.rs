//! More of the same, written when the first were right.

use std::collections::{HashMap, VecDeque};

use drawloom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use drawloom::thread;

/// A gate that opens when enough have come, and is used twice.
#[derive(Default)]
struct Gate {
    arrived: Mutex<usize>,
    all_here: Condvar,
    passed: AtomicUsize,
}

impl Gate {
    fn pass(&self, size: usize) {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        if *arrived == size {
            *arrived = 0;
            self.all_here.notify_all();
        } else {
            while *arrived != 0 {
                arrived = self.all_here.wait(arrived).unwrap();
            }
        }
        self.passed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Who is fast comes a second time before who is slow has left.
pub fn reused_barrier() {
    let gate = Arc::new(Gate::default());
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let gate = gate.clone();
            thread::spawn(move || {
                gate.pass(2);
                gate.pass(2);
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(gate.passed.load(Ordering::Relaxed), 4);
}

struct Quota {
    used: RwLock<u64>,
    limit: u64,
    rejected: AtomicU64,
}

impl Quota {
    fn reserve(&self, amount: u64) -> bool {
        let used = *self.used.read().unwrap();
        if used + amount > self.limit {
            self.rejected.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let mut used = self.used.write().unwrap();
        *used += amount;
        true
    }
}

/// A read lock that is given back before the write lock is taken.
pub fn upgraded_lock() {
    let quota = Arc::new(Quota { used: RwLock::new(0), limit: 10, rejected: AtomicU64::new(0) });
    let theirs = quota.clone();
    let other = thread::spawn(move || theirs.reserve(6));
    quota.reserve(7);
    other.join().unwrap();
    assert!(*quota.used.read().unwrap() <= quota.limit, "over the limit");
}

struct Sequence {
    next: AtomicU64,
    issued: Mutex<Vec<u64>>,
}

impl Sequence {
    fn take(&self) -> u64 {
        let id = self.next.load(Ordering::SeqCst);
        self.next.store(id + 1, Ordering::SeqCst);
        id
    }

    fn issue(&self) {
        let id = self.take();
        self.issued.lock().unwrap().push(id);
    }
}

/// Two get the same number.
pub fn sequence_numbers() {
    let sequence = Arc::new(Sequence { next: AtomicU64::new(1), issued: Mutex::default() });
    let theirs = sequence.clone();
    let other = thread::spawn(move || theirs.issue());
    sequence.issue();
    other.join().unwrap();
    let issued = sequence.issued.lock().unwrap().clone();
    assert_ne!(issued[0], issued[1], "issued {issued:?}");
}

#[derive(Default)]
struct Breaker {
    failures: AtomicUsize,
    open: AtomicBool,
    calls: AtomicUsize,
}

impl Breaker {
    fn record_failure(&self) {
        let failures = self.failures.load(Ordering::SeqCst) + 1;
        self.failures.store(failures, Ordering::SeqCst);
        if failures >= 2 {
            self.open.store(true, Ordering::SeqCst);
        }
    }

    fn call(&self) {
        if !self.open.load(Ordering::SeqCst) {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.record_failure();
        }
    }
}

/// Two failures are counted as one.
pub fn circuit_breaker() {
    let breaker = Arc::new(Breaker::default());
    let theirs = breaker.clone();
    let other = thread::spawn(move || theirs.call());
    breaker.call();
    other.join().unwrap();
    let calls = breaker.calls.load(Ordering::Relaxed);
    assert!(calls < 2 || breaker.open.load(Ordering::SeqCst), "two failures, and still closed");
}

struct Pipeline {
    stages: Mutex<Vec<mpsc::SyncSender<u32>>>,
    results: Mutex<Vec<u32>>,
}

/// Two bounded channels, each filled before the other is emptied.
pub fn full_channels() {
    let (to_worker, from_main) = mpsc::sync_channel::<u32>(1);
    let (to_main, from_worker) = mpsc::sync_channel(1);
    let pipeline = Arc::new(Pipeline { stages: Mutex::new(vec![to_main]), results: Mutex::default() });
    let theirs = pipeline.clone();
    let worker = thread::Builder::new()
        .name("worker".into())
        .spawn(move || {
            let reply = theirs.stages.lock().unwrap().pop().unwrap();
            for job in from_main {
                reply.send(job * 2).unwrap();
                reply.send(job * 3).unwrap();
            }
        })
        .unwrap();
    for job in 1..=3_u32 {
        to_worker.send(job).unwrap();
    }
    drop(to_worker);
    for result in from_worker {
        pipeline.results.lock().unwrap().push(result);
    }
    worker.join().unwrap();
}

#[derive(Default)]
struct Topology {
    nodes: Mutex<HashMap<u32, String>>,
    edges: Mutex<Vec<(u32, u32)>>,
    version: AtomicUsize,
}

impl Topology {
    fn connect(&self, from: u32, to: u32) -> bool {
        let known = {
            let nodes = self.nodes.lock().unwrap();
            nodes.contains_key(&from) && nodes.contains_key(&to)
        };
        if known {
            self.edges.lock().unwrap().push((from, to));
            self.version.fetch_add(1, Ordering::Relaxed);
        }
        known
    }

    fn remove(&self, node: u32) {
        self.edges.lock().unwrap().retain(|(from, to)| *from != node && *to != node);
        self.nodes.lock().unwrap().remove(&node);
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

/// An edge to a node that is gone.
pub fn dangling_edge() {
    let topology = Arc::new(Topology::default());
    topology.nodes.lock().unwrap().extend([(1, "a".to_owned()), (2, "b".to_owned())]);
    let theirs = topology.clone();
    let other = thread::spawn(move || theirs.connect(1, 2));
    topology.remove(2);
    other.join().unwrap();
    let nodes = topology.nodes.lock().unwrap();
    for (from, to) in topology.edges.lock().unwrap().iter() {
        assert!(nodes.contains_key(from) && nodes.contains_key(to), "an edge from {from} to {to}");
    }
}

#[derive(Default)]
struct Debouncer {
    pending: AtomicBool,
    flushed: AtomicUsize,
    events: Mutex<VecDeque<u32>>,
}

impl Debouncer {
    fn event(&self, event: u32) {
        self.events.lock().unwrap().push_back(event);
        if !self.pending.swap(true, Ordering::SeqCst) {
            self.flush();
        }
    }

    fn flush(&self) {
        let batch: Vec<u32> = self.events.lock().unwrap().drain(..).collect();
        self.flushed.fetch_add(batch.len(), Ordering::Relaxed);
        self.pending.store(false, Ordering::SeqCst);
    }
}

/// An event between the drain and the end of the flush is nobody's.
pub fn debouncer() {
    let debouncer = Arc::new(Debouncer::default());
    let theirs = debouncer.clone();
    let other = thread::spawn(move || theirs.event(1));
    debouncer.event(2);
    other.join().unwrap();
    assert_eq!(debouncer.flushed.load(Ordering::Relaxed), 2, "every event is flushed");
}

struct Lazy {
    value: Mutex<Option<u64>>,
    initialised: AtomicBool,
    builds: AtomicUsize,
}

impl Lazy {
    fn get(&self) -> u64 {
        if !self.initialised.load(Ordering::Acquire) {
            let built = self.build();
            *self.value.lock().unwrap() = Some(built);
            self.initialised.store(true, Ordering::Release);
        }
        self.value.lock().unwrap().unwrap()
    }

    fn build(&self) -> u64 {
        self.builds.fetch_add(1, Ordering::Relaxed) as u64 + 100
    }
}

/// The lock is not held over the second check, since there is none.
pub fn double_checked() {
    let lazy =
        Arc::new(Lazy { value: Mutex::new(None), initialised: AtomicBool::new(false), builds: AtomicUsize::new(0) });
    let theirs = lazy.clone();
    let other = thread::spawn(move || theirs.get());
    let mine = lazy.get();
    let theirs = other.join().unwrap();
    assert_eq!(mine, theirs, "one value for everybody");
}

struct Semaphore {
    permits: AtomicUsize,
    holders: AtomicUsize,
    most: AtomicUsize,
}

impl Semaphore {
    fn try_acquire(&self) -> bool {
        let free = self.permits.load(Ordering::SeqCst);
        if free == 0 {
            return false;
        }
        self.permits.store(free - 1, Ordering::SeqCst);
        true
    }

    fn work(&self) {
        if self.try_acquire() {
            let holders = self.holders.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(holders, Ordering::SeqCst);
            self.holders.fetch_sub(1, Ordering::SeqCst);
            self.permits.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// A permit for two.
pub fn weak_semaphore() {
    let semaphore =
        Arc::new(Semaphore { permits: AtomicUsize::new(1), holders: AtomicUsize::new(0), most: AtomicUsize::new(0) });
    let theirs = semaphore.clone();
    let other = thread::spawn(move || theirs.work());
    semaphore.work();
    other.join().unwrap();
    assert!(semaphore.most.load(Ordering::SeqCst) <= 1, "two at once");
}

struct Shared {
    config: RwLock<Arc<Config>>,
    reloads: AtomicUsize,
}

struct Config {
    hosts: Vec<&'static str>,
    weights: Vec<u32>,
}

impl Shared {
    fn hosts(&self) -> usize {
        self.config.read().unwrap().hosts.len()
    }

    fn weight(&self, at: usize) -> u32 {
        self.config.read().unwrap().weights[at]
    }

    fn reload(&self) {
        *self.config.write().unwrap() = Arc::new(Config { hosts: vec!["c"], weights: vec![3] });
        self.reloads.fetch_add(1, Ordering::Relaxed);
    }
}

/// The configuration is another one in the second call.
pub fn two_configurations() {
    let config = Config { hosts: vec!["a", "b"], weights: vec![1, 2] };
    let shared = Arc::new(Shared { config: RwLock::new(Arc::new(config)), reloads: AtomicUsize::new(0) });
    let theirs = shared.clone();
    let reloader = thread::spawn(move || theirs.reload());
    let last = shared.hosts() - 1;
    let weight = shared.weight(last);
    assert!(weight > 0);
    reloader.join().unwrap();
}
