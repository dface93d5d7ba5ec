//! Crashes in the midst of events.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Probe};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Left {
    a: Option<u32>,
    b: Option<u32>,
    heard: u32,
    noted: u32,
}

/// Moves money from one account to the other.
struct Bank(Probe<Left>);

impl Node<()> for Bank {
    fn on_start(&mut self, cx: &mut Ctx<'_, ()>) {
        if cx.starts() == 1 {
            let me = cx.me();
            cx.send(me, ());
        }
    }
    fn on_message(&mut self, _: NodeId, (): (), cx: &mut Ctx<'_, ()>) {
        cx.save("a", 1_u32);
        cx.save("b", 2_u32);
        cx.send(NodeId::from_index(1), ());
        self.0.note().noted += 1;
    }
}

struct Hears(Probe<Left>);

impl Node<()> for Hears {
    fn on_message(&mut self, _: NodeId, (): (), _: &mut Ctx<'_, ()>) {
        self.0.note().heard += 1;
    }
}

fn left(faults: fn() -> Faults) -> BTreeSet<Left> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let explored = drawloom::explore("exhaustive(resume = false)".parse().unwrap(), move || {
        let (mut cluster, probe) = (Cluster::new(), Probe::new(Left::default()));
        let bank = cluster.node_with("bank", probe.clone(), Bank);
        cluster.node_with("other", probe.clone(), Hears);
        cluster.faults(faults().crash_only([bank]));
        let world = cluster.run();
        let mut left = probe.get().clone();
        (left.a, left.b) = (world.stored(bank, "a"), world.stored(bank, "b"));
        seen.lock().unwrap().insert(left);
    });
    assert!(explored.exhausted() && explored.findings().is_empty(), "{}", explored.summary());
    all.lock().unwrap().clone()
}

fn of(a: Option<u32>, b: Option<u32>, heard: u32, noted: u32) -> Left {
    Left { a, b, heard, noted }
}

#[test]
fn an_event_is_all_or_nothing_if_crashes_come_between_events() {
    let whole = BTreeSet::from([of(None, None, 0, 0), of(Some(1), Some(2), 1, 1)]);
    assert_eq!(left(|| Faults::none().crashes(1)), whole);
}

#[test]
fn a_crash_in_the_midst_leaves_what_was_done_before_and_runs_nothing_after() {
    let mut all = BTreeSet::from([of(None, None, 0, 0), of(Some(1), Some(2), 1, 1)]);
    all.extend([of(Some(1), None, 0, 0), of(Some(1), Some(2), 0, 0)]);
    assert_eq!(left(|| Faults::none().crashes(1).midway()), all);
    // What it is told arrives all the same.
    all.remove(&of(None, None, 0, 0));
    assert_eq!(left(|| Faults::none().reboots(1).midway()), all);
}

/// A destructor that others would notice.
struct Farewell<'a, 'b>(&'a mut Ctx<'b, ()>);

impl Drop for Farewell<'_, '_> {
    fn drop(&mut self) {
        self.0.save("farewell", 1_u32);
    }
}

struct SaysFarewell;

impl Node<()> for SaysFarewell {
    fn on_start(&mut self, cx: &mut Ctx<'_, ()>) {
        let me = cx.me();
        cx.send(me, ());
    }
    fn on_message(&mut self, _: NodeId, (): (), cx: &mut Ctx<'_, ()>) {
        let farewell = Farewell(cx);
        farewell.0.save("a", 1_u32);
        farewell.0.save("b", 1_u32);
    }
}

#[test]
fn destructors_do_nothing_that_others_notice() {
    let explored = drawloom::explore("exhaustive(resume = false)".parse().unwrap(), || {
        let mut cluster = Cluster::new();
        let node = cluster.node("a", || SaysFarewell);
        cluster.faults(Faults::none().crashes(1).midway());
        let world = cluster.run();
        let [b, farewell] = ["b", "farewell"].map(|name| world.stored::<u32>(node, name));
        assert!(b.is_some() || farewell.is_none(), "the destructor of a node that is gone has stored something");
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].message());
}
