//! What reaches a run: the same in two processes, or a finding that says so.

use std::collections::HashMap;
use std::process::Command;

use drawloom::Config;
use drawloom::cluster::{Clock, Cluster, Ctx, Faults, Node, NodeId, Timer};
use std::time::Duration;

/// Sends to others in an order that it gets from somewhere.
struct Sender(fn(&mut Ctx<'_, u64>) -> Vec<u64>);

impl Node<u64> for Sender {
    fn on_start(&mut self, cx: &mut Ctx<'_, u64>) {
        for what in (self.0)(cx) {
            cx.send(NodeId::from_index(1), what);
        }
        cx.set_timer(Duration::from_millis(1), 0);
    }
    fn on_message(&mut self, _: NodeId, _: u64, _: &mut Ctx<'_, u64>) {}
    fn on_timer(&mut self, _: Timer, _: &mut Ctx<'_, u64>) {}
}

/// Answers odd numbers.
struct Receiver;

impl Node<u64> for Receiver {
    fn on_message(&mut self, from: NodeId, what: u64, cx: &mut Ctx<'_, u64>) {
        if what % 2 == 1 {
            cx.send(from, what);
        }
    }
}

fn cluster(of: fn(&mut Ctx<'_, u64>) -> Vec<u64>) -> Cluster<u64> {
    let mut cluster = Cluster::new();
    cluster.node("a", move || Sender(of));
    cluster.node("b", || Receiver);
    cluster.clock(Clock::Elastic);
    cluster.faults(Faults::none().duplicates(1).reboots(1));
    cluster
}

fn of_the_context(cx: &mut Ctx<'_, u64>) -> Vec<u64> {
    let first = cx.random().below(1_000_000);
    vec![first, cx.now().as_nanos() as u64, cx.wall_clock().as_nanos() as u64]
}

fn of_a_hash_map(_: &mut Ctx<'_, u64>) -> Vec<u64> {
    (0..64).map(|n| (n, ())).collect::<HashMap<_, _>>().into_keys().collect()
}

fn of_the_clock(_: &mut Ctx<'_, u64>) -> Vec<u64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    (0..8).map(|bit| now.as_nanos() as u64 >> bit).collect()
}

/// What is found, and a number that is the same if everything was.
fn told(of: fn(&mut Ctx<'_, u64>) -> Vec<u64>) -> (String, u64) {
    let config: Config = "random(iterations = 40), keep_going = true, shrink = false".parse().expect("a configuration");
    let all = std::sync::Arc::new(std::sync::Mutex::new(0_u64));
    let seen = all.clone();
    let found = drawloom::explore(config, move || {
        let world = cluster(of).run();
        let mut hash = seen.lock().expect("one at a time");
        for number in 0.. {
            let Some(told) = world.tell(number) else { break };
            *hash = hash
                .wrapping_add(told.bytes().fold(number as u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte)));
        }
    });
    let kind = found.findings().first().map_or("nothing", |found| found.kind());
    let hash = *all.lock().expect("one at a time");
    (kind.to_owned(), hash)
}

#[test]
fn what_the_context_says_is_the_same_in_every_process() {
    let here = told(of_the_context);
    assert_eq!(here.0, "nothing");
    if std::env::var("DRAWLOOM_TEST_LEAKS").is_ok() {
        return println!("<<{here:?}>>");
    }
    let child = Command::new(std::env::current_exe().expect("the running test"))
        .args(["--exact", "leaks::what_the_context_says_is_the_same_in_every_process", "--nocapture"])
        .env("DRAWLOOM_TEST_LEAKS", "1")
        .output()
        .expect("the same test in another process");
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(output.contains(&format!("<<{here:?}>>")), "{here:?} in\n{output}");
}

#[test]
fn what_comes_from_the_system_is_a_divergence() {
    assert_eq!(told(of_a_hash_map).0, "divergence");
    assert_eq!(told(of_the_clock).0, "divergence");
}
