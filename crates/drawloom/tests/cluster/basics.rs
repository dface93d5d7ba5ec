//! What a user sees first.

use drawloom::Config;
use drawloom::cluster::{Clock, Cluster, Ctx, Faults, Mode, Node, NodeId, Probe, Shape, Timer};
use std::time::Duration;

/// Sends `count` numbers to `to` at once.
struct Sender {
    to: NodeId,
    count: u32,
}

impl Node<u32> for Sender {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        for n in 0..self.count {
            cx.send(self.to, n);
        }
    }
    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}
}

/// Notes what arrives.
struct Receiver(Probe<Vec<u32>>);

impl Node<u32> for Receiver {
    fn on_message(&mut self, _: NodeId, message: u32, _: &mut Ctx<'_, u32>) {
        self.0.note().push(message);
    }
}

fn outcomes(
    strategy: &str,
    build: impl Fn(&mut Cluster<u32>, Probe<Vec<u32>>) + Send + Sync + 'static,
) -> (Vec<Vec<u32>>, u64) {
    let all = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let seen = all.clone();
    let exploration = drawloom::explore(strategy.parse::<Config>().unwrap(), move || {
        let probe = Probe::default();
        let mut cluster = Cluster::new();
        build(&mut cluster, probe.clone());
        cluster.run();
        seen.lock().unwrap().insert(probe.get().clone());
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].message());
    let all = all.lock().unwrap().iter().cloned().collect();
    (all, exploration.executions())
}

#[test]
fn datagrams_arrive_in_every_order() {
    let (all, executions) = outcomes("exhaustive", |cluster, probe| {
        let to = cluster.node_with("receiver", probe, Receiver);
        cluster.node("sender", move || Sender { to, count: 3 });
    });
    assert_eq!((all.len(), executions), (6, 6));
}

#[test]
fn a_message_that_arrives_twice_may_be_overtaken() {
    let (all, executions) = outcomes("exhaustive", |cluster, probe| {
        let to = cluster.node_with("receiver", probe, Receiver);
        cluster.node("sender", move || Sender { to, count: 1 });
        cluster.faults(Faults::none().duplicates(1));
    });
    assert_eq!(all, [vec![0], vec![0, 0]], "{executions}");
}

#[test]
fn a_link_that_is_cut_drops_or_defers() {
    for (mode, expected) in [(Mode::Drop, vec![vec![], vec![0]]), (Mode::Defer, vec![vec![0]])] {
        let (all, _) = outcomes("exhaustive", move |cluster, probe| {
            let to = cluster.node_with("receiver", probe, Receiver);
            cluster.node("sender", move || Sender { to, count: 1 });
            cluster.faults(Faults::none().partitions(1, Shape::IsolateOne).mode(mode));
        });
        assert_eq!(all, expected, "{mode:?}");
    }
}

/// Sets a timer, and notes it or the message, whichever comes first.
struct Waits(Probe<Vec<u32>>);

impl Node<u32> for Waits {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        cx.set_timer(Duration::from_secs(1), 100);
        cx.set_timer(Duration::from_millis(1), 200);
    }
    fn on_message(&mut self, _: NodeId, message: u32, _: &mut Ctx<'_, u32>) {
        self.0.note().push(message);
    }
    fn on_timer(&mut self, timer: Timer, _: &mut Ctx<'_, u32>) {
        self.0.note().push(timer.tag as u32);
    }
}

#[test]
fn timers_fire_early_but_in_the_order_of_their_deadlines() {
    let (all, executions) = outcomes("exhaustive", |cluster, probe| {
        let to = cluster.node_with("waits", probe, Waits);
        cluster.node("sender", move || Sender { to, count: 1 });
    });
    assert_eq!((all, executions), (vec![vec![0, 200, 100], vec![200, 0, 100], vec![200, 100, 0]], 3));
}

#[test]
fn under_one_clock_timers_fire_when_nothing_else_is_left() {
    let (all, executions) = outcomes("exhaustive", |cluster, probe| {
        let to = cluster.node_with("waits", probe, Waits);
        cluster.node("sender", move || Sender { to, count: 2 });
        cluster.clock(Clock::Virtual);
    });
    assert_eq!((all, executions), (vec![vec![0, 1, 200, 100], vec![1, 0, 200, 100]], 2));
}

#[test]
fn a_node_crashes_at_any_time_and_restarts() {
    let (all, executions) = outcomes("exhaustive", |cluster, probe| {
        let to = cluster.node_with("receiver", probe, Receiver);
        cluster.node("sender", move || Sender { to, count: 1 });
        cluster.faults(Faults::none().crashes(1).crash_only([to]).restarts());
    });
    assert_eq!(all, [vec![], vec![0]], "{executions}");
}

#[test]
fn a_cluster_in_an_ordinary_test_takes_everything_as_it_comes() {
    let probe = Probe::default();
    let mut cluster = Cluster::new();
    let to = cluster.node_with("waits", probe.clone(), Waits);
    cluster.node("sender", move || Sender { to, count: 2 });
    cluster.run();
    assert_eq!(*probe.get(), [0, 1, 200, 100]);
}
