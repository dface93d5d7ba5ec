//! Tasks that wait for what was before them.

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicUsize, Ordering};
use drawloom_tokio as tokio;
use tokio::sync::{Mutex, Notify, broadcast};

#[derive(Default)]
struct Setting {
    value: Mutex<Option<u32>>,
    changed: Notify,
    waits: AtomicUsize,
}

impl Setting {
    async fn set(&self, value: u32) {
        *self.value.lock().await = Some(value);
        self.changed.notify_waiters();
    }

    async fn get(&self) -> u32 {
        loop {
            if let Some(value) = *self.value.lock().await {
                return value;
            }
            self.waits.fetch_add(1, Ordering::Relaxed);
            self.changed.notified().await;
        }
    }
}

/// The value comes between the look at it and the wait for it.
pub async fn notify() {
    let setting = Arc::new(Setting::default());
    let theirs = setting.clone();
    let reader = tokio::spawn(async move { theirs.get().await });
    setting.set(5).await;
    assert_eq!(reader.await.unwrap(), 5);
}

struct Hub {
    events: broadcast::Sender<u32>,
    published: AtomicUsize,
}

impl Hub {
    async fn publish(&self, event: u32) {
        let _ = self.events.send(event);
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    async fn first(&self) -> Option<u32> {
        let mut events = self.events.subscribe();
        events.recv().await.ok()
    }
}

/// What was published before somebody listened is not heard.
pub async fn subscription() {
    let (events, _keep) = broadcast::channel(4);
    let hub = Arc::new(Hub { events, published: AtomicUsize::new(0) });
    let theirs = hub.clone();
    let listener = tokio::spawn(async move { theirs.first().await });
    hub.publish(9).await;
    assert_eq!(listener.await.unwrap(), Some(9), "the event reaches the listener");
}
