//! Calls with a time limit, of servers that are slow, stop or are killed: every exploration comes to its end.

use std::time::Duration;

use drawloom::actor::{
    Ctx, Delivery, ExitReason, Flow, GenServer, Received, ReplyTo, ServerCtx, ServerMessage, System,
};

struct Server(u32);

#[derive(Debug)]
enum Ask {
    Next(ReplyTo<u32>),
    Slowly(ReplyTo<u32>),
    AndSetATimer(ReplyTo<u32>),
}

#[derive(Debug)]
struct Stop;

impl GenServer for Server {
    type Args = ();
    type Call = Ask;
    type Cast = Stop;
    type Info = ();

    async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Server(0))
    }

    async fn handle_call(&mut self, ask: Ask, ctx: &mut ServerCtx<Self>) -> Flow {
        self.0 += 1;
        match ask {
            Ask::Next(reply) => reply.send(self.0),
            Ask::Slowly(reply) => {
                ctx.sleep(millis(5)).await;
                reply.send(self.0);
            }
            Ask::AndSetATimer(reply) => {
                ctx.send_after(millis(1), ctx.me(), ServerMessage::Info(()));
                reply.send(self.0);
            }
        }
        Flow::Continue
    }

    async fn handle_cast(&mut self, Stop: Stop, _: &mut ServerCtx<Self>) -> Flow {
        Flow::Stop(ExitReason::because("asked to"))
    }

    async fn handle_info(&mut self, _: Received<()>, _: &mut ServerCtx<Self>) -> Flow {
        Flow::Continue
    }
}

fn millis(many: u64) -> Duration {
    Duration::from_millis(many)
}

async fn too_slow(ctx: &mut Ctx<()>) {
    let server = Server::start(ctx, ()).await.unwrap();
    let _ = server.call(ctx, Ask::Slowly, millis(5)).await;
    let _ = server.call(ctx, Ask::Next, millis(5)).await;
}

async fn killed(ctx: &mut Ctx<()>) {
    let server = Server::start(ctx, ()).await.unwrap();
    let pid = server.pid().clone();
    ctx.spawn(async move |ctx: Ctx<()>| ctx.kill(&pid));
    let _ = server.call(ctx, Ask::Slowly, millis(3)).await;
}

async fn stopped(ctx: &mut Ctx<()>) {
    let server = Server::start(ctx, ()).await.unwrap();
    let other = server.clone();
    ctx.spawn(async move |_: Ctx<()>| other.cast(Stop));
    let _ = server.call(ctx, Ask::Slowly, millis(7)).await;
}

async fn with_a_timer(ctx: &mut Ctx<()>) {
    let server = Server::start(ctx, ()).await.unwrap();
    let _ = server.call(ctx, Ask::AndSetATimer, millis(1)).await;
    let _ = server.call(ctx, Ask::Next, millis(1)).await;
}

async fn two_clients(ctx: &mut Ctx<()>) {
    let server = Server::start(ctx, ()).await.unwrap();
    let other = server.clone();
    ctx.spawn(async move |mut ctx: Ctx<()>| drop(other.call(&mut ctx, Ask::Next, millis(2)).await));
    let _ = server.call(ctx, Ask::Next, millis(2)).await;
}

macro_rules! exhausted {
    ($($program:ident)+) => {
        $(#[test]
        fn $program() {
            for delivery in [Delivery::Atomic, Delivery::Split] {
                for clock in ["quiescent", "explore"] {
                    let config = format!("exhaustive(max_schedules = 30000, trace = false, clock = {clock})");
                    let explored = drawloom::explore(config.parse().unwrap(), move || {
                        let run = async |mut ctx: Ctx<()>| super::$program(&mut ctx).await;
                        System::new().delivery(delivery).run(run).unwrap();
                    });
                    let found = explored.findings().iter().find(|found| found.kind() != "nothing explored");
                    assert!(found.is_none(), "{delivery:?}, {clock}: {}", explored.summary());
                    let done = explored.exhausted() || !explored.findings().is_empty();
                    assert!(done, "{delivery:?}, {clock}: {}", explored.summary());
                }
            }
        })+
    };
}

/// Where time passes when nobody can go on, and where timers fire early.
mod are_exhausted {
    use super::{Ctx, Delivery, System};

    exhausted!(too_slow killed stopped with_a_timer two_clients);
}

/// A process that is killed while it waits: an execution on the way brings nothing, and `auto` does not give up for that.
#[test]
fn what_is_small_is_exhausted_by_auto_though_somebody_is_killed() {
    for delivery in [Delivery::Atomic, Delivery::Split] {
        let explored = drawloom::explore("auto(trace = false)".parse().unwrap(), move || {
            let run = async |ctx: Ctx<()>| {
                let waits = ctx.spawn(async |mut ctx: Ctx<u8>| drop(ctx.recv().await));
                let target = waits.clone();
                ctx.spawn(async move |ctx: Ctx<()>| ctx.kill(&target));
                waits.send(1);
            };
            System::new().delivery(delivery).run(run).unwrap();
        });
        assert!(explored.exhausted(), "{delivery:?}: {}", explored.summary());
    }
}
