//! Clocks that drift apart within a bound.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drawloom::cluster::{Clock, Cluster, Ctx, Node, NodeId, Probe, Timer};

/// Sets a timer when it starts.
struct Waits(u64, Probe<Vec<usize>>);

impl Node<()> for Waits {
    fn on_start(&mut self, cx: &mut Ctx<'_, ()>) {
        cx.set_timer(Duration::from_millis(self.0), 0);
    }
    fn on_message(&mut self, _: NodeId, (): (), _: &mut Ctx<'_, ()>) {}
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, ()>) {
        self.1.note().push(cx.me().index());
    }
}

/// The orders in which timers of so many milliseconds fire, one a node.
fn orders(times: &'static [u64], drift_ppm: u32) -> BTreeSet<Vec<usize>> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let explored =
        drawloom::explore("exhaustive(resume = false), allow_no_choice = true".parse().unwrap(), move || {
            let (mut cluster, probe) = (Cluster::new(), Probe::new(Vec::new()));
            for (at, time) in times.iter().enumerate() {
                cluster.node_with(format!("n{at}"), (*time, probe.clone()), |(time, probe)| Waits(time, probe));
            }
            cluster.clock(Clock::Bounded { drift_ppm });
            cluster.run();
            seen.lock().unwrap().insert(probe.get().clone());
        });
    assert!(explored.exhausted() && explored.findings().is_empty(), "{}", explored.summary());
    let all = all.lock().unwrap().clone();
    assert_eq!(explored.executions() as usize, all.len());
    all
}

/// By hand: one timer can be before another one if its earliest time is not after the latest of the other.
fn possible(times: &[u64], drift: f64) -> BTreeSet<Vec<usize>> {
    fn extend(times: &[u64], drift: f64, order: &[usize], all: &mut BTreeSet<Vec<usize>>) {
        if order.len() == times.len() {
            all.insert(order.to_vec());
        }
        for next in (0..times.len()).filter(|next| !order.contains(next)) {
            let earliest = order.iter().chain([&next]).map(|at| times[*at] as f64 / (1.0 + drift)).fold(0.0, f64::max);
            let others = (0..times.len()).filter(|other| !order.contains(other));
            if others.map(|other| times[other] as f64 / (1.0 - drift)).all(|latest| earliest <= latest) {
                extend(times, drift, &[order, &[next]].concat(), all);
            }
        }
    }
    let mut all = BTreeSet::new();
    extend(times, drift, &[], &mut all);
    all
}

#[test]
fn timers_of_different_nodes_fire_in_the_orders_that_the_drift_allows() {
    let cases: [&'static [u64]; 6] =
        [&[100, 103], &[100, 300], &[100, 110, 121], &[50, 60, 70, 80], &[100, 100, 100], &[10, 11, 500, 505]];
    for times in cases {
        for drift_ppm in [0, 10_000, 50_000, 200_000, 600_000] {
            let expected = possible(times, f64::from(drift_ppm) / 1e6);
            assert_eq!(orders(times, drift_ppm), expected, "{times:?}, {drift_ppm} ppm");
        }
    }
}

#[derive(Clone, Debug)]
enum Message {
    Ask,
    Granted,
    Write,
}

/// Grants a lease to one after the other, and waits for so long before it grants the next.
struct Grantor {
    waits: u64,
    holder: Option<NodeId>,
    queue: Vec<NodeId>,
}

impl Grantor {
    fn grant(&mut self, to: NodeId, cx: &mut Ctx<'_, Message>) {
        self.holder = Some(to);
        cx.set_timer(Duration::from_millis(self.waits), 0);
        cx.send(to, Message::Granted);
    }
}

impl Node<Message> for Grantor {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match (message, self.holder) {
            (Message::Ask, None) => self.grant(from, cx),
            (Message::Ask, Some(_)) => self.queue.push(from),
            _ => {}
        }
    }
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        self.holder = None;
        if !self.queue.is_empty() {
            let next = self.queue.remove(0);
            self.grant(next, cx);
        }
    }
}

/// Asks for the lease, and believes to have it until so long after it has asked.
struct Holder {
    grantor: NodeId,
    /// By a timer, or by a look at its clock.
    looks: bool,
    is_over: bool,
    holders: Probe<Vec<NodeId>>,
}

const LEASE: u64 = 100;

impl Node<Message> for Holder {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.grantor, Message::Ask);
        cx.set_timer(Duration::from_millis(LEASE), 0);
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        let me = cx.me();
        let is_over = if self.looks { cx.now() >= Duration::from_millis(LEASE) } else { self.is_over };
        match message {
            Message::Granted if !is_over => {
                self.holders.note().push(me);
                cx.send(me, Message::Write);
            }
            // It still believes to be the holder.
            Message::Write if !is_over => {
                let last = self.holders.get().last().copied();
                assert_eq!(last, Some(me), "it writes, but somebody else has the lease");
            }
            _ => {}
        }
    }
    fn on_timer(&mut self, _: Timer, _: &mut Ctx<'_, Message>) {
        self.is_over = true;
    }
}

fn lease(clock: Clock, waits: u64, looks: bool) -> drawloom::Exploration {
    drawloom::explore("auto(iterations = 3000)".parse().unwrap(), move || {
        let (mut cluster, holders) = (Cluster::new(), Probe::new(Vec::new()));
        let grantor = cluster.node("grantor", move || Grantor { waits, holder: None, queue: Vec::new() });
        for name in ["a", "b"] {
            let config = (grantor, looks, holders.clone());
            cluster.node_with(name, config, |(grantor, looks, holders)| Holder {
                grantor,
                looks,
                is_over: false,
                holders,
            });
        }
        cluster.clock(clock);
        cluster.run();
    })
}

#[test]
fn a_lease_is_safe_if_its_grantor_waits_for_as_much_longer_as_clocks_drift() {
    let bounded = Clock::Bounded { drift_ppm: 100_000 };
    for looks in [false, true] {
        // 100 ms by a slow clock are 111, and 125 ms by a fast one are 113.
        for (clock, waits, is_safe) in
            [(Clock::Elastic, 125, false), (bounded, 125, true), (bounded, 115, false), (bounded, 100, false)]
        {
            let explored = lease(clock, waits, looks);
            let found = explored.findings().first().map(|found| found.message().to_owned());
            assert_eq!(found.is_none(), is_safe, "{clock:?}, {waits} ms, looks: {looks}: {found:?}");
            assert!(!is_safe || explored.exhausted() || explored.executions() >= 3000);
        }
    }
}
