//! Servers and supervisors whose outcomes under OTP are known.

use std::time::Duration;

use drawloom::actor::{
    AnyPid, CallError, ChildSpec, ExitReason, Flow, GenServer, ReplyTo, ServerCtx, ServerRef, Shutdown, StartOptions,
    Strategy, Supervisor, SupervisorRef,
};

use crate::term::{C, P, T, a, down, exit_of, get, i, l, t, tagged, why};

/// What a kid tells main.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Quiet,
    /// Its process, when it starts.
    Up,
    /// Its number when it starts and when it is terminated: it traps exits.
    Loud,
}

#[derive(Clone)]
pub struct Born {
    pub number: i64,
    pub main: P,
    pub mode: Mode,
}

/// A small server that counts.
pub struct Kid {
    born: Born,
    count: i64,
}

#[derive(Debug)]
pub enum Ask {
    Get(ReplyTo<i64>),
    Inc(ReplyTo<i64>),
    Slow(ReplyTo<i64>),
    /// Asks another kid, and passes its answer on.
    Relay(ServerRef<Kid>, ReplyTo<i64>),
    Die(ReplyTo<i64>),
}

#[derive(Debug)]
pub enum Tell {
    Inc,
    Bye,
}

impl GenServer for Kid {
    type Args = Born;
    type Call = Ask;
    type Cast = Tell;
    type Info = ();

    async fn init(born: Born, ctx: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        match born.mode {
            Mode::Quiet => {}
            Mode::Up => {
                let me: &AnyPid = ctx.me().as_ref();
                ctx.send(&born.main, t([a("up"), T::Process(me.clone())]));
            }
            Mode::Loud => {
                ctx.trap_exit(true);
                ctx.send(&born.main, t([a("up"), i(born.number)]));
            }
        }
        Ok(Kid { born, count: 0 })
    }

    async fn handle_call(&mut self, ask: Ask, ctx: &mut ServerCtx<Self>) -> Flow {
        match ask {
            Ask::Get(reply) => reply.send(self.count),
            Ask::Inc(reply) => {
                self.count += 1;
                reply.send(self.count);
            }
            Ask::Slow(reply) => reply.send(0),
            Ask::Relay(other, reply) => {
                let answer = other.call(ctx, Ask::Get, None).await;
                reply.send(answer.expect("the other one lives"));
            }
            Ask::Die(reply) => {
                drop(reply);
                return Flow::Stop(ExitReason::because("boom"));
            }
        }
        Flow::Continue
    }

    async fn handle_cast(&mut self, tell: Tell, _: &mut ServerCtx<Self>) -> Flow {
        match tell {
            Tell::Inc => self.count += 1,
            Tell::Bye => return Flow::Stop(ExitReason::Normal),
        }
        Flow::Continue
    }

    async fn terminate(&mut self, _: &ExitReason, ctx: &mut ServerCtx<Self>) {
        if self.born.mode == Mode::Loud {
            ctx.send(&self.born.main, t([a("down"), i(self.born.number)]));
        }
    }
}

pub async fn kid(ctx: &mut C) -> ServerRef<Kid> {
    let born = Born { number: 0, main: ctx.me().clone(), mode: Mode::Quiet };
    Kid::start_link(ctx, born).await.expect("a kid starts")
}

pub async fn stop(ctx: &mut C, server: &ServerRef<Kid>) {
    server.stop(ctx, ExitReason::Normal, None).await.expect("a server that lives stops");
}

/// What a call came to, as the reason with which OTP's would have exited.
pub fn said(answer: Result<i64, CallError>) -> T {
    match answer {
        Ok(number) => i(number),
        Err(CallError::Timeout) => a("timeout"),
        Err(CallError::NoProc) => a("noproc"),
        Err(CallError::Ended(reason)) => why(&reason),
        Err(other) => panic!("{other}"),
    }
}

/// Starts a process that calls a kid and tells main, by a name of its own.
pub fn caller(ctx: &C, name: &'static str, server: &ServerRef<Kid>, ask: fn(ReplyTo<i64>) -> Ask) {
    let (server, main) = (server.clone(), ctx.me().clone());
    ctx.spawn(move |mut ctx: C| async move {
        let answer = server.call(&mut ctx, ask, None).await;
        ctx.send(&main, t([a(name), said(answer)]));
    });
}

async fn two_of(ctx: &mut C) -> T {
    let x = tagged(ctx, "a").await.at(1).clone();
    let y = tagged(ctx, "b").await.at(1).clone();
    l([x, y])
}

// ── servers ──────────────────────────────────────────────────────────────────────────────────────

pub async fn gs_two_calls(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    caller(&ctx, "a", &s, Ask::Inc);
    caller(&ctx, "b", &s, Ask::Inc);
    let both = two_of(&mut ctx).await;
    stop(&mut ctx, &s).await;
    both
}

pub async fn gs_cast_by_other_then_call(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    let (server, main) = (s.clone(), ctx.me().clone());
    ctx.spawn(move |ctx: C| async move {
        server.cast(Tell::Inc);
        ctx.send(&main, a("a"));
    });
    get(&mut ctx, a("a")).await;
    let x = s.call(&mut ctx, Ask::Get, None).await;
    stop(&mut ctx, &s).await;
    said(x)
}

pub async fn gs_call_timeout(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    let x = match s.call(&mut ctx, Ask::Slow, Duration::from_millis(1)).await {
        Ok(_) => a("ok"),
        failed => said(failed),
    };
    stop(&mut ctx, &s).await;
    let left = ctx.recv_timeout(Duration::ZERO).await.is_some();
    l([x, i(i64::from(left))])
}

pub async fn gs_stop_during_call_by_name(mut ctx: C) -> T {
    let born = Born { number: 0, main: ctx.me().clone(), mode: Mode::Quiet };
    StartOptions::new().name("n").link().start::<Kid, _>(&mut ctx, born).await.expect("a kid starts");
    let main = ctx.me().clone();
    ctx.spawn(move |mut ctx: C| async move {
        let answer = ServerRef::<Kid>::call_name(&mut ctx, "n", Ask::Get, None).await;
        ctx.send(&main, t([a("c"), said(answer)]));
    });
    let server = ServerRef::<Kid>::whereis(&ctx, "n").expect("nobody else stops it");
    stop(&mut ctx, &server).await;
    tagged(&mut ctx, "c").await.at(1).clone()
}

pub async fn gs_crash_in_call(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let s = kid(&mut ctx).await;
    let x = said(s.call(&mut ctx, Ask::Die, None).await);
    l([x, exit_of(&mut ctx).await])
}

pub async fn gs_mutual_call(mut ctx: C) -> T {
    let s1 = kid(&mut ctx).await;
    let s2 = kid(&mut ctx).await;
    for (name, one, other) in [("a", &s1, &s2), ("b", &s2, &s1)] {
        let (one, other, main) = (one.clone(), other.clone(), ctx.me().clone());
        ctx.spawn(move |mut ctx: C| async move {
            let answer = one.call(&mut ctx, |reply| Ask::Relay(other, reply), None).await;
            ctx.send(&main, t([a(name), said(answer)]));
        });
    }
    let both = two_of(&mut ctx).await;
    stop(&mut ctx, &s1).await;
    stop(&mut ctx, &s2).await;
    both
}

pub async fn gs_call_dead(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    stop(&mut ctx, &s).await;
    let x = said(s.call(&mut ctx, Ask::Get, Duration::from_secs(5)).await);
    s.cast(Tell::Inc);
    l([x, a("ok")])
}

// ── supervisors ──────────────────────────────────────────────────────────────────────────────────

/// A supervisor of kids with these names, which are told apart by their places.
pub async fn supervisor(
    ctx: &mut C,
    strategy: Strategy,
    intensity: usize,
    names: &[&str],
    mode: Mode,
) -> SupervisorRef {
    let mut supervisor = Supervisor::new(strategy).intensity(intensity, Duration::from_secs(100));
    for (name, number) in names.iter().zip(1..) {
        let born = Born { number, main: ctx.me().clone(), mode };
        supervisor = supervisor.child(ChildSpec::named_server::<Kid>(*name, born).shutdown(Shutdown::Infinity));
    }
    supervisor.start_link(ctx).await.expect("the kids start")
}

/// Ends a supervisor as its parent would.
pub async fn stop_supervisor(ctx: &mut C, supervisor: &SupervisorRef) {
    ctx.unlink(supervisor);
    let monitor = ctx.monitor(supervisor);
    ctx.send_exit(supervisor, ExitReason::Shutdown);
    down(ctx, monitor).await;
}

/// The process of a kid that has started.
pub async fn up(ctx: &mut C) -> AnyPid {
    match tagged(ctx, "up").await.at(1) {
        T::Process(process) => process.clone(),
        other => panic!("{other} is no process"),
    }
}

/// So many that have started: how many there were.
pub async fn get_ups(ctx: &mut C, many: i64) -> T {
    for _ in 0..many {
        ctx.recv_where(|message| message.is("up")).await;
    }
    i(many)
}

pub async fn notes(ctx: &mut C, many: usize) -> T {
    let mut notes = Vec::new();
    for _ in 0..many {
        notes.push(ctx.recv_where(|message| message.is("up") || message.is("down")).await);
    }
    l(notes)
}

pub async fn sup_restart_window(mut ctx: C) -> T {
    let sup = supervisor(&mut ctx, Strategy::OneForOne, 5, &["k"], Mode::Up).await;
    let first = up(&mut ctx).await;
    ctx.kill(&first);
    let x = said(ServerRef::<Kid>::call_name(&mut ctx, "k", Ask::Get, None).await);
    up(&mut ctx).await;
    stop_supervisor(&mut ctx, &sup).await;
    x
}

pub async fn sup_rest_for_one(mut ctx: C) -> T {
    let sup = supervisor(&mut ctx, Strategy::RestForOne, 5, &["k1", "k2", "k3"], Mode::Loud).await;
    for number in 1..=3 {
        get(&mut ctx, t([a("up"), i(number)])).await;
    }
    ServerRef::<Kid>::whereis(&ctx, "k2").expect("it lives").cast(Tell::Bye);
    let notes = notes(&mut ctx, 4).await;
    stop_supervisor(&mut ctx, &sup).await;
    notes
}

pub async fn sup_one_for_one(mut ctx: C) -> T {
    let sup = supervisor(&mut ctx, Strategy::OneForOne, 5, &["k1", "k2"], Mode::Loud).await;
    for number in 1..=2 {
        get(&mut ctx, t([a("up"), i(number)])).await;
    }
    ServerRef::<Kid>::whereis(&ctx, "k1").expect("it lives").cast(Tell::Bye);
    let notes = notes(&mut ctx, 2).await;
    stop_supervisor(&mut ctx, &sup).await;
    notes
}

pub async fn sup_max_intensity(mut ctx: C) -> T {
    ctx.trap_exit(true);
    supervisor(&mut ctx, Strategy::OneForOne, 1, &["k"], Mode::Up).await;
    for _ in 0..2 {
        let kid = up(&mut ctx).await;
        ctx.kill(&kid);
    }
    let why = exit_of(&mut ctx).await;
    let is_up = |message: &T| message.is("up");
    let wanted = move |received: &drawloom::actor::Received<T>| matches!(received, drawloom::actor::Received::Message(m) if is_up(m));
    let again = ctx.recv_match_timeout(wanted, Duration::ZERO).await.is_some();
    l([why, a(if again { "again" } else { "none" })])
}

pub async fn sup_max_intensity_zero(mut ctx: C) -> T {
    ctx.trap_exit(true);
    supervisor(&mut ctx, Strategy::OneForOne, 0, &["k1", "k2"], Mode::Up).await;
    let (first, second) = (up(&mut ctx).await, up(&mut ctx).await);
    ctx.kill(&first);
    let why = exit_of(&mut ctx).await;
    let alive = ctx.is_alive(&second);
    l([why, a(if alive { "true" } else { "false" })])
}
