//! A lock with a lease, which guards a store.
//!
//! Who holds the lock looks at its lease, and then writes; what it writes may arrive when the lease is over and somebody else holds the
//! lock. Fixed: the store refuses what comes with a token that is older than one that it has seen.

use std::collections::VecDeque;
use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Probe, Timer};

const LEASE: Duration = Duration::from_secs(10);
const WORK: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
enum Message {
    Acquire,
    Granted(u64),
    Store(u64),
}

#[derive(Default)]
struct Service {
    last: u64,
    is_held: bool,
    waits: VecDeque<NodeId>,
}

impl Service {
    fn grant(&mut self, cx: &mut Ctx<'_, Message>) {
        let next = if self.is_held { None } else { self.waits.pop_front() };
        if let Some(next) = next {
            (self.last, self.is_held) = (self.last + 1, true);
            cx.send(next, Message::Granted(self.last));
            cx.set_timer(LEASE, 0);
        }
    }
}

impl Node<Message> for Service {
    fn on_message(&mut self, from: NodeId, _: Message, cx: &mut Ctx<'_, Message>) {
        self.waits.push_back(from);
        self.grant(cx);
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        self.is_held = false;
        self.grant(cx);
    }
}

/// Works for a while when it has the lock, and then stores what came of it if the lease is not over.
struct Holder {
    service: NodeId,
    store: NodeId,
    until: Duration,
}

impl Node<Message> for Holder {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.service, Message::Acquire);
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        if let Message::Granted(token) = message {
            self.until = cx.now() + LEASE;
            cx.set_timer(WORK, token);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Ctx<'_, Message>) {
        if cx.now() < self.until {
            cx.send(self.store, Message::Store(timer.tag));
        }
    }
}

struct Store {
    fences: bool,
    stored: Probe<Vec<u64>>,
}

impl Node<Message> for Store {
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        if let Message::Store(token) = message {
            let mut stored = self.stored.note();
            if !self.fences || stored.last().is_none_or(|last| *last <= token) {
                stored.push(token);
            }
        }
    }
}

pub(super) fn lease(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let stored = Probe::<Vec<u64>>::default();
    let service = cluster.node("service", Service::default);
    let store = cluster.node_with("store", stored.clone(), move |stored| Store { fences: is_fixed, stored });
    for name in ["a", "b"] {
        cluster.node(name, move || Holder { service, store, until: Duration::ZERO });
    }
    cluster.stable_invariant("nobody stores after the next holder", move |_| stored.get().is_sorted());
    cluster.run();
}
