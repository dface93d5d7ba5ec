// expect: toctou
use dashmap::DashMap;
use std::sync::Arc;

pub struct Profiles {
    cache: DashMap<u64, Arc<String>>,
}

impl Profiles {
    pub async fn get(&self, id: u64) -> Arc<String> {
        if let Some(found) = self.cache.get(&id) {
            return found.value().clone();
        }
        let loaded = Arc::new(load(id).await);
        self.cache.insert(id, loaded.clone()); // HERE
        loaded
    }
}

async fn load(id: u64) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    id.to_string()
}
