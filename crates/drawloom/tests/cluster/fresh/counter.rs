//! Two clients that add to a counter on three replicas: read a majority, add, write a majority. Bug: that loses updates. Fixed: one replica
//! puts the additions in order.

use drawloom::cluster::{Cluster, Ctx, Node, NodeId};

#[derive(Clone, Debug)]
enum Message {
    Read,
    Value(u32),
    Write(u32),
    Wrote,
    Add,
}

#[derive(Default)]
struct Replica(u32);

impl Node<Message> for Replica {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Read => cx.send(from, Message::Value(self.0)),
            Message::Write(value) => {
                self.0 = self.0.max(value);
                cx.send(from, Message::Wrote);
            }
            Message::Add => self.0 += 1,
            _ => {}
        }
    }
}

struct Adder {
    replicas: Vec<NodeId>,
    values: Vec<u32>,
    is_fixed: bool,
}

impl Node<Message> for Adder {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.is_fixed {
            cx.send(self.replicas[0], Message::Add);
        } else {
            cx.send_all(&self.replicas.clone(), &Message::Read);
        }
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        if let Message::Value(value) = message {
            self.values.push(value);
            if self.values.len() == 2 {
                let next = self.values.iter().max().copied().unwrap_or(0) + 1;
                cx.send_all(&self.replicas.clone(), &Message::Write(next));
            }
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let replicas: Vec<NodeId> = ["a", "b", "c"].map(|name| cluster.node(name, Replica::default)).to_vec();
    for name in ["one", "two"] {
        cluster.client_with(name, replicas.clone(), move |replicas| Adder { replicas, values: Vec::new(), is_fixed });
    }
    let world = cluster.run();
    let most = world.all::<Replica>().map(|(_, replica)| replica.0).max();
    assert_eq!(most, Some(2), "an addition is lost");
}
