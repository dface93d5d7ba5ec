//! Tasks that wait.

use std::collections::{BTreeMap, VecDeque};

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, Notify, RwLock, Semaphore};

struct Exporter {
    slots: Semaphore,
    free: Mutex<u64>,
    exported: AtomicUsize,
}

impl Exporter {
    async fn reserve(&self, size: u64) -> Result<(), &'static str> {
        let mut free = self.free.lock().await;
        *free = free.checked_sub(size).ok_or("disk full")?;
        Ok(())
    }

    async fn export(&self, size: u64) -> Result<(), &'static str> {
        self.slots.acquire().await.unwrap().forget();
        self.reserve(size).await?;
        self.exported.fetch_add(1, Ordering::Relaxed);
        self.slots.add_permits(1);
        Ok(())
    }

    async fn clean(&self, size: u64) {
        *self.free.lock().await += size;
    }
}

/// An export that fails keeps its slot.
pub async fn export_slots() {
    let exporter = Exporter { slots: Semaphore::new(1), free: Mutex::new(3), exported: AtomicUsize::new(0) };
    let exporter = Arc::new(exporter);
    let theirs = exporter.clone();
    let nightly = tokio::spawn(async move { theirs.export(5).await });
    exporter.clean(6).await;
    let _ = nightly.await.unwrap();
    exporter.export(1).await.unwrap();
    assert!(exporter.exported.load(Ordering::Relaxed) >= 1, "there is space for one");
}

struct Flags {
    rules: RwLock<BTreeMap<&'static str, u32>>,
    lookups: AtomicUsize,
}

impl Flags {
    async fn percent(&self, name: &str) -> u32 {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        self.rules.read().await.get(name).copied().unwrap_or_default()
    }

    async fn highest(&self) -> u32 {
        let rules = self.rules.read().await;
        let mut highest = 0;
        for name in rules.keys() {
            highest = highest.max(self.percent(name).await);
        }
        highest
    }

    async fn set(&self, name: &'static str, percent: u32) {
        self.rules.write().await.insert(name, percent);
    }
}

/// Who reads asks to read again, and a writer has queued in between.
pub async fn flag_rules() {
    let flags =
        Arc::new(Flags { rules: RwLock::new(BTreeMap::from([("dark_mode", 10)])), lookups: AtomicUsize::new(0) });
    let theirs = flags.clone();
    let rollout = tokio::spawn(async move { theirs.set("dark_mode", 50).await });
    let highest = flags.highest().await;
    rollout.await.unwrap();
    assert!(highest == 10 || highest == 50, "{highest} of {}", flags.lookups.load(Ordering::Relaxed));
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<VecDeque<u32>>,
    ready: Notify,
    finished: AtomicU32,
}

impl Queue {
    async fn push(&self, job: u32) {
        self.jobs.lock().await.push_back(job);
        self.ready.notify_one();
    }

    async fn work(&self) {
        self.ready.notified().await;
        if let Some(job) = self.jobs.lock().await.pop_front() {
            self.finished.fetch_add(job, Ordering::Relaxed);
        }
    }
}

/// Two jobs come before anybody waits, and one permit is left for both.
pub async fn job_permits() {
    let queue = Arc::new(Queue::default());
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.work().await })
        })
        .collect();
    queue.push(1).await;
    queue.push(2).await;
    for worker in workers {
        worker.await.unwrap();
    }
    assert_eq!(queue.finished.load(Ordering::Relaxed), 3, "both jobs are done");
}
