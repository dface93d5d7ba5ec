//! Futures that are dropped before they are done.

use std::time::Duration;

use drawloom::sync::Arc;
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::time::{sleep, timeout};

#[derive(Default)]
struct BoxOffice {
    held: Mutex<u32>,
    booked: Mutex<u32>,
    terminal: Mutex<()>,
}

impl BoxOffice {
    async fn pay(&self, typing: Duration) {
        let _terminal = self.terminal.lock().await;
        sleep(typing).await;
    }

    async fn book(&self, typing: Duration) {
        *self.held.lock().await += 1;
        self.pay(typing).await;
        *self.held.lock().await -= 1;
        *self.booked.lock().await += 1;
    }
}

/// A customer who has waited too long for the terminal leaves a seat that is held for ever.
pub async fn booking() {
    let office = Arc::new(BoxOffice::default());
    let theirs = office.clone();
    let slow = tokio::spawn(async move { theirs.book(Duration::from_millis(40)).await });
    let quick = timeout(Duration::from_millis(20), office.book(Duration::from_millis(5))).await;
    slow.await.unwrap();
    let (held, booked) = (*office.held.lock().await, *office.booked.lock().await);
    assert_eq!(held, 0, "{booked} are booked, and {quick:?}");
}

struct Collector {
    lines: mpsc::Receiver<&'static str>,
    store: Arc<Mutex<Vec<&'static str>>>,
}

impl Collector {
    async fn collect(&mut self) -> Option<()> {
        let line = self.lines.recv().await?;
        self.store.lock().await.push(line);
        Some(())
    }
}

async fn rotate(store: Arc<Mutex<Vec<&'static str>>>, rotating: Arc<Notify>) {
    let _store = store.lock().await;
    rotating.notify_one();
    sleep(Duration::from_millis(5)).await;
}

/// A line that was received while the store is rotated goes with the future that had it.
pub async fn collector() {
    let (lines, received) = mpsc::channel(4);
    let store = Arc::new(Mutex::new(Vec::new()));
    let rotating = Arc::new(Notify::new());
    let service = tokio::spawn(async move { lines.send("started").await.unwrap() });
    let rotation = tokio::spawn(rotate(store.clone(), rotating.clone()));
    let mut collector = Collector { lines: received, store: store.clone() };
    let mut rotations = 0;
    loop {
        tokio::select! {
            collected = collector.collect() => if collected.is_none() { break },
            () = rotating.notified() => rotations += 1,
        }
    }
    service.await.unwrap();
    rotation.await.unwrap();
    assert_eq!(*store.lock().await, ["started"], "after {rotations} rotations");
}
