//! Things of which there may be only so many.

use drawloom::sync::atomic::{AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread;

struct Connection {
    id: usize,
}

struct Pool {
    idle: Mutex<Vec<Connection>>,
    open: AtomicUsize,
    peak: AtomicUsize,
    limit: usize,
}

impl Pool {
    fn new(limit: usize) -> Self {
        Pool { idle: Mutex::new(Vec::new()), open: AtomicUsize::new(0), peak: AtomicUsize::new(0), limit }
    }

    fn checkout(&self) -> Option<Connection> {
        if let Some(connection) = self.idle.lock().unwrap().pop() {
            return Some(connection);
        }
        if self.open.load(Ordering::SeqCst) < self.limit {
            return Some(self.connect());
        }
        None
    }

    fn connect(&self) -> Connection {
        let id = self.open.fetch_add(1, Ordering::SeqCst);
        self.peak.fetch_max(id + 1, Ordering::SeqCst);
        Connection { id }
    }

    fn give_back(&self, connection: Connection) {
        assert!(connection.id < 10);
        self.idle.lock().unwrap().push(connection);
    }
}

/// Two clients ask an empty pool at the same time.
pub fn connection_pool() {
    let pool = Arc::new(Pool::new(1));
    let clients: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            thread::spawn(move || {
                if let Some(connection) = pool.checkout() {
                    pool.give_back(connection);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let peak = pool.peak.load(Ordering::SeqCst);
    assert!(peak <= pool.limit, "{peak} connections were open at once");
}

struct Bucket {
    tokens: i32,
    refused: u32,
}

struct Limiter {
    bucket: Mutex<Bucket>,
    served: AtomicUsize,
}

impl Limiter {
    fn has_tokens(&self) -> bool {
        self.bucket.lock().unwrap().tokens > 0
    }

    fn take(&self) {
        let mut bucket = self.bucket.lock().unwrap();
        bucket.tokens -= 1;
    }

    fn handle(&self) {
        if self.has_tokens() {
            self.take();
            self.served.fetch_add(1, Ordering::Relaxed);
        } else {
            self.bucket.lock().unwrap().refused += 1;
        }
    }
}

/// A limiter that answers and takes in two calls.
pub fn token_bucket() {
    let limiter =
        Arc::new(Limiter { bucket: Mutex::new(Bucket { tokens: 1, refused: 0 }), served: AtomicUsize::new(0) });
    let theirs = limiter.clone();
    let request = thread::spawn(move || theirs.handle());
    limiter.handle();
    request.join().unwrap();
    assert_eq!(limiter.served.load(Ordering::Relaxed), 1, "one token, one request");
}

#[derive(Default)]
struct Metrics {
    hits: AtomicUsize,
    misses: AtomicUsize,
    total: AtomicUsize,
}

impl Metrics {
    fn hit(&self) {
        self.hits.fetch_add(1, Ordering::SeqCst);
        self.total.fetch_add(1, Ordering::SeqCst);
    }

    fn miss(&self) {
        self.misses.fetch_add(1, Ordering::SeqCst);
        self.total.fetch_add(1, Ordering::SeqCst);
    }

    fn ratio(&self) -> f64 {
        let total = self.total.load(Ordering::SeqCst);
        if total == 0 {
            return 0.0;
        }
        self.hits.load(Ordering::SeqCst) as f64 / total as f64
    }
}

/// A ratio of two counters that are not read as one.
pub fn hit_ratio() {
    let metrics = Arc::new(Metrics::default());
    metrics.hit();
    let theirs = metrics.clone();
    let worker = thread::spawn(move || {
        theirs.hit();
        theirs.miss();
    });
    let ratio = metrics.ratio();
    assert!(ratio <= 1.0, "a ratio of {ratio}");
    worker.join().unwrap();
}

struct Permits {
    permits: Mutex<usize>,
    released: Condvar,
}

impl Permits {
    fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap();
        while *permits == 0 {
            permits = self.released.wait(permits).unwrap();
        }
        *permits -= 1;
    }

    fn release(&self) {
        *self.permits.lock().unwrap() += 1;
        self.released.notify_one();
    }
}

/// A job that panics keeps its permit; the panic is looked after, the permit is not.
pub fn leaked_permit() {
    let permits = Arc::new(Permits { permits: Mutex::new(1), released: Condvar::new() });
    let written = Arc::new(AtomicUsize::new(0));
    let jobs: Vec<_> = [true, false]
        .map(|full| {
            let (permits, written) = (permits.clone(), written.clone());
            thread::spawn(move || {
                permits.acquire();
                assert!(!full, "disk full");
                written.fetch_add(1, Ordering::SeqCst);
                permits.release();
            })
        })
        .into();
    let failed = jobs.into_iter().map(|job| job.join()).filter(Result::is_err).count();
    assert_eq!(failed, 1);
    assert_eq!(written.load(Ordering::SeqCst), 1);
}
