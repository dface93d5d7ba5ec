//! More programs, over the same families. Their outcomes were worked out from OTP's documentation before they were first run.

use std::collections::BTreeSet;
use std::time::Duration;

use drawloom::actor::{
    ChildSpec, Delivery, ExitReason, Flow, GenServer, Pid, Received, ReplyTo, Restart, ServerCtx, StartError, Strategy,
    Supervisor, Table,
};
use drawloom::receive;

use crate::servers::{Ask, Born, Kid, Mode, Tell, kid, notes, said, stop, stop_supervisor, supervisor, up};
use crate::term::{C, P, T, a, any, because, down, exit_of, get, i, l, never, t, tagged, why};

const NO_TIME: Duration = Duration::ZERO;

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

fn sends(ctx: &C, to: &P, messages: impl Into<Vec<T>>) {
    let (to, messages) = (to.clone(), messages.into());
    ctx.spawn(move |ctx: C| async move { messages.into_iter().for_each(|message| ctx.send(&to, message)) });
}

async fn take(ctx: &mut C, many: usize) -> T {
    let mut taken = Vec::new();
    for _ in 0..many {
        taken.push(any(ctx).await);
    }
    l(taken)
}

fn truth(is_so: bool) -> T {
    a(if is_so { "true" } else { "false" })
}

// ── senders, order, causality ────────────────────────────────────────────────────────────────────

/// `A: main!a1; main!a2 | B: main!b1; main!b2`: each pair keeps its order.
async fn fan_in_two_pairs(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, [a("a1"), a("a2")]);
    sends(&ctx, &me, [a("b1"), a("b2")]);
    take(&mut ctx, 4).await
}

/// `A: r!x; main!direct | R: recv x; main!relayed`.
async fn relay_and_direct(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let to = me.clone();
    let relay: P = ctx.spawn(move |mut ctx: C| async move {
        any(&mut ctx).await;
        ctx.send(&to, a("relayed"));
    });
    ctx.spawn(move |ctx: C| async move {
        ctx.send(&relay, a("x"));
        ctx.send(&me, a("direct"));
    });
    take(&mut ctx, 2).await
}

/// `A: main!m; insert k | B: lookup k -> main!seen or main!not`: whoever sees the row acts after the send of m.
async fn written_then_told(mut ctx: C) -> T {
    let (me, table) = (ctx.me().clone(), Table::new());
    let (to, rows) = (me.clone(), table.clone());
    ctx.spawn(move |ctx: C| async move {
        ctx.send(&to, a("m"));
        rows.insert("k", 1);
    });
    ctx.spawn(move |ctx: C| async move { ctx.send(&me, a(if table.member(&"k") { "seen" } else { "not" })) });
    take(&mut ctx, 2).await
}

// ── selective receives and time limits ───────────────────────────────────────────────────────────

/// `A: main!1; main!2 | B: main!3`: 2 is taken first, the others are taken as they came.
async fn skip_then_take(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, [i(1), i(2)]);
    sends(&ctx, &me, [i(3)]);
    let first = get(&mut ctx, i(2)).await;
    l([first, any(&mut ctx).await, any(&mut ctx).await])
}

/// `A: main!1 | B: main!2`: `x = recv; y = recv {n when n > x | after 0 -> none}`.
async fn guard_on_what_came_before(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, [i(1)]);
    sends(&ctx, &me, [i(2)]);
    let number = |message: &T| if let T::Int(n) = message { *n } else { 0 };
    let x = number(&any(&mut ctx).await);
    let larger = receive!(ctx; n if number(n) > x => n, after NO_TIME => a("none"));
    l([i(x), larger])
}

/// `A: main!a`: `recv {a -> got | after 5 -> late}; recv {_ -> more | after 0 -> none}`.
async fn late_then_there(mut ctx: C) -> T {
    let me = ctx.me().clone();
    sends(&ctx, &me, [a("a")]);
    let first = receive!(ctx; _ => a("got"), after ms(5) => a("late"));
    let more = receive!(ctx; _ => a("more"), after NO_TIME => a("none"));
    l([first, more])
}

/// `P: recv {stop -> main!stopped | after 10 -> main!expired} | main: p!stop`.
async fn limit_or_stop(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p: P = ctx.spawn(move |mut ctx: C| async move {
        let how = receive!(ctx; T::Atom("stop") => "stopped", after ms(10) => "expired");
        ctx.send(&me, a(how));
    });
    ctx.send(&p, a("stop"));
    any(&mut ctx).await
}

/// A request that is handed on, and noise: `recv ok; recv any`.
async fn call_through_a_proxy(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let server: P = ctx.spawn(|mut ctx: C| async move {
        let client = any(&mut ctx).await.at(0).pid();
        ctx.send(&client, a("ok"));
    });
    let proxy: P = ctx.spawn(move |mut ctx: C| async move {
        let request = any(&mut ctx).await;
        ctx.send(&server, request);
    });
    sends(&ctx, &me, [a("noise")]);
    ctx.send(&proxy, t([(&me).into(), a("req")]));
    let ok = get(&mut ctx, a("ok")).await;
    l([ok, any(&mut ctx).await])
}

// ── monitors, links, exits ───────────────────────────────────────────────────────────────────────

/// `P: recv go; exit(done) | main: p!go; monitor(p)`.
async fn monitor_after_go(mut ctx: C) -> T {
    let p: P = ctx.spawn(|mut ctx: C| async move {
        any(&mut ctx).await;
        because("done")
    });
    ctx.send(&p, a("go"));
    let monitor = ctx.monitor(&p);
    down(&mut ctx, monitor).await
}

/// Two processes that are monitored end for reasons of their own: either DOWN comes first.
async fn two_downs(mut ctx: C) -> T {
    ctx.spawn_monitor(|_: C| std::future::ready(because("boom")));
    ctx.spawn_monitor(|_: C| std::future::ready(because("bye")));
    let first = receive!(ctx; down(d) => why(&d.reason));
    let second = receive!(ctx; down(d) => why(&d.reason));
    l([first, second])
}

/// `main: trap; A: spawn_link B; wait | B: exit(boom)`: an abnormal end goes on along the links, with its reason.
async fn chain_of_links(mut ctx: C) -> T {
    ctx.trap_exit(true);
    ctx.spawn_link(|mut ctx: C| async move {
        let _: P = ctx.spawn_link(|_: C| std::future::ready(because("boom")));
        never(&mut ctx).await;
    });
    exit_of(&mut ctx).await
}

/// `A: spawn_link B; trap; recv EXIT; exit(bye) | B: exit(boom)`: too late to trap, or not.
async fn link_then_trap(mut ctx: C) -> T {
    ctx.trap_exit(true);
    ctx.spawn_link(|mut ctx: C| async move {
        let _: P = ctx.spawn_link(|_: C| std::future::ready(because("boom")));
        ctx.trap_exit(true);
        exit_of(&mut ctx).await;
        because("bye")
    });
    exit_of(&mut ctx).await
}

/// `A: link(c); main!ready; wait | main: recv ready; monitor(c); exit(a,kill)`: c learns of `killed`, and that can be trapped, but c does not.
async fn killed_by_way_of_a_link(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let c: P = ctx.spawn(|mut ctx: C| async move { never(&mut ctx).await });
    let linked = c.clone();
    let first: P = ctx.spawn(move |mut ctx: C| async move {
        ctx.link(&linked).expect("it lives");
        ctx.send(&me, a("ready"));
        never(&mut ctx).await;
    });
    get(&mut ctx, a("ready")).await;
    let monitor = ctx.monitor(&c);
    ctx.kill(&first);
    down(&mut ctx, monitor).await
}

/// `exit(self(), normal)` ends the caller.
async fn exit_of_oneself_with_normal(mut ctx: C) -> T {
    let (_, monitor) = ctx.spawn_monitor(|ctx: C| async move {
        ctx.send_exit(ctx.me(), ExitReason::Normal);
        because("boom")
    });
    down(&mut ctx, monitor).await
}

/// `exit(p,normal); exit(p,shutdown)`: the first does nothing to a process that does not trap.
async fn exit_with_normal_then_shutdown(mut ctx: C) -> T {
    let (p, monitor) = ctx.spawn_monitor(|mut ctx: C| async move { never(&mut ctx).await });
    ctx.send_exit(&p, ExitReason::Normal);
    ctx.send_exit(&p, ExitReason::Shutdown);
    down(&mut ctx, monitor).await
}

// ── names and timers ─────────────────────────────────────────────────────────────────────────────

/// The name is free when the DOWN is there.
async fn name_is_free_before_the_down(mut ctx: C) -> T {
    let p: P = ctx.spawn(|mut ctx: C| async move {
        any(&mut ctx).await;
    });
    ctx.register("n", &p).unwrap();
    let monitor = ctx.monitor(&p);
    ctx.send(&p, a("go"));
    down(&mut ctx, monitor).await;
    a(if ctx.whereis("n").is_some() { "pid" } else { "undefined" })
}

/// `A, B: r = reg(n,self); main!{me,r}`, and end: both can have the name, in turn.
async fn names_in_turn(mut ctx: C) -> T {
    for name in ["a", "b"] {
        let me = ctx.me().clone();
        ctx.spawn(move |ctx: C| async move {
            let registered = ctx.register("n", ctx.me()).is_ok();
            ctx.send(&me, t([a(name), truth(registered)]));
        });
    }
    let x = tagged(&mut ctx, "a").await.at(1).clone();
    l([x, tagged(&mut ctx, "b").await.at(1).clone()])
}

/// `t = send_after(10,self,m); cancel(t); cancel(t); recv {m -> got | after 0 -> none}`.
async fn cancel_twice(mut ctx: C) -> T {
    let timer = ctx.send_after(ms(10), ctx.me(), a("m"));
    let first = ctx.cancel(timer).is_some();
    let second = ctx.cancel(timer).is_some();
    let left = receive!(ctx; _ => a("got"), after NO_TIME => a("none"));
    l([truth(first), truth(second), left])
}

/// `send_after(5,self,m); sleep(10); recv {m -> got | after 0 -> none}`: timers fire in the order of their deadlines.
async fn a_timer_and_a_longer_sleep(mut ctx: C) -> T {
    ctx.send_after(ms(5), ctx.me(), a("m"));
    ctx.sleep(ms(10)).await;
    receive!(ctx; _ => a("got"), after NO_TIME => a("none"))
}

/// A timer outlives who has set it, if it is for somebody else.
async fn timer_of_the_dead(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (_, monitor) = ctx.spawn_monitor(move |ctx: C| async move {
        ctx.send_after(ms(10), &me, a("t"));
    });
    down(&mut ctx, monitor).await;
    any(&mut ctx).await
}

// ── tables, servers, supervisors ─────────────────────────────────────────────────────────────────

/// `A: update_counter(k,1,{k,0}) | B: insert_new(k,10)`.
async fn counter_or_new_row(mut ctx: C) -> T {
    let (me, table) = (ctx.me().clone(), Table::<&str, i64>::new());
    let (to, rows) = (me.clone(), table.clone());
    ctx.spawn(move |ctx: C| async move {
        rows.update_counter("k", 1, 0);
        ctx.send(&to, t([a("a")]));
    });
    let (to, rows) = (me, table.clone());
    ctx.spawn(move |ctx: C| async move {
        let is_new = rows.insert_new("k", 10);
        ctx.send(&to, t([a("b"), truth(is_new)]));
    });
    tagged(&mut ctx, "a").await;
    let is_new = tagged(&mut ctx, "b").await.at(1).clone();
    l([is_new, i(table.lookup(&"k").expect("it is there"))])
}

/// `cast(s,inc); cast(s,inc); call(s,get)`: of one process, in order.
async fn casts_then_call(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    s.cast(Tell::Inc);
    s.cast(Tell::Inc);
    let count = s.call(&mut ctx, Ask::Get, None).await;
    stop(&mut ctx, &s).await;
    said(count)
}

/// `A: call(s,inc); main!{a} | B: cast(s,inc); main!{b} | main: recv {a}; recv {b}; call(s,get)`.
async fn cast_by_another(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    let me = ctx.me().clone();
    let (server, to) = (s.clone(), me.clone());
    ctx.spawn(move |mut ctx: C| async move {
        server.call(&mut ctx, Ask::Inc, None).await.expect("it lives");
        ctx.send(&to, t([a("a")]));
    });
    let server = s.clone();
    ctx.spawn(move |ctx: C| async move {
        server.cast(Tell::Inc);
        ctx.send(&me, t([a("b")]));
    });
    tagged(&mut ctx, "a").await;
    tagged(&mut ctx, "b").await;
    let count = s.call(&mut ctx, Ask::Get, None).await;
    stop(&mut ctx, &s).await;
    said(count)
}

/// A server that replies when it is told to.
struct Holder(Option<ReplyTo<()>>);

#[derive(Debug)]
struct Wait(ReplyTo<()>);

#[derive(Debug)]
struct Release;

impl GenServer for Holder {
    type Args = ();
    type Call = Wait;
    type Cast = Release;
    type Info = ();

    async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Holder(None))
    }

    async fn handle_call(&mut self, Wait(reply): Wait, _: &mut ServerCtx<Self>) -> Flow {
        self.0 = Some(reply);
        Flow::Continue
    }

    async fn handle_cast(&mut self, Release: Release, _: &mut ServerCtx<Self>) -> Flow {
        if let Some(reply) = self.0.take() {
            reply.send(());
        }
        Flow::Continue
    }
}

/// `A: call(s,wait); main!ok | main: cast(s,release)`: a release that comes first is lost.
async fn reply_when_released(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let s = Holder::start_link(&mut ctx, ()).await.expect("it starts");
    let server = s.clone();
    ctx.spawn(move |mut ctx: C| async move {
        server.call(&mut ctx, Wait, None).await.expect("it lives");
        ctx.send(&me, a("ok"));
    });
    s.cast(Release);
    any(&mut ctx).await
}

/// A server whose `init` returns `{stop,boom}`.
struct Fails;

impl GenServer for Fails {
    type Args = ();
    type Call = ();
    type Cast = ();
    type Info = ();

    async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Err(because("boom"))
    }

    async fn handle_call(&mut self, (): (), _: &mut ServerCtx<Self>) -> Flow {
        Flow::Continue
    }
}

/// `trap; start_link -> {error,q}; recv EXIT p`: who is linked gets the signal as well.
async fn init_fails(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let Err(StartError::Failed(reason)) = Fails::start_link(&mut ctx, ()).await else { return a("started") };
    l([why(&reason), exit_of(&mut ctx).await])
}

/// Whether the one child of a supervisor is started again when it ends as `ends` makes it.
async fn again(mut ctx: C, restart: Restart, ends: fn(&C, &Pid<drawloom::actor::ServerMessage<Ask, Tell, ()>>)) -> T {
    let born = Born { number: 1, main: ctx.me().clone(), mode: Mode::Up };
    let child = ChildSpec::named_server::<Kid>("k", born).restart(restart);
    let sup = Supervisor::new(Strategy::OneForOne).child(child).start_link(&mut ctx).await.expect("the kid starts");
    let process = up(&mut ctx).await;
    let monitor = ctx.monitor(&process);
    let server = ctx.whereis_as("k").expect("it lives");
    ends(&ctx, &server);
    down(&mut ctx, monitor).await;
    stop_supervisor(&mut ctx, &sup).await;
    receive!(ctx; message if message.is("up") => a("again"), after NO_TIME => a("none"))
}

/// A transient child that ends normally is not started again.
async fn transient_child_that_ends_well(ctx: C) -> T {
    again(ctx, Restart::Transient, |ctx, kid| ctx.send(kid, drawloom::actor::ServerMessage::Cast(Tell::Bye))).await
}

/// A temporary child is never started again.
async fn temporary_child_that_is_killed(ctx: C) -> T {
    again(ctx, Restart::Temporary, |ctx, kid| ctx.kill(kid)).await
}

/// A permanent child is started again, unless its supervisor is ended before. Where delivery is atomic, whoever is linked is told of an end
/// before whoever monitors, so the supervisor knows of it then.
async fn permanent_child_that_ends_well(ctx: C) -> T {
    again(ctx, Restart::Permanent, |ctx, kid| ctx.send(kid, drawloom::actor::ServerMessage::Cast(Tell::Bye))).await
}

/// `one_for_all [k1,k2]; cast(k1,bye)`: the other one is ended, then both are started in their order.
async fn one_for_all(mut ctx: C) -> T {
    let sup = supervisor(&mut ctx, Strategy::OneForAll, 5, &["k1", "k2"], Mode::Loud).await;
    for number in 1..=2 {
        get(&mut ctx, t([a("up"), i(number)])).await;
    }
    let first = drawloom::actor::ServerRef::<Kid>::whereis(&ctx, "k1").expect("it lives");
    first.cast(Tell::Bye);
    let notes = notes(&mut ctx, 4).await;
    stop_supervisor(&mut ctx, &sup).await;
    notes
}

/// `exit(p, shutdown)` of a supervisor by its parent; children that trap say goodbye, the last one first.
async fn shutdown_in_reverse(mut ctx: C) -> T {
    let sup = supervisor(&mut ctx, Strategy::OneForOne, 5, &["k1", "k2"], Mode::Loud).await;
    for number in 1..=2 {
        get(&mut ctx, t([a("up"), i(number)])).await;
    }
    stop_supervisor(&mut ctx, &sup).await;
    notes(&mut ctx, 2).await
}

/// `demonitor(r); p!go`, at which p ends: nothing comes of it.
async fn nothing_left(mut ctx: C) -> T {
    let (p, monitor) = ctx.spawn_monitor(|mut ctx: C| async move {
        any(&mut ctx).await;
    });
    let removed = ctx.demonitor(monitor);
    ctx.send(&p, a("go"));
    let left = ctx.recv_match_timeout(|received| matches!(received, Received::Down(_)), ms(50)).await;
    l([truth(removed), truth(left.is_some())])
}

// ── what they come to ────────────────────────────────────────────────────────────────────────────

fn orders<'a>(items: &[&'a str]) -> Vec<Vec<&'a str>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let mut rest = items.to_vec();
        let item = rest.remove(at);
        orders(&rest).into_iter().map(move |rest| [vec![item], rest].concat())
    };
    (0..items.len()).flat_map(first).collect()
}

/// Compares what was found with what is expected.
pub fn check(name: &str, delivery: Delivery, found: &crate::otp::Found, expected: &str, wrong: &mut Vec<String>) {
    let expected: BTreeSet<String> = match expected.strip_prefix("all orders of ") {
        Some(items) => {
            orders(&items.split(' ').collect::<Vec<_>>()).iter().map(|all| format!("[{}]", all.join(","))).collect()
        }
        None => expected.split(" ; ").map(str::to_owned).collect(),
    };
    if found.outcomes != expected {
        wrong.push(format!("{name} {delivery:?}: {:?}", found.outcomes));
    }
}

macro_rules! expected {
    ($($name:ident: $atomic:literal $(, split $split:literal)?;)+) => {
        #[test]
        fn programs_have_the_outcomes_that_the_documentation_promises() {
            use drawloom::actor::Delivery;
            let mut wrong = Vec::new();
            $({
                let name = stringify!($name);
                check(name, Delivery::Atomic, &crate::otp::explore(name, Delivery::Atomic, $name), $atomic, &mut wrong);
                let _split = $atomic;
                $(let _split = $split;)?
                check(name, Delivery::Split, &crate::otp::explore(name, Delivery::Split, $name), _split, &mut wrong);
            })+
            assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        }
    };
}
pub(crate) use expected;

expected! {
    fan_in_two_pairs: "[a1,a2,b1,b2] ; [a1,b1,a2,b2] ; [a1,b1,b2,a2] ; [b1,a1,a2,b2] ; [b1,a1,b2,a2] ; [b1,b2,a1,a2]";
    relay_and_direct: "[relayed,direct] ; [direct,relayed]";
    written_then_told: "[m,not] ; [not,m] ; [m,seen]", split "[m,not] ; [not,m] ; [m,seen] ; [seen,m]";
    skip_then_take: "[2,1,3] ; [2,3,1]";
    guard_on_what_came_before: "[1,2] ; [1,none] ; [2,none]";
    late_then_there: "[got,none] ; [late,more] ; [late,none]";
    limit_or_stop: "expired ; stopped";
    call_through_a_proxy: "[ok,noise]";
    monitor_after_go: "done ; noproc";
    two_downs: "[boom,bye] ; [bye,boom]";
    nothing_left: "[true,false]";
    chain_of_links: "boom";
    link_then_trap: "boom ; bye";
    killed_by_way_of_a_link: "killed";
    exit_of_oneself_with_normal: "normal";
    exit_with_normal_then_shutdown: "shutdown";
    name_is_free_before_the_down: "undefined";
    names_in_turn: "[true,true] ; [true,false] ; [false,true]";
    cancel_twice: "[true,false,none] ; [false,false,got]";
    a_timer_and_a_longer_sleep: "got";
    timer_of_the_dead: "t";
    counter_or_new_row: "[false,1] ; [true,11]";
    casts_then_call: "2";
    cast_by_another: "2", split "1 ; 2";
    reply_when_released: "ok ; DEADLOCK";
    init_fails: "[boom,boom]";
    transient_child_that_ends_well: "none";
    temporary_child_that_is_killed: "none";
    permanent_child_that_ends_well: "again", split "again ; none";
    one_for_all: "[{down,1},{down,2},{up,1},{up,2}]", split "all orders of {down,1} {down,2} {up,1} {up,2}";
    shutdown_in_reverse: "[{down,2},{down,1}]", split "[{down,2},{down,1}] ; [{down,1},{down,2}]";
}
