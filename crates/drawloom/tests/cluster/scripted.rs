//! Rules for messages: what a scripted test says of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Probe, Verdict};

type Told = Vec<(usize, u32)>;

/// The first node sends 1 to `b`, and 2 to `c`, which tells `b` 3.
struct Sends(Vec<(NodeId, u32)>);

impl Node<u32> for Sends {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        for (to, what) in self.0.clone() {
            cx.send(to, what);
        }
    }
    fn on_message(&mut self, _: NodeId, _: u32, _: &mut Ctx<'_, u32>) {}
}

struct Hears {
    passes: Option<(u32, NodeId, u32)>,
    told: Probe<Told>,
}

impl Node<u32> for Hears {
    fn on_message(&mut self, _: NodeId, what: u32, cx: &mut Ctx<'_, u32>) {
        self.told.note().push((cx.me().index(), what));
        if let Some((_, to, says)) = self.passes.filter(|(on, ..)| *on == what) {
            cx.send(to, says);
        }
    }
}

fn all(rule: fn(NodeId, NodeId, &u32) -> Verdict) -> BTreeSet<Told> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let config = "exhaustive(resume = false), allow_no_choice = true".parse().unwrap();
    let explored = drawloom::explore(config, move || {
        let (mut cluster, told) = (Cluster::new(), Probe::new(Told::new()));
        let [b, c] = [1, 2].map(NodeId::from_index);
        cluster.node("a", move || Sends([(b, 1), (c, 2)].to_vec()));
        cluster.node_with("b", told.clone(), |told| Hears { passes: None, told });
        cluster.node_with("c", told.clone(), move |told| Hears { passes: Some((2, b, 3)), told });
        cluster.rule(rule);
        cluster.ordered();
        cluster.run();
        seen.lock().unwrap().insert(told.get().clone());
    });
    assert!(explored.exhausted() && explored.findings().is_empty(), "{}", explored.summary());
    all.lock().unwrap().clone()
}

#[test]
fn what_is_held_never_arrives_if_nobody_lets_it_go() {
    let held = all(|_, _, message| if *message == 1 { Verdict::Hold } else { Verdict::Deliver });
    assert_eq!(held, BTreeSet::from([vec![(2, 2), (1, 3)]]));
}

#[test]
fn it_arrives_after_the_message_that_lets_it_go() {
    let released = all(|_, to, message| match message {
        1 => Verdict::Hold,
        3 => Verdict::Release(to),
        _ => Verdict::Deliver,
    });
    // Or never, where it is held only after that.
    assert_eq!(released, BTreeSet::from([vec![(2, 2), (1, 3)], vec![(2, 2), (1, 3), (1, 1)]]));
}

#[test]
fn a_message_at_another_node_lets_it_go_at_any_time_after() {
    let released = all(|_, _, message| match message {
        1 => Verdict::Hold,
        2 => Verdict::Release(NodeId::from_index(1)),
        _ => Verdict::Deliver,
    });
    let [first, early, late] = [vec![(2, 2), (1, 3)], vec![(2, 2), (1, 1), (1, 3)], vec![(2, 2), (1, 3), (1, 1)]];
    assert_eq!(released, BTreeSet::from([first, early, late]));
}

#[test]
fn when_faults_stop_all_is_let_go() {
    let explored = drawloom::explore("auto(iterations = 200)".parse().unwrap(), || {
        let (mut cluster, told) = (Cluster::new(), Probe::new(Told::new()));
        let b = NodeId::from_index(1);
        cluster.node("a", move || Sends([(b, 1), (b, 2)].to_vec()));
        cluster.node_with("b", told.clone(), |told| Hears { passes: None, told });
        cluster.rule(|_, _, _| Verdict::Hold);
        let heard = told.clone();
        cluster.converges("b hears both", std::time::Duration::ZERO, move |_| heard.get().len() == 2);
        cluster.run();
    });
    assert!(explored.findings().is_empty(), "{}", explored.findings()[0].message());
}
