//! More of the same, written when the first were right.

use std::collections::HashMap;
use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, RwLock, Semaphore, mpsc, oneshot};
use tokio::time::{sleep, timeout as within};

struct Transfers {
    savings: Mutex<i64>,
    checking: Mutex<i64>,
    made: AtomicUsize,
}

impl Transfers {
    async fn save(&self, amount: i64) {
        let mut checking = self.checking.lock().await;
        let mut savings = self.savings.lock().await;
        *checking -= amount;
        *savings += amount;
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    async fn spend(&self, amount: i64) {
        let mut savings = self.savings.lock().await;
        let mut checking = self.checking.lock().await;
        *savings -= amount;
        *checking += amount;
        self.made.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two locks in opposite order, over an `await`.
pub async fn opposite_locks() {
    let transfers =
        Arc::new(Transfers { savings: Mutex::new(10), checking: Mutex::new(10), made: AtomicUsize::new(0) });
    let theirs = transfers.clone();
    let other = tokio::spawn(async move { theirs.spend(3).await });
    transfers.save(2).await;
    other.await.unwrap();
    assert_eq!(transfers.made.load(Ordering::Relaxed), 2);
}

#[derive(Default)]
struct Rooms {
    members: RwLock<HashMap<&'static str, u32>>,
    joined: AtomicUsize,
}

impl Rooms {
    async fn size(&self, room: &'static str) -> u32 {
        self.members.read().await.get(room).copied().unwrap_or(0)
    }

    async fn join(&self, room: &'static str) -> bool {
        if self.size(room).await >= 1 {
            return false;
        }
        *self.members.write().await.entry(room).or_insert(0) += 1;
        self.joined.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// A room for one that two enter.
pub async fn full_room() {
    let rooms = Arc::new(Rooms::default());
    let theirs = rooms.clone();
    let other = tokio::spawn(async move { theirs.join("lobby").await });
    rooms.join("lobby").await;
    other.await.unwrap();
    assert!(rooms.joined.load(Ordering::Relaxed) <= 1, "one at a time");
}

struct Retry {
    attempts: AtomicU32,
    in_flight: AtomicBool,
    sent: AtomicU32,
}

impl Retry {
    async fn send(&self) {
        if self.in_flight.load(Ordering::SeqCst) {
            return;
        }
        self.in_flight.store(true, Ordering::SeqCst);
        self.sent.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }
}

/// A request that is retried while it is sent.
pub async fn sent_twice() {
    let retry =
        Arc::new(Retry { attempts: AtomicU32::new(0), in_flight: AtomicBool::new(false), sent: AtomicU32::new(0) });
    let theirs = retry.clone();
    let other = tokio::spawn(async move { theirs.send().await });
    retry.send().await;
    other.await.unwrap();
    assert_eq!(retry.sent.load(Ordering::Relaxed), 1, "sent once");
}

struct Job {
    number: u32,
    done: oneshot::Sender<u32>,
}

/// The permit is kept while the worker that would give it back waits for one.
pub async fn nested_permits() {
    let permits = Arc::new(Semaphore::new(2));
    let (jobs, mut queue) = mpsc::channel::<Job>(4);
    let theirs = permits.clone();
    let worker = tokio::spawn(async move {
        while let Some(job) = queue.recv().await {
            let _permit = theirs.acquire().await.unwrap();
            job.done.send(job.number * 2).unwrap();
        }
    });
    let clients: Vec<_> = (1..=2)
        .map(|number| {
            let (permits, jobs) = (permits.clone(), jobs.clone());
            tokio::spawn(async move {
                let _permit = permits.acquire().await.unwrap();
                let (done, result) = oneshot::channel();
                jobs.send(Job { number, done }).await.unwrap();
                result.await.unwrap()
            })
        })
        .collect();
    drop(jobs);
    for client in clients {
        client.await.unwrap();
    }
    worker.await.unwrap();
}

struct Ledger {
    reserved: Mutex<u32>,
    booked: Mutex<u32>,
    approvals: Mutex<()>,
}

impl Ledger {
    async fn book(&self) {
        *self.reserved.lock().await += 1;
        let _approved = self.approvals.lock().await;
        *self.booked.lock().await += 1;
        *self.reserved.lock().await -= 1;
    }
}

/// A booking that waits too long for its approval stays reserved.
pub async fn abandoned_booking() {
    let ledger = Arc::new(Ledger { reserved: Mutex::new(0), booked: Mutex::new(0), approvals: Mutex::new(()) });
    let theirs = ledger.clone();
    let clerk = tokio::spawn(async move {
        let _busy = theirs.approvals.lock().await;
        sleep(Duration::from_millis(50)).await;
    });
    let _ = within(Duration::from_millis(10), ledger.book()).await;
    clerk.await.unwrap();
    assert_eq!(*ledger.reserved.lock().await, 0, "nothing stays reserved");
}
