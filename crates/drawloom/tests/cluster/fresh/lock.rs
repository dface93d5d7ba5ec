//! A lock with a lease, and a holder that pauses. Bug: the store accepts whoever believes to hold the lock. Fixed: it looks at the number
//! of the lease. Clocks drift by one per cent at most; no pause is needed, since a message can be late as well.

use std::time::Duration;

use drawloom::cluster::{Clock, Cluster, Ctx, Faults, Node, NodeId, Timer};

#[derive(Clone, Debug)]
enum Message {
    Lock,
    Locked { lease: u32 },
    Write { lease: u32 },
}

struct LockServer {
    leases: u32,
    is_free: bool,
    waiting: Vec<NodeId>,
}

impl LockServer {
    fn grant(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.is_free && !self.waiting.is_empty() {
            let to = self.waiting.remove(0);
            (self.leases, self.is_free) = (self.leases + 1, false);
            cx.set_timer(Duration::from_millis(110), 0);
            cx.send(to, Message::Locked { lease: self.leases });
        }
    }
}

impl Node<Message> for LockServer {
    fn on_message(&mut self, from: NodeId, _: Message, cx: &mut Ctx<'_, Message>) {
        self.waiting.push(from);
        self.grant(cx);
    }
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        self.is_free = true;
        self.grant(cx);
    }
}

struct Store {
    latest: u32,
    is_fixed: bool,
}

impl Node<Message> for Store {
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        match message {
            Message::Write { lease } if !self.is_fixed || lease >= self.latest => {
                assert!(lease >= self.latest, "a write of lease {lease} after one of lease {}", self.latest);
                self.latest = lease;
            }
            _ => {}
        }
    }
}

struct Holder {
    lock: NodeId,
    store: NodeId,
}

impl Node<Message> for Holder {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.lock, Message::Lock);
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        if let Message::Locked { lease } = message {
            cx.send(self.store, Message::Write { lease });
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let lock = cluster.node("lock", || LockServer { leases: 0, is_free: true, waiting: Vec::new() });
    let store = cluster.node("store", move || Store { latest: 0, is_fixed });
    let holders = ["a", "b"].map(|name| cluster.node(name, move || Holder { lock, store }));
    cluster.clock(Clock::Bounded { drift_ppm: 10_000 });
    cluster.faults(Faults::none().pauses(1).crash_only(holders));
    cluster.run();
}
