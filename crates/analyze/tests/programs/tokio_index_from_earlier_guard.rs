// expect: toctou
use std::sync::Arc;
use tokio::sync::Mutex;

#[derive(Default)]
struct Pool {
    idle: Mutex<Vec<u32>>,
}

impl Pool {
    async fn take(&self, wanted: u32) -> Option<u32> {
        let at = {
            let idle = self.idle.lock().await;
            idle.iter().position(|one| *one == wanted)?
        };
        let mut idle = self.idle.lock().await;
        Some(idle.swap_remove(at)) // HERE
    }
}

#[tokio::main]
async fn main() {
    let pool = Arc::new(Pool::default());
    let mut all = Vec::new();
    for n in 0..4 {
        let pool = pool.clone();
        all.push(tokio::spawn(async move { pool.take(n).await }));
    }
    for one in all {
        one.await.unwrap();
    }
}
