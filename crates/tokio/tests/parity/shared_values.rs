//! `watch`, `broadcast`, `OnceCell`, `SetOnce`.

use std::sync::Arc;

use crate::compare::parity;

parity!(watch_shows_the_latest => ["(0, false, 2, true, false)"] {
    let (sender, mut receiver) = tokio::sync::watch::channel(0);
    let first = *receiver.borrow();
    let unchanged = receiver.has_changed().unwrap();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    let changed = receiver.has_changed().unwrap();
    receiver.changed().await.unwrap();
    let value = *receiver.borrow_and_update();
    (first, unchanged, value, changed, receiver.has_changed().unwrap())
});

// `borrow` does not count as seen; `borrow_and_update` does.
parity!(borrow_leaves_it_unseen => ["(true, true, false)"] {
    let (sender, mut receiver) = tokio::sync::watch::channel(0);
    sender.send(1).unwrap();
    let looked = receiver.borrow().has_changed();
    let still = receiver.has_changed().unwrap();
    drop(receiver.borrow_and_update());
    (looked, still, receiver.has_changed().unwrap())
});

parity!(watch_may_skip_values => ["[1, 2]", "[2]"] {
    let (sender, mut receiver) = tokio::sync::watch::channel(0);
    tokio::spawn(async move {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    let mut seen = Vec::new();
    while receiver.changed().await.is_ok() {
        seen.push(*receiver.borrow_and_update());
    }
    seen.dedup();
    seen
});

parity!(watch_ends_with_its_senders => [r#"(true, "channel closed", 5)"#] {
    let (sender, mut receiver) = tokio::sync::watch::channel(5);
    let task = tokio::spawn(async move { drop(sender) });
    let error = receiver.changed().await.unwrap_err().to_string();
    task.await.unwrap();
    let value = *receiver.borrow();
    (receiver.is_closed(), error, value)
});

parity!(wait_for_waits_for_a_value => ["3"] {
    let (sender, mut receiver) = tokio::sync::watch::channel(0);
    let task = tokio::spawn(async move {
        for i in 1..=3 {
            sender.send_modify(|value| *value = i);
        }
    });
    let value = *receiver.wait_for(|value| *value == 3).await.unwrap();
    task.await.unwrap();
    value
});

parity!(watch_senders_modify_and_know_receivers => ["(false, true, 7, 9, 1, true)"] {
    let (sender, receiver) = tokio::sync::watch::channel(7);
    let silent = sender.send_if_modified(|_| false);
    let seen = !receiver.has_changed().unwrap();
    let old = sender.send_replace(8);
    sender.send_modify(|value| *value += 1);
    let value = *sender.borrow();
    let count = sender.receiver_count();
    drop(receiver);
    sender.closed().await;
    (silent, seen, old, value, count, sender.send(1).is_err() && sender.is_closed())
});

parity!(watch_subscribers_have_seen_the_present => ["(1, false, true)"] {
    let sender = tokio::sync::watch::Sender::new(0);
    sender.send_replace(1);
    let mut receiver = sender.subscribe();
    let value = *receiver.borrow();
    let changed = receiver.has_changed().unwrap();
    receiver.mark_changed();
    (value, changed, receiver.has_changed().unwrap())
});

parity!(every_receiver_gets_every_value => ["([1, 2], [2], 2)"] {
    let (sender, mut early) = tokio::sync::broadcast::channel(4);
    sender.send(1).unwrap();
    let mut late = sender.subscribe();
    let receivers = sender.send(2).unwrap();
    drop(sender);
    let (mut one, mut two) = (Vec::new(), Vec::new());
    while let Ok(value) = early.recv().await {
        one.push(value);
    }
    while let Ok(value) = late.recv().await {
        two.push(value);
    }
    (one, two, receivers)
});

// Who is too slow is told how much is lost, and goes on with the oldest that is left.
parity!(a_slow_receiver_lags => ["(5, Err(Lagged(3)), Ok(3), Ok(4), Err(Empty))"] {
    let (sender, mut receiver) = tokio::sync::broadcast::channel(2);
    for i in 0..5 {
        sender.send(i).unwrap();
    }
    (receiver.len(), receiver.try_recv(), receiver.try_recv(), receiver.try_recv(), receiver.try_recv())
});

// Capacities are powers of two.
parity!(capacity_is_rounded_up => ["Ok(0)"] {
    let (sender, mut receiver) = tokio::sync::broadcast::channel(3);
    for i in 0..4 {
        sender.send(i).unwrap();
    }
    receiver.recv().await
});

parity!(resubscribing_starts_from_now => ["(Ok(2), Ok(1), 2, 1)"] {
    let (sender, mut receiver) = tokio::sync::broadcast::channel(4);
    sender.send(1).unwrap();
    let mut fresh = receiver.resubscribe();
    sender.send(2).unwrap();
    let unseen = sender.len();
    (fresh.recv().await, receiver.recv().await, unseen, receiver.len())
});

parity!(broadcast_needs_receivers => [r#"("channel closed", 0, true)"#] {
    let (sender, receiver) = tokio::sync::broadcast::channel(1);
    drop(receiver);
    sender.closed().await;
    let weak = sender.downgrade();
    (sender.send(1).unwrap_err().to_string(), sender.receiver_count(), weak.upgrade().is_some())
});

parity!(broadcast_races => ["[Ok(1), Ok(2)]", "[Err(Lagged(1)), Ok(2)]"] {
    let (sender, mut receiver) = tokio::sync::broadcast::channel(1);
    tokio::spawn(async move {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    let first = receiver.recv().await;
    [first, receiver.recv().await]
});

parity!(a_once_cell_is_made_once => ["(1, true, true)"] {
    let cell = Arc::new(tokio::sync::OnceCell::new());
    let made = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let init = |made: Arc<std::sync::atomic::AtomicU32>| async move {
        tokio::task::yield_now().await;
        made.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1
    };
    let (their_cell, their_made) = (cell.clone(), made.clone());
    let other = tokio::spawn(async move { *their_cell.get_or_init(|| init(their_made)).await });
    let mine = *cell.get_or_init(|| init(made.clone())).await;
    let theirs = other.await.unwrap();
    (made.load(std::sync::atomic::Ordering::SeqCst), mine == theirs, cell.set(9).unwrap_err().is_already_init_err())
});

parity!(a_failed_init_leaves_the_cell_empty => [r#"(Err("no"), false, Ok(2))"#] {
    let cell = tokio::sync::OnceCell::new();
    let failed = cell.get_or_try_init(|| async { Err::<u32, _>("no") }).await.copied();
    let there = cell.initialized();
    let made = cell.get_or_try_init(|| async { Ok::<u32, &str>(2) }).await.copied();
    (failed, there, made)
});

parity!(set_once_can_be_waited_for => ["(7, true)"] {
    let once = Arc::new(tokio::sync::SetOnce::new());
    let theirs = once.clone();
    let waiter = tokio::spawn(async move { *theirs.wait().await });
    once.set(7).unwrap();
    (waiter.await.unwrap(), once.set(8).is_err())
});
