//! Primary and backup: the backup takes over when it hears nothing, in a new epoch. Bug: the old primary goes on answering reads by itself. Fixed:
//! it asks the backup, which refuses when it has taken over.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Timer};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::history::{Client, Watch};

#[derive(Clone, Debug)]
enum Message {
    Write(u32),
    Written,
    Go,
    Read,
    Value(u32),
    Confirm { reader: NodeId, epoch: u32 },
    Confirmed { reader: NodeId },
}

struct Primary {
    backup: NodeId,
    value: u32,
    is_fixed: bool,
}

impl Node<Message> for Primary {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Read if self.is_fixed => cx.send(self.backup, Message::Confirm { reader: from, epoch: 0 }),
            Message::Read => cx.send(from, Message::Value(self.value)),
            Message::Confirmed { reader } => cx.send(reader, Message::Value(self.value)),
            _ => {}
        }
    }
}

struct Backup {
    epoch: u32,
    value: u32,
    asked: Vec<(NodeId, u32)>,
}

impl Backup {
    fn serve(&mut self, cx: &mut Ctx<'_, Message>) {
        for (client, value) in std::mem::take(&mut self.asked) {
            self.value = value;
            cx.send(client, Message::Written);
        }
    }
}

impl Node<Message> for Backup {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.set_timer(Duration::from_secs(1), 0);
    }
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(value) => {
                self.asked.push((from, value));
                if self.epoch > 0 {
                    self.serve(cx);
                }
            }
            Message::Confirm { reader, epoch } if epoch == self.epoch => cx.send(from, Message::Confirmed { reader }),
            _ => {}
        }
    }
    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        self.epoch = 1;
        self.serve(cx);
    }
}

struct Writer {
    client: Client<Register<u32>>,
    backup: NodeId,
    reader: NodeId,
}

impl Node<Message> for Writer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.client.invoke(RegisterOp::Write(1));
        cx.send(self.backup, Message::Write(1));
    }
    fn on_message(&mut self, _: NodeId, _: Message, cx: &mut Ctx<'_, Message>) {
        self.client.ok(RegisterRet::Written);
        cx.send(self.reader, Message::Go);
    }
}

struct Reader {
    client: Client<Register<u32>>,
    primary: NodeId,
}

impl Node<Message> for Reader {
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Go => {
                self.client.invoke(RegisterOp::Read);
                cx.send(self.primary, Message::Read);
            }
            Message::Value(value) => self.client.ok(RegisterRet::Value(value)),
            _ => {}
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let [primary, backup, reader] = [0, 1, 3].map(NodeId::from_index);
    cluster.node("primary", move || Primary { backup, value: 0, is_fixed });
    cluster.node("backup", move || Backup { epoch: 0, value: 0, asked: Vec::new() });
    let watch: Watch<Register<u32>> = cluster.history(Register::new(0));
    cluster.client_with("writer", watch.clone(), move |watch| Writer { client: watch.client(), backup, reader });
    cluster.client_with("reader", watch, move |watch| Reader { client: watch.client(), primary });
    cluster.run();
}
