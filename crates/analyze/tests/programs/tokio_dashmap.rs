// expect: toctou
use dashmap::DashMap;
use std::sync::Arc;

struct Handler {
    seen: DashMap<u64, String>,
}

impl Handler {
    async fn accept(&self, id: u64) -> bool {
        if self.seen.contains_key(&id) {
            return false;
        }
        let text = fetch(id).await;
        self.seen.insert(id, text); // HERE
        true
    }
}

async fn fetch(id: u64) -> String {
    tokio::task::yield_now().await;
    id.to_string()
}

pub async fn serve(handler: Arc<Handler>, mut requests: tokio::sync::mpsc::Receiver<u64>) {
    while let Some(id) = requests.recv().await {
        let handler = handler.clone();
        tokio::spawn(async move { handler.accept(id).await });
    }
}
