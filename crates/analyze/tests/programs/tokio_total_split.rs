// expect: atomicity-gap lost-update
use std::sync::{Arc, Mutex};

async fn price_of(item: u32) -> u64 {
    tokio::task::yield_now().await;
    u64::from(item) * 3
}

async fn add(total: Arc<Mutex<u64>>, item: u32) {
    let before = *total.lock().unwrap();
    let price = price_of(item).await;
    *total.lock().unwrap() = before + price; // HERE
}

#[tokio::main]
async fn main() {
    let total = Arc::new(Mutex::new(0));
    let mut set = tokio::task::JoinSet::new();
    for item in 0..10 {
        set.spawn(add(total.clone(), item));
    }
    while set.join_next().await.is_some() {}
    println!("{}", total.lock().unwrap());
}
