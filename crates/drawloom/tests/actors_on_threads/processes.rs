//! Processes, messages, links, monitors, names, exits and timers on threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drawloom::actor::{self, AnyPid, Ctx, ExitReason, MonitorRef, Pid, Received, System};
use drawloom::receive;

use crate::{LONG, SOON, limited, run};

async fn idle(mut ctx: Ctx<u32>) {
    loop {
        ctx.recv().await;
    }
}

async fn trapping(mut ctx: Ctx<u32>) {
    ctx.trap_exit(true);
    loop {
        ctx.recv().await;
    }
}

async fn down(ctx: &mut Ctx<u32>, monitor: MonitorRef) -> ExitReason {
    ctx.recv_down(monitor).await.reason
}

async fn exit_message(ctx: &mut Ctx<u32>) -> (Option<AnyPid>, ExitReason) {
    receive!(*ctx; exit(e) => (e.from, e.reason))
}

fn boom() -> ExitReason {
    ExitReason::because("boom")
}

#[test]
fn messages_of_one_sender_keep_their_order() {
    let got = run(|mut ctx| async move {
        let whom = ctx.me().clone();
        ctx.spawn(move |ctx: Ctx<()>| async move {
            for n in 0..1000 {
                ctx.send(&whom, n);
            }
        });
        let mut got = Vec::new();
        for _ in 0..1000 {
            got.push(ctx.recv_message().await);
        }
        got
    });
    assert!(got.iter().copied().eq(0..1000));
}

#[test]
fn a_selective_receive_leaves_the_rest_in_place() {
    let got = run(|mut ctx| async move {
        for n in [1, 2, 3, 4] {
            ctx.me().send(n);
        }
        let even = ctx.recv_where(|n| n % 2 == 0).await;
        let oldest = receive!(ctx; 4 => 4, n => n);
        [even, oldest, ctx.recv_message().await, ctx.recv_message().await]
    });
    assert_eq!(got, [2, 1, 3, 4]);
}

#[test]
fn a_receive_ends_when_time_is_up() {
    run(|mut ctx| async move {
        assert!(ctx.recv_timeout(Duration::ZERO).await.is_none());
        assert!(ctx.recv_timeout(SOON).await.is_none());
        ctx.me().send(1);
        assert!(matches!(ctx.recv_timeout(Duration::ZERO).await, Some(Received::Message(1))));
        ctx.me().send(2);
        assert!(ctx.recv_match_timeout(|received| matches!(received, Received::Down(_)), SOON).await.is_none());
        assert!(ctx.recv_timeout(Duration::MAX).await.is_some());
    });
}

#[test]
fn a_message_to_the_dead_is_lost_and_a_monitor_says_so() {
    run(|mut ctx| async move {
        let (other, monitor) = ctx.spawn_monitor(|_: Ctx<u32>| async {});
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::Normal);
        ctx.send(&other, 1);
        assert!(!ctx.is_alive(&other));
        let monitor = ctx.monitor(&other);
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::NoProc);
        let monitor = ctx.monitor_name("nobody");
        let down = ctx.recv_down(monitor).await;
        assert_eq!((down.process, down.reason), (None, ExitReason::NoProc));
    });
}

#[test]
fn how_a_process_ends_is_what_its_monitor_says() {
    run(|mut ctx| async move {
        let (_, monitor) = ctx.spawn_monitor(|_: Ctx<u32>| async { boom() });
        assert_eq!(down(&mut ctx, monitor).await, boom());
        let (_, monitor) = ctx.spawn_monitor(|_: Ctx<u32>| async { "x".parse::<u32>().map(drop) });
        assert!(matches!(down(&mut ctx, monitor).await, ExitReason::Error(text) if text.contains("invalid digit")));
        let (_, monitor) = ctx.spawn_monitor(|ctx: Ctx<u32>| async move { ctx.exit(ExitReason::Shutdown) as () });
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::Shutdown);
        let (_, monitor) = ctx.spawn_monitor(|_: Ctx<u32>| async { std::panic::resume_unwind(Box::new("bang")) as () });
        assert!(matches!(down(&mut ctx, monitor).await, ExitReason::Panic(panic) if panic.message == "bang"));
    });
}

#[test]
fn monitors_stack_and_can_be_removed() {
    run(|mut ctx| async move {
        let other = ctx.spawn(idle);
        let (first, second, third) = (ctx.monitor(&other), ctx.monitor(&other), ctx.monitor(&other));
        assert!(ctx.demonitor(second));
        assert!(!ctx.demonitor(second));
        ctx.send_exit(&other, boom());
        assert_eq!(down(&mut ctx, first).await, boom());
        assert!(!ctx.demonitor_flush(third));
        assert!(ctx.recv_timeout(SOON).await.is_none());
    });
}

#[test]
fn a_link_takes_down_whoever_does_not_trap() {
    run(|mut ctx| async move {
        let middle = ctx.spawn(|mut ctx: Ctx<u32>| async move {
            ctx.spawn_link(idle);
            let last = ctx.spawn_link(idle);
            ctx.recv().await;
            ctx.send_exit(&last, boom());
            ctx.recv().await;
        });
        let monitor = ctx.monitor(&middle);
        ctx.send(&middle, 1);
        assert_eq!(down(&mut ctx, monitor).await, boom());
    });
}

#[test]
fn a_normal_end_takes_nobody_down() {
    run(|mut ctx| async move {
        ctx.trap_exit(false);
        let linked = ctx.spawn_link(|_: Ctx<u32>| async {});
        let monitor = ctx.monitor(&linked);
        down(&mut ctx, monitor).await;
        ctx.trap_exit(true);
        let linked = ctx.spawn_link(|_: Ctx<u32>| async {});
        assert_eq!(exit_message(&mut ctx).await, (Some(linked.any().clone()), ExitReason::Normal));
    });
}

#[test]
fn who_traps_exits_is_told_of_them() {
    run(|mut ctx| async move {
        ctx.trap_exit(true);
        let other = ctx.spawn(idle);
        assert!(ctx.link(&other).is_ok() && ctx.link(&other).is_ok());
        ctx.send_exit(&other, boom());
        assert_eq!(exit_message(&mut ctx).await, (Some(other.any().clone()), boom()));
        assert!(ctx.recv_timeout(SOON).await.is_none(), "links do not stack");
        assert!(ctx.link(&other).is_ok());
        assert_eq!(exit_message(&mut ctx).await.1, ExitReason::NoProc);
        ctx.trap_exit(false);
        assert!(ctx.link(&other).is_err());
    });
}

#[test]
fn what_is_unlinked_is_left_alone() {
    run(|mut ctx| async move {
        let other = ctx.spawn_link(idle);
        ctx.unlink(&other);
        let monitor = ctx.monitor(&other);
        ctx.kill(&other);
        assert!(!ctx.is_alive(&other));
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::Killed);
    });
}

#[test]
fn kill_cannot_be_trapped_and_links_hear_of_killed() {
    run(|mut ctx| async move {
        ctx.trap_exit(true);
        let other = ctx.spawn_link(trapping);
        ctx.kill(&other);
        assert!(!ctx.is_alive(&other), "dead for whoever killed it");
        let late = ctx.monitor(&other);
        assert_eq!(exit_message(&mut ctx).await.1, ExitReason::Killed);
        assert_eq!(down(&mut ctx, late).await, ExitReason::NoProc);
        // The reason `Kill` of somebody who ends himself is one like any other.
        ctx.spawn_link(|_: Ctx<u32>| async { ExitReason::Kill });
        assert_eq!(exit_message(&mut ctx).await.1, ExitReason::Kill);
    });
}

#[test]
fn exit_with_normal_ends_nobody_else() {
    run(|mut ctx| async move {
        let (other, monitor) = ctx.spawn_monitor(idle);
        ctx.send_exit(&other, ExitReason::Normal);
        assert!(ctx.is_alive(&other));
        ctx.send_exit(&other, ExitReason::Shutdown);
        ctx.send_exit(&other, boom());
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::Shutdown, "the first one counts");
        let (_, monitor) = ctx.spawn_monitor(|ctx: Ctx<u32>| async move {
            let me = ctx.me().clone();
            ctx.send_exit(&me, ExitReason::Normal);
            boom()
        });
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::Normal);
    });
}

#[test]
fn news_of_an_end_come_after_its_destructors() {
    struct Late(Arc<AtomicBool>);
    impl Drop for Late {
        fn drop(&mut self) {
            std::thread::sleep(SOON);
            self.0.store(true, Ordering::SeqCst);
        }
    }
    run(|mut ctx| async move {
        let is_over = Arc::new(AtomicBool::new(false));
        let late = Late(Arc::clone(&is_over));
        let (other, monitor) = ctx.spawn_monitor(move |mut ctx: Ctx<u32>| async move {
            let _late = late;
            ctx.recv().await;
        });
        ctx.kill(&other);
        assert_eq!(down(&mut ctx, monitor).await, ExitReason::Killed);
        assert!(is_over.load(Ordering::SeqCst));
    });
}

#[test]
fn a_name_belongs_to_one_and_is_free_when_it_has_ended() {
    run(|mut ctx| async move {
        let (other, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<Pid<u32>>| async move {
            loop {
                let whom = ctx.recv_message().await;
                ctx.send(&whom, 7);
            }
        });
        ctx.register("server", &other).unwrap();
        assert!(ctx.register("server", ctx.me()).is_err() && ctx.register("again", &other).is_err());
        assert_eq!(ctx.registered(), ["server"]);
        assert_eq!(ctx.whereis_as::<Pid<u32>>("server"), Some(other.clone()));
        assert!(ctx.whereis_as::<u32>("server").is_none());
        assert!(ctx.send_to_name("server", 1_u8).is_err(), "it takes other messages");
        ctx.send_to_name("server", ctx.me().clone()).unwrap();
        assert_eq!(ctx.recv_message().await, 7);
        ctx.kill(&other);
        down(&mut ctx, monitor).await;
        assert!(ctx.whereis("server").is_none());
        assert!(ctx.send_to_name("server", ctx.me().clone()).is_err());
        ctx.register("server", ctx.me()).unwrap();
        ctx.unregister("server").unwrap();
        assert!(ctx.unregister("server").is_err());
    });
}

#[test]
fn timers_fire_in_their_order_and_can_be_cancelled() {
    run(|mut ctx| async move {
        let me = ctx.me().clone();
        let began = ctx.now();
        ctx.send_after(SOON * 4, &me, 3);
        ctx.send_after(SOON, &me, 1);
        ctx.send_after(SOON * 2, &me, 2);
        let never = ctx.send_after(LONG, &me, 4);
        for n in 1..4 {
            assert_eq!(ctx.recv_message().await, n);
        }
        assert!(ctx.now() - began >= SOON * 4);
        assert!(ctx.cancel(never).is_some_and(|left| left <= LONG));
        assert!(ctx.cancel(never).is_none());
        let fired = ctx.send_after(Duration::ZERO, &me, 5);
        ctx.sleep(SOON).await;
        assert!(ctx.cancel(fired).is_none());
        assert_eq!(ctx.recv_message().await, 5);
        ctx.send_after(Duration::MAX, &me, 6);
    });
}

#[test]
fn an_interval_sends_until_it_is_cancelled_or_nobody_is_there() {
    run(|mut ctx| async move {
        let ticking = ctx.interval(Duration::from_millis(1), ctx.me(), 7);
        assert_eq!((ctx.recv_message().await, ctx.recv_message().await), (7, 7));
        ticking.cancel();
        ctx.settle().await;
        while ctx.recv_timeout(Duration::ZERO).await.is_some() {}
        assert!(ctx.recv_timeout(SOON).await.is_none());
        // Its receiver ends: so does it, or this would never be over.
        let (other, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<u32>| async move { drop(ctx.recv().await) });
        ctx.interval(Duration::from_millis(1), &other, 1);
        assert!(down(&mut ctx, monitor).await.is_normal());
        ctx.settle().await;
    });
}

#[test]
fn settling_is_waiting_for_the_others() {
    let got = run(|mut ctx| async move {
        let me = ctx.me().clone();
        let relay = ctx.spawn(move |mut ctx: Ctx<u32>| async move {
            loop {
                let n = ctx.recv_message().await;
                std::thread::sleep(SOON);
                if n == 0 { ctx.send(&me, 1) } else { ctx.send(&ctx.me().clone(), n - 1) }
            }
        });
        ctx.send(&relay, 5);
        ctx.settle().await;
        ctx.recv_timeout(Duration::ZERO).await.is_some()
    });
    assert!(got);
}

#[test]
fn the_end_of_the_first_process_is_the_end_of_all() {
    struct Ends(std::sync::mpsc::Sender<()>);
    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (ends, ended) = std::sync::mpsc::channel();
    run(|ctx| async move {
        let ends = Ends(ends);
        ctx.spawn(move |mut ctx: Ctx<u32>| async move {
            let _ends = ends;
            ctx.recv().await;
        });
    });
    ended.recv_timeout(LONG).expect("it is unwound");
}

#[test]
fn a_system_says_why_its_first_process_has_ended() {
    let reason = limited(|| System::new().run(|ctx: Ctx<u32>| async move { ctx.exit(ExitReason::Shutdown) as u32 }));
    assert_eq!(reason, Err(ExitReason::Shutdown));
    let reason = limited(|| {
        System::new().run(|mut ctx: Ctx<u32>| async move {
            ctx.spawn_link(|_: Ctx<u32>| async { boom() });
            ctx.recv().await;
        })
    });
    assert_eq!(reason, Err(boom()));
}

#[test]
fn systems_nest_and_outsiders_can_send() {
    run(|mut ctx| async move {
        let me = ctx.me().clone();
        let inner = actor::run(|mut ctx: Ctx<u32>| async move {
            me.send(1);
            ctx.me().send(2);
            ctx.recv_message().await
        });
        assert_eq!((inner, ctx.recv_message().await), (2, 1));
        let me = ctx.me().clone();
        std::thread::spawn(move || me.send(3)).join().unwrap();
        assert_eq!(ctx.recv_message().await, 3);
    });
}

#[test]
fn a_process_can_await_other_futures() {
    use std::sync::Mutex;
    use std::task::{Poll, Waker};

    #[derive(Default)]
    struct Gate(Mutex<(bool, Option<Waker>)>);
    run(|mut ctx| async move {
        let gate = Arc::new(Gate::default());
        let theirs = Arc::clone(&gate);
        let (_, waits) = ctx.spawn_monitor(move |_: Ctx<u32>| {
            std::future::poll_fn(move |context| {
                let mut gate = theirs.0.lock().unwrap();
                gate.1 = Some(context.waker().clone());
                if gate.0 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        ctx.settle().await;
        let waker = {
            let mut gate = gate.0.lock().unwrap();
            gate.0 = true;
            gate.1.take()
        };
        waker.expect("it waits").wake();
        assert_eq!(down(&mut ctx, waits).await, ExitReason::Normal);
        let (stuck, waits) = ctx.spawn_monitor(|_: Ctx<u32>| std::future::pending::<()>());
        ctx.kill(&stuck);
        assert_eq!(down(&mut ctx, waits).await, ExitReason::Killed);
    });
}

#[test]
fn a_predicate_that_panics_ends_its_process_and_loses_nothing() {
    run(|mut ctx| async move {
        let (other, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<u32>| async move {
            ctx.recv_where(|n| if *n == 1 { std::panic::resume_unwind(Box::new("no")) } else { true }).await;
        });
        ctx.send(&other, 1);
        assert!(matches!(down(&mut ctx, monitor).await, ExitReason::Panic(_)));
    });
}

#[test]
fn a_thousand_processes_pass_a_token_around() {
    let sum = run(|mut ctx| async move {
        let mut next = ctx.me().clone();
        for _ in 0..1000 {
            let to = next;
            next = ctx.spawn(move |mut ctx: Ctx<u32>| async move {
                let n = ctx.recv_message().await;
                ctx.send(&to, n + 1);
            });
        }
        ctx.send(&next, 0);
        ctx.recv_message().await
    });
    assert_eq!(sum, 1000);
}
