//! A consumer of a queue that delivers at least once. Bug: what was handled is remembered in memory alone, and the effect is on disk. Fixed: both are
//! written together.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Loss, Node, NodeId, Timer};

#[derive(Clone, Debug)]
enum Message {
    Deliver { id: u32, amount: u32 },
    Ack { id: u32 },
}

struct Broker {
    consumer: NodeId,
    unacked: Vec<(u32, u32)>,
}

impl Node<Message> for Broker {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        for (id, amount) in self.unacked.clone() {
            cx.send(self.consumer, Message::Deliver { id, amount });
        }
        cx.set_timer(Duration::from_secs(5), 0);
    }
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        if let Message::Ack { id } = message {
            self.unacked.retain(|(unacked, _)| *unacked != id);
        }
    }
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        for (id, amount) in self.unacked.clone() {
            cx.send(self.consumer, Message::Deliver { id, amount });
        }
    }
}

struct Consumer {
    handled: Vec<u32>,
    is_fixed: bool,
}

impl Node<Message> for Consumer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.is_fixed {
            self.handled = cx.load::<(u32, Vec<u32>)>("state").unwrap_or_default().1;
        }
    }
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        let Message::Deliver { id, amount } = message else { return };
        if !self.handled.contains(&id) {
            self.handled.push(id);
            let (total, _) = cx.load::<(u32, Vec<u32>)>("state").unwrap_or_default();
            // Two writes and one sync would not do: a crash may keep the first alone.
            cx.write("state", (total + amount, self.handled.clone()));
            cx.sync();
        }
        cx.send(from, Message::Ack { id });
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let consumer = cluster.node("consumer", move || Consumer { handled: Vec::new(), is_fixed });
    cluster.client("broker", move || Broker { consumer, unacked: vec![(1, 10), (2, 20)] });
    cluster.faults(Faults::none().reboots(1).loses(Loss::Unsynced).midway());
    cluster.stable_invariant("nothing is counted twice", move |world| {
        world.stored::<(u32, Vec<u32>)>(consumer, "state").is_none_or(|(total, _)| total <= 30)
    });
    cluster.run();
}
