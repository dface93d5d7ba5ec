// expect: clean
use std::sync::Arc;
use tokio::sync::Mutex;

#[derive(Default)]
pub struct Election {
    leader: Mutex<Option<u64>>,
}

impl Election {
    pub async fn campaign(self: Arc<Self>, me: u64) -> bool {
        let mut leader = self.leader.lock().await;
        if leader.is_some() {
            return false;
        }
        announce(me).await;
        *leader = Some(me);
        true
    }
}

async fn announce(_me: u64) {
    tokio::task::yield_now().await;
}

#[tokio::main]
async fn main() {
    let election = Arc::new(Election::default());
    let mut all = tokio::task::JoinSet::new();
    for me in 0..3 {
        all.spawn(election.clone().campaign(me));
    }
    while all.join_next().await.is_some() {}
}
