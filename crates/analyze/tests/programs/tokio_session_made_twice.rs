// expect: toctou
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::RwLock;

#[derive(Clone)]
pub struct Session {
    id: u64,
}

pub struct Sessions {
    open: Arc<RwLock<HashMap<String, Session>>>,
}

async fn login(user: &str) -> Session {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    Session { id: user.len() as u64 }
}

impl Sessions {
    pub async fn of(&self, user: &str) -> Session {
        if let Some(session) = self.open.read().await.get(user).cloned() {
            return session;
        }
        let session = login(user).await;
        self.open.write().await.insert(user.to_string(), session.clone()); // HERE
        session
    }
}
