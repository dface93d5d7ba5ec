// expect: toctou
use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;

pub struct Downloads {
    running: Mutex<HashSet<String>>,
}

impl Downloads {
    pub async fn start(self: Arc<Self>, url: String) -> bool {
        {
            let running = self.running.lock().await;
            if running.contains(&url) {
                return false;
            }
        }
        prepare(&url).await;
        self.running.lock().await.insert(url.clone()); // HERE
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
