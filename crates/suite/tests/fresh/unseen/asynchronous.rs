//! Programs of tokio's tasks.

use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::time::{sleep, timeout};

use crate::asynchronous::run;
use crate::judge::Fresh;

#[derive(Default)]
struct Download {
    offset: Mutex<usize>,
    file: Mutex<Vec<(usize, usize)>>,
    chunks: AtomicUsize,
}

impl Download {
    async fn write(&self, length: usize) {
        let at = *self.offset.lock().await;
        self.file.lock().await.push((at, length));
        *self.offset.lock().await = at + length;
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two chunks are written to the same place.
async fn download() {
    let download = Arc::new(Download::default());
    let theirs = download.clone();
    let other = tokio::spawn(async move { theirs.write(10).await });
    download.write(20).await;
    other.await.unwrap();
    assert_eq!(*download.offset.lock().await, 30);
}

#[derive(Default)]
struct Cluster {
    leader: Mutex<Option<u32>>,
    writing: Mutex<Vec<u32>>,
}

impl Cluster {
    async fn lead(&self, node: u32) -> usize {
        let mut leader = self.leader.lock().await;
        if leader.is_some() {
            return 0;
        }
        *leader = Some(node);
        drop(leader);
        let mut writing = self.writing.lock().await;
        writing.push(node);
        writing.len()
    }

    async fn resign(&self, node: u32) {
        *self.leader.lock().await = None;
        self.writing.lock().await.retain(|other| *other != node);
    }
}

/// The old leader has given up its office and still writes.
async fn handover() {
    let cluster = Arc::new(Cluster::default());
    cluster.lead(1).await;
    let theirs = cluster.clone();
    let old = tokio::spawn(async move { theirs.resign(1).await });
    let writers = cluster.lead(2).await;
    old.await.unwrap();
    assert!(writers <= 1, "{writers}");
}

#[derive(Default)]
struct Importer {
    state: Mutex<Vec<&'static str>>,
    rows: AtomicUsize,
}

impl Importer {
    async fn parse(&self) {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.state.lock().await.push("row");
    }

    async fn run(self: Arc<Self>) -> usize {
        let theirs = self.clone();
        let parser = tokio::spawn(async move { theirs.parse().await });
        let state = self.state.lock().await;
        parser.await.unwrap();
        state.len()
    }
}

/// Somebody waits for a task with the lock that it needs.
async fn import() {
    let importer = Arc::new(Importer::default());
    importer.run().await;
}

struct Database {
    connection: Mutex<u32>,
    closed: Mutex<Vec<u32>>,
    opened: AtomicUsize,
}

impl Database {
    async fn current(&self) -> u32 {
        *self.connection.lock().await
    }

    async fn reconnect(&self) -> u32 {
        let old = self.current().await;
        self.closed.lock().await.push(old);
        let fresh = 10 + self.opened.fetch_add(1, Ordering::SeqCst) as u32;
        *self.connection.lock().await = fresh;
        fresh
    }
}

/// Two find the connection broken, and each replaces it: the old one is closed twice.
async fn reconnect() {
    let database = Database { connection: Mutex::new(1), closed: Mutex::default(), opened: AtomicUsize::new(0) };
    let database = Arc::new(database);
    let theirs = database.clone();
    let other = tokio::spawn(async move { theirs.reconnect().await });
    database.reconnect().await;
    other.await.unwrap();
    let closed = database.closed.lock().await;
    assert_eq!(closed.iter().filter(|id| **id == 1).count(), 1, "{closed:?}");
}

struct Frames {
    bytes: mpsc::Receiver<u8>,
}

impl Frames {
    async fn frame(&mut self) -> Option<(u8, u8)> {
        let header = self.bytes.recv().await?;
        let body = self.bytes.recv().await?;
        Some((header, body))
    }
}

/// A frame of which only the header has come is lost when the time is up.
async fn half_frame() {
    let (sender, bytes) = mpsc::channel(8);
    let peer = tokio::spawn(async move {
        sender.send(1).await.unwrap();
        sleep(Duration::from_millis(3)).await;
        for byte in [10, 2, 20] {
            sender.send(byte).await.unwrap();
        }
    });
    let mut frames = Frames { bytes };
    let mut received = None;
    for _ in 0..2 {
        if let Ok(frame) = timeout(Duration::from_millis(2), frames.frame()).await {
            received = received.or(frame);
        }
    }
    peer.await.unwrap();
    assert_eq!(received, Some((1, 10)));
}

#[derive(Default)]
struct Rendezvous {
    arrived: AtomicUsize,
    go: Notify,
    met: AtomicUsize,
}

impl Rendezvous {
    async fn meet(&self) {
        if self.arrived.fetch_add(1, Ordering::SeqCst) == 1 {
            self.go.notify_waiters();
        } else {
            self.go.notified().await;
        }
        self.met.fetch_add(1, Ordering::Relaxed);
    }
}

/// The second one calls before the first one listens.
async fn rendezvous() {
    let place = Arc::new(Rendezvous::default());
    let theirs = place.clone();
    let other = tokio::spawn(async move { theirs.meet().await });
    place.meet().await;
    other.await.unwrap();
}

pub const PROGRAMS: &[Fresh] = &[
    Fresh {
        name: "async_download",
        body: || run(download()),
        classes: "atomicity-gap|toctou",
        blames: &["offset"],
        observers: &["chunks", "file"],
        lines: &["let at = *self.offset.lock().await", "*self.offset.lock().await = at + length"],
        mentions: &[],
    },
    Fresh {
        name: "async_handover",
        body: || run(handover()),
        classes: "order-violation|atomicity-gap",
        blames: &["leader", "writing"],
        observers: &[],
        lines: &["*self.leader.lock().await = None", "self.writing.lock().await.retain("],
        mentions: &[],
    },
    Fresh {
        name: "async_import",
        body: || run(import()),
        classes: "deadlock",
        blames: &["state"],
        observers: &["rows"],
        lines: &["let state = self.state.lock().await", "self.state.lock().await.push("],
        mentions: &[],
    },
    Fresh {
        name: "async_reconnect",
        body: || run(reconnect()),
        classes: "toctou|atomicity-gap|stale-reference",
        blames: &["connection"],
        observers: &["closed", "opened"],
        lines: &[
            "*self.connection.lock().await|let old = self.current().await",
            "*self.connection.lock().await = fresh",
        ],
        mentions: &[],
    },
    Fresh {
        name: "async_half_frame",
        body: || run(half_frame()),
        classes: "atomicity-gap|order-violation|none",
        blames: &["bytes", "header", "frames"],
        observers: &[],
        lines: &["self.bytes.recv().await"],
        mentions: &["timeout|timed out|dropped|time was up"],
    },
    Fresh {
        name: "async_rendezvous",
        body: || run(rendezvous()),
        classes: "lost-wakeup",
        blames: &["go", "arrived"],
        observers: &["met"],
        lines: &["self.go.notify_waiters()", "self.go.notified()"],
        mentions: &[],
    },
];
