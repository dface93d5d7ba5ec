//! Tasks and agents.

use drawloom::actor::{Agent, CallError, Ctx, ExitReason, Stream, Task, TaskError};

use crate::{LONG, SOON, run};

#[test]
fn a_task_has_a_value() {
    run(|mut ctx| async move {
        let tasks = (0..5).map(|n| Task::spawn(&mut ctx, move |_| async move { n * n })).collect();
        let values: Vec<u32> = Task::join_all(tasks, &mut ctx).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(values, [0, 1, 4, 9, 16]);
        assert!(ctx.recv_timeout(SOON).await.is_none());
    });
}

#[test]
fn a_value_that_is_there_does_not_get_in_the_way_of_messages() {
    run(|mut ctx| async move {
        let task = Task::spawn(&mut ctx, |_| async { 1 });
        ctx.settle().await;
        ctx.me().send(2);
        assert_eq!(ctx.recv_message().await, 2);
        assert_eq!(task.join(&mut ctx, None).await, Ok(1));
    });
}

#[test]
fn a_task_that_fails_or_takes_too_long_has_none() {
    run(|mut ctx| async move {
        let failing = Task::<u32>::spawn_nolink(&mut ctx, |ctx| async move { ctx.exit(ExitReason::Shutdown) });
        assert_eq!(failing.join(&mut ctx, LONG).await, Err(TaskError::Ended(ExitReason::Shutdown)));
        let slow = Task::spawn(&mut ctx, |mut ctx| async move { ctx.sleep(LONG).await });
        let slow = slow.yield_for(&mut ctx, SOON).await.unwrap_err();
        let pid = slow.pid().clone();
        assert_eq!(slow.join(&mut ctx, SOON).await, Err(TaskError::Timeout));
        assert!(ctx.is_alive(&pid));
        let stubborn = Task::spawn(&mut ctx, |mut ctx| async move {
            ctx.trap_exit(true);
            ctx.sleep(LONG).await;
        });
        ctx.settle().await;
        assert_eq!(stubborn.shutdown(&mut ctx, SOON).await, Err(TaskError::Ended(ExitReason::Killed)));
    });
}

#[test]
fn a_linked_task_takes_its_owner_down() {
    run(|mut ctx| async move {
        let (_, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<()>| async move {
            let failing = Task::<u32>::spawn(&mut ctx, |ctx| async move { ctx.exit(ExitReason::because("boom")) });
            drop(failing);
            ctx.recv().await;
        });
        assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::because("boom"));
    });
}

#[test]
fn another_process_cannot_join_a_task() {
    run(|mut ctx| async move {
        let task = Task::spawn(&mut ctx, |_| async { 1 });
        let (_, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<()>| async move {
            let _ = task.join(&mut ctx, None).await;
        });
        let reason = ctx.recv_down(monitor).await.reason.to_string();
        assert!(reason.contains("another process started at") && reason.contains("tasks.rs:"), "{reason}");
    });
}

#[test]
fn a_stream_runs_some_tasks_at_a_time() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    run(|mut ctx| async move {
        let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (running, highest) = (Arc::clone(&now), Arc::clone(&most));
        let mut stream = Stream::new(0..20, move |n: u32| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(SOON / 5);
                now.fetch_sub(1, Ordering::SeqCst);
                n
            }
        })
        .at_once(3);
        let mut got = Vec::new();
        while let Some(n) = stream.next(&mut ctx).await {
            got.push(n.unwrap());
        }
        assert!(got.into_iter().eq(0..20));
        assert!(highest.load(Ordering::SeqCst) <= 3 && running.load(Ordering::SeqCst) == 0);
        let mut stream = Stream::new([LONG], |time| async move { std::thread::park_timeout(time / 500) }).limit(SOON);
        assert_eq!(stream.next(&mut ctx).await, Some(Err(TaskError::Timeout)));
        assert_eq!(stream.next(&mut ctx).await, None);
    });
}

#[test]
fn an_agent_keeps_a_state() {
    run(|mut ctx| async move {
        let agent = Agent::start(&mut ctx, 1).await.unwrap();
        agent.update(&mut ctx, |n| *n += 1).await.unwrap();
        agent.cast(|n| *n *= 10);
        assert_eq!(agent.get_and_update(&mut ctx, |n| std::mem::replace(n, 5)).await, Ok(20));
        assert_eq!(agent.get(&mut ctx, |n| *n).await, Ok(5));
        let broken = agent.get(&mut ctx, |_| -> u32 { std::panic::resume_unwind(Box::new("no")) }).await;
        assert!(matches!(broken, Err(CallError::Ended(ExitReason::Panic(_)))), "{broken:?}");
        assert_eq!(agent.stop(&mut ctx).await, Err(CallError::NoProc));
    });
}
