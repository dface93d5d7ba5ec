// expect: clean
use std::sync::Arc;
use tokio::sync::Mutex;

#[derive(Default)]
struct Pool {
    idle: Mutex<Vec<u32>>,
}

impl Pool {
    async fn take(&self, wanted: u32) -> Option<u32> {
        let mut idle = self.idle.lock().await;
        let at = idle.iter().position(|one| *one == wanted)?;
        Some(idle.swap_remove(at))
    }

    async fn give(&self, one: u32) {
        self.idle.lock().await.push(one);
    }
}

#[tokio::main]
async fn main() {
    let pool = Arc::new(Pool::default());
    let mut all = Vec::new();
    for n in 0..4 {
        let pool = pool.clone();
        all.push(tokio::spawn(async move {
            if let Some(one) = pool.take(n).await {
                pool.give(one).await;
            }
        }));
    }
    for one in all {
        one.await.unwrap();
    }
}
