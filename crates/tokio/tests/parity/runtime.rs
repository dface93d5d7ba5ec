//! `tokio::runtime`.

use std::sync::Arc;

use crate::compare::parity;

parity!(a_handle_spawns_from_anywhere => ["(5, true, false)"] {
    let handle = tokio::runtime::Handle::current();
    let multi = handle.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread;
    let value = tokio::task::spawn_blocking(move || handle.block_on(async { tokio::spawn(async { 5 }).await.unwrap() }));
    (value.await.unwrap(), multi, tokio::runtime::Handle::try_current().is_err())
});

parity!(dropping_a_runtime_ends_its_tasks => ["(7, 1)"] {
    tokio::task::spawn_blocking(|| {
        let alive = Arc::new(());
        let theirs = alive.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let value = runtime.block_on(async move {
            tokio::spawn(async move {
                let _theirs = theirs;
                std::future::pending::<()>().await
            });
            7
        });
        drop(runtime);
        (value, Arc::strong_count(&alive))
    })
    .await
    .unwrap()
});

parity!(entering_a_runtime_makes_it_current => ["(true, 3)"] {
    tokio::task::spawn_blocking(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (current, task) = {
            let _entered = runtime.enter();
            (tokio::runtime::Handle::try_current().is_ok(), tokio::spawn(async { 3 }))
        };
        let value = runtime.block_on(task).unwrap();
        runtime.shutdown_background();
        (current, value)
    })
    .await
    .unwrap()
});

// On one thread, nothing else happens between two waits of a task.
parity!(single tasks_of_one_thread_take_turns => ["2"] {
    let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let count = count.clone();
            tokio::spawn(async move {
                let (sender, _receiver) = tokio::sync::mpsc::unbounded_channel();
                let read = count.load(std::sync::atomic::Ordering::SeqCst);
                sender.send(()).unwrap();
                count.store(read + 1, std::sync::atomic::Ordering::SeqCst);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    count.load(std::sync::atomic::Ordering::SeqCst)
});
