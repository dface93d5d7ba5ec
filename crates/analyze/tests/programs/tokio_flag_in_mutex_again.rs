// expect: clean
use std::sync::Arc;
use tokio::sync::Mutex;

#[derive(Default)]
struct State {
    connection: Option<u32>,
    opened: u32,
}

struct Pool {
    state: Mutex<State>,
}

impl Pool {
    async fn connect(&self) -> u32 {
        let mut state = self.state.lock().await;
        if let Some(connection) = state.connection {
            return connection;
        }
        let connection = dial().await;
        state.connection = Some(connection);
        state.opened += 1;
        connection
    }
}

async fn dial() -> u32 {
    tokio::task::yield_now().await;
    7
}

#[tokio::main]
async fn main() {
    let pool = Arc::new(Pool { state: Mutex::default() });
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let pool = pool.clone();
        set.spawn(async move { pool.connect().await });
    }
    while set.join_next().await.is_some() {}
}
