//! Chain replication: writes go from the head to the tail, and the tail answers. When the tail fails, the one before it takes its place.
//! Bug: the new tail forgets the writes that it has passed on and that were not acknowledged: their client is never told (and asks again, which
//! writes twice). Fixed: it acknowledges them.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Timer};

#[derive(Clone, Debug)]
enum Message {
    Write { number: u32, client: NodeId },
    Done { number: u32 },
    TailIsGone,
}

struct Replica {
    next: Option<NodeId>,
    log: Vec<u32>,
    passed_on: Vec<(u32, NodeId)>,
    is_fixed: bool,
}

impl Node<Message> for Replica {
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write { number, client } => {
                if !self.log.contains(&number) {
                    self.log.push(number);
                }
                match self.next {
                    Some(next) => {
                        self.passed_on.push((number, client));
                        cx.send(next, Message::Write { number, client });
                    }
                    None => cx.send(client, Message::Done { number }),
                }
            }
            Message::TailIsGone => {
                self.next = None;
                if self.is_fixed {
                    for (number, client) in std::mem::take(&mut self.passed_on) {
                        cx.send(client, Message::Done { number });
                    }
                }
            }
            Message::Done { .. } => {}
        }
    }
}

/// Says that the tail is gone when it is; it can tell.
struct Master {
    before: NodeId,
}

impl Node<Message> for Master {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.set_timer(Duration::from_secs(1), 0);
    }
    fn on_message(&mut self, _: NodeId, _: Message, _: &mut Ctx<'_, Message>) {}
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        cx.send(self.before, Message::TailIsGone);
    }
}

struct Client {
    head: NodeId,
    is_done: bool,
}

impl Node<Message> for Client {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        let client = cx.me();
        cx.send(self.head, Message::Write { number: 1, client });
    }
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        self.is_done |= matches!(message, Message::Done { number: 1 });
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let [head, tail] = [0, 1].map(NodeId::from_index);
    let replica = move |next| Replica { next, log: Vec::new(), passed_on: Vec::new(), is_fixed };
    cluster.node("head", move || replica(Some(tail)));
    cluster.node("tail", move || replica(None));
    cluster.client("master", move || Master { before: head });
    let client = cluster.client("client", move || Client { head, is_done: false });
    cluster.faults(Faults::none().crashes(1).crash_only([tail]));
    cluster.converges("the client is told", Duration::from_secs(10), move |world| {
        world.get::<Client>(client).is_some_and(|client| client.is_done)
    });
    cluster.run();
}
