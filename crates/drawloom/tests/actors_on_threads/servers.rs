//! Servers, their calls, and how both end.

use std::time::Duration;

use drawloom::actor::{
    CallError, Ctx, ExitReason, Flow, GenServer, Received, ReplyTo, ServerCtx, ServerMessage, ServerRef, StartError,
    StartOptions,
};
use drawloom::receive;

use crate::{LONG, SOON, run};

/// A counter that tells its listener what happens to it.
struct Counter {
    count: u32,
    tells: drawloom::actor::Pid<u32>,
    kept: Vec<ReplyTo<u32>>,
}

#[derive(Debug)]
enum Ask {
    Get(ReplyTo<u32>),
    Later(ReplyTo<u32>),
    Drop(ReplyTo<u32>),
    Slow(ReplyTo<u32>),
    Crash(ReplyTo<u32>),
    Stop(ReplyTo<u32>),
    Myself(ReplyTo<String>),
    Idle(ReplyTo<u32>),
}

#[derive(Clone, Debug)]
enum Tell {
    Add(u32),
    Answer,
    Then(u32),
}

const TERMINATED: u32 = 100;
const IDLE: u32 = 101;
const DOWN: u32 = 102;

impl GenServer for Counter {
    type Args = (u32, drawloom::actor::Pid<u32>);
    type Call = Ask;
    type Cast = Tell;
    type Info = u32;

    async fn init((count, tells): Self::Args, ctx: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        if count == 13 {
            return Err(ExitReason::because("unlucky"));
        }
        if count == 14 {
            std::panic::resume_unwind(Box::new("no"));
        }
        if count == 15 {
            ctx.sleep(LONG).await;
        }
        ctx.trap_exit(count == 1);
        Ok(Counter { count, tells, kept: Vec::new() })
    }

    async fn handle_call(&mut self, ask: Ask, ctx: &mut ServerCtx<Self>) -> Flow<u32> {
        match ask {
            Ask::Get(reply) => reply.send(self.count),
            Ask::Later(reply) => self.kept.push(reply),
            Ask::Drop(reply) => drop(reply),
            Ask::Slow(reply) => {
                ctx.sleep(SOON * 4).await;
                reply.send(self.count);
            }
            Ask::Crash(_reply) => std::panic::resume_unwind(Box::new("bang")),
            Ask::Stop(_reply) => return Flow::Stop(ExitReason::because("asked to")),
            Ask::Myself(reply) => {
                let error = ServerRef::<Self>::me(ctx).call(ctx, Ask::Get, None).await;
                reply.send(error.map(|_| ()).unwrap_err().to_string());
            }
            Ask::Idle(reply) => {
                reply.send(0);
                return Flow::Timeout(SOON);
            }
        }
        Flow::Continue
    }

    async fn handle_cast(&mut self, tell: Tell, _: &mut ServerCtx<Self>) -> Flow<u32> {
        match tell {
            Tell::Add(more) => self.count += more,
            Tell::Answer => self.kept.drain(..).for_each(|reply| reply.send(self.count)),
            Tell::Then(n) => return Flow::ContinueWith(n),
        }
        Flow::Continue
    }

    async fn handle_info(&mut self, info: Received<u32>, ctx: &mut ServerCtx<Self>) -> Flow<u32> {
        match info {
            Received::Message(n) => self.count += n,
            Received::Down(_) | Received::Exit(_) => ctx.send(&self.tells, DOWN),
        }
        Flow::Continue
    }

    async fn handle_timeout(&mut self, ctx: &mut ServerCtx<Self>) -> Flow<u32> {
        ctx.send(&self.tells, IDLE);
        Flow::Continue
    }

    async fn terminate(&mut self, _: &ExitReason, ctx: &mut ServerCtx<Self>) {
        ctx.send(&self.tells, TERMINATED);
    }
}

async fn counter(ctx: &mut Ctx<u32>, from: u32) -> ServerRef<Counter> {
    let me = ctx.me().clone();
    Counter::start(ctx, (from, me)).await.unwrap()
}

#[test]
fn calls_casts_and_infos_are_handled_in_their_order() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 0).await;
        server.cast(Tell::Add(1));
        server.info(2);
        server.cast(Tell::Then(4));
        assert_eq!(server.call(&mut ctx, Ask::Get, LONG).await, Ok(7));
        ctx.send_after(SOON, server.pid(), ServerMessage::Info(1));
        ctx.sleep(SOON * 4).await;
        assert_eq!(server.call(&mut ctx, Ask::Get, None).await, Ok(8));
        assert_eq!(server.stop(&mut ctx, ExitReason::Normal, LONG).await, Ok(()));
        assert_eq!(ctx.recv_message().await, TERMINATED);
        assert_eq!(server.stop(&mut ctx, ExitReason::Normal, LONG).await, Err(CallError::NoProc));
        assert_eq!(server.call(&mut ctx, Ask::Get, LONG).await, Err(CallError::NoProc));
        server.cast(Tell::Add(1));
    });
}

#[test]
fn a_late_reply_is_thrown_away() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 0).await;
        assert_eq!(server.call(&mut ctx, Ask::Slow, SOON).await, Err(CallError::Timeout));
        server.cast(Tell::Add(1));
        assert_eq!(server.call(&mut ctx, Ask::Get, LONG).await, Ok(1));
        assert!(ctx.recv_timeout(SOON).await.is_none());
    });
}

#[test]
fn a_reply_can_be_kept_for_later() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 7).await;
        let theirs = server.clone();
        let (_, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<()>| async move {
            theirs.call(&mut ctx, Ask::Later, LONG).await.map(|count| assert_eq!(count, 7))
        });
        ctx.settle().await;
        server.cast(Tell::Answer);
        assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::Normal);
    });
}

#[test]
fn a_reply_that_is_dropped_says_so_and_one_that_is_owed_at_the_end_does_not() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 0).await;
        assert_eq!(server.call(&mut ctx, Ask::Drop, LONG).await, Err(CallError::NoReply));
        let theirs = server.clone();
        let (_, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<()>| async move {
            let answer = theirs.call(&mut ctx, Ask::Later, LONG).await;
            assert_eq!(answer, Err(CallError::Ended(ExitReason::Shutdown)));
        });
        ctx.settle().await;
        server.stop(&mut ctx, ExitReason::Shutdown, LONG).await.unwrap();
        assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::Normal);
    });
}

#[test]
fn who_calls_a_server_that_ends_learns_why() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 0).await;
        let answer = server.call(&mut ctx, Ask::Stop, LONG).await;
        assert_eq!(answer, Err(CallError::Ended(ExitReason::because("asked to"))));
        let server = counter(&mut ctx, 0).await;
        let answer = server.call(&mut ctx, Ask::Crash, LONG).await;
        assert!(matches!(answer, Err(CallError::Ended(ExitReason::Panic(panic))) if panic.message == "bang"));
    });
}

#[test]
fn a_call_to_oneself_names_the_place() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 0).await;
        let said = server.call(&mut ctx, Ask::Myself, LONG).await.unwrap();
        assert!(said.contains("calls itself at") && said.contains("servers.rs:"), "{said}");
    });
}

#[test]
fn nothing_for_a_while_is_a_timeout() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 0).await;
        server.call(&mut ctx, Ask::Idle, LONG).await.unwrap();
        assert_eq!(ctx.recv_message().await, IDLE);
    });
}

#[test]
fn a_start_that_fails_says_why() {
    run(|mut ctx| async move {
        ctx.trap_exit(true);
        let me = ctx.me().clone();
        let unlucky = ExitReason::because("unlucky");
        let failed = Counter::start_link(&mut ctx, (13, me.clone())).await.unwrap_err();
        assert_eq!(failed, StartError::Failed(unlucky.clone()));
        assert_eq!(receive!(ctx; exit(e) => e.reason), unlucky);
        let failed = Counter::start(&mut ctx, (14, me.clone())).await.unwrap_err();
        assert!(matches!(failed, StartError::Failed(ExitReason::Panic(_))));
        let slow = StartOptions::new().link().limit(SOON).start::<Counter, _>(&mut ctx, (15, me)).await;
        assert_eq!(slow.unwrap_err(), StartError::Timeout);
        assert!(ctx.recv_timeout(SOON).await.is_none());
    });
}

#[test]
fn a_name_is_found_and_can_be_taken_only_once() {
    run(|mut ctx| async move {
        let me = ctx.me().clone();
        let named = || StartOptions::new().name("counter").link();
        let server = named().start::<Counter, _>(&mut ctx, (3, me.clone())).await.unwrap();
        assert_eq!(ServerRef::whereis(&ctx, "counter"), Some(server.clone()));
        assert_eq!(ServerRef::<Counter>::call_name(&mut ctx, "counter", Ask::Get, LONG).await, Ok(3));
        assert_eq!(ServerRef::<Counter>::call_name(&mut ctx, "nobody", Ask::Get, LONG).await, Err(CallError::NoProc));
        let taken = named().start::<Counter, _>(&mut ctx, (3, me.clone())).await.unwrap_err();
        assert!(matches!(&taken, StartError::NameTaken { name, by: Some(by), .. }
            if name == "counter" && by == server.as_ref()));
        assert!(taken.to_string().contains("servers.rs:"), "{taken}");
        server.stop(&mut ctx, ExitReason::Normal, LONG).await.unwrap();
    });
}

#[test]
fn a_server_that_traps_exits_stops_with_its_parent() {
    run(|mut ctx| async move {
        let tells = ctx.me().clone();
        let parent = ctx.spawn(move |mut ctx: Ctx<u32>| async move {
            Counter::start_link(&mut ctx, (1, tells.clone())).await.unwrap();
            ctx.send(&tells, 1);
            ctx.recv().await;
        });
        assert_eq!(ctx.recv_message().await, 1);
        ctx.send_exit(&parent, ExitReason::Shutdown);
        assert_eq!(ctx.recv_message().await, TERMINATED);
    });
}

#[test]
fn exits_and_downs_are_infos() {
    run(|mut ctx| async move {
        let server = counter(&mut ctx, 1).await;
        let linked = server.clone();
        ctx.spawn(move |ctx: Ctx<()>| async move {
            ctx.link(&linked).unwrap();
            ExitReason::because("boom")
        });
        assert_eq!(ctx.recv_message().await, DOWN);
        assert_eq!(server.call(&mut ctx, Ask::Get, LONG).await, Ok(1));
    });
}

#[test]
fn a_reply_to_a_caller_that_is_gone_is_an_error_if_one_asks() {
    #[derive(Debug)]
    struct Hold(ReplyTo<u32>);
    run(|mut ctx: Ctx<u32>| async move {
        let (holder, held) = ctx.spawn_monitor(|mut ctx: Ctx<Hold>| async move {
            let Hold(reply) = ctx.recv_message().await;
            let monitor = ctx.monitor(reply.caller());
            ctx.recv_down(monitor).await;
            let gone = reply.try_send(3).unwrap_err();
            assert!(gone.value == 3 && gone.to_string().contains("servers.rs:"), "{gone}");
        });
        let caller = ctx.spawn(move |mut ctx: Ctx<()>| async move {
            let _ = ctx.call(&holder, Hold, Duration::from_secs(50)).await;
        });
        ctx.settle().await;
        ctx.kill(&caller);
        assert_eq!(ctx.recv_down(held).await.reason, ExitReason::Normal);
    });
}

#[test]
fn a_server_that_is_not_told_anything_stops_when_it_is() {
    struct Deaf;
    impl GenServer for Deaf {
        type Args = ();
        type Call = ();
        type Cast = u32;
        type Info = ();

        async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
            Ok(Deaf)
        }

        async fn handle_call(&mut self, (): (), _: &mut ServerCtx<Self>) -> Flow {
            Flow::Continue
        }
    }
    run(|mut ctx| async move {
        let server = Deaf::start(&mut ctx, ()).await.unwrap();
        let monitor = ctx.monitor(&server);
        server.cast(5);
        let reason = ctx.recv_down(monitor).await.reason;
        assert!(reason.to_string().contains("does not handle: 5"), "{reason}");
    });
}
