//! Small programs whose outcomes under OTP are known.

use std::sync::Arc;
use std::time::Duration;

use drawloom::actor::{ExitReason, Received};
use drawloom::object::Object;
use drawloom::receive;

use crate::term::{C, P, T, a, any, because, down, exit_of, get, i, is_down, is_exit, l, never, t, tagged, why};

const ONE: Duration = Duration::from_millis(1);
const NO_TIME: Duration = Duration::ZERO;

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Starts a process that sends this.
fn sends(ctx: &C, to: &P, message: T) -> P {
    let to = to.clone();
    ctx.spawn(move |ctx: C| async move { ctx.send(&to, message) })
}

fn ends(reason: ExitReason) -> impl FnOnce(C) -> std::future::Ready<ExitReason> + Send + 'static {
    move |_| std::future::ready(reason)
}

/// Whether there is such a message now.
async fn is_there(ctx: &mut C, message: T) -> bool {
    let is_it = move |received: &Received<T>| matches!(received, Received::Message(m) if *m == message);
    ctx.recv_match_timeout(is_it, NO_TIME).await.is_some()
}

async fn all(ctx: &mut C, many: usize) -> T {
    let mut received = Vec::new();
    for _ in 0..many {
        received.push(any(ctx).await);
    }
    l(received)
}

// ── senders ──────────────────────────────────────────────────────────────────────────────────────

async fn fan_in(mut ctx: C, senders: i64, takes: usize) -> T {
    let me = ctx.me().clone();
    for n in 1..=senders {
        sends(&ctx, &me, i(n));
    }
    all(&mut ctx, takes).await
}

pub async fn fan_in_2(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, a("a"));
    sends(&ctx, &me, a("b"));
    all(&mut ctx, 2).await
}

pub async fn fan_in_4(ctx: C) -> T {
    fan_in(ctx, 4, 4).await
}

pub async fn fan_in_5(ctx: C) -> T {
    fan_in(ctx, 5, 5).await
}

pub async fn fan_in_3_take_2(ctx: C) -> T {
    fan_in(ctx, 3, 2).await
}

pub async fn fan_in_2_unread(ctx: C) -> T {
    let s = ctx.spawn(|_: C| async {});
    sends(&ctx, &s, a("a"));
    sends(&ctx, &s, a("b"));
    a("done")
}

pub async fn fan_in_3_sum(ctx: C) -> T {
    fan_in(ctx, 3, 3).await;
    i(6)
}

pub async fn two_mailboxes(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let main = me.clone();
    let r = ctx.spawn(move |mut ctx: C| async move {
        let y = any(&mut ctx).await;
        any(&mut ctx).await;
        ctx.send(&main, t([a("r"), y]));
    });
    for name in ["a", "b"] {
        let (main, r) = (me.clone(), r.clone());
        ctx.spawn(move |ctx: C| async move {
            ctx.send(&main, a(name));
            ctx.send(&r, a(name));
        });
    }
    let is_atom = |message: &T| matches!(message, T::Atom(_));
    let x = ctx.recv_where(is_atom).await;
    ctx.recv_where(is_atom).await;
    let y = tagged(&mut ctx, "r").await;
    l([x, y.at(1).clone()])
}

// ── fifo ─────────────────────────────────────────────────────────────────────────────────────────

pub async fn fifo_pair(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.spawn(move |ctx: C| async move {
        (1..=3).for_each(|n| ctx.send(&me, i(n)));
    });
    all(&mut ctx, 3).await
}

pub async fn fifo_pid_and_name(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.register("box", &me).unwrap();
    ctx.spawn(move |ctx: C| async move {
        ctx.send(&me, i(1));
        ctx.send_to_name("box", i(2)).unwrap();
    });
    all(&mut ctx, 2).await
}

pub async fn fifo_self(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, a("a"));
    ctx.send(&me, a("s1"));
    ctx.send(&me, a("s2"));
    all(&mut ctx, 3).await
}

// ── causality ────────────────────────────────────────────────────────────────────────────────────

/// Waits for a message and passes another one on.
fn relay(ctx: &C, to: &P, message: T) -> P {
    let to = to.clone();
    ctx.spawn(move |mut ctx: C| async move {
        any(&mut ctx).await;
        ctx.send(&to, message);
    })
}

pub async fn causal_3(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let b = relay(&ctx, &me, a("m2"));
    ctx.spawn(move |ctx: C| async move {
        ctx.send(&me, a("m1"));
        ctx.send(&b, a("go"));
    });
    all(&mut ctx, 2).await
}

pub async fn causal_4(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let c = relay(&ctx, &me, a("m2"));
    let b = relay(&ctx, &c, a("go"));
    ctx.spawn(move |ctx: C| async move {
        ctx.send(&me, a("m1"));
        ctx.send(&b, a("go"));
    });
    all(&mut ctx, 2).await
}

/// Tells in which order it gets two messages.
fn tells_order(ctx: &C) -> P {
    let main = ctx.me().clone();
    ctx.spawn(move |mut ctx: C| async move {
        let order = all(&mut ctx, 2).await;
        ctx.send(&main, t([a("order"), order]));
    })
}

pub async fn causal_spawn(mut ctx: C) -> T {
    let c = tells_order(&ctx);
    ctx.send(&c, a("m1"));
    sends(&ctx, &c, a("m2"));
    tagged(&mut ctx, "order").await.at(1).clone()
}

// ── selective ────────────────────────────────────────────────────────────────────────────────────

pub async fn sel_two_patterns(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, a("a"));
    sends(&ctx, &me, a("b"));
    let x = get(&mut ctx, a("b")).await;
    l([x, get(&mut ctx, a("a")).await])
}

async fn larger_than_one(ctx: &mut C) -> T {
    ctx.recv_where(|message| matches!(message, T::Int(n) if *n > 1)).await
}

fn three_senders(ctx: &C) {
    (1..=3).for_each(|n| drop(sends(ctx, ctx.me(), i(n))));
}

pub async fn sel_guard(mut ctx: C) -> T {
    three_senders(&ctx);
    larger_than_one(&mut ctx).await
}

pub async fn sel_guard_then_all(mut ctx: C) -> T {
    three_senders(&ctx);
    let x = larger_than_one(&mut ctx).await;
    let y = any(&mut ctx).await;
    l([x, y, any(&mut ctx).await])
}

pub async fn sel_clause_order(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.spawn(move |ctx: C| async move {
        ["a", "b", "go"].into_iter().for_each(|name| ctx.send(&me, a(name)));
    });
    get(&mut ctx, a("go")).await;
    receive!(ctx;
        T::Atom("b") => a("b"),
        T::Atom("a") => a("a"),
    )
}

pub async fn sel_blocked_forever(mut ctx: C) -> T {
    sends(&ctx, &ctx.me().clone(), a("a"));
    get(&mut ctx, a("b")).await;
    a("got")
}

// ── after ────────────────────────────────────────────────────────────────────────────────────────

async fn got_or_none(ctx: &mut C, limit: Duration) -> T {
    receive!(*ctx;
        T::Atom("m") => a("got"),
        after limit => a("none"),
    )
}

pub async fn after_0(mut ctx: C) -> T {
    sends(&ctx, &ctx.me().clone(), a("m"));
    got_or_none(&mut ctx, NO_TIME).await
}

pub async fn after_0_synced_by_third(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let b = relay(&ctx, &me, a("sync"));
    ctx.spawn(move |ctx: C| async move {
        ctx.send(&me, a("m"));
        ctx.send(&b, a("go"));
    });
    get(&mut ctx, a("sync")).await;
    got_or_none(&mut ctx, NO_TIME).await
}

#[allow(non_snake_case)]
pub async fn after_T(mut ctx: C) -> T {
    sends(&ctx, &ctx.me().clone(), a("m"));
    got_or_none(&mut ctx, ONE).await
}

pub async fn after_two_sleepers(mut ctx: C) -> T {
    for (name, time) in [("a", 5), ("b", 10)] {
        let me = ctx.me().clone();
        ctx.spawn(move |mut ctx: C| async move {
            ctx.sleep(ms(time)).await;
            ctx.send(&me, a(name));
        });
    }
    all(&mut ctx, 2).await
}

pub async fn after_0_other_in_mailbox(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.send(&me, a("junk"));
    sends(&ctx, &me, a("m"));
    got_or_none(&mut ctx, NO_TIME).await
}

// ── reqrep ───────────────────────────────────────────────────────────────────────────────────────

pub async fn ping_pong_3(mut ctx: C) -> T {
    let p = ctx.spawn(|mut ctx: C| async move {
        while let T::Pid(from) = any(&mut ctx).await {
            ctx.send(&from, a("pong"));
        }
    });
    for _ in 0..3 {
        ctx.send(&p, ctx.me().into());
        get(&mut ctx, a("pong")).await;
    }
    ctx.send(&p, a("stop"));
    a("ok")
}

pub async fn late_reply_with_ref(mut ctx: C) -> T {
    let s = ctx.spawn(|mut ctx: C| async move {
        for _ in 0..2 {
            let request = any(&mut ctx).await;
            ctx.send(&request.at(0).pid(), t([request.at(1).clone(), request.at(2).clone()]));
        }
    });
    let r1 = T::Ref(ctx.make_ref());
    ctx.send(&s, t([ctx.me().into(), r1.clone(), a("a")]));
    let x = receive!(ctx;
        T::Tuple(reply) if reply[0] == r1 => reply[1].clone(),
        after ONE => a("timeout"),
    );
    let r2 = T::Ref(ctx.make_ref());
    ctx.send(&s, t([ctx.me().into(), r2.clone(), a("b")]));
    let y = receive!(ctx; T::Tuple(reply) if reply[0] == r2 => reply[1].clone());
    l([x, y])
}

pub async fn late_reply_no_ref(mut ctx: C) -> T {
    let s = ctx.spawn(|mut ctx: C| async move {
        for _ in 0..2 {
            let request = any(&mut ctx).await;
            ctx.send(&request.at(0).pid(), t([a("reply"), request.at(1).clone()]));
        }
    });
    ctx.send(&s, t([ctx.me().into(), a("a")]));
    let x = receive!(ctx;
        T::Tuple(reply) if reply[0] == a("reply") => reply[1].clone(),
        after ONE => a("timeout"),
    );
    ctx.send(&s, t([ctx.me().into(), a("b")]));
    let y = tagged(&mut ctx, "reply").await.at(1).clone();
    l([x, y])
}

pub async fn reply_to_dead_client(mut ctx: C) -> T {
    let s = ctx.spawn(|mut ctx: C| async move {
        let from = any(&mut ctx).await.pid();
        ctx.send(&from, a("reply"));
    });
    let m = ctx.monitor(&s);
    ctx.spawn(move |ctx: C| async move { ctx.send(&s, ctx.me().into()) });
    down(&mut ctx, m).await
}

pub async fn call_reply_then_exit(mut ctx: C) -> T {
    let s = ctx.spawn(|mut ctx: C| async move {
        let request = any(&mut ctx).await;
        ctx.send(&request.at(0).pid(), t([request.at(1).clone(), a("ok")]));
        because("bye")
    });
    let m = ctx.monitor(&s);
    ctx.send(&s, t([ctx.me().into(), T::Monitor(m)]));
    reply_or_down(&mut ctx, m).await
}

async fn reply_or_down(ctx: &mut C, m: drawloom::actor::MonitorRef) -> T {
    receive!(*ctx;
        T::Tuple(reply) if reply[0] == T::Monitor(m) => reply[1].clone(),
        down(d) if d.monitor == m => why(&d.reason),
    )
}

// ── monitors ─────────────────────────────────────────────────────────────────────────────────────

fn kind(received: &Received<T>) -> T {
    match received {
        Received::Message(message) => message.clone(),
        Received::Down(_) => a("down"),
        Received::Exit(_) => a("exit"),
    }
}

async fn kinds(ctx: &mut C, many: usize) -> T {
    let mut received = Vec::new();
    for _ in 0..many {
        received.push(kind(&ctx.recv().await));
    }
    l(received)
}

/// Ends for `reason` when it is told to.
fn on_go(ctx: &C, reason: ExitReason) -> P {
    ctx.spawn(move |mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        reason
    })
}

pub async fn mon_msg_then_down(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p = ctx.spawn(move |mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        ctx.send(&me, a("m"));
    });
    ctx.monitor(&p);
    ctx.send(&p, a("go"));
    kinds(&mut ctx, 2).await
}

pub async fn mon_dead(mut ctx: C) -> T {
    let (p, r1) = ctx.spawn_monitor(ends(because("boom")));
    down(&mut ctx, r1).await;
    let r = ctx.monitor(&p);
    down(&mut ctx, r).await
}

pub async fn mon_race(mut ctx: C) -> T {
    let p = ctx.spawn(ends(because("boom")));
    let r = ctx.monitor(&p);
    down(&mut ctx, r).await
}

async fn down_or_none(ctx: &mut C, r: drawloom::actor::MonitorRef) -> T {
    receive!(*ctx;
        down(d) if d.monitor == r => a("down"),
        after NO_TIME => a("none"),
    )
}

pub async fn demonitor_flush(mut ctx: C) -> T {
    let (_, r) = ctx.spawn_monitor(ends(ExitReason::Normal));
    ctx.demonitor_flush(r);
    down_or_none(&mut ctx, r).await
}

pub async fn demonitor_noflush(mut ctx: C) -> T {
    let (_, r) = ctx.spawn_monitor(ends(ExitReason::Normal));
    ctx.demonitor(r);
    down_or_none(&mut ctx, r).await
}

pub async fn mon_twice(mut ctx: C) -> T {
    let p = on_go(&ctx, ExitReason::Normal);
    let (r1, r2) = (ctx.monitor(&p), ctx.monitor(&p));
    ctx.send(&p, a("go"));
    let mut order = Vec::new();
    for _ in 0..2 {
        let received = ctx.recv().await;
        order.push(if is_down(&received, r1) { i(1) } else { i(2) });
        assert!(is_down(&received, r1) || is_down(&received, r2));
    }
    l(order)
}

pub async fn mon_causal_third(mut ctx: C) -> T {
    let d = tells_order(&ctx);
    let theirs = d.clone();
    let p = ctx.spawn(move |mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        ctx.send(&theirs, a("m"));
    });
    let r = ctx.monitor(&p);
    ctx.send(&p, a("go"));
    down(&mut ctx, r).await;
    ctx.send(&d, a("q"));
    tagged(&mut ctx, "order").await.at(1).clone()
}

pub async fn mon_unknown_name(mut ctx: C) -> T {
    let r = ctx.monitor_name("nobody");
    down(&mut ctx, r).await
}

// ── links ────────────────────────────────────────────────────────────────────────────────────────

pub async fn link_trap_abnormal(mut ctx: C) -> T {
    ctx.trap_exit(true);
    ctx.spawn_link(ends(because("boom")));
    exit_of(&mut ctx).await
}

pub async fn link_notrap_normal(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (_, r) = ctx.spawn_monitor(move |mut ctx: C| async move {
        let p: P = ctx.spawn_link(|mut ctx: C| async move {
            get(&mut ctx, a("go")).await;
        });
        let r1 = ctx.monitor(&p);
        ctx.send(&p, a("go"));
        down(&mut ctx, r1).await;
        ctx.send(&me, t([a("w"), a("alive")]));
    });
    let x = tagged(&mut ctx, "w").await.at(1).clone();
    l([x, down(&mut ctx, r).await])
}

async fn why_it_takes_its_parent_down(mut ctx: C, reason: ExitReason) -> T {
    let (_, r) = ctx.spawn_monitor(move |mut ctx: C| async move {
        ctx.spawn_link(ends(reason));
        never(&mut ctx).await;
    });
    down(&mut ctx, r).await
}

pub async fn link_notrap_abnormal(ctx: C) -> T {
    why_it_takes_its_parent_down(ctx, because("boom")).await
}

pub async fn link_exit_with_kill_trap(mut ctx: C) -> T {
    ctx.trap_exit(true);
    ctx.spawn_link(ends(ExitReason::Kill));
    exit_of(&mut ctx).await
}

pub async fn link_exit_with_kill_notrap(ctx: C) -> T {
    why_it_takes_its_parent_down(ctx, ExitReason::Kill).await
}

pub async fn link_dead_notrap(mut ctx: C) -> T {
    let (p, r) = ctx.spawn_monitor(ends(ExitReason::Normal));
    down(&mut ctx, r).await;
    let me = ctx.me().clone();
    let (_, r2) = ctx.spawn_monitor(move |ctx: C| async move {
        let x = if ctx.link(&p).is_ok() { a("no_error") } else { a("noproc") };
        ctx.send(&me, t([a("w"), x]));
    });
    w_or_died(&mut ctx, r2).await
}

async fn w_or_died(ctx: &mut C, r: drawloom::actor::MonitorRef) -> T {
    receive!(*ctx;
        T::Tuple(said) if said[0] == a("w") => said[1].clone(),
        down(d) if d.monitor == r => t([a("died"), why(&d.reason)]),
    )
}

pub async fn link_dead_trap(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let (p, r) = ctx.spawn_monitor(ends(ExitReason::Normal));
    down(&mut ctx, r).await;
    let x = if ctx.link(&p).is_ok() { a("true") } else { a("noproc") };
    l([x, exit_of(&mut ctx).await])
}

pub async fn link_race_notrap(ctx: C) -> T {
    let p = ctx.spawn(ends(ExitReason::Normal));
    if ctx.link(&p).is_ok() { a("ok") } else { a("noproc") }
}

pub async fn spawn_link_atomic(ctx: C) -> T {
    link_trap_abnormal(ctx).await
}

pub async fn spawn_then_link_killed(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (w, r) = ctx.spawn_monitor(move |mut ctx: C| async move {
        let p: P = ctx.spawn(|mut ctx: C| async move {
            get(&mut ctx, a("stop")).await;
        });
        ctx.send(&me, t([a("p"), (&p).into()]));
        let _ = ctx.link(&p);
        never(&mut ctx).await;
    });
    let p = tagged(&mut ctx, "p").await.at(1).pid();
    let mp = ctx.monitor(&p);
    ctx.kill(&w);
    down(&mut ctx, r).await;
    ctx.send(&p, a("stop"));
    down(&mut ctx, mp).await
}

pub async fn unlink_race(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p = ctx.spawn_link(ends(because("boom")));
    ctx.unlink(&p);
    receive!(ctx;
        exit(_) => a("got"),
        after NO_TIME => a("none"),
    )
}

pub async fn trap_switch_race(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (_, r) = ctx.spawn_monitor(move |mut ctx: C| async move {
        ctx.spawn_link(ends(because("boom")));
        ctx.trap_exit(true);
        let q = exit_of(&mut ctx).await;
        ctx.send(&me, t([a("w"), t([a("trapped"), q])]));
    });
    w_or_died(&mut ctx, r).await
}

pub async fn link_twice(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p: P = ctx.spawn_link(|mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        because("boom")
    });
    ctx.link(&p).unwrap();
    ctx.send(&p, a("go"));
    exit_of(&mut ctx).await;
    let r = ctx.monitor(&p);
    down(&mut ctx, r).await;
    if ctx.recv_match_timeout(is_exit, NO_TIME).await.is_some() { a("two") } else { a("one") }
}

pub async fn link_and_monitor_order(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p: P = ctx.spawn_link(|mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        because("boom")
    });
    ctx.monitor(&p);
    ctx.send(&p, a("go"));
    kinds(&mut ctx, 2).await
}

// ── exit signals ─────────────────────────────────────────────────────────────────────────────────

pub async fn exit2_normal_other(mut ctx: C) -> T {
    let p = on_go(&ctx, because("done"));
    let r = ctx.monitor(&p);
    ctx.send_exit(&p, ExitReason::Normal);
    ctx.send(&p, a("go"));
    down(&mut ctx, r).await
}

fn traps_and_tells(ctx: &C) -> P {
    let me = ctx.me().clone();
    ctx.spawn(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.send(&me, a("ready"));
        let q = exit_of(&mut ctx).await;
        ctx.send(&me, t([a("p"), q]));
    })
}

pub async fn exit2_normal_trapping(mut ctx: C) -> T {
    let p = traps_and_tells(&ctx);
    get(&mut ctx, a("ready")).await;
    ctx.send_exit(&p, ExitReason::Normal);
    tagged(&mut ctx, "p").await.at(1).clone()
}

pub async fn exit2_kill_trapping(mut ctx: C) -> T {
    let p = traps_and_tells(&ctx);
    let r = ctx.monitor(&p);
    get(&mut ctx, a("ready")).await;
    ctx.kill(&p);
    receive!(ctx;
        T::Tuple(said) if said[0] == a("p") => said[1].clone(),
        down(d) if d.monitor == r => why(&d.reason),
    )
}

fn waits_for_ever(ctx: &C) -> P {
    ctx.spawn(|mut ctx: C| async move { never(&mut ctx).await })
}

pub async fn exit2_alive_after_kill(ctx: C) -> T {
    let p = waits_for_ever(&ctx);
    ctx.kill(&p);
    a(if ctx.is_alive(&p) { "true" } else { "false" })
}

pub async fn exit2_kill_then_monitor(mut ctx: C) -> T {
    let p = waits_for_ever(&ctx);
    ctx.kill(&p);
    let r = ctx.monitor(&p);
    down(&mut ctx, r).await
}

pub async fn exit2_boom_then_kill_trap(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p: P = ctx.spawn(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.send(&me, a("ready"));
        exit_of(&mut ctx).await;
        ctx.send(&me, a("got"));
        never(&mut ctx).await;
    });
    let r = ctx.monitor(&p);
    get(&mut ctx, a("ready")).await;
    ctx.send_exit(&p, because("boom"));
    ctx.kill(&p);
    let q = down(&mut ctx, r).await;
    let g = if is_there(&mut ctx, a("got")).await { a("got") } else { a("none") };
    l([g, q])
}

pub async fn exit2_boom_then_kill_notrap(mut ctx: C) -> T {
    let p = waits_for_ever(&ctx);
    let r = ctx.monitor(&p);
    ctx.send_exit(&p, because("boom"));
    ctx.kill(&p);
    down(&mut ctx, r).await
}

// ── signals and messages ─────────────────────────────────────────────────────────────────────────

pub async fn sig_msg_then_exit(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p: P = ctx.spawn(move |mut ctx: C| async move {
        get(&mut ctx, a("m")).await;
        ctx.send(&me, a("got"));
        never(&mut ctx).await;
    });
    let r = ctx.monitor(&p);
    ctx.send(&p, a("m"));
    ctx.send_exit(&p, because("boom"));
    down(&mut ctx, r).await;
    if is_there(&mut ctx, a("got")).await { a("got") } else { a("none") }
}

pub async fn sig_trap_order(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p: P = ctx.spawn(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.send(&me, a("ready"));
        let order = kinds(&mut ctx, 3).await;
        ctx.send(&me, t([a("p"), order]));
    });
    get(&mut ctx, a("ready")).await;
    ctx.send(&p, a("m1"));
    ctx.send_exit(&p, because("boom"));
    ctx.send(&p, a("m2"));
    tagged(&mut ctx, "p").await.at(1).clone()
}

pub async fn sig_link_msg_exit(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let me = ctx.me().clone();
    ctx.spawn_link(move |ctx: C| async move {
        ctx.send(&me, a("m"));
        because("boom")
    });
    kinds(&mut ctx, 2).await
}

pub async fn sig_exit_normal_reason_race(mut ctx: C) -> T {
    let p: P = ctx.spawn(|mut ctx: C| async move {
        get(&mut ctx, a("stop")).await;
    });
    let r = ctx.monitor(&p);
    ctx.send(&p, a("stop"));
    ctx.send_exit(&p, because("boom"));
    down(&mut ctx, r).await
}

// ── names ────────────────────────────────────────────────────────────────────────────────────────

/// Two processes do something about a name, tell what came of it, and wait to be stopped.
async fn two_and_a_name(mut ctx: C, does: fn(&C) -> T) -> T {
    let me = ctx.me().clone();
    let start = |name: &'static str| {
        let me = me.clone();
        ctx.spawn_monitor(move |mut ctx: C| async move {
            let came_of_it = does(&ctx);
            ctx.send(&me, t([a(name), came_of_it]));
            get(&mut ctx, a("stop")).await;
        })
    };
    let (one, r1): (P, _) = start("a");
    let (other, r2): (P, _) = start("b");
    let x = tagged(&mut ctx, "a").await.at(1).clone();
    let y = tagged(&mut ctx, "b").await.at(1).clone();
    ctx.send(&one, a("stop"));
    ctx.send(&other, a("stop"));
    down(&mut ctx, r1).await;
    down(&mut ctx, r2).await;
    l([x, y])
}

pub async fn reg_race_hold(ctx: C) -> T {
    two_and_a_name(ctx, |ctx| if ctx.register("n", ctx.me()).is_ok() { a("true") } else { a("false") }).await
}

pub async fn whereis_then_register(ctx: C) -> T {
    two_and_a_name(ctx, |ctx| match ctx.whereis("n") {
        Some(_) => a("taken"),
        None if ctx.register("n", ctx.me()).is_ok() => a("true"),
        None => a("badarg"),
    })
    .await
}

pub async fn reg_whereis_race(mut ctx: C) -> T {
    let (p, r): (P, _) = ctx.spawn_monitor(|mut ctx: C| async move {
        ctx.register("n", ctx.me()).unwrap();
        get(&mut ctx, a("stop")).await;
    });
    let x = ctx.whereis("n");
    ctx.send(&p, a("stop"));
    down(&mut ctx, r).await;
    a(if x.is_some_and(|x| x == *p.any()) { "pid" } else { "undefined" })
}

pub async fn unreg_send_race(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p: P = ctx.spawn(move |mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        ctx.unregister("n").unwrap();
        get(&mut ctx, a("stop")).await;
        let k = i64::from(is_there(&mut ctx, a("m")).await);
        ctx.send(&me, t([a("got"), i(k)]));
    });
    ctx.register("n", &p).unwrap();
    ctx.send(&p, a("go"));
    let x = if ctx.send_to_name("n", a("m")).is_ok() { a("sent") } else { a("badarg") };
    ctx.send(&p, a("stop"));
    l([x, tagged(&mut ctx, "got").await.at(1).clone()])
}

pub async fn whereis_then_send(mut ctx: C) -> T {
    let p = on_go(&ctx, ExitReason::Normal);
    ctx.register("n", &p).unwrap();
    ctx.send(&p, a("go"));
    let x = match ctx.whereis_as::<T>("n") {
        None => a("undefined"),
        Some(w) => {
            ctx.send(&w, a("m"));
            a("sent")
        }
    };
    let r = ctx.monitor(&p);
    down(&mut ctx, r).await;
    x
}

pub async fn whereis_then_send_name(mut ctx: C) -> T {
    let p = on_go(&ctx, ExitReason::Normal);
    ctx.register("n", &p).unwrap();
    ctx.send(&p, a("go"));
    let x = match ctx.whereis("n") {
        None => a("undefined"),
        Some(_) if ctx.send_to_name("n", a("m")).is_ok() => a("sent"),
        Some(_) => a("badarg"),
    };
    let r = ctx.monitor(&p);
    down(&mut ctx, r).await;
    x
}

async fn wait_for_m(ctx: &mut C, me: &P, name: &'static str) {
    let m = receive!(*ctx; T::Atom("m") => true, T::Atom("stop") => false);
    if m {
        ctx.send(me, t([a("who"), a(name)]));
        get(ctx, a("stop")).await;
    }
}

pub async fn name_handover(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let main = me.clone();
    let (b, rb): (P, _) = ctx.spawn_monitor(move |mut ctx: C| async move {
        get(&mut ctx, a("take")).await;
        ctx.register("n", ctx.me()).unwrap();
        wait_for_m(&mut ctx, &main, "b").await;
    });
    let (main, theirs) = (me.clone(), b.clone());
    let (one, ra): (P, _) = ctx.spawn_monitor(move |mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        ctx.unregister("n").unwrap();
        ctx.send(&theirs, a("take"));
        wait_for_m(&mut ctx, &main, "a").await;
    });
    ctx.register("n", &one).unwrap();
    ctx.spawn(move |ctx: C| async move {
        if ctx.send_to_name("n", a("m")).is_err() {
            ctx.send(&me, t([a("who"), a("badarg")]));
        }
    });
    ctx.send(&one, a("go"));
    let x = tagged(&mut ctx, "who").await.at(1).clone();
    ctx.send(&one, a("stop"));
    ctx.send(&b, a("stop"));
    down(&mut ctx, ra).await;
    down(&mut ctx, rb).await;
    x
}

// ── timers ───────────────────────────────────────────────────────────────────────────────────────

fn truth(is_so: bool) -> T {
    a(if is_so { "true" } else { "false" })
}

pub async fn timer_cancel_race(mut ctx: C) -> T {
    let timer = ctx.send_after(ONE, &ctx.me().clone(), a("tick"));
    let x = ctx.cancel(timer).is_some();
    let k = is_there(&mut ctx, a("tick")).await;
    l([truth(x), i(i64::from(k))])
}

pub async fn timer_cancel_by_other(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let timer = ctx.send_after(ONE, &me, a("tick"));
    ctx.spawn(move |ctx: C| async move {
        let x = ctx.cancel(timer).is_some();
        ctx.send(&me, t([a("a"), truth(x)]));
    });
    let x = tagged(&mut ctx, "a").await.at(1).clone();
    let k = is_there(&mut ctx, a("tick")).await;
    l([x, i(i64::from(k))])
}

pub async fn timer_two(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.send_after(ms(2), &me, a("t1"));
    ctx.send_after(ms(4), &me, a("t2"));
    all(&mut ctx, 2).await
}

pub async fn timer_vs_send(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.send_after(ONE, &me, a("t"));
    ctx.send(&me, a("m"));
    all(&mut ctx, 2).await
}

pub async fn timer_zero_vs_send(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.send_after(NO_TIME, &me, a("t"));
    ctx.send(&me, a("m"));
    all(&mut ctx, 2).await
}

pub async fn timer_vs_reply(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let s = ctx.spawn(|mut ctx: C| async move {
        let from = any(&mut ctx).await.pid();
        ctx.send(&from, a("reply"));
    });
    ctx.send_after(ONE, &me, a("timeout"));
    ctx.send(&s, (&me).into());
    receive!(ctx; T::Atom("reply") => a("ok"), T::Atom("timeout") => a("late"))
}

// ── check and act ────────────────────────────────────────────────────────────────────────────────

fn serves_once(ctx: &C) -> P {
    ctx.spawn(|mut ctx: C| async move {
        if let T::Tuple(request) = any(&mut ctx).await {
            ctx.send(&request[0].pid(), t([request[1].clone(), a("ok")]));
        }
    })
}

pub async fn alive_then_call(mut ctx: C) -> T {
    let p = serves_once(&ctx);
    sends(&ctx, &p, a("quit"));
    if !ctx.is_alive(&p) {
        return a("dead");
    }
    let r = ctx.monitor(&p);
    ctx.send(&p, t([ctx.me().into(), T::Monitor(r)]));
    reply_or_down(&mut ctx, r).await
}

pub async fn monitor_then_call(mut ctx: C) -> T {
    let p = serves_once(&ctx);
    sends(&ctx, &p, a("quit"));
    let r = ctx.monitor(&p);
    ctx.send(&p, t([ctx.me().into(), T::Monitor(r)]));
    reply_or_down(&mut ctx, r).await
}

// ── shared tables ────────────────────────────────────────────────────────────────────────────────

type Cell = Arc<Object<Option<i64>>>;

fn cell(value: Option<i64>) -> Cell {
    Arc::new(Object::new(value))
}

/// Two processes use a table and tell what they got.
async fn two_and_a_cell(ctx: &mut C, cell: &Cell, names: [&'static str; 2], uses: fn(&Cell, i64) -> T) -> T {
    let me = ctx.me().clone();
    for (name, number) in names.into_iter().zip(1..) {
        let (me, cell) = (me.clone(), cell.clone());
        ctx.spawn(move |ctx: C| async move {
            let got = uses(&cell, number);
            ctx.send(&me, t([a(name), got]));
        });
    }
    let x = tagged(ctx, names[0]).await.at(1).clone();
    l([x, tagged(ctx, names[1]).await.at(1).clone()])
}

pub async fn ets_insert_new_race(mut ctx: C) -> T {
    two_and_a_cell(&mut ctx, &cell(None), ["a", "b"], |cell, me| {
        truth(cell.update(|value| {
            let is_new = value.is_none();
            value.get_or_insert(me);
            is_new
        }))
    })
    .await
}

fn count(cell: &Cell) -> i64 {
    cell.update(|value| {
        let next = value.unwrap_or(0) + 1;
        *value = Some(next);
        next
    })
}

pub async fn ets_update_counter(mut ctx: C) -> T {
    let cell = cell(Some(0));
    let both = two_and_a_cell(&mut ctx, &cell, ["a", "b"], |cell, _| i(count(cell))).await;
    let last = cell.look(|value| value.unwrap());
    l([both.at(0).clone(), both.at(1).clone(), i(last)])
}

/// Two processes read and then write one more.
async fn lost_update(mut ctx: C) -> T {
    let cell = cell(Some(0));
    let me = ctx.me().clone();
    for _ in 0..2 {
        let (me, cell) = (me.clone(), cell.clone());
        ctx.spawn(move |ctx: C| async move {
            let value = cell.look(|value| value.unwrap());
            cell.update(|cell| *cell = Some(value + 1));
            ctx.send(&me, a("done"));
        });
    }
    all(&mut ctx, 2).await;
    i(cell.look(|value| value.unwrap()))
}

pub async fn ets_lost_update(ctx: C) -> T {
    lost_update(ctx).await
}

pub async fn atomics_get_put(ctx: C) -> T {
    lost_update(ctx).await
}

pub async fn atomics_cas(mut ctx: C) -> T {
    two_and_a_cell(&mut ctx, &cell(Some(0)), ["a", "b"], |cell, me| {
        cell.update(|value| match value {
            Some(0) => {
                *value = Some(me);
                a("ok")
            }
            other => i(other.unwrap()),
        })
    })
    .await
}

pub async fn ets_write_then_msg(mut ctx: C) -> T {
    let cell = cell(None);
    let (me, theirs) = (ctx.me().clone(), cell.clone());
    ctx.spawn(move |ctx: C| async move {
        theirs.update(|value| *value = Some(1));
        ctx.send(&me, a("a"));
    });
    get(&mut ctx, a("a")).await;
    a(if cell.look(|value| value.is_some()) { "yes" } else { "no" })
}

pub async fn ets_two_keys(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let cells = [cell(None), cell(None)];
    for (cell, name) in cells.iter().zip(["a", "b"]) {
        let (me, cell) = (me.clone(), cell.clone());
        ctx.spawn(move |ctx: C| async move {
            cell.update(|value| *value = Some(1));
            ctx.send(&me, a(name));
        });
    }
    get(&mut ctx, a("a")).await;
    get(&mut ctx, a("b")).await;
    i(cells.iter().filter(|cell| cell.look(|value| value.is_some())).count() as i64)
}

// ── protocols ────────────────────────────────────────────────────────────────────────────────────

pub async fn prim_mutual_call(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let start = |name: &'static str| -> P {
        let me = me.clone();
        ctx.spawn(move |mut ctx: C| async move {
            let peer = tagged(&mut ctx, "peer").await.at(1).pid();
            ctx.send(&peer, t([ctx.me().into(), a("req")]));
            get(&mut ctx, a("reply")).await;
            ctx.send(&me, a(name));
        })
    };
    let (one, other) = (start("a"), start("b"));
    ctx.send(&one, t([a("peer"), (&other).into()]));
    ctx.send(&other, t([a("peer"), (&one).into()]));
    get(&mut ctx, a("a")).await;
    get(&mut ctx, a("b")).await;
    a("ok")
}

pub async fn prim_lock_counter(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let cell = cell(Some(0));
    let lock: P = ctx.spawn(|mut ctx: C| async move {
        loop {
            let holder = receive!(ctx; T::Tuple(request) => request[0].pid(), T::Atom("stop") => return);
            ctx.send(&holder, t([ctx.me().into(), a("ok")]));
            get(&mut ctx, a("unlock")).await;
        }
    });
    for _ in 0..2 {
        let (me, cell, lock) = (me.clone(), cell.clone(), lock.clone());
        ctx.spawn(move |mut ctx: C| async move {
            ctx.send(&lock, t([ctx.me().into(), a("lock")]));
            get(&mut ctx, t([(&lock).into(), a("ok")])).await;
            let value = cell.look(|value| value.unwrap());
            cell.update(|cell| *cell = Some(value + 1));
            ctx.send(&lock, a("unlock"));
            ctx.send(&me, a("done"));
        });
    }
    get(&mut ctx, a("done")).await;
    get(&mut ctx, a("done")).await;
    ctx.send(&lock, a("stop"));
    i(cell.look(|value| value.unwrap()))
}

pub async fn prim_lost_wakeup(mut ctx: C) -> T {
    let (item, waiting) = (cell(None), cell(None));
    let (me, theirs) = (ctx.me().clone(), (item.clone(), waiting.clone()));
    ctx.spawn(move |ctx: C| async move {
        theirs.0.update(|item| *item = Some(1));
        if theirs.1.look(|waiting| waiting.is_some()) {
            ctx.send(&me, a("wake"));
        }
    });
    if item.look(|item| item.is_none()) {
        waiting.update(|waiting| *waiting = Some(1));
        get(&mut ctx, a("wake")).await;
    }
    a("ok")
}

pub async fn prim_lost_wakeup_msgs(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let q: P = ctx.spawn(|mut ctx: C| async move {
        let (mut n, mut waits) = (0, None::<P>);
        loop {
            match any(&mut ctx).await {
                T::Atom("put") => match &waits {
                    Some(who) => return ctx.send(who, a("wake")),
                    None => n = 1,
                },
                request if request.at(1) == &a("take") => {
                    if n == 1 {
                        return ctx.send(&request.at(0).pid(), a("item"));
                    }
                    ctx.send(&request.at(0).pid(), a("empty"));
                }
                request => {
                    if n == 1 {
                        return;
                    }
                    waits = Some(request.at(0).pid());
                }
            }
        }
    });
    sends(&ctx, &q, a("put"));
    ctx.send(&q, t([(&me).into(), a("take")]));
    let item = receive!(ctx; T::Atom("item") => true, T::Atom("empty") => false);
    if item {
        return a("ok");
    }
    ctx.send(&q, t([(&me).into(), a("wait")]));
    get(&mut ctx, a("wake")).await;
    a("woken")
}

pub async fn prim_barrier_2(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let c: P = ctx.spawn(|mut ctx: C| async move {
        let f = any(&mut ctx).await.pid();
        let g = any(&mut ctx).await.pid();
        ctx.send(&f, a("go"));
        ctx.send(&g, a("go"));
    });
    for name in ["a", "b"] {
        let (me, c) = (me.clone(), c.clone());
        ctx.spawn(move |mut ctx: C| async move {
            ctx.send(&c, ctx.me().into());
            get(&mut ctx, a("go")).await;
            ctx.send(&me, a(name));
        });
    }
    all(&mut ctx, 2).await
}

// ── what does not matter ─────────────────────────────────────────────────────────────────────────

/// Two processes tell something of their own.
async fn two_tell(ctx: &mut C, tells: fn(&C, &'static str) -> T) -> [T; 2] {
    let me = ctx.me().clone();
    for name in ["a", "b"] {
        let me = me.clone();
        ctx.spawn(move |ctx: C| async move {
            let told = tells(&ctx, name);
            ctx.send(&me, t([a(name), told]));
        });
    }
    let x = tagged(ctx, "a").await.at(1).clone();
    [x, tagged(ctx, "b").await.at(1).clone()]
}

pub async fn pdict_local(mut ctx: C) -> T {
    let [x, y] = two_tell(&mut ctx, |_, name| a(name)).await;
    l([x, y, i(0)])
}

pub async fn group_leader_read(mut ctx: C) -> T {
    l(two_tell(&mut ctx, |_, _| a("true")).await)
}

pub async fn self_make_ref(mut ctx: C) -> T {
    let [x, y] = two_tell(&mut ctx, |ctx, _| T::Ref(ctx.make_ref())).await;
    truth(x == y)
}
