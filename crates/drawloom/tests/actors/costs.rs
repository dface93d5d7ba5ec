//! What actors cost: figures to look at, by hand, in release mode.

use std::time::Instant;

use drawloom::actor::{self, Ctx, Pid};
use drawloom::sync::mpsc;
use drawloom::thread;

fn explored(config: &str, body: impl Fn() + Send + Sync + 'static) -> (f64, u64) {
    let begun = Instant::now();
    let explored = drawloom::explore(config.parse().unwrap(), body);
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].message());
    (begun.elapsed().as_secs_f64(), explored.steps())
}

const RUNS: &str = "random(iterations = 400, max_steps = 5000000, threads = 1, trace = false)";
const MESSAGES: u32 = 1_000;

#[test]
#[ignore = "prints figures: run with --release --nocapture"]
fn a_step_of_an_actor_beside_one_of_a_channel() {
    let (channel, channel_steps) = explored(RUNS, || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || (0..MESSAGES).for_each(|n| sender.send(n).unwrap()));
        (0..MESSAGES).for_each(|n| assert_eq!(receiver.recv(), Ok(n)));
        other.join().unwrap();
    });
    let (actors, actor_steps) = explored(RUNS, || {
        actor::run(|mut ctx: Ctx<u32>| async move {
            let me = ctx.me().clone();
            ctx.spawn(move |ctx: Ctx<()>| async move { (0..MESSAGES).for_each(|n| ctx.send(&me, n)) });
            for _ in 0..MESSAGES {
                ctx.recv().await;
            }
        });
    });
    let nanos = |seconds: f64, steps: u64| seconds * 1e9 / steps as f64;
    let (channel, actors) = (nanos(channel, channel_steps), nanos(actors, actor_steps));
    println!("a step: {channel:.1} ns of a channel, {actors:.1} ns of an actor: {:.2} times", actors / channel);
}

#[test]
#[ignore = "prints figures: run with --release --nocapture"]
fn ten_thousand_processes_and_a_million_messages() {
    const CONFIG: &str =
        "random(iterations = 1, max_steps = 5000000, threads = 1, trace = false, stack_size = 16384, timeout = 600s)";
    let (seconds, steps) = explored(CONFIG, || {
        actor::run(|mut ctx: Ctx<u32>| async move {
            let me = ctx.me().clone();
            let all: Vec<Pid<u32>> = (0..10_000)
                .map(|_| {
                    let me = me.clone();
                    ctx.spawn(move |mut ctx: Ctx<u32>| async move {
                        for _ in 0..50 {
                            let n = ctx.recv_message().await;
                            ctx.send(&me, n);
                        }
                    })
                })
                .collect();
            for n in 0..50 {
                all.iter().for_each(|pid| ctx.send(pid, n));
            }
            for _ in 0..500_000 {
                ctx.recv_message().await;
            }
        });
    });
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown");
    println!("{steps} steps in {seconds:.1} s, {peak}");
}
