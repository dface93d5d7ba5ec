// expect: clean
use dashmap::DashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

pub struct Profiles {
    cache: DashMap<u64, Arc<OnceCell<Arc<String>>>>,
}

impl Profiles {
    pub async fn get(&self, id: u64) -> Arc<String> {
        let cell = self.cache.entry(id).or_default().clone();
        cell.get_or_init(|| async move { Arc::new(load(id).await) }).await.clone()
    }
}

async fn load(id: u64) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    id.to_string()
}
