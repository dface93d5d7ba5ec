// expect: toctou
use std::sync::Arc;

use tokio::sync::Mutex;

#[derive(Clone)]
struct Connection(Arc<str>);

struct Client {
    connection: Mutex<Option<Connection>>,
}

async fn dial(host: &str) -> Connection {
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    Connection(host.into())
}

impl Client {
    async fn connection(&self) -> Connection {
        let known = self.connection.lock().await.clone();
        match known {
            Some(connection) => connection,
            None => {
                let made = dial("db").await;
                *self.connection.lock().await = Some(made.clone()); // HERE
                made
            }
        }
    }
}

#[tokio::main]
async fn main() {
    let client = Arc::new(Client { connection: Mutex::new(None) });
    let (one, other) = (client.clone(), client.clone());
    let _ = tokio::join!(tokio::spawn(async move { one.connection().await }), tokio::spawn(async move { other.connection().await }));
}
