//! `tokio::sync::mpsc`.

use std::future::Future;
use std::time::Duration;

use crate::compare::parity;

parity!(values_of_one_sender_stay_in_order => ["[1, 2, 3]"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let task = tokio::spawn(async move {
        for i in 1..=3 {
            sender.send(i).await.unwrap();
        }
    });
    let mut received = Vec::new();
    while let Some(value) = receiver.recv().await {
        received.push(value);
    }
    task.await.unwrap();
    received
});

parity!(a_full_channel_refuses => [r#"(0, "Full(..)", "no available capacity", 2, 2)"#] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(2);
    sender.try_send(1).unwrap();
    sender.send(2).await.unwrap();
    let capacity = sender.capacity();
    let full = sender.try_send(3).unwrap_err();
    let text = full.to_string();
    receiver.recv().await;
    receiver.try_recv().unwrap();
    (capacity, full, text, sender.capacity(), receiver.max_capacity())
});

// A permit takes its place before there is a value, and gives it back if there never is one.
parity!(reserved_room_counts => ["(1, true, 2, [7])"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(2);
    let permit = sender.reserve().await.unwrap();
    let left = sender.capacity();
    let second = sender.try_reserve().unwrap();
    let full = sender.try_send(1).is_err();
    drop(second);
    permit.send(7);
    let mut received = Vec::new();
    receiver.recv_many(&mut received, 5).await;
    (left, full, sender.capacity(), received)
});

parity!(reserve_many_and_owned_permits => ["([1, 2], 3, true, true)"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(3);
    for (permit, value) in sender.reserve_many(2).await.unwrap().zip(1..) {
        permit.send(value);
    }
    let permit = sender.clone().reserve_owned().await.unwrap();
    let same = permit.same_channel_as_sender(&sender);
    let released = permit.release();
    let too_many = sender.try_reserve_many(2).is_err();
    let mut received = Vec::new();
    receiver.recv_many(&mut received, 10).await;
    (received, released.capacity(), same, too_many)
});

parity!(closing_keeps_what_was_sent => [r#"(Ok(1), None, "channel closed", true)"#] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
    sender.send(1).await.unwrap();
    receiver.close();
    let error = sender.send(2).await.unwrap_err().to_string();
    (receiver.try_recv(), receiver.recv().await, error, sender.is_closed())
});

// After `close`, `recv` waits for permits that are still out.
parity!(closing_waits_for_permits => ["(Err(Empty), Some(5), None)"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let permit = sender.reserve_owned().await.unwrap();
    receiver.close();
    let empty = receiver.try_recv();
    permit.send(5);
    (empty, receiver.recv().await, receiver.recv().await)
});

parity!(senders_learn_that_the_receiver_is_gone => ["(true, true)"] {
    let (sender, receiver) = tokio::sync::mpsc::channel::<u32>(1);
    let theirs = sender.clone();
    let closed = tokio::spawn(async move { theirs.closed().await });
    drop(receiver);
    closed.await.unwrap();
    (sender.is_closed(), sender.send(1).await.is_err())
});

parity!(the_last_sender_ends_it => ["(None, Err(Disconnected))"] {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<u32>();
    let other = sender.clone();
    let task = tokio::spawn(async move { drop(other) });
    drop(sender);
    let received = receiver.recv().await;
    task.await.unwrap();
    (received, receiver.try_recv())
});

parity!(weak_senders_keep_nothing_open => ["(true, Some(1), None, true, 0)"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let weak = sender.downgrade();
    let strong = weak.upgrade().unwrap();
    let counted = strong.strong_count() == 2 && strong.weak_count() == 1;
    strong.send(1).await.unwrap();
    drop((strong, sender));
    (counted, receiver.recv().await, receiver.recv().await, weak.upgrade().is_none(), weak.strong_count())
});

parity!(many_senders_mix => ["[1, 2, 3]", "[1, 3, 2]", "[3, 1, 2]"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let other = sender.clone();
    tokio::spawn(async move {
        sender.send(1).await.unwrap();
        sender.send(2).await.unwrap();
    });
    tokio::spawn(async move { other.send(3).await.unwrap() });
    let mut received = Vec::new();
    while let Some(value) = receiver.recv().await {
        received.push(value);
    }
    received
});

parity!(a_dropped_send_sends_nothing => ["(1, None)"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    sender.send(1).await.unwrap();
    {
        let mut send = std::pin::pin!(sender.send(2));
        std::future::poll_fn(|context| {
            assert!(send.as_mut().poll(context).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
    }
    drop(sender);
    (receiver.recv().await.unwrap(), receiver.recv().await)
});

parity!(paused send_timeout_gives_up => [r#"(Err("Timeout(..)"), 1)"#] {
    let (sender, _receiver) = tokio::sync::mpsc::channel(1);
    sender.send(1).await.unwrap();
    let start = tokio::time::Instant::now();
    (sender.send_timeout(2, Duration::from_secs(1)).await, start.elapsed().as_secs())
});

parity!(blocking_ends_work_on_threads => ["[1, 2]"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let producer = tokio::task::spawn_blocking(move || {
        sender.blocking_send(1).unwrap();
        sender.blocking_send(2).unwrap();
    });
    let consumer = tokio::task::spawn_blocking(move || {
        let mut received = Vec::new();
        while let Some(value) = receiver.blocking_recv() {
            received.push(value);
        }
        received
    });
    producer.await.unwrap();
    consumer.await.unwrap()
});
