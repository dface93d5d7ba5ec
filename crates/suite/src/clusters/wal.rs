//! A store with a log that is written ahead.
//!
//! A write is acknowledged when it is in the log, which reaches the disk some time after; a crash loses it. Fixed: it is acknowledged when it
//! is on disk.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Loss, Node, NodeId, Timer};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::history::{Client, Watch};

#[derive(Clone, Debug)]
enum Message {
    Write(u32),
    Written,
    Read,
    Value(u32),
}

struct Server {
    is_fixed: bool,
    waits: Vec<NodeId>,
}

impl Node<Message> for Server {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(value) => {
                cx.write("log", value);
                cx.set_timer(Duration::from_millis(10), 0);
                match self.is_fixed {
                    true => self.waits.push(from),
                    false => cx.send(from, Message::Written),
                }
            }
            Message::Read => cx.send(from, Message::Value(cx.load("log").unwrap_or(0))),
            _ => {}
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        cx.sync();
        for client in self.waits.drain(..) {
            cx.send(client, Message::Written);
        }
    }
}

/// Writes, and then reads.
struct Caller {
    server: NodeId,
    client: Client<Register<u32>>,
}

impl Node<Message> for Caller {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.client.invoke(RegisterOp::Write(1));
        cx.send(self.server, Message::Write(1));
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Written => {
                self.client.ok(RegisterRet::Written);
                self.client.invoke(RegisterOp::Read);
                cx.send(self.server, Message::Read);
            }
            Message::Value(value) => self.client.ok(RegisterRet::Value(value)),
            _ => {}
        }
    }
}

pub(super) fn acknowledged_early(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let history = cluster.history(Register::new(0));
    let server = cluster.node("server", move || Server { is_fixed, waits: Vec::new() });
    cluster.client_with("client", history, move |history: Watch<Register<u32>>| Caller {
        server,
        client: history.client(),
    });
    cluster.faults(Faults::none().reboots(1).loses(Loss::Unsynced).certain());
    cluster.run();
}
