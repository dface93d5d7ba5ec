//! One workload, to be watched from outside by `run.sh`.
//!
//! usage: actors WORKLOAD SIZE EXECUTIONS

use drawloom::actor::{self, Ctx, ExitReason, Flow, GenServer, Pid, ReplyTo, ServerCtx};
use drawloom::sync::mpsc;
use drawloom::thread;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let workload = arguments.next().unwrap_or_default();
    let mut number = || arguments.next().and_then(|number| number.parse::<u32>().ok()).expect("WORKLOAD SIZE EXECUTIONS");
    let (size, executions) = (number(), u64::from(number()));
    match workload.as_str() {
        "channel" => explore(executions, move || channel(size)),
        "mailbox" => explore(executions, move || mailbox(size)),
        "calls" => explore(executions, move || calls(size)),
        "smallest" => explore(executions, smallest),
        "smallest-of-traceforge" => smallest_of_traceforge(executions),
        "fan-in" => exhaust(executions, move || fan_in(size)),
        "fan-in-of-traceforge" => verify(executions, move || fan_in_of_traceforge(size)),
        "large" => large(size),
        other => panic!("no workload `{other}`"),
    }
}

fn explore(executions: u64, body: impl Fn() + Send + Sync + 'static) {
    let config = format!("random(iterations = {executions}, max_steps = 5000000, threads = 1, trace = false)");
    let explored = drawloom::explore(config.parse().expect("a configuration"), body);
    // One client and its server never have a choice.
    let found = explored.findings().iter().find(|finding| finding.kind() != "nothing explored");
    assert!(found.is_none(), "{}", explored.summary());
    println!("{} {}", explored.executions(), explored.steps());
}

/// A thread sends, and main receives.
fn channel(messages: u32) {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || (0..messages).for_each(|n| sender.send(n).expect("main receives")));
    (0..messages).for_each(|n| assert_eq!(receiver.recv(), Ok(n)));
    other.join().expect("it returns");
}

/// A process sends, and the first one receives.
fn mailbox(messages: u32) {
    actor::run(move |mut ctx: Ctx<u32>| async move {
        let me = ctx.me().clone();
        ctx.spawn(move |ctx: Ctx<()>| async move { (0..messages).for_each(|n| ctx.send(&me, n)) });
        for n in 0..messages {
            assert_eq!(ctx.recv_message().await, n);
        }
    });
}

fn smallest() {
    mailbox(1);
}

fn smallest_of_traceforge(executions: u64) {
    let body = || {
        let main = traceforge::thread::current().id();
        let other = traceforge::thread::spawn(move || traceforge::send_msg(main, 0_u32));
        assert_eq!(traceforge::recv_msg_block::<u32>(), 0);
        other.join().expect("it returns");
    };
    let made = traceforge::test(traceforge::Config::builder().build(), body, executions);
    println!("{executions} {made:?}");
}

/// So many processes send to the first one, in any order.
fn fan_in(senders: u32) {
    actor::run(move |mut ctx: Ctx<u32>| async move {
        for n in 0..senders {
            let me = ctx.me().clone();
            ctx.spawn(move |ctx: Ctx<()>| async move { ctx.send(&me, n) });
        }
        for _ in 0..senders {
            ctx.recv_message().await;
        }
    });
}

/// Explores all orders, so many times.
fn exhaust(times: u64, body: impl Fn() + Clone + Send + Sync + 'static) {
    let mut executions = 0;
    for _ in 0..times {
        let config = "exhaustive(threads = 1, trace = false)".parse().expect("a configuration");
        let explored = drawloom::explore(config, body.clone());
        assert!(explored.exhausted(), "{}", explored.summary());
        executions += explored.executions();
    }
    println!("{times} {executions}");
}

fn fan_in_of_traceforge(senders: u32) {
    let main = traceforge::thread::current().id();
    for n in 0..senders {
        traceforge::thread::spawn(move || traceforge::send_msg(main, n));
    }
    for _ in 0..senders {
        traceforge::recv_msg_block::<u32>();
    }
}

fn verify(times: u64, body: impl Fn() + Clone + Send + Sync + 'static) {
    let mut executions = 0;
    for _ in 0..times {
        executions += traceforge::verify(traceforge::Config::builder().build(), body.clone()).execs;
    }
    println!("{times} {executions}");
}

struct Counter(u64);

#[derive(Debug)]
struct Up(u64, ReplyTo<u64>);

impl GenServer for Counter {
    type Args = ();
    type Call = Up;
    type Cast = ();
    type Info = ();

    async fn init((): (), _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Counter(0))
    }

    async fn handle_call(&mut self, Up(by, reply): Up, _: &mut ServerCtx<Self>) -> Flow {
        self.0 += by;
        reply.send(self.0);
        Flow::Continue
    }
}

/// One client calls a server, again and again.
fn calls(calls: u32) {
    actor::run(move |mut ctx: Ctx<()>| async move {
        let counter = Counter::start_link(&mut ctx, ()).await.expect("it starts");
        for n in 1..=u64::from(calls) {
            assert_eq!(counter.call(&mut ctx, |reply| Up(1, reply), None).await, Ok(n));
        }
    });
}

/// So many processes, each of which gets and sends back fifty messages.
fn large(processes: u32) {
    const ROUNDS: u32 = 50;
    let config =
        "random(iterations = 1, max_steps = 5000000, threads = 1, trace = false, stack_size = 16384, timeout = 600s)";
    let explored = drawloom::explore(config.parse().expect("a configuration"), move || {
        actor::run(move |mut ctx: Ctx<u32>| async move {
            let me = ctx.me().clone();
            let all: Vec<Pid<u32>> = (0..processes)
                .map(|_| {
                    let me = me.clone();
                    ctx.spawn(move |mut ctx: Ctx<u32>| async move {
                        for _ in 0..ROUNDS {
                            let n = ctx.recv_message().await;
                            ctx.send(&me, n);
                        }
                    })
                })
                .collect();
            for n in 0..ROUNDS {
                all.iter().for_each(|pid| ctx.send(pid, n));
            }
            for _ in 0..ROUNDS * processes {
                ctx.recv_message().await;
            }
        });
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].message());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    println!("{} {} {}", explored.executions(), explored.steps(), peak.trim());
}
