//! The programs that are explored exhaustively, each written once.
//!
//! As in [`programs`](crate::programs), a body is written once over the API that the libraries share
//! with std. Shared ownership is `std::sync::Arc` on every side: loom explores the counts of its own
//! `Arc`, too, which multiplies its executions without another outcome of these programs.

use std::fmt;

/// What the tasks of a case do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Each task does one `fetch_add` on one atomic.
    Rmw,
    /// Each task loads one atomic, then stores one more.
    LoadStore,
    /// Each task locks one mutex once.
    Mutex,
    /// Each task locks one mutex twice.
    MutexTwice,
    /// Two tasks: each stores its own flag and reads the other's.
    StoreBuffering,
    /// Two tasks: one writes data and raises a flag, the other reads the data if the flag is up.
    MessagePassing,
    /// Each task loads and stores an atomic that nobody else touches.
    Private,
    /// One task stores, the others load.
    Readers,
    /// One task takes a lock for writing, the others for reading.
    RwLock,
    /// Dining philosophers who all take the lower fork first.
    Philosophers,
    /// Each task sends one message, main receives all of them.
    Mpsc,
    /// Task j stores a[j - 1] + 1 to a[j], a reader looks for the last zero.
    LastZero,
    /// Each task inserts two words into a hash table in which neighbours collide.
    Table,
    /// Each task inserts four words into a hash table of 128 slots.
    Indexer,
    /// Each task allocates a block for a file, under the locks of both.
    FileSystem,
    /// Szymanski's mutual exclusion for two, entering as often as the size says,
    /// and giving up after as many attempts at a gate.
    Szymanski,
}

/// A program with its size and the number of its classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// What the tasks do.
    pub shape: Shape,
    /// How many tasks, or how often; 0 where there is only one size.
    pub size: usize,
    /// Classes of equivalent executions, known from elsewhere: published, or a closed form.
    pub classes: u64,
}

impl Case {
    /// Programs that drawloom and loom both finish in seconds.
    pub const SHARED: [Case; 28] = [
        Case::new(Shape::Rmw, 2, 2),
        Case::new(Shape::Rmw, 3, 6),
        Case::new(Shape::Rmw, 4, 24),
        Case::new(Shape::LoadStore, 2, 4),
        Case::new(Shape::LoadStore, 3, 36),
        Case::new(Shape::Mutex, 2, 2),
        Case::new(Shape::Mutex, 3, 6),
        Case::new(Shape::Mutex, 4, 24),
        Case::new(Shape::MutexTwice, 2, 6),
        Case::new(Shape::MutexTwice, 3, 90),
        Case::new(Shape::StoreBuffering, 0, 3),
        Case::new(Shape::MessagePassing, 0, 2),
        Case::new(Shape::Private, 2, 1),
        Case::new(Shape::Private, 3, 1),
        Case::new(Shape::Private, 4, 1),
        Case::new(Shape::Readers, 1, 2),
        Case::new(Shape::Readers, 2, 4),
        Case::new(Shape::Readers, 3, 8),
        Case::new(Shape::RwLock, 1, 2),
        Case::new(Shape::RwLock, 2, 4),
        Case::new(Shape::RwLock, 3, 8),
        Case::new(Shape::Philosophers, 3, 6),
        Case::new(Shape::Mpsc, 2, 2),
        Case::new(Shape::Mpsc, 3, 6),
        Case::new(Shape::LastZero, 2, 5),
        Case::new(Shape::LastZero, 3, 12),
        Case::new(Shape::Table, 2, 3),
        Case::new(Shape::Table, 3, 18),
    ];

    /// Programs with enough executions to see what one costs.
    pub const COST: [Case; 7] = [
        Case::new(Shape::Rmw, 6, 720),
        Case::new(Shape::LoadStore, 4, 576),
        Case::new(Shape::Mutex, 5, 120),
        Case::new(Shape::MutexTwice, 4, 2_520),
        Case::new(Shape::Readers, 8, 256),
        Case::new(Shape::LastZero, 10, 3_328),
        Case::new(Shape::Szymanski, 1, 103),
    ];

    /// Programs for several workers: of a tenth of a second, and of seconds.
    pub const SPREAD: [Case; 4] = [
        Case::new(Shape::LastZero, 13, 32_768),
        Case::new(Shape::Readers, 13, 8_192),
        Case::new(Shape::LastZero, 15, 147_456),
        Case::new(Shape::Readers, 16, 65_536),
    ];

    /// The largest ones.
    pub const BIG: [Case; 5] = [
        Case::new(Shape::Readers, 13, 8_192),
        Case::new(Shape::LastZero, 15, 147_456),
        Case::new(Shape::Szymanski, 2, 22_945),
        Case::new(Shape::FileSystem, 18, 32),
        Case::new(Shape::Indexer, 15, 4_096),
    ];

    const fn new(shape: Shape, size: usize, classes: u64) -> Self {
        Case { shape, size, classes }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.shape {
            Shape::Rmw => "rmw",
            Shape::LoadStore => "load, store",
            Shape::Mutex => "mutex",
            Shape::MutexTwice => "mutex twice",
            Shape::StoreBuffering => "store buffering",
            Shape::MessagePassing => "message passing",
            Shape::Private => "private",
            Shape::Readers => "readers",
            Shape::RwLock => "rwlock readers",
            Shape::Philosophers => "philosophers",
            Shape::Mpsc => "mpsc",
            Shape::LastZero => "lastzero",
            Shape::Table => "hash table",
            Shape::Indexer => "indexer",
            Shape::FileSystem => "filesystem",
            Shape::Szymanski => "szymanski",
        };
        match self.size {
            0 => out.write_str(name),
            size => write!(out, "{name} {size}"),
        }
    }
}

/// Slots of a hash table.
const SLOTS: usize = 128;
/// Words that a task of the indexer inserts.
const WORDS: usize = 4;
/// Tasks among which the indexer's words are spread.
const STRIDE: usize = 11;
/// Files of the file system.
const FILES: usize = 32;
/// Blocks of the file system.
const BLOCKS: usize = 26;

macro_rules! cases {
    ($($(#[$attribute:meta])* mod $side:ident uses $library:ident;)+) => {$(
        $(#[$attribute])*
        #[doc = concat!("The cases over `", stringify!($library), "`.")]
        pub mod $side {
            use std::sync::Arc;

            use $library::sync::atomic::{AtomicUsize, Ordering::SeqCst};
            use $library::sync::{Mutex, RwLock, mpsc};
            use $library::thread::{self, JoinHandle};

            use super::{BLOCKS, Case, FILES, SLOTS, STRIDE, Shape, WORDS};

            /// Runs the case once; inside an exploration this is one execution.
            pub fn run(case: Case) {
                let n = case.size;
                match case.shape {
                    Shape::Rmw => rmw(n),
                    Shape::LoadStore => load_store(n),
                    Shape::Mutex => mutex(n, 1),
                    Shape::MutexTwice => mutex(n, 2),
                    Shape::StoreBuffering => store_buffering(),
                    Shape::MessagePassing => message_passing(),
                    Shape::Private => private(n),
                    Shape::Readers => readers(n),
                    Shape::RwLock => rwlock(n),
                    Shape::Philosophers => philosophers(n),
                    Shape::Mpsc => channel(n),
                    Shape::LastZero => last_zero(n),
                    Shape::Table => table(n),
                    Shape::Indexer => indexer(n),
                    Shape::FileSystem => file_system(n),
                    Shape::Szymanski => szymanski(n),
                }
            }

            fn rmw(tasks: usize) {
                let count = Arc::new(AtomicUsize::new(0));
                join_all(spawn_each(tasks, move |_| {
                    count.fetch_add(1, SeqCst);
                }));
            }

            fn load_store(tasks: usize) {
                let count = Arc::new(AtomicUsize::new(0));
                join_all(spawn_each(tasks, move |_| count.store(count.load(SeqCst) + 1, SeqCst)));
            }

            fn mutex(tasks: usize, times: usize) {
                let count = Arc::new(Mutex::new(0));
                join_all(spawn_each(tasks, move |_| {
                    for _ in 0..times {
                        *count.lock().unwrap() += 1;
                    }
                }));
            }

            fn store_buffering() {
                let flags = atomics(2);
                join_all(spawn_each(2, move |i| {
                    flags[i].store(1, SeqCst);
                    flags[1 - i].load(SeqCst);
                }));
            }

            fn message_passing() {
                let cells = atomics(2);
                join_all(spawn_each(2, move |i| {
                    let (data, flag) = (&cells[0], &cells[1]);
                    if i == 0 {
                        data.store(42, SeqCst);
                        flag.store(1, SeqCst);
                    } else if flag.load(SeqCst) == 1 {
                        assert_eq!(data.load(SeqCst), 42);
                    }
                }));
            }

            fn private(tasks: usize) {
                let own = atomics(tasks);
                join_all(spawn_each(tasks, move |i| own[i].store(own[i].load(SeqCst) + 1, SeqCst)));
            }

            fn readers(readers: usize) {
                let cell = Arc::new(AtomicUsize::new(0));
                join_all(spawn_each(readers + 1, move |i| {
                    if i == 0 {
                        cell.store(42, SeqCst);
                    } else {
                        cell.load(SeqCst);
                    }
                }));
            }

            fn rwlock(readers: usize) {
                let cell = Arc::new(RwLock::new(0));
                join_all(spawn_each(readers + 1, move |i| {
                    if i == 0 {
                        *cell.write().unwrap() = 42;
                    } else {
                        let _read: usize = *cell.read().unwrap();
                    }
                }));
            }

            fn philosophers(n: usize) {
                let forks: Arc<Vec<_>> = Arc::new((0..n).map(|_| Mutex::new(())).collect());
                join_all(spawn_each(n, move |i| {
                    let (one, other) = (i, (i + 1) % n);
                    let _lower = forks[one.min(other)].lock().unwrap();
                    let _upper = forks[one.max(other)].lock().unwrap();
                }));
            }

            fn channel(producers: usize) {
                let (sender, receiver) = mpsc::channel();
                let handles: Vec<_> = (0..producers)
                    .map(|i| {
                        let sender = sender.clone();
                        thread::spawn(move || sender.send(i).unwrap())
                    })
                    .collect();
                for _ in 0..producers {
                    receiver.recv().unwrap();
                }
                join_all(handles);
            }

            fn last_zero(n: usize) {
                let a = atomics(n + 1);
                join_all(spawn_each(n + 1, move |j| match j {
                    0 => {
                        let mut i = n;
                        while a[i].load(SeqCst) != 0 {
                            i -= 1;
                        }
                    }
                    j => a[j].store(a[j - 1].load(SeqCst) + 1, SeqCst),
                }));
            }

            fn table(tasks: usize) {
                let table = atomics(SLOTS);
                join_all(spawn_each(tasks, move |task| {
                    insert(&table, task, task + 1);
                    insert(&table, task + 1, task + 1);
                }));
            }

            fn indexer(tasks: usize) {
                let table = atomics(SLOTS);
                join_all(spawn_each(tasks, move |task| {
                    for m in 1..=WORDS {
                        let word = m * STRIDE + task;
                        insert(&table, word * 7 % SLOTS, word);
                    }
                }));
            }

            fn insert(table: &[AtomicUsize], home: usize, word: usize) {
                let mut slot = home;
                while table[slot].compare_exchange(0, word, SeqCst, SeqCst).is_err() {
                    slot = (slot + 1) % SLOTS;
                }
            }

            fn file_system(tasks: usize) {
                let files: Arc<Vec<_>> = Arc::new((0..FILES).map(|_| Mutex::new(0)).collect());
                let blocks: Arc<Vec<_>> = Arc::new((0..BLOCKS).map(|_| Mutex::new(false)).collect());
                join_all(spawn_each(tasks, move |task| {
                    let mut file = files[task % FILES].lock().unwrap();
                    if *file == 0 {
                        let mut at = task * 2 % BLOCKS;
                        loop {
                            let mut busy = blocks[at].lock().unwrap();
                            if !*busy {
                                *busy = true;
                                *file = at + 1;
                                break;
                            }
                            drop(busy);
                            at = (at + 1) % BLOCKS;
                        }
                    }
                }));
            }

            fn szymanski(rounds: usize) {
                let flags = atomics(2);
                let inside = Arc::new(AtomicUsize::new(0));
                join_all(spawn_each(2, move |i| {
                    let (mine, theirs) = (&flags[i], &flags[1 - i]);
                    let passes = |gate: fn(usize) -> bool| (0..rounds).any(|_| gate(theirs.load(SeqCst)));
                    for _ in 0..rounds {
                        mine.store(1, SeqCst);
                        if !passes(|flag| flag < 3) {
                            return;
                        }
                        mine.store(3, SeqCst);
                        if theirs.load(SeqCst) == 1 {
                            mine.store(2, SeqCst);
                            if !passes(|flag| flag == 4) {
                                return;
                            }
                        }
                        mine.store(4, SeqCst);
                        if !passes(|flag| flag < 2) {
                            return;
                        }
                        inside.store(i + 1, SeqCst);
                        assert_eq!(inside.load(SeqCst), i + 1, "two are inside");
                        let left = || (0..rounds).any(|_| theirs.load(SeqCst) < 2 || theirs.load(SeqCst) > 3);
                        if !left() {
                            return;
                        }
                        mine.store(0, SeqCst);
                    }
                }));
            }

            fn atomics(n: usize) -> Arc<Vec<AtomicUsize>> {
                Arc::new((0..n).map(|_| AtomicUsize::new(0)).collect())
            }

            fn spawn_each(n: usize, body: impl Fn(usize) + Clone + Send + 'static) -> Vec<JoinHandle<()>> {
                let spawn = |i| {
                    let body = body.clone();
                    thread::spawn(move || body(i))
                };
                (0..n).map(spawn).collect()
            }

            fn join_all(handles: Vec<JoinHandle<()>>) {
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            }
        }
    )+};
}

cases! {
    #[cfg(feature = "drawloom-side")]
    mod drawloom_side uses drawloom;
    mod shuttle_side uses shuttle;
    mod loom_side uses loom;
}
