//! Crates that know no executor work unmodified, in the hands of tasks that take turns: what they do under locks of
//! their own is never interrupted.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use drawloom_tokio::spawn;
use drawloom_tokio::task::yield_now;
use futures::{SinkExt, StreamExt};
use tower::{Service, ServiceExt};

#[drawloom_tokio::test]
async fn futures_channels_and_streams() {
    let (mut sender, receiver) = futures::channel::mpsc::channel(1);
    let producer = spawn(async move {
        for value in 1..=3 {
            sender.send(value).await.unwrap();
        }
    });
    let squares: Vec<u32> = receiver.map(|value| value * value).collect().await;
    producer.await.unwrap();
    assert_eq!(squares, [1, 4, 9]);
}

#[drawloom_tokio::test]
async fn futures_unordered() {
    let tasks: futures::stream::FuturesUnordered<_> = (0..3).map(|value| spawn(async move { value })).collect();
    let mut values: Vec<u32> = tasks.map(Result::unwrap).collect().await;
    values.sort_unstable();
    assert_eq!(values, [0, 1, 2]);
}

#[drawloom_tokio::test]
async fn async_channel_closes() {
    let (sender, receiver) = async_channel::bounded(1);
    let consumer = spawn(async move {
        let mut sum = 0;
        while let Ok(value) = receiver.recv().await {
            sum += value;
        }
        sum
    });
    for value in [1, 2, 4] {
        sender.send(value).await.unwrap();
    }
    drop(sender);
    assert_eq!(consumer.await.unwrap(), 7);
}

#[drawloom_tokio::test]
async fn async_lock_excludes() {
    let count = Arc::new(async_lock::Mutex::new(0));
    let theirs = count.clone();
    let increment = |count: Arc<async_lock::Mutex<u32>>| async move {
        let mut count = count.lock().await;
        let read = *count;
        yield_now().await;
        *count = read + 1;
    };
    let other = spawn(increment(theirs));
    increment(count.clone()).await;
    other.await.unwrap();
    assert_eq!(*count.lock().await, 2);
}

#[drawloom_tokio::test]
async fn event_listener_wakes() {
    let event = Arc::new(event_listener::Event::new());
    let ready = Arc::new(AtomicU32::new(0));
    let (their_event, their_ready) = (event.clone(), ready.clone());
    let other = spawn(async move {
        their_ready.store(1, SeqCst);
        their_event.notify(1);
    });
    loop {
        let listener = event.listen();
        if ready.load(SeqCst) == 1 {
            break;
        }
        listener.await;
    }
    other.await.unwrap();
}

#[drawloom_tokio::test]
async fn tower_services_compose() {
    let served = Arc::new(AtomicU32::new(0));
    let inner = served.clone();
    let service = tower::service_fn(move |number: u32| {
        let served = inner.clone();
        async move {
            yield_now().await;
            served.fetch_add(1, SeqCst);
            Ok::<_, Infallible>(number + 1)
        }
    });
    let mut service = service.map_response(|number| number * 2);
    let mut other = service.clone();
    let task = spawn(async move { other.ready().await.unwrap().call(1).await.unwrap() });
    assert_eq!(service.ready().await.unwrap().call(2).await, Ok(6));
    assert_eq!(task.await.unwrap(), 4);
    assert_eq!(served.load(SeqCst), 2);
}

/// Looks, waits, and writes what it has seen: the bug is in the use, and is found across an uncontrolled lock.
#[drawloom_tokio::test(explore = "trace = false")]
#[should_panic(expected = "an update was lost")]
async fn a_lost_update_behind_an_async_lock_is_found() {
    let count = Arc::new(async_lock::RwLock::new(0));
    let increment = |count: Arc<async_lock::RwLock<u32>>| async move {
        let read = *count.read().await;
        yield_now().await;
        *count.write().await = read + 1;
    };
    let other = spawn(increment(count.clone()));
    increment(count.clone()).await;
    other.await.unwrap();
    assert_eq!(*count.read().await, 2, "an update was lost");
}
