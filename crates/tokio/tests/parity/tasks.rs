//! `tokio::task`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::compare::parity;

parity!(spawn_gives_its_output => ["42"] {
    tokio::spawn(async { 40 }).await.unwrap() + 2
});

parity!(spawned_tasks_run_in_any_order => ["[1, 2]", "[2, 1]"] {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let other = sender.clone();
    let tasks = [tokio::spawn(async move { sender.send(1) }), tokio::spawn(async move { other.send(2) })];
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let mut received = Vec::new();
    while let Some(value) = receiver.recv().await {
        received.push(value);
    }
    received
});

parity!(an_aborted_task_ends_or_has_ended => ["(false, false, true)", "(true, true, false)"] {
    let task = tokio::spawn(async { tokio::task::yield_now().await });
    task.abort();
    let result = task.await;
    let cancelled = result.as_ref().err().is_some_and(|error| error.is_cancelled());
    (result.is_err(), cancelled, result.is_ok())
});

parity!(a_task_that_waits_for_ever_can_be_aborted => [r#"(true, true, true, "was cancelled")"#] {
    let task = tokio::spawn(std::future::pending::<()>());
    let handle = task.abort_handle();
    let same = handle.id() == task.id();
    handle.abort();
    let error = task.await.unwrap_err();
    let text = error.to_string();
    (same, error.is_cancelled(), handle.is_finished(), text[text.find("was").unwrap()..].to_string())
});

parity!(a_panic_is_an_error_of_join => [r#"(true, false, "on purpose")"#] {
    let task: tokio::task::JoinHandle<()> = tokio::spawn(async { std::panic::resume_unwind(Box::new("on purpose")) });
    let error = task.await.unwrap_err();
    let (panic, cancelled) = (error.is_panic(), error.is_cancelled());
    (panic, cancelled, *error.into_panic().downcast::<&str>().unwrap())
});

parity!(join_set_gives_what_ends_first => ["[0, 1]", "[1, 0]"] {
    let mut set = tokio::task::JoinSet::new();
    for i in 0..2 {
        set.spawn(async move { i });
    }
    let mut ended = Vec::new();
    while let Some(result) = set.join_next().await {
        ended.push(result.unwrap());
    }
    ended
});

parity!(join_set_shutdown_ends_all => ["(2, 0, true)"] {
    let mut set = tokio::task::JoinSet::new();
    let alive = Arc::new(());
    for _ in 0..2 {
        let alive = alive.clone();
        set.spawn(async move {
            let _alive = alive;
            std::future::pending::<()>().await
        });
    }
    let before = set.len();
    set.shutdown().await;
    (before, set.len(), Arc::strong_count(&alive) == 1)
});

parity!(join_all_gives_every_output => ["[0, 1, 2]"] {
    let mut outputs = (0..3).map(|i| async move { i }).collect::<tokio::task::JoinSet<_>>().join_all().await;
    outputs.sort();
    outputs
});

parity!(try_join_next_does_not_wait => ["(true, Some(7))"] {
    let mut set = tokio::task::JoinSet::new();
    let (go, gone) = tokio::sync::oneshot::channel::<()>();
    set.spawn(async move {
        let _ = gone.await;
        7
    });
    let nothing = set.try_join_next().is_none();
    go.send(()).unwrap();
    (nothing, set.join_next().await.map(Result::unwrap))
});

parity!(single local_set_runs_what_is_not_send => ["[1, 2, 3]"] {
    let local = tokio::task::LocalSet::new();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let theirs = seen.clone();
    local.spawn_local(async move { theirs.borrow_mut().push(1) }).await_on(&local).await;
    let theirs = seen.clone();
    local
        .run_until(async move {
            let inner = theirs.clone();
            tokio::task::spawn_local(async move { inner.borrow_mut().push(2) }).await.unwrap();
            theirs.borrow_mut().push(3);
        })
        .await;
    seen.borrow().clone()
});

/// Awaits a handle while the set is driven, in words of both crates.
trait AwaitOn<S> {
    async fn await_on(self, set: &S);
}

impl AwaitOn<real_tokio::task::LocalSet> for real_tokio::task::JoinHandle<()> {
    async fn await_on(self, set: &real_tokio::task::LocalSet) {
        set.run_until(async { self.await.unwrap() }).await;
    }
}

impl AwaitOn<drawloom_tokio::task::LocalSet> for drawloom_tokio::task::JoinHandle<()> {
    async fn await_on(self, set: &drawloom_tokio::task::LocalSet) {
        set.run_until(async { self.await.unwrap() }).await;
    }
}

parity!(single local_tasks_never_interleave_between_waits => ["2"] {
    let local = tokio::task::LocalSet::new();
    let cell = Rc::new(RefCell::new(0));
    for _ in 0..2 {
        let cell = cell.clone();
        local.spawn_local(async move {
            let mut value = cell.borrow_mut();
            // Something that others could notice, while the cell is borrowed.
            let (sender, _receiver) = tokio::sync::mpsc::unbounded_channel();
            sender.send(()).unwrap();
            *value += 1;
        });
    }
    local.await;
    *cell.borrow()
});

parity!(spawn_blocking_may_block => ["7"] {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let blocking = tokio::task::spawn_blocking(move || receiver.blocking_recv());
    sender.send(7).await.unwrap();
    blocking.await.unwrap().unwrap()
});

parity!(block_in_place_may_block => ["7"] {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let other = tokio::spawn(async move { sender.send(7).unwrap() });
    let value = tokio::task::block_in_place(|| receiver.blocking_recv().unwrap());
    other.await.unwrap();
    value
});

parity!(yield_now_lets_others_go_on => ["()"] {
    let other = tokio::spawn(tokio::task::yield_now());
    tokio::task::yield_now().await;
    other.await.unwrap()
});

parity!(task_locals_are_of_their_scope => [r#"(1, 2, 1, "task-local value not set")"#] {
    tokio::task_local! { static NUMBER: u32; }
    let (outer, inner, again) = NUMBER
        .scope(1, async {
            let outer = NUMBER.get();
            let inner = NUMBER.scope(2, async { tokio::task::yield_now().await; NUMBER.get() }).await;
            (outer, inner, NUMBER.with(|number| *number))
        })
        .await;
    (outer, inner, again, NUMBER.try_with(|_| ()).unwrap_err().to_string())
});

parity!(tasks_know_their_ids => ["(true, true, true)"] {
    let task = tokio::spawn(async { tokio::task::id() });
    let id = task.id();
    let other = tokio::spawn(async { tokio::task::id() });
    let differs = other.id() != id;
    let nobody = tokio::task::try_id().is_none();
    let _ = other.await;
    (task.await.unwrap() == id, differs, nobody)
});

parity!(paused is_finished_says_so => ["(false, true)"] {
    let task = tokio::spawn(tokio::time::sleep(Duration::from_secs(1)));
    let before = task.is_finished();
    tokio::time::sleep(Duration::from_secs(2)).await;
    (before, task.is_finished())
});

parity!(there_is_budget_for_a_little => ["(true, 1, 2, 3)"] {
    use tokio::task::coop;
    coop::consume_budget().await;
    let left = coop::has_budget_remaining();
    let alone = coop::unconstrained(async { 1 }).await;
    let fair = coop::cooperative(async { 2 }).await;
    let by_hand = std::future::poll_fn(|context| {
        coop::poll_proceed(context).map(|progress| {
            progress.made_progress();
            3
        })
    });
    (left, alone, fair, by_hand.await)
});

parity!(who_never_waits_lets_others_go_on => ["0", "1", "2", "3"] {
    let count = Arc::new(tokio::sync::Semaphore::new(0));
    let theirs = count.clone();
    let other = tokio::spawn(async move {
        for _ in 0..3 {
            tokio::task::consume_budget().await;
            theirs.add_permits(1);
        }
    });
    let seen = count.available_permits();
    other.await.unwrap();
    seen
});
