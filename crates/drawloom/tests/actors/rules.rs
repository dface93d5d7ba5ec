//! The rules of OTP, each with the sentence of its documentation that it comes from. Exhaustive exploration finds what the sentence allows,
//! all of it and nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use drawloom::actor::{
    CallError, ChildSpec, Delivery, ExitReason, Received, Restart, ServerRef, Shutdown, Strategy, Supervisor,
};
use drawloom::receive;

use crate::otp::explore;
use crate::servers::{Ask, Born, Kid, Mode, Tell, get_ups, kid, said, stop, stop_supervisor, up};
use crate::term::{C, P, T, a, any, because, down, exit_of, get, i, is_exit, l, never, t, why};

const NO_TIME: Duration = Duration::ZERO;

fn truth(is_so: bool) -> T {
    a(if is_so { "true" } else { "false" })
}

fn reason_of(received: &Received<T>) -> T {
    match received {
        Received::Message(message) => message.clone(),
        Received::Exit(exit) => t([a("exit"), why(&exit.reason)]),
        Received::Down(down) => t([a("down"), why(&down.reason)]),
    }
}

/// "If an entity sends multiple signals to the same destination entity, the order is preserved": messages, exit signals and the `DOWN`.
async fn signals_of_one_sender_keep_their_order(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let me = ctx.me().clone();
    ctx.spawn_monitor(move |ctx: C| async move {
        ctx.send(&me, i(1));
        ctx.send_exit(&me, because("boom"));
        ctx.send(&me, i(2));
    });
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(reason_of(&ctx.recv().await));
    }
    l(all)
}

/// "The order is not defined between signals of different senders."
async fn signals_of_two_senders_have_none(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let me = ctx.me().clone();
    let to = me.clone();
    ctx.spawn(move |ctx: C| async move { ctx.send(&to, i(1)) });
    ctx.spawn(move |ctx: C| async move { ctx.send_exit(&me, because("boom")) });
    let first = reason_of(&ctx.recv().await);
    l([first, reason_of(&ctx.recv().await)])
}

/// "If the exit reason is `normal` and the receiver is not trapping exits, the exit signal is ignored."
async fn normal_ends_nobody_who_is_linked(mut ctx: C) -> T {
    let (_, monitor) = ctx.spawn_monitor(|mut ctx: C| async move {
        let (_, inner) = ctx.spawn_monitor(|_: C| async {});
        let linked: P = ctx.spawn_link(|_: C| async {});
        ctx.recv_down(inner).await;
        let gone = ctx.monitor(&linked);
        ctx.recv_down(gone).await;
        because("done")
    });
    down(&mut ctx, monitor).await
}

/// "… trapping exits … converted to a message", whatever the reason.
async fn normal_is_a_message_for_who_traps(mut ctx: C) -> T {
    ctx.trap_exit(true);
    ctx.spawn_link(|_: C| async {});
    exit_of(&mut ctx).await
}

/// "If the reason is `kill` … the receiver is terminated unconditionally … with reason `killed`": its links can trap that.
async fn kill_is_not_trapped_and_goes_on_as_killed(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let (me, trapper) = (ctx.me().clone(), ctx.me().clone());
    let victim: P = ctx.spawn_link(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.send(&trapper, a("ready"));
        never(&mut ctx).await;
    });
    get(&mut ctx, a("ready")).await;
    ctx.spawn(move |ctx: C| async move { ctx.kill(&victim) });
    drop(me);
    exit_of(&mut ctx).await
}

/// "If a linked process ends by itself with reason `kill`, the signal is not the one of `exit/2`": it can be trapped.
async fn kill_as_a_reason_of_ones_own_is_trapped(mut ctx: C) -> T {
    ctx.trap_exit(true);
    ctx.spawn_link(|_: C| std::future::ready(ExitReason::Kill));
    exit_of(&mut ctx).await
}

/// "`call/2,3` … exits with `noproc` if the server does not exist, with its reason if it ends during the call": by monitor, request, receive.
async fn a_call_is_a_monitor_a_request_and_a_receive(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    let (server, me) = (s.clone(), ctx.me().clone());
    ctx.spawn(move |mut ctx: C| async move {
        let answer = server.call(&mut ctx, Ask::Get, None).await;
        ctx.send(&me, said(answer));
    });
    stop(&mut ctx, &s).await;
    any(&mut ctx).await
}

/// "A late response … is dropped": the mailbox of the caller stays clean.
async fn a_late_reply_is_dropped(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    let in_time = s.call(&mut ctx, Ask::Get, Duration::from_millis(1)).await;
    let after = s.call(&mut ctx, Ask::Inc, None).await;
    stop(&mut ctx, &s).await;
    let is_left = ctx.recv_timeout(NO_TIME).await.is_some();
    l([truth(!matches!(in_time, Err(CallError::Timeout))), said(after), truth(is_left)])
}

/// "When a child is restarted its start function is called anew": nothing of the one before is left.
async fn a_restart_runs_the_factory_again(mut ctx: C) -> T {
    let (me, starts) = (ctx.me().clone(), Arc::new(AtomicU64::new(0)));
    let worker = ChildSpec::worker("w", move |ctx: C| {
        let (me, number) = (me.clone(), starts.fetch_add(1, Ordering::Relaxed) + 1);
        async move {
            ctx.send(&me, i(number as i64));
            if number < 3 { because("boom") } else { ExitReason::Normal }
        }
    });
    let sup = Supervisor::new(Strategy::OneForOne).child(worker.restart(Restart::Transient));
    let sup = sup.start_link(&mut ctx).await.expect("it starts");
    let all = l([any(&mut ctx).await, any(&mut ctx).await, any(&mut ctx).await]);
    stop_supervisor(&mut ctx, &sup).await;
    all
}

/// "Children are terminated in reversed start order."
async fn children_end_in_reverse(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let mut sup = Supervisor::new(Strategy::OneForOne);
    for number in 1..=3 {
        let born = Born { number, main: me.clone(), mode: Mode::Loud };
        sup = sup.child(ChildSpec::server::<Kid>(number.to_string(), born).shutdown(Shutdown::Infinity));
    }
    let sup = sup.start_link(&mut ctx).await.expect("they start");
    let ups = get_ups(&mut ctx, 3).await;
    stop_supervisor(&mut ctx, &sup).await;
    let mut all = vec![ups];
    for _ in 0..3 {
        all.push(any(&mut ctx).await.at(1).clone());
    }
    l(all)
}

/// "`terminate` is called if the server traps exits", and not otherwise, when its supervisor ends it.
async fn terminate_is_for_those_who_trap(mut ctx: C) -> T {
    let born = Born { number: 7, main: ctx.me().clone(), mode: Mode::Up };
    let child = ChildSpec::server::<Kid>("k", born).shutdown(Shutdown::Infinity);
    let sup = Supervisor::new(Strategy::OneForOne).child(child).start_link(&mut ctx).await.expect("it starts");
    up(&mut ctx).await;
    stop_supervisor(&mut ctx, &sup).await;
    receive!(ctx; message if message.is("down") => a("called"), after NO_TIME => a("not"))
}

/// "A monitor … can be created several times … each gives a `DOWN`"; "a link … if there already is one, nothing is done".
async fn monitors_stack_and_links_do_not(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p: P = ctx.spawn(|mut ctx: C| async move {
        any(&mut ctx).await;
        because("boom")
    });
    ctx.link(&p).expect("it lives");
    ctx.link(&p).expect("it lives");
    let monitors = [ctx.monitor(&p), ctx.monitor(&p)];
    ctx.send(&p, a("go"));
    for monitor in monitors {
        ctx.recv_down(monitor).await;
    }
    exit_of(&mut ctx).await;
    truth(ctx.recv_match_timeout(is_exit, NO_TIME).await.is_some())
}

/// "After `demonitor(Ref, [flush])` … no `DOWN` of it is in the message queue, nor will be."
async fn what_is_flushed_is_gone(mut ctx: C) -> T {
    let (_, monitor) = ctx.spawn_monitor(|_: C| async {});
    ctx.demonitor_flush(monitor);
    ctx.settle().await;
    truth(ctx.recv_timeout(NO_TIME).await.is_some())
}

/// "Once `unlink(Id)` has returned, … an `EXIT` may have been placed in the message queue before."
async fn what_is_unlinked_may_have_told_before(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p: P = ctx.spawn_link(|_: C| std::future::ready(because("boom")));
    ctx.unlink(&p);
    let before = ctx.recv_match_timeout(is_exit, NO_TIME).await.is_some();
    ctx.settle().await;
    l([truth(before), truth(ctx.recv_match_timeout(is_exit, NO_TIME).await.is_some())])
}

/// "`false` … the timer had expired": then its message is there, or was; otherwise it never comes.
async fn a_timer_is_cancelled_or_its_message_is_there(mut ctx: C) -> T {
    let timer = ctx.send_after(Duration::from_millis(1), ctx.me(), a("t"));
    let left = ctx.cancel(timer).is_some();
    let there = receive!(ctx; _ => true, after NO_TIME => false);
    ctx.settle().await;
    let later = receive!(ctx; _ => true, after NO_TIME => false);
    l([truth(left), truth(there), truth(later)])
}

/// "`{stop,Reason}` … the intensity: more than `MaxR` restarts within `MaxT` … the supervisor terminates all its children and itself" with `shutdown`.
async fn too_many_restarts_end_the_supervisor(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let born = Born { number: 1, main: ctx.me().clone(), mode: Mode::Up };
    let child = ChildSpec::named_server::<Kid>("k", born);
    let sup = Supervisor::new(Strategy::OneForOne).intensity(0, Duration::from_secs(5)).child(child);
    sup.start_link(&mut ctx).await.expect("it starts");
    up(&mut ctx).await;
    ServerRef::<Kid>::whereis(&ctx, "k").expect("it lives").cast(Tell::Bye);
    exit_of(&mut ctx).await
}

fn check(name: &str, delivery: Delivery, found: &BTreeSet<String>, expected: &str, wrong: &mut Vec<String>) {
    let expected: BTreeSet<String> = expected.split(" ; ").map(str::to_owned).collect();
    if *found != expected {
        wrong.push(format!("{name} {delivery:?}: {found:?}"));
    }
}

macro_rules! rules {
    ($($name:ident: $outcomes:literal $(, split $split:literal)?;)+) => {
        mod each {
            $(#[test]
            fn $name() {
                use super::{Delivery, check, explore};
                let mut wrong = Vec::new();
                let name = stringify!($name);
                check(name, Delivery::Atomic, &explore(name, Delivery::Atomic, super::$name).outcomes, $outcomes, &mut wrong);
                let _split = $outcomes;
                $(let _split = $split;)?
                check(name, Delivery::Split, &explore(name, Delivery::Split, super::$name).outcomes, _split, &mut wrong);
                assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            })+
        }
    };
}

rules! {
    signals_of_one_sender_keep_their_order: "[1,{exit,boom},2,{down,normal}]";
    signals_of_two_senders_have_none: "[1,{exit,boom}] ; [{exit,boom},1]";
    normal_ends_nobody_who_is_linked: "done";
    normal_is_a_message_for_who_traps: "normal";
    kill_is_not_trapped_and_goes_on_as_killed: "killed";
    kill_as_a_reason_of_ones_own_is_trapped: "kill";
    a_call_is_a_monitor_a_request_and_a_receive: "0 ; noproc ; normal";
    a_late_reply_is_dropped: "[true,1,false] ; [false,1,false]";
    a_restart_runs_the_factory_again: "[1,2,3]", split "[1,2,3] ; [1,3,2] ; [2,1,3] ; [2,3,1] ; [3,1,2] ; [3,2,1]";
    children_end_in_reverse: "[3,3,2,1]", split "[3,1,2,3] ; [3,1,3,2] ; [3,2,1,3] ; [3,2,3,1] ; [3,3,1,2] ; [3,3,2,1]";
    terminate_is_for_those_who_trap: "not";
    monitors_stack_and_links_do_not: "false";
    what_is_flushed_is_gone: "false";
    what_is_unlinked_may_have_told_before: "[true,false] ; [false,false]";
    a_timer_is_cancelled_or_its_message_is_there: "[true,false,false] ; [false,true,false]";
    too_many_restarts_end_the_supervisor: "shutdown";
}
