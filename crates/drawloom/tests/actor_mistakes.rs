//! What people get wrong with actors, and what they are told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::Exploration;
use drawloom::actor::{
    self, ChildSpec, Ctx, ExitReason, Flow, GenServer, Pid, ReplyTo, ServerCtx, StartOptions, Strategy, Supervisor,
    System,
};
use drawloom::receive;

fn explore<F, Fut>(process: F) -> Exploration
where
    F: Fn(Ctx<u32>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    let config = "exhaustive(max_schedules = 1000, trace = false)";
    drawloom::explore(config.parse().unwrap(), move || {
        System::new().run(process).expect("the first process returns");
    })
}

/// What the program was told, in the one execution that it has.
fn told<F, Fut>(process: F) -> String
where
    F: Fn(Ctx<u32>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = String> + Send + 'static,
{
    let told = Arc::new(Mutex::new(String::new()));
    let theirs = told.clone();
    let config = "exhaustive(max_schedules = 1000, trace = false)";
    let explored = drawloom::explore(config.parse().unwrap(), move || {
        let said = System::new().run(process).expect("the first process returns");
        *theirs.lock().unwrap() = said;
    });
    is_clean(&explored);
    told.lock().unwrap().clone()
}

fn messages(explored: &Exploration) -> String {
    let all = explored.findings();
    all.iter().map(|found| format!("{}: {}", found.kind(), found.message())).collect::<Vec<_>>().join("\n")
}

/// Nothing was found; that there was nothing to choose does not matter.
#[track_caller]
fn is_clean(explored: &Exploration) {
    let found = explored.findings().iter().find(|found| found.kind() != "nothing explored");
    assert!(found.is_none(), "{}", messages(explored));
}

#[track_caller]
fn is_found(explored: &Exploration, text: &str) {
    assert!(messages(explored).contains(text), "{:?}", messages(explored));
}

#[derive(Debug)]
enum Ask {
    Itself(ReplyTo<String>),
    Drop(ReplyTo<()>),
    Panic(ReplyTo<()>),
}

struct Kid;

impl GenServer for Kid {
    type Args = bool;
    type Call = Ask;
    type Cast = ();
    type Info = ();

    async fn init(starts: bool, _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        if starts { Ok(Kid) } else { Err(ExitReason::because("no disk")) }
    }

    async fn handle_call(&mut self, ask: Ask, ctx: &mut ServerCtx<Self>) -> Flow {
        match ask {
            Ask::Itself(reply) => {
                let me = drawloom::actor::ServerRef::<Kid>::me(ctx);
                let answer: Result<String, _> = me.call(ctx, Ask::Itself, None).await;
                reply.send(answer.unwrap_err().to_string());
            }
            Ask::Drop(reply) => drop(reply),
            Ask::Panic(_reply) => panic!("a server that fails"),
        }
        Flow::Continue
    }
}

// ── what is said ─────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_call_to_oneself() {
    let said = told(|mut ctx| async move {
        let kid = Kid::start(&mut ctx, true).await.unwrap();
        kid.call(&mut ctx, Ask::Itself, None).await.unwrap()
    });
    insta::assert_snapshot!(said);
}

#[test]
fn a_reply_to_a_caller_that_is_gone() {
    let said = told(|mut ctx| async move {
        let me = ctx.me().clone();
        let said = Arc::new(Mutex::new(String::new()));
        let theirs = said.clone();
        let late: Pid<ReplyTo<u32>> = ctx.spawn(move |mut ctx: Ctx<ReplyTo<u32>>| async move {
            let reply = ctx.recv_message().await;
            let caller = reply.caller().clone();
            ctx.kill(&caller);
            *theirs.lock().unwrap() = reply.try_send(42).unwrap_err().to_string();
            ctx.send(&me, 1);
        });
        ctx.spawn(move |mut ctx: Ctx<()>| async move { ctx.call(&late, |reply| reply, None).await.map(drop) });
        ctx.recv().await;
        std::mem::take(&mut *said.lock().unwrap())
    });
    insta::assert_snapshot!(said);
}

#[test]
fn a_name_that_is_taken() {
    let said = told(|mut ctx| async move {
        let other: Pid<()> = ctx.spawn(|mut ctx: Ctx<()>| async move { drop(ctx.recv().await) });
        ctx.register("n", &other).unwrap();
        let taken = ctx.register("n", ctx.me()).unwrap_err();
        assert_eq!(taken.by.as_ref(), Some(other.any()));
        let named = ctx.register("m", &other).unwrap_err();
        let start = StartOptions::new().name("n").start::<Kid, _>(&mut ctx, true).await.unwrap_err();
        let monitor = ctx.monitor(&other);
        ctx.kill(&other);
        ctx.recv_down(monitor).await;
        // It can be given to somebody else now.
        let dead = ctx.register("n", &other).unwrap_err();
        ctx.register("n", ctx.me()).unwrap();
        [taken.to_string(), named.to_string(), dead.to_string(), start.to_string()].join("\n")
    });
    insta::assert_snapshot!(said);
}

#[test]
fn a_child_that_fails_at_its_start() {
    let said = told(|mut ctx| async move {
        let supervisor = Supervisor::new(Strategy::OneForOne)
            .child(ChildSpec::named_server::<Kid>("first", true))
            .child(ChildSpec::named_server::<Kid>("second", false));
        let failed = supervisor.start(&mut ctx).await.unwrap_err();
        // Nothing of it is left: those that had started have ended.
        assert!(ctx.whereis("first").is_none());
        failed.to_string()
    });
    insta::assert_snapshot!(said);
}

#[test]
fn a_process_that_sends_to_a_name_that_nobody_has() {
    let said = told(|ctx| async move { ctx.send_to_name("nobody", 1u32).unwrap_err().to_string() });
    insta::assert_snapshot!(said);
}

#[test]
fn a_receive_that_nothing_can_ever_match() {
    let explored = explore(|mut ctx| async move {
        ctx.me().send(1);
        ctx.me().send(2);
        ctx.recv_where(|n| *n > 2).await;
    });
    let report = explored.findings()[0].report();
    insta::assert_snapshot!(report);
}

// ── what is found ────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_predicate_that_panics_is_a_finding_though_somebody_is_told_of_the_end() {
    let explored = explore(|mut ctx| async move {
        let (picky, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<u32>| async move {
            ctx.recv_where(|n| 10 / *n > 1).await;
        });
        ctx.send(&picky, 0);
        ctx.recv_down(monitor).await;
    });
    is_found(&explored, "attempt to divide by zero");
}

#[test]
fn a_reply_that_is_dropped_is_a_finding_and_the_caller_is_told() {
    let explored = explore(|mut ctx| async move {
        let kid = Kid::start(&mut ctx, true).await.unwrap();
        assert_eq!(kid.call(&mut ctx, Ask::Drop, None).await, Err(actor::CallError::NoReply));
    });
    is_found(
        &explored,
        "a `ReplyTo` was dropped without a reply: the call at crates/drawloom/tests/actor_mistakes.rs:",
    );
    assert_eq!(explored.findings().len(), 1, "{}", messages(&explored));
}

#[test]
fn a_panic_that_nobody_is_told_of_is_a_finding() {
    let alone = explore(|ctx| async move {
        ctx.spawn(|_: Ctx<()>| async { panic!("nobody looks") });
    });
    is_found(&alone, "nobody looks");
    // Two that are linked end both, and nobody else is told.
    let linked = explore(|mut ctx| async move {
        ctx.spawn(|ctx: Ctx<()>| async move {
            let other: Pid<()> = ctx.spawn_link(|_: Ctx<()>| async { panic!("nobody looks at the two") });
            std::future::pending::<()>().await;
            drop(other);
        });
        ctx.recv_timeout(Duration::from_secs(1)).await;
    });
    is_found(&linked, "nobody looks at the two");
}

#[test]
fn a_panic_that_somebody_is_told_of_is_none() {
    let watched = explore(|mut ctx| async move {
        let (_, monitor) = ctx.spawn_monitor(|_: Ctx<()>| async { panic!("a monitor is told") });
        assert!(matches!(ctx.recv_down(monitor).await.reason, ExitReason::Panic(_)));
        ctx.trap_exit(true);
        ctx.spawn_link(|_: Ctx<()>| async { panic!("a link is told") });
        receive!(ctx; exit(e) => assert!(matches!(e.reason, ExitReason::Panic(_))));
        // By way of another process.
        ctx.spawn_link(|mut ctx: Ctx<()>| async move {
            ctx.spawn_link(|_: Ctx<()>| async { panic!("a link of a link is told") });
            ctx.recv().await;
        });
        receive!(ctx; exit(e) => assert!(matches!(e.reason, ExitReason::Panic(_))));
    });
    is_clean(&watched);
}

#[test]
fn a_panic_of_a_child_is_the_business_of_its_supervisor() {
    let explored = explore(|mut ctx| async move {
        let supervisor = Supervisor::new(Strategy::OneForOne).child(ChildSpec::named_server::<Kid>("k", true));
        let supervisor = supervisor.start(&mut ctx).await.unwrap();
        let answer = drawloom::actor::ServerRef::<Kid>::call_name(&mut ctx, "k", Ask::Panic, None).await;
        assert!(matches!(answer, Err(actor::CallError::Ended(ExitReason::Panic(_)))));
        supervisor.stop(&mut ctx).await.unwrap();
    });
    is_clean(&explored);
}

#[test]
fn the_context_of_a_process_is_its_own() {
    let explored = explore(|ctx| async move {
        let thread = drawloom::thread::spawn(move || {
            let mut ctx = ctx;
            drawloom::future::block_on(async { drop(ctx.recv().await) });
        });
        drop(thread);
    });
    is_found(&explored, "is not in the process whose mailbox it is for");
}

#[test]
fn a_process_that_outlives_its_system_takes_no_messages_and_harms_nobody() {
    let explored = drawloom::explore("exhaustive(trace = false)".parse().unwrap(), || {
        let kept: Pid<u32> = actor::run(|ctx: Ctx<u32>| async move { ctx.me().clone() });
        kept.send(1);
        actor::run(move |mut ctx: Ctx<u32>| async move {
            let monitor = ctx.monitor(&kept);
            assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::NoProc);
            assert!(ctx.recv_timeout(Duration::ZERO).await.is_none());
        });
    });
    is_clean(&explored);
}

#[test]
fn an_execution_that_is_too_long_is_no_pass() {
    let config = "exhaustive(trace = false), max_steps = 200";
    let explored = drawloom::explore(config.parse().unwrap(), || {
        actor::run(|mut ctx: Ctx<u32>| async move {
            loop {
                ctx.me().send(1);
                ctx.recv().await;
            }
        })
    });
    assert_eq!(explored.findings()[0].kind(), "step limit");
}
