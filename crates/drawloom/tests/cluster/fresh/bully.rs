//! The bully election: who hears no answer of a higher node says that it is the coordinator. Bug: workers believe the last one who said so, and
//! carry out orders of two. Fixed: an election has a number, and orders of an older one are refused.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Timer};

#[derive(Clone, Debug)]
enum Message {
    Election,
    Alive,
    Coordinator { term: u32 },
    Order { term: u32 },
}

struct Candidate {
    workers: Vec<NodeId>,
    higher: Option<NodeId>,
    has_heard: bool,
}

impl Candidate {
    fn lead(&mut self, cx: &mut Ctx<'_, Message>) {
        let term = cx.me().index() as u32 + 1;
        for worker in self.workers.clone() {
            cx.send(worker, Message::Coordinator { term });
            cx.send(worker, Message::Order { term });
        }
    }
}

impl Node<Message> for Candidate {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if let Some(higher) = self.higher {
            cx.send(higher, Message::Election);
            cx.set_timer(Duration::from_secs(1), 0);
        }
    }
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Election => {
                cx.send(from, Message::Alive);
                self.lead(cx);
            }
            Message::Alive => self.has_heard = true,
            _ => {}
        }
    }
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        if !self.has_heard {
            self.lead(cx);
        }
    }
}

#[derive(Default)]
struct Worker {
    coordinator: u32,
    carried_out: Vec<u32>,
    is_fixed: bool,
}

impl Node<Message> for Worker {
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        match message {
            Message::Coordinator { term } if !self.is_fixed || term > self.coordinator => self.coordinator = term,
            Message::Order { term } if term == self.coordinator => {
                if let Some(last) = self.carried_out.last() {
                    assert!(*last <= term, "an order of coordinator {term} after one of {last}");
                }
                self.carried_out.push(term);
            }
            _ => {}
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let [worker, high] = [0, 2].map(NodeId::from_index);
    cluster.node("worker", move || Worker { is_fixed, ..Worker::default() });
    for (name, higher) in [("low", Some(high)), ("high", None)] {
        cluster.node_with(name, vec![worker], move |workers| Candidate { workers, higher, has_heard: false });
    }
    cluster.run();
}
