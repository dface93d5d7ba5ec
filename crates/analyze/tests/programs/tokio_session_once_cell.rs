// expect: clean
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;

#[derive(Clone)]
pub struct Session {
    id: u64,
}

#[derive(Default)]
pub struct Sessions {
    open: Mutex<HashMap<String, Arc<OnceCell<Session>>>>,
}

async fn login(user: &str) -> Session {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    Session { id: user.len() as u64 }
}

impl Sessions {
    pub async fn of(&self, user: &str) -> Session {
        let cell = self.open.lock().unwrap().entry(user.to_string()).or_default().clone();
        cell.get_or_init(|| login(user)).await.clone()
    }
}
