//! A feed over a stream, and a subscriber that connects again when the stream is reset. Bug: the server begins with the first item not yet sent,
//! so what was on its way is never seen. Fixed: the subscriber says what it has.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, StreamEvent, StreamId};

#[derive(Clone, Debug)]
enum Message {
    From(u32),
    Item(u32),
}

const PORT: u16 = 7;
const ITEMS: u32 = 3;

struct Server {
    sent: u32,
    is_fixed: bool,
}

impl Node<Message> for Server {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.listen(PORT);
    }
    fn on_message(&mut self, _: NodeId, _: Message, _: &mut Ctx<'_, Message>) {}
    fn on_stream(&mut self, stream: StreamId, event: StreamEvent<Message>, cx: &mut Ctx<'_, Message>) {
        if let StreamEvent::Data(Message::From(first)) = event {
            let first = if self.is_fixed { first } else { self.sent };
            for item in first..ITEMS {
                if cx.push(stream, Message::Item(item)) {
                    self.sent = item + 1;
                }
            }
        }
    }
}

struct Subscriber {
    server: NodeId,
    seen: Vec<u32>,
}

impl Subscriber {
    fn subscribe(&self, cx: &mut Ctx<'_, Message>) {
        let stream = cx.connect(self.server, PORT);
        cx.push(stream, Message::From(self.seen.len() as u32));
    }
}

impl Node<Message> for Subscriber {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.subscribe(cx);
    }
    fn on_message(&mut self, _: NodeId, _: Message, _: &mut Ctx<'_, Message>) {}
    fn on_stream(&mut self, _: StreamId, event: StreamEvent<Message>, cx: &mut Ctx<'_, Message>) {
        match event {
            StreamEvent::Data(Message::Item(item)) => self.seen.push(item),
            StreamEvent::Reset | StreamEvent::Refused => self.subscribe(cx),
            _ => {}
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let server = cluster.node("server", move || Server { sent: 0, is_fixed });
    let subscriber = cluster.client("subscriber", move || Subscriber { server, seen: Vec::new() });
    cluster.faults(Faults::none().resets(1));
    cluster.converges("the subscriber has seen each item once", Duration::from_secs(1), move |world| {
        world.get::<Subscriber>(subscriber).map(|subscriber| subscriber.seen.clone()) == Some((0..ITEMS).collect())
    });
    cluster.run();
}
