// expect: clean
use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;

pub struct Downloads {
    running: Mutex<HashSet<String>>,
}

impl Downloads {
    pub async fn start(self: Arc<Self>, url: String) -> bool {
        if !self.running.lock().await.insert(url.clone()) {
            return false;
        }
        prepare(&url).await;
        tokio::spawn(async move {
            fetch(&url).await;
            self.running.lock().await.remove(&url);
        });
        true
    }
}

async fn prepare(_url: &str) {
    tokio::task::yield_now().await;
}

async fn fetch(_url: &str) {
    tokio::task::yield_now().await;
}
