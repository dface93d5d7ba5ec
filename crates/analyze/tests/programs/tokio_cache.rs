// expect: toctou
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::RwLock;

pub struct Cache {
    entries: RwLock<HashMap<String, Arc<String>>>,
}

impl Cache {
    pub async fn get(&self, key: &str) -> Arc<String> {
        if let Some(found) = self.entries.read().await.get(key).cloned() {
            return found;
        }
        let made = Arc::new(load(key).await);
        self.entries.write().await.insert(key.to_owned(), made.clone()); // HERE
        made
    }
}

async fn load(key: &str) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    key.to_uppercase()
}

#[tokio::main]
async fn main() {
    let cache = Arc::new(Cache { entries: RwLock::new(HashMap::new()) });
    for _ in 0..4 {
        let cache = cache.clone();
        tokio::spawn(async move { cache.get("a").await });
    }
}
