//! State that changes between two awaits.

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, watch};

struct Lease {
    holder: Mutex<u32>,
    takeovers: AtomicUsize,
}

impl Lease {
    async fn is_held_by(&self, node: u32) -> bool {
        *self.holder.lock().await == node
    }

    async fn take_over(&self, node: u32) {
        *self.holder.lock().await = node;
        self.takeovers.fetch_add(1, Ordering::Relaxed);
    }
}

struct Storage {
    lease: Lease,
    log: Mutex<Vec<u32>>,
}

impl Storage {
    async fn append(&self, node: u32) -> bool {
        if !self.lease.is_held_by(node).await {
            return false;
        }
        self.log.lock().await.push(node);
        true
    }
}

/// A node that has lost the lease writes after its successor.
pub async fn lease() {
    let lease = Lease { holder: Mutex::new(1), takeovers: AtomicUsize::new(0) };
    let storage = Arc::new(Storage { lease, log: Mutex::new(Vec::new()) });
    let theirs = storage.clone();
    let old = tokio::spawn(async move { theirs.append(1).await });
    storage.lease.take_over(2).await;
    storage.append(2).await;
    old.await.unwrap();
    let log = storage.log.lock().await;
    assert!(log.is_sorted(), "the log is {log:?}");
}

#[derive(Default)]
struct Document {
    text: Mutex<String>,
    disk: Mutex<String>,
    edits: AtomicU64,
    saved: AtomicU64,
}

impl Document {
    async fn edit(&self, words: &str) {
        self.text.lock().await.push_str(words);
        self.edits.fetch_add(1, Ordering::SeqCst);
    }

    async fn save(&self) {
        let text = self.text.lock().await.clone();
        *self.disk.lock().await = text;
        let edits = self.edits.load(Ordering::SeqCst);
        self.saved.store(edits, Ordering::SeqCst);
    }

    fn is_clean(&self) -> bool {
        self.saved.load(Ordering::SeqCst) == self.edits.load(Ordering::SeqCst)
    }

    async fn close(&self) {
        if !self.is_clean() {
            self.save().await;
        }
    }
}

/// An edit during a save counts as saved.
pub async fn autosave() {
    let document = Arc::new(Document::default());
    document.edit("Dear").await;
    let theirs = document.clone();
    let autosave = tokio::spawn(async move { theirs.save().await });
    document.edit(" Sir").await;
    autosave.await.unwrap();
    document.close().await;
    assert_eq!(*document.disk.lock().await, "Dear Sir", "all is on disk");
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Stage {
    Queued,
    Running,
    Done,
}

struct Deployment {
    stage: watch::Sender<Stage>,
    hosts: AtomicUsize,
}

impl Deployment {
    async fn run(&self) {
        self.stage.send_replace(Stage::Running);
        self.install().await;
        self.stage.send_replace(Stage::Done);
    }

    async fn install(&self) {
        self.hosts.fetch_add(1, Ordering::Relaxed);
    }
}

async fn follow(mut stages: watch::Receiver<Stage>) -> Vec<Stage> {
    let mut shown = Vec::new();
    while stages.changed().await.is_ok() {
        let stage = *stages.borrow_and_update();
        shown.push(stage);
        if stage == Stage::Done {
            break;
        }
    }
    shown
}

/// A watch keeps only the last value, and the page wants to show all.
pub async fn stages() {
    let (stage, stages) = watch::channel(Stage::Queued);
    let deployment = Arc::new(Deployment { stage, hosts: AtomicUsize::new(0) });
    let page = tokio::spawn(follow(stages));
    deployment.run().await;
    let shown = page.await.unwrap();
    assert_eq!(shown, [Stage::Running, Stage::Done], "{} hosts", deployment.hosts.load(Ordering::Relaxed));
}
