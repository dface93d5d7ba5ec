//! `tokio::sync::Notify`.

use std::sync::Arc;

use crate::compare::parity;

parity!(a_notification_before_the_wait_is_kept => ["()"] {
    let notify = tokio::sync::Notify::new();
    notify.notify_one();
    notify.notified().await
});

// Any number of early notifications is one permit.
parity!(permits_do_not_add_up => ["(true, false)"] {
    let notify = tokio::sync::Notify::new();
    notify.notify_one();
    notify.notify_one();
    let mut first = std::pin::pin!(notify.notified());
    let mut second = std::pin::pin!(notify.notified());
    (first.as_mut().enable(), second.as_mut().enable())
});

// `notify_waiters` leaves no permit: who comes later waits.
parity!(notify_waiters_leaves_nothing => ["(true, false)"] {
    let notify = tokio::sync::Notify::new();
    let before = notify.notified();
    notify.notify_waiters();
    let mut later = std::pin::pin!(notify.notified());
    let mut before = std::pin::pin!(before);
    (before.as_mut().enable(), later.as_mut().enable())
});

parity!(first_in_is_first_out => ["(false, true, true)"] {
    let notify = tokio::sync::Notify::new();
    let (mut one, mut two) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
    assert!(!one.as_mut().enable() && !two.as_mut().enable());
    notify.notify_one();
    let second = two.as_mut().enable();
    let first = one.as_mut().enable();
    notify.notify_one();
    (second, first, two.as_mut().enable())
});

parity!(last_in_is_first_out_where_asked => ["(true, false)"] {
    let notify = tokio::sync::Notify::new();
    let (mut one, mut two) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
    assert!(!one.as_mut().enable() && !two.as_mut().enable());
    notify.notify_last();
    (two.as_mut().enable(), one.as_mut().enable())
});

// A notification that nobody has taken goes to the next one.
parity!(a_dropped_wait_passes_its_notification_on => ["true"] {
    let notify = tokio::sync::Notify::new();
    let (mut one, mut two) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
    assert!(!one.as_mut().enable() && !two.as_mut().enable());
    notify.notify_one();
    drop(one);
    two.as_mut().enable()
});

parity!(a_waiter_is_woken_whenever => ["()"] {
    let notify = Arc::new(tokio::sync::Notify::new());
    let theirs = notify.clone();
    let task = tokio::spawn(async move { theirs.notified().await });
    notify.notify_one();
    task.await.unwrap()
});

parity!(an_owned_wait_keeps_it_alive => ["true"] {
    let notify = Arc::new(tokio::sync::Notify::new());
    let mut wait = Box::pin(notify.clone().notified_owned());
    notify.notify_one();
    drop(notify);
    wait.as_mut().enable()
});

// `enable` before the check is what makes check-then-wait right with `notify_waiters`.
parity!(enabling_before_the_check_loses_nothing => ["()"] {
    let shared = Arc::new((std::sync::atomic::AtomicBool::new(false), tokio::sync::Notify::new()));
    let theirs = shared.clone();
    let task = tokio::spawn(async move {
        theirs.0.store(true, std::sync::atomic::Ordering::SeqCst);
        theirs.1.notify_waiters();
    });
    loop {
        let mut wait = std::pin::pin!(shared.1.notified());
        wait.as_mut().enable();
        if shared.0.load(std::sync::atomic::Ordering::SeqCst) {
            break;
        }
        wait.await;
    }
    task.await.unwrap()
});
