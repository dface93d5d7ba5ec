//! Programs after OTP's documentation, a third lot. What they come to was worked out before they were first run, and the same programs
//! in Erlang never showed anything else.

use std::time::Duration;

use drawloom::actor::{
    Action, AnyPid, ChildSpec, Event, ExitReason, Flow, GenServer, GenStatem, Groups, MonitorRef, Next, Received,
    ReplyTo, Restart, ServerCtx, StatemCtx, Strategy, Supervisor, Table,
};
use drawloom::receive;

use crate::fresh::{check, expected};
use crate::servers::{Ask, Born, Kid, Mode, kid, said, stop, stop_supervisor, up};
use crate::term::{C, P, T, a, any, because, down, exit_of, get, i, is_exit, l, never, t, tagged, why};

const NO_TIME: Duration = Duration::ZERO;

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

fn truth(is_so: bool) -> T {
    a(if is_so { "true" } else { "false" })
}

/// `P: recv go; exit(reason)`, linked to main or not.
fn until_go(ctx: &C, reason: ExitReason, is_linked: bool) -> P {
    let body = |mut ctx: C| async move {
        get(&mut ctx, a("go")).await;
        reason
    };
    if is_linked { ctx.spawn_link(body) } else { ctx.spawn(body) }
}

async fn left_of_exits(ctx: &mut C) -> T {
    match ctx.recv_match_timeout(is_exit, NO_TIME).await {
        Some(Received::Exit(exit)) => why(&exit.reason),
        _ => a("none"),
    }
}

// ── links, monitors, exit signals ────────────────────────────────────────────────────────────────

/// `main: trap; p = spawn_link(recv go; exit(boom)); unlink(p); monitor(p); p!go; recv DOWN; recv {EXIT | after 0 -> none}`.
async fn unlinked_before_the_end(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p = until_go(&ctx, because("boom"), true);
    ctx.unlink(&p);
    let monitor = ctx.monitor(&p);
    ctx.send(&p, a("go"));
    let down = down(&mut ctx, monitor).await;
    l([down, left_of_exits(&mut ctx).await])
}

/// `P: trap; recv EXIT; exit(bye) | main: exit(p, shutdown); recv DOWN`.
async fn exit_signal_before_the_trap(mut ctx: C) -> T {
    let (p, monitor) = ctx.spawn_monitor(|mut ctx: C| async move {
        ctx.trap_exit(true);
        exit_of(&mut ctx).await;
        because("bye")
    });
    ctx.send_exit(&p, ExitReason::Shutdown);
    down(&mut ctx, monitor).await
}

/// A process that traps exits and tells main of the first two signals.
async fn two_exit_signals(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let p: P = ctx.spawn(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.send(&me, a("ready"));
        let first = exit_of(&mut ctx).await;
        let second = exit_of(&mut ctx).await;
        ctx.send(&me, t([a("both"), l([first, second])]));
    });
    get(&mut ctx, a("ready")).await;
    for reason in ["boom", "bye"] {
        let p = p.clone();
        ctx.spawn(move |ctx: C| async move { ctx.send_exit(&p, because(reason)) });
    }
    tagged(&mut ctx, "both").await.at(1).clone()
}

/// `A: exit(p, boom); p!m | P: recv m; main!hi | main: recv DOWN; recv {hi | after 0 -> none}`.
async fn exit_signal_then_message(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (p, monitor) = ctx.spawn_monitor(move |mut ctx: C| async move {
        any(&mut ctx).await;
        ctx.send(&me, a("hi"));
    });
    ctx.spawn(move |ctx: C| async move {
        ctx.send_exit(&p, because("boom"));
        ctx.send(&p, a("m"));
    });
    let reason = down(&mut ctx, monitor).await;
    l([reason, receive!(ctx; hi => hi, after NO_TIME => a("none"))])
}

/// `r = monitor(p); demonitor(r, [info]); demonitor(r, [info])`.
async fn demonitor_twice(ctx: C) -> T {
    let p: P = ctx.spawn(|mut ctx: C| async move { never(&mut ctx).await });
    let monitor = ctx.monitor(&p);
    let first = ctx.demonitor(monitor);
    l([truth(first), truth(ctx.demonitor(monitor))])
}

/// `A: spawn_link(B); end | B: trap; recv EXIT q; main!q`: who does not trap yet does not notice a normal end.
async fn parent_ends_before_the_trap(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.spawn(|ctx: C| async move {
        ctx.spawn_link(move |mut ctx: C| async move {
            ctx.trap_exit(true);
            let reason = exit_of(&mut ctx).await;
            ctx.send(&me, reason);
        });
    });
    any(&mut ctx).await
}

/// `A: spawn_link(B); main!{b,B}; end | main: monitor(A); recv DOWN; alive(B)`.
async fn normal_end_stops_at_the_link(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (_, monitor) = ctx.spawn_monitor(move |ctx: C| async move {
        let b: P = ctx.spawn_link(|mut ctx: C| async move { never(&mut ctx).await });
        ctx.send(&me, t([a("b"), (&b).into()]));
    });
    let b = tagged(&mut ctx, "b").await.at(1).pid();
    down(&mut ctx, monitor).await;
    truth(ctx.is_alive(&b))
}

/// `A: trap; link(k); main!ready; recv EXIT q; exit(q) | main: recv ready; exit(k, kill); recv DOWN of A`.
async fn killed_is_an_ordinary_reason(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let k: P = ctx.spawn(|mut ctx: C| async move { never(&mut ctx).await });
    let linked = k.clone();
    let (_, monitor) = ctx.spawn_monitor(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.link(&linked).expect("it lives");
        ctx.send(&me, a("ready"));
        match ctx.recv_match(is_exit).await {
            Received::Exit(exit) => exit.reason,
            _ => unreachable!(),
        }
    });
    get(&mut ctx, a("ready")).await;
    ctx.kill(&k);
    down(&mut ctx, monitor).await
}

/// `main: trap; exit(p, kill); link(p); recv EXIT`.
async fn killed_and_then_linked(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p: P = ctx.spawn(|mut ctx: C| async move { never(&mut ctx).await });
    ctx.kill(&p);
    let linked = ctx.link(&p).is_ok();
    l([truth(linked), exit_of(&mut ctx).await])
}

/// `main: spawn_monitor(P: main!hi); exit(p, kill); recv DOWN q; recv {hi | after 0 -> none}`.
async fn killed_at_birth(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (p, monitor) = ctx.spawn_monitor(move |ctx: C| async move { ctx.send(&me, a("hi")) });
    ctx.kill(&p);
    let reason = down(&mut ctx, monitor).await;
    l([receive!(ctx; hi => hi, after NO_TIME => a("none")), reason])
}

/// `A: recv b; exit(b, boom) | B: recv a; exit(a, boom)`: what each of them ends with.
async fn exit_signals_that_cross(mut ctx: C) -> T {
    let spawn = |ctx: &C| -> (P, MonitorRef) {
        ctx.spawn_monitor(|mut ctx: C| async move {
            let other = any(&mut ctx).await.pid();
            ctx.send_exit(&other, because("boom"));
        })
    };
    let ((one, first), (other, second)) = (spawn(&ctx), spawn(&ctx));
    ctx.send(&one, (&other).into());
    ctx.send(&other, (&one).into());
    let first = down(&mut ctx, first).await;
    l([first, down(&mut ctx, second).await])
}

/// `P: trap; main!ready; recv go; trap off; recv EXIT; exit(bye)`: a signal that was trapped stays a message.
async fn trapped_and_no_longer(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let (p, monitor) = ctx.spawn_monitor(move |mut ctx: C| async move {
        ctx.trap_exit(true);
        ctx.send(&me, a("ready"));
        get(&mut ctx, a("go")).await;
        ctx.trap_exit(false);
        exit_of(&mut ctx).await;
        because("bye")
    });
    get(&mut ctx, a("ready")).await;
    ctx.send_exit(&p, because("boom"));
    ctx.send(&p, a("go"));
    down(&mut ctx, monitor).await
}

/// `A: recv go; main!m | B: monitor(A); A!go; recv DOWN; main!after`.
async fn after_the_down(mut ctx: C) -> T {
    let (me, to) = (ctx.me().clone(), ctx.me().clone());
    let first: P = ctx.spawn(move |mut ctx: C| async move {
        any(&mut ctx).await;
        ctx.send(&to, a("m"));
    });
    ctx.spawn(move |mut ctx: C| async move {
        let monitor = ctx.monitor(&first);
        ctx.send(&first, a("go"));
        down(&mut ctx, monitor).await;
        ctx.send(&me, a("after"));
    });
    let first = any(&mut ctx).await;
    l([first, any(&mut ctx).await])
}

// ── receives and timers ──────────────────────────────────────────────────────────────────────────

/// `A: main!1 | B: main!2 | main: recv {2 -> two | after 0 -> none}; the rest as it comes`.
async fn take_or_leave(mut ctx: C) -> T {
    for number in [1, 2] {
        let me = ctx.me().clone();
        ctx.spawn(move |ctx: C| async move { ctx.send(&me, i(number)) });
    }
    let first = receive!(ctx; T::Int(2) => a("two"), after NO_TIME => a("none"));
    let mut taken = vec![first.clone()];
    for _ in 0..if first == a("two") { 1 } else { 2 } {
        taken.push(any(&mut ctx).await);
    }
    l(taken)
}

/// `A: main!x; main!x | main: recv x; count of x by after 0`.
async fn flush(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.spawn(move |ctx: C| async move { (0..2).for_each(|_| ctx.send(&me, a("x"))) });
    any(&mut ctx).await;
    let mut more = 0;
    while let Some(Received::Message(_)) = ctx.recv_timeout(NO_TIME).await {
        more += 1;
    }
    i(more)
}

/// `t = send_after(10, self, old); cancel(t); send_after(10, self, new); recv up to new`.
async fn timer_set_again(mut ctx: C) -> T {
    let timer = ctx.send_after(ms(10), ctx.me(), a("old"));
    ctx.cancel(timer);
    ctx.send_after(ms(10), ctx.me(), a("new"));
    let mut taken = vec![any(&mut ctx).await];
    while taken.last() != Some(&a("new")) {
        taken.push(any(&mut ctx).await);
    }
    l(taken)
}

/// `t = send_after(10, self, m); recv m; cancel(t)`.
async fn cancel_after_it_was_received(mut ctx: C) -> T {
    let timer = ctx.send_after(ms(10), ctx.me(), a("m"));
    any(&mut ctx).await;
    truth(ctx.cancel(timer).is_some())
}

// ── servers ──────────────────────────────────────────────────────────────────────────────────────

async fn stop_and_then_call(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    stop(&mut ctx, &s).await;
    said(s.call(&mut ctx, Ask::Get, None).await)
}

/// `call(s, slow, 10) -> x; stop(s); recv {_ -> got | after 0 -> none}`: since OTP 24 a late reply is dropped.
async fn late_reply_is_dropped(mut ctx: C) -> T {
    let s = kid(&mut ctx).await;
    let answer = said(s.call(&mut ctx, Ask::Slow, ms(10)).await);
    stop(&mut ctx, &s).await;
    l([answer, receive!(ctx; _ => a("got"), after NO_TIME => a("none"))])
}

/// `A: exit(s, kill) | main: call(s, get)`, of a server that nobody is linked to.
async fn call_while_it_is_killed(mut ctx: C) -> T {
    let born = Born { number: 0, main: ctx.me().clone(), mode: Mode::Quiet };
    let s = Kid::start(&mut ctx, born).await.expect("it starts");
    let target = s.clone();
    ctx.spawn(move |ctx: C| async move { ctx.kill(&target) });
    said(s.call(&mut ctx, Ask::Get, None).await)
}

/// Counts, and lets others reply.
struct Delegates(i64);

#[derive(Debug)]
struct Up(ReplyTo<i64>);

impl GenServer for Delegates {
    type Args = ();
    type Call = Up;
    type Cast = ();
    type Info = ();

    async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Delegates(0))
    }

    async fn handle_call(&mut self, Up(reply): Up, ctx: &mut ServerCtx<Self>) -> Flow {
        self.0 += 1;
        let count = self.0;
        ctx.spawn(move |_: C| async move { reply.send(count) });
        Flow::Continue
    }
}

/// Two callers, each of whom gets a reply of its own.
async fn reply_by_a_worker(mut ctx: C) -> T {
    let s = Delegates::start_link(&mut ctx, ()).await.expect("it starts");
    for name in ["a", "b"] {
        let (me, s) = (ctx.me().clone(), s.clone());
        ctx.spawn(move |mut ctx: C| async move {
            let count = s.call(&mut ctx, Up, None).await.expect("it lives");
            ctx.send(&me, t([a(name), i(count)]));
        });
    }
    let first = tagged(&mut ctx, "a").await.at(1).clone();
    l([first, tagged(&mut ctx, "b").await.at(1).clone()])
}

/// Tells main what happens to it.
struct Tells {
    main: P,
    then: Flow,
}

impl GenServer for Tells {
    type Args = (P, Flow);
    type Call = ();
    type Cast = ();
    type Info = ();

    async fn init((main, then): (P, Flow), ctx: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        ctx.trap_exit(true);
        Ok(Tells { main, then })
    }

    async fn started(&mut self, _: &mut ServerCtx<Self>) -> Flow {
        self.then.clone()
    }

    async fn handle_call(&mut self, (): (), _: &mut ServerCtx<Self>) -> Flow {
        Flow::Continue
    }

    async fn handle_cast(&mut self, (): (), ctx: &mut ServerCtx<Self>) -> Flow {
        ctx.send(&self.main, a("cast"));
        Flow::Continue
    }

    async fn handle_continue(&mut self, (): (), ctx: &mut ServerCtx<Self>) -> Flow {
        ctx.send(&self.main, a("continue"));
        Flow::Continue
    }

    async fn handle_timeout(&mut self, ctx: &mut ServerCtx<Self>) -> Flow {
        ctx.send(&self.main, a("timeout"));
        Flow::Continue
    }

    async fn handle_info(&mut self, info: Received<()>, ctx: &mut ServerCtx<Self>) -> Flow {
        if let Received::Exit(exit) = info {
            ctx.send(&self.main, t([a("info"), why(&exit.reason)]));
        }
        Flow::Continue
    }

    async fn terminate(&mut self, reason: &ExitReason, ctx: &mut ServerCtx<Self>) {
        ctx.send(&self.main, t([a("terminate"), why(reason)]));
    }
}

/// `init -> {ok, S, 10} | A: cast(s)`: a message or the time limit, and what comes then has no limit.
async fn idle_or_told(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let s = Tells::start_link(&mut ctx, (me, Flow::Timeout(ms(10)))).await.expect("it starts");
    ctx.spawn(move |_: C| async move { s.cast(()) });
    let first = any(&mut ctx).await;
    if first == a("cast") {
        return l([first, receive!(ctx; more => more, after ms(50) => a("none"))]);
    }
    l([first, any(&mut ctx).await])
}

/// `init -> {ok, S, {continue, x}} | main: cast(s)`.
async fn continue_comes_first(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let s = Tells::start_link(&mut ctx, (me, Flow::ContinueWith(()))).await.expect("it starts");
    s.cast(());
    let first = any(&mut ctx).await;
    l([first, any(&mut ctx).await])
}

/// A server that traps exits ends with its parent, and says goodbye.
async fn parent_of_a_server_ends(mut ctx: C) -> T {
    let me = ctx.me().clone();
    ctx.spawn(|mut ctx: C| async move {
        Tells::start_link(&mut ctx, (me, Flow::Continue)).await.expect("it starts");
        because("bye")
    });
    any(&mut ctx).await
}

/// To a server that traps exits, the end of another linked process is a message.
async fn stranger_of_a_server_ends(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let s = Tells::start_link(&mut ctx, (me, Flow::Continue)).await.expect("it starts");
    ctx.spawn(move |ctx: C| async move {
        ctx.link(&s).expect("it lives");
        because("boom")
    });
    any(&mut ctx).await
}

/// Locked or open, or waiting with a limit; tells main what it has handled.
struct Machine(P);

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Locked,
    Open,
    Waiting,
    Expired,
}

impl GenStatem for Machine {
    type Args = (P, State);
    type State = State;
    type Event = &'static str;

    async fn init((main, first): (P, State), _: &mut StatemCtx<Self>) -> Result<(Self, State), ExitReason> {
        Ok((Machine(main), first))
    }

    async fn enter(&mut self, _: Option<&State>, state: &State, _: &mut StatemCtx<Self>) -> Vec<Action<&'static str>> {
        if *state == State::Waiting { vec![Action::StateTimeout(ms(10))] } else { Vec::new() }
    }

    async fn handle(
        &mut self,
        state: &State,
        event: Event<&'static str>,
        ctx: &mut StatemCtx<Self>,
    ) -> Next<State, &'static str> {
        let (note, next) = match (state, event) {
            (State::Locked, Event::Message("button")) => return Next::keep().postpone(Event::Message("button")),
            (State::Locked, Event::Message("unlock")) => ("unlock", Next::to(State::Open)),
            (State::Waiting, Event::StateTimeout) => ("timeout", Next::to(State::Expired)),
            (State::Waiting, Event::Message("go")) => ("go", Next::to(State::Open)),
            (State::Expired, Event::Message("go")) => ("late", Next::keep()),
            (_, Event::Message(other)) => (other, Next::keep()),
            _ => return Next::keep(),
        };
        ctx.send(&self.0, a(note));
        next
    }
}

/// `cast(button); cast(unlock); cast(x)`: what was postponed comes before what is new.
async fn postponed_comes_first(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let machine = Machine::start_link(&mut ctx, (me, State::Locked)).await.expect("it starts");
    ["button", "unlock", "x"].into_iter().for_each(|event| machine.send(event));
    let mut notes = Vec::new();
    for _ in 0..3 {
        notes.push(any(&mut ctx).await);
    }
    l(notes)
}

/// `A: cast(go)`, in a state with a time limit: a change of state takes the limit away.
async fn state_timeout_or_event(mut ctx: C) -> T {
    let me = ctx.me().clone();
    let machine = Machine::start_link(&mut ctx, (me, State::Waiting)).await.expect("it starts");
    ctx.spawn(move |_: C| async move { machine.send("go") });
    let first = any(&mut ctx).await;
    if first == a("go") {
        return l([first, receive!(ctx; more => more, after ms(50) => a("none"))]);
    }
    l([first, any(&mut ctx).await])
}

// ── supervisors, names, groups, tables ───────────────────────────────────────────────────────────

/// A dynamic supervisor with two children, of which one is terminated.
async fn dynamic_children(mut ctx: C) -> T {
    let sup = Supervisor::dynamic().start_link(&mut ctx).await.expect("it starts");
    let mut children: Vec<AnyPid> = Vec::new();
    for number in 1..=2 {
        let born = Born { number, main: ctx.me().clone(), mode: Mode::Quiet };
        let started = sup.start_child(&mut ctx, ChildSpec::server::<Kid>(format!("{number}"), born)).await;
        children.push(started.expect("it starts"));
    }
    sup.terminate_child(&mut ctx, "1").await.expect("it is there");
    let count = sup.count_children(&mut ctx).await.expect("it lives").active;
    let alive = ctx.is_alive(&children[1]);
    stop_supervisor(&mut ctx, &sup).await;
    l([i(count as i64), truth(alive)])
}

/// A transient child that is killed is started again, unless its supervisor is ended before.
async fn transient_child_that_is_killed(mut ctx: C) -> T {
    let born = Born { number: 1, main: ctx.me().clone(), mode: Mode::Up };
    let child = ChildSpec::named_server::<Kid>("k", born).restart(Restart::Transient);
    let sup = Supervisor::new(Strategy::OneForOne).child(child).start_link(&mut ctx).await.expect("the kid starts");
    let process = up(&mut ctx).await;
    let monitor = ctx.monitor(&process);
    ctx.kill(&process);
    down(&mut ctx, monitor).await;
    stop_supervisor(&mut ctx, &sup).await;
    receive!(ctx; message if message.is("up") => a("again"), after NO_TIME => a("none"))
}

/// `main: trap; p = spawn_link(recv go; exit(bye)); reg(n, p); p!go; recv EXIT; reg(n, self)`.
async fn name_is_free_before_the_exit(mut ctx: C) -> T {
    ctx.trap_exit(true);
    let p = until_go(&ctx, because("bye"), true);
    ctx.register("n", &p).expect("it is free");
    ctx.send(&p, a("go"));
    exit_of(&mut ctx).await;
    truth(ctx.register("n", ctx.me()).is_ok())
}

/// `join(g, p); monitor(p); p!go; recv DOWN; count of members(g)`: the groups learn of an end in their own time.
async fn member_of_a_group_ends(mut ctx: C) -> T {
    let groups = Groups::<u32, T>::start_link(&mut ctx).await.expect("it starts");
    let p = until_go(&ctx, because("bye"), false);
    groups.join(&mut ctx, 1, &p).await.expect("it lives");
    let monitor = ctx.monitor(&p);
    ctx.send(&p, a("go"));
    down(&mut ctx, monitor).await;
    i(groups.members(&1).len() as i64)
}

/// `A: insert_new(k, 1) | B: insert_new(k, 2)`: the first one counts.
async fn two_new_rows(mut ctx: C) -> T {
    let table = Table::<&str, i64>::new();
    for (name, value) in [("a", 1), ("b", 2)] {
        let (me, table) = (ctx.me().clone(), table.clone());
        ctx.spawn(move |ctx: C| async move {
            let is_new = table.insert_new("k", value);
            ctx.send(&me, t([a(name), truth(is_new)]));
        });
    }
    let first = tagged(&mut ctx, "a").await.at(1).clone();
    tagged(&mut ctx, "b").await;
    l([first, i(table.lookup(&"k").expect("it is there"))])
}

expected! {
    unlinked_before_the_end: "[boom,none]";
    exit_signal_before_the_trap: "shutdown ; bye";
    two_exit_signals: "[boom,bye] ; [bye,boom]";
    exit_signal_then_message: "[boom,none]";
    demonitor_twice: "[true,false]";
    parent_ends_before_the_trap: "normal ; DEADLOCK";
    normal_end_stops_at_the_link: "true";
    killed_is_an_ordinary_reason: "killed";
    killed_and_then_linked: "[true,noproc]";
    killed_at_birth: "[none,killed] ; [hi,killed] ; [hi,normal]";
    exit_signals_that_cross: "[normal,boom] ; [boom,normal]",
        split "[normal,boom] ; [boom,normal] ; [boom,boom] ; [normal,normal]";
    trapped_and_no_longer: "bye";
    after_the_down: "[m,after]", split "[m,after] ; [after,m]";
    take_or_leave: "[two,1] ; [none,1,2] ; [none,2,1]";
    flush: "0 ; 1";
    timer_set_again: "[new] ; [old,new]";
    cancel_after_it_was_received: "false";
    stop_and_then_call: "noproc";
    late_reply_is_dropped: "[0,none] ; [timeout,none]";
    call_while_it_is_killed: "0 ; killed ; noproc";
    reply_by_a_worker: "[1,2] ; [2,1]";
    idle_or_told: "[cast,none] ; [timeout,cast]";
    continue_comes_first: "[continue,cast]";
    parent_of_a_server_ends: "{terminate,bye}";
    stranger_of_a_server_ends: "{info,boom}";
    postponed_comes_first: "[unlock,button,x]";
    state_timeout_or_event: "[go,none] ; [timeout,late]";
    dynamic_children: "[1,true]";
    transient_child_that_is_killed: "again", split "again ; none";
    name_is_free_before_the_exit: "true";
    member_of_a_group_ends: "0 ; 1";
    two_new_rows: "[true,1] ; [false,2]";
}
