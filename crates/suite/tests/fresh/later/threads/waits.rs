//! Threads that wait.

use std::collections::BTreeMap;

use drawloom::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};
use drawloom::sync::{Arc, Barrier, Condvar, Mutex, mpsc};
use drawloom::thread;

#[derive(Default)]
struct Sensor {
    offset: Mutex<Option<i64>>,
    calibrated: Condvar,
    raw: AtomicI64,
}

impl Sensor {
    fn calibrate(&self, offset: i64) {
        self.calibrated.notify_all();
        *self.offset.lock().unwrap() = Some(offset);
    }

    fn read(&self) -> i64 {
        let mut offset = self.offset.lock().unwrap();
        while offset.is_none() {
            offset = self.calibrated.wait(offset).unwrap();
        }
        self.raw.load(Ordering::Relaxed) - offset.unwrap_or_default()
    }
}

/// Readers are woken before there is what they wait for.
pub fn sensor_calibration() {
    let sensor = Arc::new(Sensor { raw: AtomicI64::new(20), ..Sensor::default() });
    let theirs = sensor.clone();
    let reader = thread::spawn(move || theirs.read());
    sensor.calibrate(3);
    assert_eq!(reader.join().unwrap(), 17);
}

#[derive(Default)]
struct Counter {
    dishes: Mutex<Vec<&'static str>>,
    served: Condvar,
    eaten: AtomicUsize,
}

impl Counter {
    fn serve(&self, dish: &'static str) {
        self.dishes.lock().unwrap().push(dish);
        self.served.notify_one();
    }

    fn pick_up(&self) -> &'static str {
        let mut dishes = self.dishes.lock().unwrap();
        if dishes.is_empty() {
            dishes = self.served.wait(dishes).unwrap();
        }
        let dish = dishes.pop().expect("a dish is there");
        self.eaten.fetch_add(1, Ordering::Relaxed);
        dish
    }
}

/// Who was woken finds that somebody else was faster.
pub fn stolen_dish() {
    let counter = Arc::new(Counter::default());
    let guests: Vec<_> = (0..2)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || counter.pick_up())
        })
        .collect();
    counter.serve("soup");
    counter.serve("pie");
    let mut picked: Vec<_> = guests.into_iter().map(|guest| guest.join().unwrap()).collect();
    picked.sort_unstable();
    assert_eq!(picked, ["pie", "soup"], "{} eaten", counter.eaten.load(Ordering::Relaxed));
}

type Listener = Box<dyn Fn(i64) + Send + Sync>;

struct Ledger {
    balances: Mutex<BTreeMap<&'static str, i64>>,
    listeners: Vec<Listener>,
}

impl Ledger {
    fn post(&self, account: &'static str, amount: i64) {
        let mut balances = self.balances.lock().unwrap();
        *balances.entry(account).or_default() += amount;
        for listener in &self.listeners {
            listener(amount);
        }
    }

    fn total(&self) -> i64 {
        self.balances.lock().unwrap().values().sum()
    }
}

#[derive(Default)]
struct Journal {
    entries: Mutex<Vec<i64>>,
    audits: AtomicUsize,
}

impl Journal {
    fn note(&self, amount: i64) {
        self.entries.lock().unwrap().push(amount);
    }

    fn difference(&self, ledger: &Ledger) -> i64 {
        self.audits.fetch_add(1, Ordering::Relaxed);
        let entries = self.entries.lock().unwrap();
        entries.iter().sum::<i64>() - ledger.total()
    }
}

/// A listener is called under the lock, and an audit takes the locks the other way round.
pub fn ledger_listener() {
    let journal = Arc::new(Journal::default());
    let noting = journal.clone();
    let listeners: Vec<Listener> = vec![Box::new(move |amount| noting.note(amount))];
    let ledger = Arc::new(Ledger { balances: Mutex::new(BTreeMap::new()), listeners });
    let theirs = ledger.clone();
    let clerk = thread::spawn(move || theirs.post("rent", 700));
    let difference = journal.difference(&ledger);
    clerk.join().unwrap();
    assert_eq!(difference, 0, "the journal agrees with the ledger");
}

#[derive(Default)]
struct Running {
    worker: Option<thread::JoinHandle<()>>,
    finished: Vec<u32>,
}

#[derive(Default)]
struct Scheduler {
    state: Mutex<Running>,
    ticks: AtomicUsize,
}

impl Scheduler {
    fn start(self: &Arc<Self>, job: u32) {
        let scheduler = self.clone();
        let worker = thread::spawn(move || scheduler.run(job));
        self.state.lock().unwrap().worker = Some(worker);
    }

    fn run(&self, job: u32) {
        self.ticks.fetch_add(1, Ordering::Relaxed);
        self.state.lock().unwrap().finished.push(job);
    }

    fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        if let Some(worker) = state.worker.take() {
            worker.join().unwrap();
        }
    }
}

/// Who stops the worker has what the worker needs to end.
pub fn scheduler_stop() {
    let scheduler = Arc::new(Scheduler::default());
    scheduler.start(7);
    scheduler.stop();
    let finished = scheduler.state.lock().unwrap().finished.clone();
    assert_eq!(finished, [7], "after {} ticks", scheduler.ticks.load(Ordering::Relaxed));
}

struct Build {
    shards: Mutex<Vec<u32>>,
    all_read: Barrier,
    terms: AtomicU32,
}

impl Build {
    fn next_shard(&self) -> Option<u32> {
        self.shards.lock().unwrap().pop()
    }

    fn read(&self) -> u32 {
        let mut terms = 0;
        while let Some(shard) = self.next_shard() {
            terms += shard;
        }
        terms
    }

    fn work(&self) {
        let terms = self.read();
        if terms == 0 {
            return;
        }
        self.all_read.wait();
        self.terms.fetch_add(terms, Ordering::Relaxed);
    }
}

/// A worker without work does not come to the barrier that counts on it.
pub fn index_barrier() {
    let build = Build { shards: Mutex::new(vec![3, 4]), all_read: Barrier::new(2), terms: AtomicU32::new(0) };
    let build = Arc::new(build);
    let theirs = build.clone();
    let helper = thread::spawn(move || theirs.work());
    build.work();
    helper.join().unwrap();
    assert_eq!(build.terms.load(Ordering::Relaxed), 7);
}

struct Room {
    members: Mutex<Vec<&'static str>>,
    posts: mpsc::SyncSender<String>,
    shown: AtomicUsize,
}

impl Room {
    fn announce(&self, text: &str) {
        let members = self.members.lock().unwrap();
        for member in members.iter() {
            self.posts.send(format!("{member}: {text}")).unwrap();
        }
    }

    fn whisper(&self, text: &str) {
        self.posts.send(text.to_owned()).unwrap();
    }

    fn show(&self, post: &str) {
        let known = self.members.lock().unwrap().iter().any(|member| post.starts_with(member));
        self.shown.fetch_add(usize::from(known), Ordering::Relaxed);
    }
}

/// A full channel is written to under the lock that its reader asks for.
pub fn chat_announcement() {
    let (posts, inbox) = mpsc::sync_channel(1);
    let room = Arc::new(Room { members: Mutex::new(vec!["ann", "bob"]), posts, shown: AtomicUsize::new(0) });
    let theirs = room.clone();
    let reader = thread::spawn(move || {
        for _ in 0..3 {
            theirs.show(&inbox.recv().unwrap());
        }
    });
    let theirs = room.clone();
    let host = thread::spawn(move || theirs.announce("welcome"));
    room.whisper("ann: hi");
    host.join().unwrap();
    reader.join().unwrap();
    assert_eq!(room.shown.load(Ordering::Relaxed), 3);
}
