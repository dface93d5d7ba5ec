//! `select!`, `join!`, `try_join!`, `pin!`.

use std::sync::Arc;
use std::time::Duration;

use crate::compare::parity;

parity!(select_takes_any_that_is_ready => ["1", "2"] {
    tokio::select! {
        one = async { 1 } => one,
        two = async { 2 } => two,
    }
});

parity!(a_biased_select_takes_the_first => ["1"] {
    tokio::select! {
        biased;
        one = async { 1 } => one,
        two = async { 2 } => two,
    }
});

// The losing future is dropped before the handler of the winner runs.
parity!(select_drops_the_losers => ["(1, 1)"] {
    let alive = Arc::new(());
    let theirs = alive.clone();
    let lost = async move {
        let _theirs = theirs;
        std::future::pending::<()>().await
    };
    tokio::select! {
        () = lost => (0, 0),
        value = async { 1 } => (value, Arc::strong_count(&alive)),
    }
});

// What a losing future has taken out of a channel is lost with it; `recv` itself takes nothing before it wins.
parity!(select_loses_what_was_half_done => ["None", "Some(1)"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    sender.send(1).await.unwrap();
    drop(sender);
    let half_done = async {
        let value = receiver.recv().await;
        tokio::task::yield_now().await;
        value
    };
    tokio::select! {
        value = half_done => value,
        () = async { tokio::task::yield_now().await } => receiver.recv().await,
    }
});

parity!(a_pattern_that_fails_disables_its_branch => [r#""other""#] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
    drop(sender);
    tokio::select! {
        Some(_) = receiver.recv() => "value",
        () = tokio::task::yield_now() => "other",
    }
});

parity!(else_comes_when_all_are_disabled => [r#"("else", "if")"#] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
    drop(sender);
    let first = tokio::select! {
        Some(_) = receiver.recv() => "value",
        else => "else",
    };
    let enabled = false;
    let second = tokio::select! {
        () = async {}, if enabled => "never",
        () = async {}, if !enabled => "if",
    };
    (first, second)
});

parity!(a_future_can_be_selected_again => ["[0, 1, 2, 9]"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(8);
    for i in 0..3 {
        sender.send(i).await.unwrap();
    }
    let done = async move {
        sender.closed().await;
        9
    };
    tokio::pin!(done);
    let mut seen = Vec::new();
    while seen.len() < 4 {
        tokio::select! {
            Some(mut value) = receiver.recv(), if seen.len() < 3 => {
                value += 0;
                seen.push(value);
                if seen.len() == 3 {
                    receiver.close();
                }
            }
            value = &mut done => seen.push(value),
        }
    }
    seen
});

parity!(select_has_control_flow => ["3"] {
    let mut count = 0;
    loop {
        tokio::select! {
            () = tokio::task::yield_now() => {
                count += 1;
                if count < 3 {
                    continue;
                }
                break count;
            }
        }
    }
});

parity!(paused select_with_a_timer => [r#""soon""#] {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(2)) => "late",
        () = tokio::time::sleep(Duration::from_secs(1)) => "soon",
    }
});

parity!(join_waits_for_all => [r#"(1, "two", 3.0)"#] {
    tokio::join!(async { 1 }, async { tokio::task::yield_now().await; "two" }, async { 3.0 })
});

// Each poll begins with another one of them.
parity!(join_takes_turns => ["[1, 2, 2, 1]"] {
    let log = std::sync::Mutex::new(Vec::new());
    let twice = |number| {
        let log = &log;
        async move {
            log.lock().unwrap().push(number);
            tokio::task::yield_now().await;
            log.lock().unwrap().push(number);
        }
    };
    tokio::join!(twice(1), twice(2));
    log.into_inner().unwrap()
});

parity!(try_join_ends_at_the_first_error => [r#"(Err("no"), Ok((1, 2)))"#] {
    let failed: Result<((), ()), _> =
        tokio::try_join!(async { std::future::pending::<Result<(), &str>>().await }, async { Err("no") });
    let both: Result<_, &str> = tokio::try_join!(async { Ok(1) }, async { Ok(2) });
    (failed, both)
});
