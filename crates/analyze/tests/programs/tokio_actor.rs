// expect: clean
use std::collections::HashMap;
use tokio::sync::{mpsc, oneshot};

enum Message {
    Get(String, oneshot::Sender<Option<u64>>),
    Put(String, u64),
}

struct Actor {
    rows: HashMap<String, u64>,
    inbox: mpsc::Receiver<Message>,
}

impl Actor {
    async fn run(mut self) {
        while let Some(message) = self.inbox.recv().await {
            match message {
                Message::Get(key, answer) => {
                    let _ = answer.send(self.rows.get(&key).copied());
                }
                Message::Put(key, value) => {
                    if !self.rows.contains_key(&key) {
                        store(&key, value).await;
                        self.rows.insert(key, value);
                    }
                }
            }
        }
    }
}

async fn store(_: &str, _: u64) {
    tokio::task::yield_now().await;
}

#[tokio::main]
async fn main() {
    let (sender, inbox) = mpsc::channel(8);
    tokio::spawn(Actor { rows: HashMap::new(), inbox }.run());
    for n in 0..3 {
        let sender = sender.clone();
        tokio::spawn(async move { sender.send(Message::Put("a".into(), n)).await.ok() });
    }
}
