// expect: clean
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

async fn price_of(item: u32) -> u64 {
    tokio::task::yield_now().await;
    u64::from(item) * 3
}

async fn add(total: Arc<Mutex<u64>>, item: u32, done: mpsc::Sender<u32>) {
    let price = price_of(item).await;
    {
        let mut total = total.lock().unwrap();
        *total += price;
    }
    let _ = done.send(item).await;
}

#[tokio::main]
async fn main() {
    let total = Arc::new(Mutex::new(0));
    let (done, mut all) = mpsc::channel(4);
    for item in 0..10 {
        tokio::spawn(add(total.clone(), item, done.clone()));
    }
    drop(done);
    while all.recv().await.is_some() {}
    println!("{}", total.lock().unwrap());
}
