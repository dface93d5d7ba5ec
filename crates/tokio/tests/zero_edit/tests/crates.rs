//! Crates that nobody here wrote, as their users use them.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, Object, Pool, RecycleResult, Timeouts};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::BroadcastStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::{Service, ServiceExt};

/// Makes numbered connections, and counts those in use.
#[derive(Default)]
struct Connections {
    made: AtomicU32,
}

impl Manager for Connections {
    type Type = u32;
    type Error = Infallible;

    async fn create(&self) -> Result<u32, Infallible> {
        tokio::task::yield_now().await;
        Ok(self.made.fetch_add(1, SeqCst))
    }

    async fn recycle(&self, _: &mut u32, _: &Metrics) -> RecycleResult<Infallible> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadpool_never_makes_more_than_its_size() {
    let pool: Pool<Connections> = Pool::builder(Connections::default()).max_size(1).build().unwrap();
    let users: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let connection: Object<Connections> = pool.get().await.unwrap();
                tokio::task::yield_now().await;
                assert_eq!(*connection, 0);
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
    assert_eq!(pool.status().size, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadpool_gets_its_slot_back_from_who_gives_up() {
    let pool: Pool<Connections> = Pool::builder(Connections::default()).max_size(1).build().unwrap();
    let impatient = {
        let pool = pool.clone();
        tokio::spawn(async move { drop(pool.get().await) })
    };
    impatient.abort();
    let _ = impatient.await;
    drop(pool.get().await.unwrap());
    assert!(pool.timeout_get(&Timeouts { wait: Some(Duration::ZERO), ..Timeouts::new() }).await.is_ok());
}

impl bb8::ManageConnection for Connections {
    type Connection = u32;
    type Error = Infallible;

    async fn connect(&self) -> Result<u32, Infallible> {
        tokio::task::yield_now().await;
        Ok(self.made.fetch_add(1, SeqCst))
    }

    async fn is_valid(&self, _: &mut u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut u32) -> bool {
        false
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bb8_serves_all_who_wait() {
    let pool = bb8::Pool::builder().max_size(1).build(Connections::default()).await.unwrap();
    let users: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let connection = pool.get().await.unwrap();
                tokio::task::yield_now().await;
                *connection
            })
        })
        .collect();
    for user in users {
        assert_eq!(user.await.unwrap(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancellation_token_of_tokio_util_reaches_children() {
    let token = CancellationToken::new();
    let tracker = TaskTracker::new();
    for _ in 0..2 {
        let child = token.child_token();
        tracker.spawn(async move { child.cancelled().await });
    }
    tracker.close();
    token.cancel();
    tracker.wait().await;
    assert!(tracker.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_buffer_of_tower_answers_everybody() {
    let double = tower::service_fn(|number: u32| async move { Ok::<_, Infallible>(number * 2) });
    let service = tower::buffer::Buffer::new(double, 1);
    let tasks: Vec<_> = (1..=2)
        .map(|number| {
            let mut service = service.clone();
            tokio::spawn(async move { service.ready().await.unwrap().call(number).await.unwrap() })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    assert_eq!(answers, [2, 4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concurrency_limit_of_tower_holds() {
    let running = Arc::new(AtomicU32::new(0));
    let inner = running.clone();
    let service = tower::service_fn(move |()| {
        let running = inner.clone();
        async move {
            assert_eq!(running.fetch_add(1, SeqCst), 0, "one at a time");
            tokio::task::yield_now().await;
            running.fetch_sub(1, SeqCst);
            Ok::<_, Infallible>(())
        }
    });
    let service = tower::limit::ConcurrencyLimit::new(service, 1);
    let tasks = [(); 2].map(|()| {
        let service = service.clone();
        tokio::spawn(async move { service.oneshot(()).await.unwrap() })
    });
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(running.load(SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broadcast_stream_of_tokio_stream_ends() {
    let (sender, receiver) = tokio::sync::broadcast::channel(4);
    tokio::spawn(async move {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    let received: Vec<u32> = BroadcastStream::new(receiver).map(Result::unwrap).collect().await;
    assert_eq!(received, [1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_async_channel_hands_every_value_to_one() {
    let (sender, receiver) = async_channel::bounded(1);
    let consumers = [receiver.clone(), receiver].map(|receiver| {
        tokio::spawn(async move {
            let mut sum = 0;
            while let Ok(value) = receiver.recv().await {
                sum += value;
            }
            sum
        })
    });
    for value in [1, 2, 4] {
        sender.send(value).await.unwrap();
    }
    drop(sender);
    let mut sum = 0;
    for consumer in consumers {
        sum += consumer.await.unwrap();
    }
    assert_eq!(sum, 7);
}

#[tokio::test]
async fn an_hour_passes_at_once() {
    let start = tokio::time::Instant::now();
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(start.elapsed() >= Duration::from_secs(3600));
}
