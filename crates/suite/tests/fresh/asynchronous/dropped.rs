//! Futures that are dropped before they are done.

use std::time::Duration;

use drawloom::sync::Arc;
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::time::{sleep, timeout as within};

struct Shop {
    stock: Mutex<u32>,
    shipped: Mutex<u32>,
    courier: mpsc::Sender<u32>,
}

impl Shop {
    async fn order(&self, number: u32) {
        *self.stock.lock().await -= 1;
        self.courier.send(number).await.expect("a courier");
        *self.shipped.lock().await += 1;
    }
}

/// An order that takes too long has left the stock and is nowhere else.
pub async fn timeout() {
    let (courier, mut parcels) = mpsc::channel(1);
    let shop = Arc::new(Shop { stock: Mutex::new(3), shipped: Mutex::new(0), courier });
    let driver = tokio::spawn(async move {
        while parcels.recv().await.is_some() {
            sleep(Duration::from_millis(30)).await;
        }
    });
    let theirs = shop.clone();
    let patient = tokio::spawn(async move {
        theirs.order(1).await;
        theirs.order(2).await;
    });
    let _ = within(Duration::from_millis(10), shop.order(3)).await;
    patient.await.unwrap();
    let (stock, shipped) = (*shop.stock.lock().await, *shop.shipped.lock().await);
    drop(shop);
    driver.await.unwrap();
    assert_eq!(stock + shipped, 3, "goods are in stock or shipped");
}

struct Reader {
    frames: mpsc::Receiver<&'static str>,
}

impl Reader {
    async fn message(&mut self) -> Option<(&'static str, &'static str)> {
        let header = self.frames.recv().await?;
        let body = self.frames.recv().await?;
        Some((header, body))
    }
}

/// A message of which half was read when somebody asked for a flush.
pub async fn select() {
    let (frames, received) = mpsc::channel(4);
    let writer = tokio::spawn(async move {
        for frame in ["header", "body"] {
            frames.send(frame).await.unwrap();
        }
    });
    let flush = Arc::new(Notify::new());
    let theirs = flush.clone();
    let flusher = tokio::spawn(async move { theirs.notify_one() });
    let mut reader = Reader { frames: received };
    let mut flushes = 0;
    let message = loop {
        tokio::select! {
            message = reader.message() => break message,
            () = flush.notified() => flushes += 1,
        }
    };
    writer.await.unwrap();
    flusher.await.unwrap();
    assert_eq!(message, Some(("header", "body")), "after {flushes} flushes");
}
