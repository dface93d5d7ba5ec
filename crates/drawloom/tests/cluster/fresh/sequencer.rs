//! A sequencer that gives out numbers and remembers the last one on disk. Bug: it answers before it has saved it, so after a crash in the midst it
//! gives the same number again. Fixed: it saves first. Only a crash in the midst of an event tells them apart.

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Probe};

#[derive(Clone, Debug)]
enum Message {
    Next,
    Number(u32),
}

struct Sequencer(bool);

impl Node<Message> for Sequencer {
    fn on_message(&mut self, from: NodeId, _: Message, cx: &mut Ctx<'_, Message>) {
        let next = cx.load::<u32>("last").unwrap_or(0) + 1;
        if self.0 {
            cx.save("last", next);
            cx.send(from, Message::Number(next));
        } else {
            cx.send(from, Message::Number(next));
            cx.save("last", next);
        }
    }
}

struct Client(NodeId, Probe<Vec<u32>>);

impl Node<Message> for Client {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.0, Message::Next);
    }
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        if let Message::Number(number) = message {
            assert!(!self.1.get().contains(&number), "the number {number} was given out twice");
            self.1.note().push(number);
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let sequencer = cluster.node("sequencer", move || Sequencer(is_fixed));
    let numbers = Probe::new(Vec::new());
    for name in ["a", "b"] {
        cluster.client_with(name, numbers.clone(), move |numbers| Client(sequencer, numbers));
    }
    cluster.order_clients();
    cluster.faults(Faults::none().reboots(1).midway());
    cluster.run();
}
