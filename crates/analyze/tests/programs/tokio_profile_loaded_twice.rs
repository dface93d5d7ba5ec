// expect: toctou
use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::RwLock;

struct Profiles {
    known: RwLock<HashMap<u64, Arc<String>>>,
}

impl Profiles {
    async fn get(&self, id: u64) -> Arc<String> {
        if let Some(profile) = self.known.read().await.get(&id).cloned() {
            return profile;
        }
        let profile = Arc::new(load(id).await);
        self.known.write().await.insert(id, profile.clone()); // HERE
        profile
    }
}

async fn load(id: u64) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(id)).await;
    id.to_string()
}

#[tokio::main]
async fn main() {
    let profiles = Arc::new(Profiles { known: RwLock::new(HashMap::new()) });
    let mut tasks = tokio::task::JoinSet::new();
    for id in 0..10 {
        let profiles = Arc::clone(&profiles);
        tasks.spawn(async move { profiles.get(id / 2).await });
    }
    while tasks.join_next().await.is_some() {}
}
