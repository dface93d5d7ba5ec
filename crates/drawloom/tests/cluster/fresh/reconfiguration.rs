//! A quorum register whose servers change. Bug: a writer that knows the old ones alone writes to a majority of those after the new
//! ones have taken over the value. Fixed: the old ones refuse when they have handed over, and the writer asks the new ones.

use drawloom::cluster::{Cluster, Ctx, Node, NodeId};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::history::{Client, Watch};

#[derive(Clone, Debug)]
enum Message {
    Write(u32),
    Wrote,
    Moved,
    HandOver,
    State(u32),
    Install(u32),
    Installed,
    Read,
    Value(u32),
}

struct Server {
    value: u32,
    has_moved: bool,
    is_fixed: bool,
}

impl Node<Message> for Server {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(_) if self.has_moved && self.is_fixed => cx.send(from, Message::Moved),
            Message::Write(value) => {
                self.value = value;
                cx.send(from, Message::Wrote);
            }
            Message::HandOver => {
                self.has_moved = true;
                cx.send(from, Message::State(self.value));
            }
            Message::Install(value) => {
                self.value = self.value.max(value);
                cx.send(from, Message::Installed);
            }
            Message::Read => cx.send(from, Message::Value(self.value)),
            _ => {}
        }
    }
}

/// Moves the register from the old server to the new one, then tells the reader.
struct Admin {
    old: NodeId,
    new: NodeId,
    reader: NodeId,
}

impl Node<Message> for Admin {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.old, Message::HandOver);
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::State(value) => cx.send(self.new, Message::Install(value)),
            Message::Installed => cx.send(self.reader, Message::Installed),
            _ => {}
        }
    }
}

struct Writer {
    client: Client<Register<u32>>,
    old: NodeId,
    new: NodeId,
}

impl Node<Message> for Writer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.client.invoke(RegisterOp::Write(1));
        cx.send(self.old, Message::Write(1));
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Wrote => self.client.ok(RegisterRet::Written),
            Message::Moved => cx.send(self.new, Message::Write(1)),
            _ => {}
        }
    }
}

struct Reader {
    client: Client<Register<u32>>,
    new: NodeId,
}

impl Node<Message> for Reader {
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Installed => {
                self.client.invoke(RegisterOp::Read);
                cx.send(self.new, Message::Read);
            }
            Message::Value(value) => self.client.ok(RegisterRet::Value(value)),
            _ => {}
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let [old, new, reader] = [0, 1, 4].map(NodeId::from_index);
    for name in ["old", "new"] {
        cluster.node(name, move || Server { value: 0, has_moved: false, is_fixed });
    }
    cluster.node("admin", move || Admin { old, new, reader });
    let watch: Watch<Register<u32>> = cluster.history(Register::new(0));
    cluster.client_with("writer", watch.clone(), move |watch| Writer { client: watch.client(), old, new });
    cluster.client_with("reader", watch, move |watch| Reader { client: watch.client(), new });
    cluster.run();
}
