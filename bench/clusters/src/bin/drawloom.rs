//! The scenarios on drawloom: one execution each, or many of a tiny cluster.

use drawloom::Config;
use drawloom::cluster::{Clock, Cluster, Ctx, Node, NodeId, Timer};
use drawloom_bench_clusters::{PERIOD, Scenario};

/// Executions of a long scenario. One more of them is made to see whether it does the same again.
const RUNS: usize = 4;

struct Server;

impl Node<u32> for Server {
    fn on_message(&mut self, from: NodeId, message: u32, cx: &mut Ctx<'_, u32>) {
        cx.send(from, message);
    }
}

struct Client {
    server: NodeId,
    left: u32,
}

impl Node<u32> for Client {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        cx.send(self.server, self.left);
    }

    fn on_message(&mut self, from: NodeId, _: u32, cx: &mut Ctx<'_, u32>) {
        self.left -= 1;
        if self.left > 0 {
            cx.send(from, self.left);
        }
    }
}

struct Beats {
    left: u64,
}

impl Node<u32> for Beats {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        cx.set_timer(PERIOD, 0);
    }

    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, u32>) {
        let me = cx.me();
        for node in cx.nodes().filter(|node| *node != me) {
            cx.send(node, 0);
        }
        self.left -= 1;
        if self.left > 0 {
            cx.set_timer(PERIOD, 0);
        }
    }
}

fn echo(hosts: usize, requests: usize) {
    let mut cluster = Cluster::new();
    let server = cluster.node("server", || Server);
    let each = (requests / (hosts - 1)) as u32;
    for client in 1..hosts {
        cluster.client(format!("client{client}"), move || Client { server, left: each });
    }
    cluster.events(u64::MAX);
    cluster.run();
}

fn main() {
    let scenario = Scenario::of_arguments();
    let limits = "max_steps = 100000000, max_tasks = 4000000000, allow_no_choice = true, trace = false, threads = 1";
    let config = |iterations: usize| -> Config {
        format!("random(iterations = {iterations}), {limits}").parse().expect("a configuration")
    };
    let runs = if matches!(scenario, Scenario::Tiny { .. }) { 1 } else { RUNS };
    scenario.measure("drawloom", runs, || {
        let found = match scenario {
            Scenario::Echo { hosts, requests } => drawloom::explore(config(RUNS), move || echo(hosts, requests)),
            Scenario::Heartbeats { hosts, seconds } => drawloom::explore(config(RUNS), move || {
                let mut cluster = Cluster::new();
                for node in 0..hosts {
                    cluster.node(format!("n{node}"), move || Beats { left: seconds * 10 });
                }
                cluster.clock(Clock::Virtual).events(u64::MAX);
                cluster.run();
            }),
            Scenario::Tiny { hosts, runs } => drawloom::explore(config(runs), move || echo(hosts, hosts - 1)),
        };
        let first = found.findings().first().map(drawloom::Failure::report);
        assert!(first.is_none(), "{}", first.unwrap_or_default());
    });
}
