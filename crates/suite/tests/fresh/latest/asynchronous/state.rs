//! State that another task changes over an `.await`.

use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, RwLock};
use tokio::time::sleep;

#[derive(Default)]
struct Provider {
    issued: AtomicU32,
}

impl Provider {
    async fn issue(&self) -> u32 {
        tokio::task::yield_now().await;
        self.issued.fetch_add(1, Ordering::SeqCst) + 1
    }
}

#[derive(Default)]
struct Api {
    provider: Provider,
    token: RwLock<Option<u32>>,
}

impl Api {
    async fn token(&self) -> u32 {
        if let Some(token) = *self.token.read().await {
            return token;
        }
        let fresh = self.provider.issue().await;
        *self.token.write().await = Some(fresh);
        fresh
    }

    async fn call(&self) -> bool {
        let token = self.token().await;
        // The provider takes the newest token only.
        token == self.provider.issued.load(Ordering::SeqCst)
    }
}

/// Two find no token, and the second one's makes the first one's void.
pub async fn refreshed_token() {
    let api = Arc::new(Api::default());
    let theirs = api.clone();
    let other = tokio::spawn(async move { theirs.call().await });
    let ours = api.call().await;
    assert!(ours & other.await.unwrap(), "rejected");
}

#[derive(Default)]
struct Page {
    version: Mutex<u32>,
    text: Mutex<String>,
}

impl Page {
    async fn save(&self, base: u32, edit: &str) -> bool {
        if *self.version.lock().await != base {
            return false;
        }
        let edited = format!("{}{edit}", self.text.lock().await);
        *self.text.lock().await = edited;
        *self.version.lock().await += 1;
        true
    }
}

/// Both editors find the version they began with.
pub async fn wiki_page() {
    let page = Arc::new(Page::default());
    let theirs = page.clone();
    let other = tokio::spawn(async move { theirs.save(0, "b").await });
    let saved = [page.save(0, "a").await, other.await.unwrap()];
    let accepted = saved.iter().filter(|saved| **saved).count();
    assert_eq!(accepted, 1, "{}", page.text.lock().await);
}

#[derive(Default)]
struct SearchBox {
    shown: Mutex<&'static str>,
    requests: AtomicUsize,
}

impl SearchBox {
    async fn fetch(&self, query: &'static str) -> &'static str {
        self.requests.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        query
    }

    async fn search(&self, query: &'static str) {
        let results = self.fetch(query).await;
        *self.shown.lock().await = results;
    }
}

/// The answer to the older query comes last and stays.
pub async fn search_box() {
    let search = Arc::new(SearchBox::default());
    let older = search.clone();
    let older = tokio::spawn(async move { older.search("ca").await });
    tokio::task::yield_now().await;
    search.search("cat").await;
    older.await.unwrap();
    assert_eq!(*search.shown.lock().await, "cat");
}

struct Node {
    last_seen: Mutex<u32>,
    alive: AtomicBool,
    warnings: Mutex<Vec<String>>,
}

impl Node {
    async fn beat(&self, now: u32) {
        *self.last_seen.lock().await = now;
        self.alive.store(true, Ordering::SeqCst);
    }

    async fn inspect(&self, now: u32) {
        let silent = now - *self.last_seen.lock().await;
        if silent > 5 {
            self.warnings.lock().await.push(format!("silent for {silent}"));
            self.alive.store(false, Ordering::SeqCst);
        }
    }
}

/// A sign of life comes while the node is being declared dead.
pub async fn heartbeat() {
    let node = Node { last_seen: Mutex::new(0), alive: AtomicBool::new(true), warnings: Mutex::default() };
    let node = Arc::new(node);
    let theirs = node.clone();
    let beats = tokio::spawn(async move { theirs.beat(9).await });
    node.inspect(10).await;
    beats.await.unwrap();
    let (seen, alive) = (*node.last_seen.lock().await, node.alive.load(Ordering::SeqCst));
    assert!(alive, "last seen at {seen}");
}

#[derive(Default)]
struct Log {
    buffer: Mutex<Vec<&'static str>>,
    disk: Mutex<Vec<&'static str>>,
}

impl Log {
    async fn flush(&self) {
        let lines = std::mem::take(&mut *self.buffer.lock().await);
        if lines.is_empty() {
            return;
        }
        sleep(Duration::from_millis(1)).await;
        self.disk.lock().await.extend(lines);
    }

    async fn close(&self) -> usize {
        self.flush().await;
        self.disk.lock().await.len()
    }
}

/// The buffer is empty, and its lines are not on the disk yet.
pub async fn closed_log() {
    let log = Arc::new(Log::default());
    log.buffer.lock().await.push("started");
    let theirs = log.clone();
    let periodic = tokio::spawn(async move { theirs.flush().await });
    let written = log.close().await;
    periodic.await.unwrap();
    assert_eq!(written, 1);
}
