//! Tests as they are written for tokio.

use std::sync::Arc;

use tokio::sync::Mutex;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_jobs_end() {
    assert_eq!(jobs::stop_all(2).await, 0);
}

#[tokio::test]
async fn both_deposits_arrive() {
    let balance = Arc::new(Mutex::new(0));
    let theirs = balance.clone();
    let other = tokio::spawn(async move { jobs::deposit(&theirs, 1).await });
    jobs::deposit(&balance, 2).await;
    other.await.unwrap();
    assert_eq!(*balance.lock().await, 3);
}

#[test]
fn others_are_run_as_well() {
    assert_eq!(2 + 2, 4);
}
