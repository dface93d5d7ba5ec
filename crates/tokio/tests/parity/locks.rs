//! `Mutex`, `RwLock`, `Semaphore`, `Barrier`.

use std::future::Future;
use std::sync::Arc;

use crate::compare::parity;

parity!(mutex_excludes => ["2"] {
    let count = Arc::new(tokio::sync::Mutex::new(0));
    let theirs = count.clone();
    let other = tokio::spawn(async move {
        let mut count = theirs.lock().await;
        let read = *count;
        tokio::task::yield_now().await;
        *count = read + 1;
    });
    *count.lock().await += 1;
    other.await.unwrap();
    *count.lock().await
});

// Who asks first gets it first: the one that asks while the lock is held cannot be overtaken by its holder.
parity!(mutex_is_first_come_first_served => ["[1, 2]"] {
    let log = Arc::new(tokio::sync::Mutex::new(Vec::new()));
    let mut guard = log.lock().await;
    let theirs = log.clone();
    let (asked, has_asked) = tokio::sync::oneshot::channel();
    let other = tokio::spawn(async move {
        let mut lock = std::pin::pin!(theirs.lock());
        // Takes its place in the queue.
        assert!(std::future::poll_fn(|context| std::task::Poll::Ready(lock.as_mut().poll(context).is_pending())).await);
        asked.send(()).unwrap();
        lock.await.push(1);
    });
    has_asked.await.unwrap();
    guard.reserve(1);
    drop(guard);
    log.lock().await.push(2);
    other.await.unwrap();
    log.lock().await.clone()
});

parity!(try_lock_fails_while_somebody_waits => [r#"(true, "operation would block", true)"#] {
    let mutex = Arc::new(tokio::sync::Mutex::new(()));
    let guard = mutex.try_lock().unwrap();
    let refused = mutex.try_lock().unwrap_err().to_string();
    drop(guard);
    let owned = mutex.clone().try_lock_owned().is_ok();
    (owned, refused, mutex.try_lock().is_ok())
});

parity!(mutex_guards_can_be_mapped => ["(5, 7)"] {
    let mutex = Arc::new(tokio::sync::Mutex::new((1, 2)));
    *tokio::sync::MutexGuard::map(mutex.lock().await, |pair| &mut pair.0) += 4;
    *tokio::sync::OwnedMutexGuard::map(mutex.clone().lock_owned().await, |pair| &mut pair.1) += 5;
    *mutex.lock().await
});

parity!(a_mutex_whose_waiter_is_dropped_goes_to_the_next => ["true"] {
    let mutex = Arc::new(tokio::sync::Mutex::new(()));
    let guard = mutex.lock().await;
    let theirs = mutex.clone();
    let first = tokio::spawn(async move { drop(theirs.lock().await) });
    let theirs = mutex.clone();
    let second = tokio::spawn(async move { drop(theirs.lock().await) });
    first.abort();
    drop(guard);
    let _ = first.await;
    second.await.is_ok()
});

parity!(blocking_lock_waits_on_a_thread => ["1"] {
    let mutex = Arc::new(tokio::sync::Mutex::new(0));
    let guard = mutex.lock().await;
    let theirs = mutex.clone();
    let thread = tokio::task::spawn_blocking(move || *theirs.blocking_lock() += 1);
    drop(guard);
    thread.await.unwrap();
    Arc::into_inner(mutex).unwrap().into_inner()
});

parity!(readers_share_and_writers_do_not => ["(true, false, false, true)"] {
    let lock = tokio::sync::RwLock::new(1);
    let reader = lock.read().await;
    let (shared, excluded) = (lock.try_read().is_ok(), lock.try_write().is_ok());
    drop(reader);
    let writer = lock.write().await;
    let read = lock.try_read().is_ok();
    drop(writer);
    (shared, excluded, read, lock.try_write().is_ok())
});

// A writer that waits keeps later readers out.
parity!(rwlock_prefers_writers => ["(true, false, true)"] {
    let lock = tokio::sync::RwLock::new(());
    let reader = lock.read().await;
    let before = lock.try_read().is_ok();
    let mut write = std::pin::pin!(lock.write());
    assert!(std::future::poll_fn(|context| std::task::Poll::Ready(write.as_mut().poll(context).is_pending())).await);
    let behind = lock.try_read().is_ok();
    drop(reader);
    drop(write.await);
    (before, behind, lock.try_read().is_ok())
});

// The writer that waits comes after the reader that the other writer has become.
parity!(a_write_guard_becomes_a_read_guard_at_once => ["(3, 4)"] {
    let lock = Arc::new(tokio::sync::RwLock::new(0));
    let mut writer = lock.clone().write_owned().await;
    let theirs = lock.clone();
    let other = tokio::spawn(async move { *theirs.write().await += 1 });
    *writer += 3;
    let reader = writer.downgrade();
    tokio::task::yield_now().await;
    let seen = *reader;
    drop(reader);
    other.await.unwrap();
    let after = *lock.read().await;
    (seen, after)
});

parity!(owned_rwlock_guards_can_be_mapped => ["(6, 2)"] {
    let lock = Arc::new(tokio::sync::RwLock::new((1, 2)));
    *tokio::sync::OwnedRwLockWriteGuard::map(lock.clone().write_owned().await, |pair| &mut pair.0) += 5;
    let second = tokio::sync::OwnedRwLockReadGuard::map(lock.clone().read_owned().await, |pair| &pair.1);
    let first = tokio::sync::RwLockReadGuard::map(lock.read().await, |pair| &pair.0);
    (*first, *second)
});

parity!(semaphore_counts => ["(1, NoPermits, 0, 3)"] {
    let semaphore = tokio::sync::Semaphore::new(3);
    let mut held = semaphore.acquire_many(2).await.unwrap();
    let left = semaphore.available_permits();
    let refused = semaphore.try_acquire_many(2).unwrap_err();
    let one = semaphore.try_acquire().unwrap();
    let none = semaphore.available_permits();
    let split = held.split(1).unwrap();
    held.merge(split);
    drop((held, one));
    (left, refused, none, semaphore.available_permits())
});

// Who waits for many is not overtaken by who wants few.
parity!(semaphore_is_fair => ["(true, true)"] {
    let semaphore = tokio::sync::Semaphore::new(2);
    let one = semaphore.acquire().await.unwrap();
    let mut many = std::pin::pin!(semaphore.acquire_many(2));
    assert!(std::future::poll_fn(|context| std::task::Poll::Ready(many.as_mut().poll(context).is_pending())).await);
    let few = semaphore.try_acquire().is_err();
    drop(one);
    (few, many.await.is_ok())
});

parity!(closing_a_semaphore_ends_waits => [r#"("semaphore closed", Closed, true)"#] {
    let semaphore = Arc::new(tokio::sync::Semaphore::new(0));
    let theirs = semaphore.clone();
    let waiter = tokio::spawn(async move { theirs.acquire().await.map(|_| ()).unwrap_err().to_string() });
    semaphore.close();
    (waiter.await.unwrap(), semaphore.try_acquire().unwrap_err(), semaphore.is_closed())
});

parity!(permits_can_be_added_and_forgotten => ["(2, 1, 0)"] {
    let semaphore = Arc::new(tokio::sync::Semaphore::new(1));
    semaphore.clone().acquire_owned().await.unwrap().forget();
    semaphore.add_permits(3);
    let forgotten = semaphore.forget_permits(2);
    let left = semaphore.available_permits();
    semaphore.try_acquire().unwrap().forget();
    (forgotten, left, semaphore.available_permits())
});

parity!(an_aborted_waiter_gives_its_permits_back => ["2"] {
    let semaphore = Arc::new(tokio::sync::Semaphore::new(2));
    let one = semaphore.clone().acquire_owned().await.unwrap();
    let theirs = semaphore.clone();
    let waiter = tokio::spawn(async move { drop(theirs.acquire_many(2).await) });
    waiter.abort();
    let _ = waiter.await;
    drop(one);
    semaphore.available_permits()
});

parity!(a_barrier_has_one_leader => ["1"] {
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let barrier = barrier.clone();
            tokio::spawn(async move { barrier.wait().await.is_leader() })
        })
        .collect();
    let mut leaders = usize::from(barrier.wait().await.is_leader());
    for task in tasks {
        leaders += usize::from(task.await.unwrap());
    }
    leaders
});
