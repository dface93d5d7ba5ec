//! What actors do in production, on threads and as tasks of tokio, is among what explorations of them find.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::actor::{
    self, Agent, ChildSpec, Ctx, ExitReason, Flow, GenServer, Message, Pid, Received, ReplyTo, ServerCtx, ServerRef,
    StartOptions, Strategy, Supervisor, Table, Task,
};
use drawloom::receive;

thread_local! {
    /// The runtime whose tasks the processes are to be; threads, if there is none.
    static RUNTIME: std::cell::RefCell<Option<tokio::runtime::Runtime>> = const { std::cell::RefCell::new(None) };
}

/// Runs the processes of a program: where it is explored by the engine, else as `RUNTIME` says.
fn run<M, F, Fut>(f: F) -> Fut::Output
where
    M: Message,
    F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    RUNTIME.with_borrow(|runtime| match runtime {
        Some(runtime) => runtime.block_on(actor::run_on_tokio(f)),
        None => actor::run(f),
    })
}

/// All outcomes under control, in the order of the alphabet, and that no other is seen in production.
#[track_caller]
fn conforms(program: fn() -> String, expected: &[&str]) {
    let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = Arc::clone(&outcomes);
    let config = "exhaustive(max_schedules = 200000), clock = explore, early_fires = 3, trace = false";
    let explored = drawloom::explore(config.parse().unwrap(), move || {
        let outcome = program();
        theirs.lock().unwrap().insert(outcome);
    });
    let found: Vec<_> = explored.findings().iter().map(|found| found.report().to_string()).collect();
    assert!(found.is_empty() && explored.exhausted(), "{} {}", found.join("\n"), explored.summary());
    let outcomes = outcomes.lock().unwrap();
    assert!(outcomes.iter().eq(expected), "{outcomes:?}");
    let seen = |on: &str| {
        for _ in 0..200 {
            let outcome = program();
            assert!(outcomes.contains(&outcome), "on {on}: {outcome}");
        }
    };
    seen("threads");
    // Timers and workers: tasks of both kinds of runtime.
    let one = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let several = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    for (on, runtime) in [("one thread of tokio", one), ("two threads of tokio", several)] {
        RUNTIME.set(Some(runtime));
        seen(on);
    }
    RUNTIME.set(None);
}

#[derive(Debug)]
enum Ask {
    Inc(ReplyTo<u32>),
    Slow(ReplyTo<u32>),
    Die(ReplyTo<u32>),
}

struct Kid(u32);

impl GenServer for Kid {
    type Args = ();
    type Call = Ask;
    type Cast = ();
    type Info = ();

    async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Kid(0))
    }

    async fn handle_call(&mut self, ask: Ask, ctx: &mut ServerCtx<Self>) -> Flow {
        match ask {
            Ask::Inc(reply) => {
                self.0 += 1;
                reply.send(self.0);
            }
            Ask::Slow(reply) => {
                ctx.sleep(Duration::from_millis(1)).await;
                reply.send(7);
            }
            Ask::Die(_reply) => return Flow::Stop(ExitReason::because("boom")),
        }
        Flow::Continue
    }
}

#[test]
fn two_callers_are_served_in_either_order() {
    fn program() -> String {
        run(async |mut ctx: Ctx<(char, u32)>| {
            let server = Kid::start_link(&mut ctx, ()).await.unwrap();
            for name in ['a', 'b'] {
                let (server, whom) = (server.clone(), ctx.me().clone());
                ctx.spawn(move |mut ctx: Ctx<()>| async move {
                    let count = server.call(&mut ctx, Ask::Inc, None).await.unwrap();
                    ctx.send(&whom, (name, count));
                });
            }
            let a = ctx.recv_where(|(name, _)| *name == 'a').await.1;
            let b = ctx.recv_where(|(name, _)| *name == 'b').await.1;
            server.stop(&mut ctx, ExitReason::Normal, None).await.unwrap();
            format!("{a} {b}")
        })
    }
    conforms(program, &["1 2", "2 1"]);
}

#[test]
fn a_call_is_answered_in_time_or_not() {
    fn program() -> String {
        run(async |mut ctx: Ctx<()>| {
            let server = Kid::start_link(&mut ctx, ()).await.unwrap();
            let answer = server.call(&mut ctx, Ask::Inc, Duration::from_millis(1)).await;
            format!("{answer:?}")
        })
    }
    conforms(program, &["Err(Timeout)", "Ok(1)"]);
}

#[test]
fn a_call_is_answered_or_times_out_and_nothing_is_left_of_it() {
    fn program() -> String {
        run(async |mut ctx: Ctx<()>| {
            let server = Kid::start_link(&mut ctx, ()).await.unwrap();
            let answer = server.call(&mut ctx, Ask::Slow, Duration::from_millis(1)).await;
            server.stop(&mut ctx, ExitReason::Normal, None).await.unwrap();
            let left = ctx.recv_timeout(Duration::ZERO).await.is_some();
            format!("{answer:?} {left}")
        })
    }
    conforms(program, &["Err(Timeout) false", "Ok(7) false"]);
}

#[test]
fn a_server_that_stops_in_a_call_is_seen_by_its_caller_and_its_links() {
    fn program() -> String {
        run(async |mut ctx: Ctx<()>| {
            ctx.trap_exit(true);
            let server = Kid::start_link(&mut ctx, ()).await.unwrap();
            let answer = server.call(&mut ctx, Ask::Die, None).await.unwrap_err();
            let exit = receive!(ctx; exit(e) => e.reason);
            format!("{answer}, {exit}")
        })
    }
    conforms(program, &["the process that was called has ended: boom, boom"]);
}

#[test]
fn a_call_by_name_races_with_a_stop() {
    fn program() -> String {
        run(async |mut ctx: Ctx<String>| {
            let named = StartOptions::new().name("n").link();
            let server = named.start::<Kid, _>(&mut ctx, ()).await.unwrap();
            let whom = ctx.me().clone();
            ctx.spawn(move |mut ctx: Ctx<()>| async move {
                let answer = ServerRef::<Kid>::call_name(&mut ctx, "n", Ask::Inc, None).await;
                ctx.send(&whom, format!("{answer:?}"));
            });
            server.stop(&mut ctx, ExitReason::Normal, None).await.unwrap();
            ctx.recv_message().await
        })
    }
    conforms(program, &["Err(Ended(Normal))", "Err(NoProc)", "Ok(1)"]);
}

#[test]
fn a_child_that_is_killed_is_found_again_or_not_yet() {
    fn program() -> String {
        run(async |mut ctx: Ctx<()>| {
            let child = ChildSpec::named_server::<Kid>("k", ());
            let supervisor = Supervisor::new(Strategy::OneForOne).child(child).start(&mut ctx).await.unwrap();
            let first = ctx.whereis("k").unwrap();
            ctx.kill(&first);
            let answer = ServerRef::<Kid>::call_name(&mut ctx, "k", Ask::Inc, None).await;
            supervisor.stop(&mut ctx).await.unwrap();
            format!("{answer:?}")
        })
    }
    conforms(program, &["Err(NoProc)", "Ok(1)"]);
}

#[test]
fn two_messages_of_two_senders_come_in_either_order() {
    fn program() -> String {
        run(async |mut ctx: Ctx<u32>| {
            for n in [1, 2] {
                let whom: Pid<u32> = ctx.me().clone();
                ctx.spawn(move |ctx: Ctx<()>| async move { ctx.send(&whom, n) });
            }
            let (Received::Message(a), Received::Message(b)) = (ctx.recv().await, ctx.recv().await) else {
                return "no message".to_owned();
            };
            format!("{a}{b}")
        })
    }
    conforms(program, &["12", "21"]);
}

#[test]
fn tasks_agents_and_tables() {
    fn program() -> String {
        run(async |mut ctx: Ctx<()>| {
            let (table, agent) = (Table::new(), Agent::start_link(&mut ctx, 0).await.unwrap());
            let tasks = [1, 2].map(|n| {
                let (table, agent) = (table.clone(), agent.clone());
                Task::spawn(&mut ctx, move |_| async move {
                    agent.cast(move |value| *value = n);
                    table.insert_new("first", n)
                })
            });
            let mut firsts = Vec::new();
            for task in tasks {
                firsts.push(u32::from(task.join(&mut ctx, None).await.unwrap()));
            }
            match agent.get(&mut ctx, |value| *value).await {
                Ok(last) => format!("{firsts:?} {last}"),
                // Its five seconds can be over at any time.
                Err(error) => format!("{error:?}"),
            }
        })
    }
    conforms(program, &["Timeout", "[0, 1] 1", "[0, 1] 2", "[1, 0] 1", "[1, 0] 2"]);
}
