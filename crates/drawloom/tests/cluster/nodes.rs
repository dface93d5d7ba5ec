//! Processes on several nodes: everything between them is severed by partitions and crashes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::actor::nodes::{NodeEvent, Nodes, Resolve};
use drawloom::actor::{self, CallError, Ctx, ExitReason, Pid, Received, ReplyTo};
use drawloom::cluster::Mode;

/// What runs of a program say, by exhaustive exploration.
fn all(program: impl Fn(Arc<Mutex<Vec<String>>>) + Send + Sync + 'static) -> BTreeSet<String> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let config = "exhaustive(resume = false), allow_no_choice = true".parse().unwrap();
    let explored = drawloom::explore(config, move || {
        let said = Arc::new(Mutex::new(Vec::new()));
        program(said.clone());
        let said = said.lock().unwrap().join(", ");
        seen.lock().unwrap().insert(said);
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    assert!(explored.exhausted(), "{}", explored.summary());
    all.lock().unwrap().clone()
}

fn set(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|one| (*one).to_owned()).collect()
}

type Said = Arc<Mutex<Vec<String>>>;

fn say(said: &Said, what: impl std::fmt::Debug) {
    said.lock().unwrap().push(format!("{what:?}"));
}

/// A process that hears numbers and says them, until it hears 0.
async fn hears(mut ctx: Ctx<u32>, said: Said, done: Pid<()>) {
    loop {
        match ctx.recv_message().await {
            0 => break ctx.send(&done, ()),
            n => say(&said, n),
        }
    }
}

#[test]
fn messages_between_two_processes_keep_their_order() {
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let done = ctx.me().clone();
            let b = nodes.spawn(&ctx, "b", move |ctx| hears(ctx, said, done));
            nodes.spawn(&ctx, "a", move |ctx: Ctx<()>| async move {
                for n in [1, 2, 3, 0] {
                    ctx.send(&b, n);
                }
            });
            ctx.recv_message().await;
        });
    });
    assert_eq!(seen, set(&["1, 2, 3"]));
}

/// A partition while `a` sends 1 and 2 to `b`; then it heals, and it sends 3. What comes is said until all is quiet.
fn partitioned(mode: Mode) -> BTreeSet<String> {
    all(move |said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let b = nodes.spawn(&ctx, "b", move |mut ctx: Ctx<u32>| async move {
                loop {
                    let n = ctx.recv_message().await;
                    say(&said, n);
                }
            });
            nodes.spawn(&ctx, "a", move |ctx: Ctx<()>| async move {
                ctx.send(&b, 1);
                ctx.send(&b, 2);
            });
            nodes.partition(&ctx, &["a"], &["b"], mode);
            nodes.heal(&ctx);
            ctx.settle().await;
        });
    })
}

#[test]
fn a_partition_loses_what_is_on_its_way_or_delays_it() {
    assert_eq!(partitioned(Mode::Drop), set(&["", "1", "2", "1, 2"]));
    assert_eq!(partitioned(Mode::Defer), set(&["1, 2"]));
}

#[test]
fn monitors_and_links_across_it_say_no_connection() {
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let b = nodes.spawn(&ctx, "b", |mut ctx: Ctx<()>| async move { ctx.recv_message().await });
            let done = ctx.me().clone();
            nodes.spawn(&ctx, "a", move |mut ctx: Ctx<()>| async move {
                ctx.trap_exit(true);
                let monitor = ctx.monitor(&b);
                let linked = ctx.link(&b).is_ok();
                say(&said, linked);
                for _ in 0..2 {
                    match ctx.recv().await {
                        Received::Down(down) => {
                            assert_eq!(down.monitor, monitor);
                            say(&said, down.reason);
                        }
                        Received::Exit(exit) => say(&said, exit.reason),
                        Received::Message(()) => {}
                    }
                }
                ctx.send(&done, ());
            });
            nodes.partition(&ctx, &["a"], &["b"], Mode::Drop);
            ctx.recv_message().await;
        });
    });
    assert_eq!(seen, set(&["true, NoConnection, NoConnection"]));
}

#[test]
fn a_call_to_a_node_that_crashes_ends_without_connection() {
    #[derive(Debug)]
    enum Request {
        Double(u32, ReplyTo<u32>),
    }
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let server = nodes.spawn(&ctx, "b", |mut ctx: Ctx<Request>| async move {
                loop {
                    let Request::Double(n, reply) = ctx.recv_message().await;
                    reply.send(2 * n);
                }
            });
            let done = ctx.me().clone();
            nodes.spawn(&ctx, "a", move |mut ctx: Ctx<()>| async move {
                let answer = ctx.call(&server, |reply| Request::Double(21, reply), None).await;
                say(&said, answer);
                ctx.send(&done, ());
            });
            nodes.crash(&ctx, "b");
            ctx.recv_message().await;
        });
    });
    let gone = format!("{:?}", Err::<u32, _>(CallError::Ended(ExitReason::NoConnection)));
    assert_eq!(seen, set(&["Ok(42)", &gone]));
}

#[test]
fn what_a_crashed_node_does_reaches_nobody() {
    struct Farewell(Pid<u32>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.send(9);
        }
    }
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let theirs = said.clone();
            let b = nodes.spawn(&ctx, "b", move |mut ctx: Ctx<u32>| async move {
                loop {
                    let n = ctx.recv_message().await;
                    say(&theirs, n);
                }
            });
            nodes.spawn(&ctx, "a", move |mut ctx: Ctx<()>| async move {
                let farewell = Farewell(b);
                ctx.send(&farewell.0, 1);
                ctx.recv_message().await;
            });
            nodes.crash(&ctx, "a");
            say(&said, nodes.up());
            ctx.settle().await;
        });
    });
    assert!(seen.iter().all(|said| !said.contains('9')), "{seen:?}");
    assert!(seen.contains("[\"b\"]") && seen.iter().any(|said| said.contains('1')), "{seen:?}");
}

#[test]
fn names_are_of_a_node_each_and_can_be_reached_from_others() {
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let done = ctx.me().clone();
            let registered = ctx.me().clone();
            for node in ["a", "b"] {
                let (said, done, registered) = (said.clone(), done.clone(), registered.clone());
                nodes.spawn(&ctx, node, move |ctx: Ctx<u32>| async move {
                    ctx.register("db", ctx.me()).unwrap();
                    ctx.send(&registered, ());
                    hears(ctx, said, done).await;
                });
                ctx.recv_message().await;
            }
            let theirs = said.clone();
            nodes.spawn(&ctx, "a", move |ctx: Ctx<()>| async move {
                say(&theirs, ctx.registered());
                say(&theirs, ctx.whereis("db") == ctx.whereis("db@a"));
                say(&theirs, ctx.whereis("db") == ctx.whereis("db@b"));
                ctx.send_to_name("db@b", 0_u32).unwrap();
            });
            ctx.recv_message().await;
            nodes.partition(&ctx, &["a"], &["b"], Mode::Drop);
            let done = ctx.me().clone();
            nodes.spawn(&ctx, "a", move |mut ctx: Ctx<()>| async move {
                say(&said, ctx.whereis("db@b"));
                let monitor = ctx.monitor_name("db@b");
                say(&said, ctx.recv_down(monitor).await.reason);
                ctx.send(&done, ());
            });
            ctx.recv_message().await;
        });
    });
    assert_eq!(seen, set(&["[\"db\"], true, false, None, NoConnection"]));
}

#[test]
fn who_watches_a_node_is_told_when_it_goes_and_comes() {
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let (theirs, watches) = (nodes.clone(), ctx.me().clone());
            nodes.spawn(&ctx, "a", move |mut ctx: Ctx<NodeEvent>| async move {
                theirs.monitor_node(&ctx, "b", |event| event);
                ctx.send(&watches, ());
                loop {
                    let event = ctx.recv_message().await;
                    say(&said, event);
                    ctx.send(&watches, ());
                }
            });
            ctx.recv_message().await;
            nodes.crash(&ctx, "b");
            ctx.recv_message().await;
            nodes.restart(&ctx, "b");
            ctx.recv_message().await;
        });
    });
    assert_eq!(seen, set(&["Down, Up"]));
}

/// A name on both sides of a partition that heals.
fn conflict(resolve: Resolve) -> BTreeSet<String> {
    all(move |said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            nodes.partition(&ctx, &["a"], &["b"], Mode::Drop);
            let mut both = Vec::new();
            for node in ["a", "b"] {
                let waits = nodes.spawn(&ctx, node, |mut ctx: Ctx<()>| async move { ctx.recv_message().await });
                assert!(nodes.register_global(&ctx, "leader", &waits, resolve));
                assert!(!nodes.register_global(&ctx, "leader", &waits, resolve));
                both.push(waits);
            }
            nodes.heal(&ctx);
            ctx.settle().await;
            let has_it = nodes.whereis_global(&ctx, "leader");
            say(&said, has_it.map(|leader| leader == *both[0].any()));
            say(&said, [ctx.is_alive(&both[0]), ctx.is_alive(&both[1])]);
        });
    })
}

#[test]
fn a_global_name_that_two_have_after_a_partition_is_resolved() {
    assert_eq!(conflict(Resolve::Kill), set(&["Some(true), [true, false]", "Some(false), [false, true]"]));
    assert_eq!(conflict(Resolve::KeepOne), set(&["Some(true), [true, true]", "Some(false), [true, true]"]));
    assert_eq!(conflict(Resolve::KeepNone), set(&["None, [true, true]"]));
}

#[test]
fn a_function_runs_on_another_node() {
    let seen = all(|said| {
        actor::run(async move |mut ctx: Ctx<()>| {
            let nodes = Nodes::start(&ctx, &["a", "b"]);
            let (theirs, done) = (nodes.clone(), ctx.me().clone());
            nodes.spawn(&ctx, "a", move |mut ctx: Ctx<()>| async move {
                let answer = theirs.rpc(&mut ctx, "b", || 6 * 7, Duration::MAX).await;
                say(&said, answer);
                ctx.send(&done, ());
            });
            nodes.partition(&ctx, &["a"], &["b"], Mode::Drop);
            ctx.recv_message().await;
        });
    });
    let gone = format!("{:?}", Err::<u32, _>(CallError::Ended(ExitReason::NoConnection)));
    assert_eq!(seen, set(&["Ok(42)", &gone]));
}

#[test]
fn a_small_test_in_which_a_node_crashes_is_sampled_and_never_called_exhausted() {
    let of = |crashes: bool| {
        drawloom::explore("iterations = 200".parse().unwrap(), move || {
            actor::run(async move |mut ctx: Ctx<()>| {
                let nodes = Nodes::start(&ctx, &["a", "b"]);
                let test = ctx.me().clone();
                nodes.spawn(&ctx, "a", move |ctx: Ctx<()>| async move {
                    ctx.send(&test, ());
                });
                ctx.recv_message().await;
                if crashes {
                    nodes.crash(&ctx, "b");
                }
            });
        })
    };
    let (crashes, stays) = (of(true), of(false));
    assert_eq!((crashes.findings().len(), crashes.exhausted()), (0, false), "{}", crashes.summary());
    assert_eq!((stays.findings().len(), stays.exhausted()), (0, true), "{}", stays.summary());
}
