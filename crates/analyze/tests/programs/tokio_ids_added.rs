// expect: clean
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

struct Ids {
    next: AtomicU64,
}

impl Ids {
    async fn take(&self) -> u64 {
        let id = self.next.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        id
    }
}

#[tokio::main]
async fn main() {
    let ids = Arc::new(Ids { next: AtomicU64::new(0) });
    let handles: Vec<_> = (0..8)
        .map(|_| {
            let ids = Arc::clone(&ids);
            tokio::spawn(async move { ids.take().await })
        })
        .collect();
    for handle in handles {
        handle.await.unwrap();
    }
}
