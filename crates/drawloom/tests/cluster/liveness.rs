//! When faults have stopped, what must come true does; or that is a finding.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Host, Mode, Node, NodeId, Shape, Timer, Verdict};
use drawloom::{Config, Exploration};

use crate::brute;

const PERIOD: Duration = Duration::from_millis(100);

/// Tells the others what it knows: once, or again and again.
struct Gossip {
    known: u32,
    repeats: bool,
}

impl Gossip {
    fn tell(&mut self, cx: &mut Ctx<'_, u32>) {
        let all: Vec<NodeId> = cx.nodes().collect();
        cx.send_all(&all, &self.known);
        if self.repeats {
            cx.set_timer(PERIOD, 0);
        }
    }
}

impl Node<u32> for Gossip {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        self.known = self.known.max(cx.me().index() as u32);
        self.tell(cx);
    }

    fn on_message(&mut self, _: NodeId, known: u32, _: &mut Ctx<'_, u32>) {
        self.known = self.known.max(known);
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, u32>) {
        self.tell(cx);
    }
}

fn gossip(repeats: bool, within: Duration, more: fn(&mut Cluster<u32>)) -> Exploration {
    let config: Config = "iterations = 300, shrink = false".parse().unwrap();
    drawloom::explore(config, move || {
        let mut cluster = Cluster::new();
        for name in ["a", "b", "c"] {
            cluster.node(name, move || Gossip { known: 0, repeats });
        }
        cluster.timers(2);
        more(&mut cluster);
        cluster.converges("all know the largest", within, |world| {
            world.all::<Gossip>().count() == 3 && world.all::<Gossip>().all(|(_, node)| node.known == 2)
        });
        cluster.run();
    })
}

fn faults(cluster: &mut Cluster<u32>) {
    cluster.faults(Faults::none().partitions(1, Shape::IsolateOne).crashes(1).pauses(1));
}

#[test]
fn who_tells_again_and_again_converges_when_faults_have_stopped() {
    let found = gossip(true, 3 * PERIOD, faults);
    assert!(found.findings().is_empty(), "{}", found.findings()[0].report());
}

#[test]
fn who_tells_once_may_never_be_heard() {
    let found = gossip(false, 3 * PERIOD, faults);
    assert_eq!(
        found.findings()[0].message(),
        "\"all know the largest\" does not come true after faults have stopped, and no event is left"
    );
}

#[test]
fn a_message_that_waits_for_the_link_comes_when_it_heals() {
    let more = |cluster: &mut Cluster<u32>| {
        cluster.faults(Faults::none().partitions(1, Shape::IsolateOne).mode(Mode::Defer));
    };
    let found = gossip(false, PERIOD, more);
    assert!(found.findings().is_empty(), "{}", found.findings()[0].report());
}

#[test]
fn time_is_bounded() {
    // Nobody ever hears c.
    let more = |cluster: &mut Cluster<u32>| {
        cluster.rule(|from, _, _| if from.index() == 2 { Verdict::Drop } else { Verdict::Deliver });
    };
    let found = gossip(true, 10 * PERIOD, more);
    assert_eq!(
        found.findings()[0].message(),
        "\"all know the largest\" does not come true within 1s after faults have stopped"
    );
}

#[test]
fn a_rule_that_cuts_a_link_is_over_when_everything_heals() {
    let more = |cluster: &mut Cluster<u32>| {
        cluster.rule(|from, to, known| match (from.index(), to.index(), known) {
            (2, 0, 2) => Verdict::Cut,
            _ => Verdict::Deliver,
        });
    };
    let found = gossip(false, PERIOD, more);
    assert!(found.findings()[0].message().contains("no event is left"), "{}", found.findings()[0].report());
}

#[test]
fn each_class_of_what_comes_before_is_followed_by_one_end() {
    let build = |cluster: &mut drawloom_sim::Cluster<u32>| {
        for name in ["a", "b"] {
            cluster.node(name, || Gossip { known: 0, repeats: true });
        }
        cluster.timers(1);
        cluster.faults(Faults::none().losses(1));
        cluster.converges("all know the largest", 3 * PERIOD, |world| {
            world.all::<Gossip>().all(|(_, node)| node.known == 1)
        });
    };
    let run = |host: &mut dyn Host| {
        let mut cluster = drawloom_sim::Cluster::new();
        build(&mut cluster);
        cluster.run_on(host).all::<Gossip>().map(|(_, node)| node.known).collect::<Vec<_>>()
    };
    let (_, classes) = brute::classes(100_000, run).expect("few orders");
    let explored = drawloom::explore("exhaustive".parse().unwrap(), move || {
        let mut cluster = Cluster::new();
        build(&mut cluster);
        cluster.run();
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].report());
    assert_eq!(explored.executions() as usize, classes.len());
    assert!(classes.len() > 10);
}
