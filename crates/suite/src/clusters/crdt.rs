//! Replicated data that needs no agreement.
//!
//! The counter: a replica tells what it has counted, and the others add that where they should take the larger one: a message that arrives
//! twice counts twice. The set: whoever has removed an element collects its tombstone as soon as one replica has confirmed that it knows of
//! it; an addition that comes late brings the element back. Fixed: a replica confirms what it has seen added, and all have to.

use std::collections::{BTreeMap, BTreeSet};

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId};

struct Counter {
    counts: BTreeMap<NodeId, u32>,
    is_fixed: bool,
}

impl Counter {
    fn value(&self) -> u32 {
        self.counts.values().sum()
    }
}

impl Node<u32> for Counter {
    fn on_start(&mut self, cx: &mut Ctx<'_, u32>) {
        let own = cx.me().index() as u32 + 1;
        self.counts.insert(cx.me(), own);
        let all: Vec<NodeId> = cx.nodes().collect();
        cx.send_all(&all, &own);
    }

    fn on_message(&mut self, from: NodeId, message: u32, _: &mut Ctx<'_, u32>) {
        let count = self.counts.entry(from).or_insert(0);
        *count = if self.is_fixed { message.max(*count) } else { message + *count };
    }
}

/// Three replicas count; a message may arrive twice.
pub(super) fn counter(is_fixed: bool) {
    let mut cluster = Cluster::new();
    for name in ["a", "b", "c"] {
        cluster.node(name, move || Counter { counts: BTreeMap::new(), is_fixed });
    }
    cluster.faults(Faults::none().duplicates(1).certain());
    let world = cluster.run();
    let values: Vec<u32> = world.all::<Counter>().map(|(_, counter)| counter.value()).collect();
    assert!(values.iter().all(|value| *value == 6), "replicas do not converge to 6: {values:?}");
}

#[derive(Clone, Debug)]
enum Message {
    Add(u32),
    Remove(u32),
    Removed,
    Collect(u32),
}

struct Set {
    is_fixed: bool,
    adds: bool,
    /// By the tag of their addition.
    elements: BTreeSet<u32>,
    /// Tags that were removed.
    tombstones: BTreeSet<u32>,
    seen: BTreeSet<u32>,
    /// Who is to be told when a tag is seen.
    waits: Vec<(u32, NodeId)>,
    confirmed: usize,
}

impl Node<Message> for Set {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.adds {
            self.elements.insert(7);
            self.seen.insert(7);
            let all: Vec<NodeId> = cx.nodes().collect();
            cx.send_all(&all, &Message::Add(7));
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        let all: Vec<NodeId> = cx.nodes().collect();
        match message {
            Message::Add(tag) => {
                self.seen.insert(tag);
                if !self.tombstones.contains(&tag) {
                    self.elements.insert(tag);
                }
                self.waits.retain(|(waits, remover)| {
                    if *waits == tag {
                        cx.send(*remover, Message::Removed);
                    }
                    *waits != tag
                });
                // The second replica removes what it sees.
                if cx.me().index() == 1 {
                    self.elements.remove(&tag);
                    self.tombstones.insert(tag);
                    cx.send_all(&all, &Message::Remove(tag));
                }
            }
            Message::Remove(tag) => {
                self.elements.remove(&tag);
                self.tombstones.insert(tag);
                match self.is_fixed && !self.seen.contains(&tag) {
                    true => self.waits.push((tag, from)),
                    false => cx.send(from, Message::Removed),
                }
            }
            Message::Removed => {
                self.confirmed += 1;
                if self.confirmed == if self.is_fixed { all.len() - 1 } else { 1 } {
                    self.tombstones.clear();
                    cx.send_all(&all, &Message::Collect(7));
                }
            }
            Message::Collect(tag) => drop(self.tombstones.remove(&tag)),
        }
    }
}

/// The first of three replicas adds an element, and the second removes it.
pub(super) fn set(is_fixed: bool) {
    let mut cluster = Cluster::new();
    for name in ["a", "b", "c"] {
        cluster.node(name, move || Set {
            is_fixed,
            adds: name == "a",
            elements: BTreeSet::new(),
            tombstones: BTreeSet::new(),
            seen: BTreeSet::new(),
            waits: Vec::new(),
            confirmed: 0,
        });
    }
    let world = cluster.run();
    for (node, set) in world.all::<Set>() {
        assert!(set.elements.is_empty(), "what was removed is back at {}", world.name(node));
    }
}
