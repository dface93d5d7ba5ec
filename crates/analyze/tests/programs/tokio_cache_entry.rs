// expect: clean
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{OnceCell, Mutex};

pub struct Cache {
    entries: Mutex<HashMap<String, Arc<OnceCell<String>>>>,
}

impl Cache {
    pub async fn get(&self, key: &str) -> String {
        let cell = {
            let mut entries = self.entries.lock().await;
            entries.entry(key.to_owned()).or_default().clone()
        };
        cell.get_or_init(|| load(key)).await.clone()
    }
}

async fn load(key: &str) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    key.to_uppercase()
}

#[tokio::main]
async fn main() {
    let cache = Arc::new(Cache { entries: Mutex::new(HashMap::new()) });
    for _ in 0..4 {
        let cache = cache.clone();
        tokio::spawn(async move { cache.get("a").await });
    }
}
