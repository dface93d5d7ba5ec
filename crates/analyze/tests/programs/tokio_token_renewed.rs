// expect: toctou
use std::sync::Arc;
use tokio::sync::RwLock;

struct Token {
    text: String,
    expires: u64,
}

pub struct Provider {
    token: RwLock<Option<Token>>,
}

impl Provider {
    pub async fn token(&self, now: u64) -> String {
        if let Some(token) = &*self.token.read().await {
            if token.expires > now {
                return token.text.clone();
            }
        }
        let fresh = request(now).await;
        let mut slot = self.token.write().await;
        let text = fresh.text.clone();
        *slot = Some(fresh); // HERE
        text
    }
}

async fn request(now: u64) -> Token {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    Token { text: format!("t{now}"), expires: now + 60 }
}

#[tokio::main]
async fn main() {
    let provider = Arc::new(Provider { token: RwLock::new(None) });
    for n in 0..4 {
        let provider = provider.clone();
        tokio::spawn(async move { provider.token(n).await });
    }
}
