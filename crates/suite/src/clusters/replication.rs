//! A leader and a follower that copies it.
//!
//! The leader acknowledges a write as soon as it has it itself. A client that then asks the follower, or the leader's successor, may not see
//! what it was told is written. Fixed: the leader acknowledges once the follower has it.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Timer};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::history::{Client, Watch};

#[derive(Clone, Debug)]
enum Message {
    Write(u32),
    Written,
    Replicate(u32),
    Replicated,
    Read,
    Value(u32),
}

struct Leader {
    follower: NodeId,
    is_fixed: bool,
    value: u32,
    waits: Option<NodeId>,
}

impl Node<Message> for Leader {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(value) => {
                self.value = value;
                cx.send(self.follower, Message::Replicate(value));
                self.waits = Some(from);
                if !self.is_fixed {
                    cx.send(from, Message::Written);
                }
            }
            Message::Replicated if self.is_fixed => {
                if let Some(client) = self.waits {
                    cx.send(client, Message::Written);
                }
            }
            Message::Read => cx.send(from, Message::Value(self.value)),
            _ => {}
        }
    }
}

struct Follower {
    /// Answers at once, and not only when the leader seems to be gone.
    serves: bool,
    value: u32,
    asked: Vec<NodeId>,
}

impl Follower {
    fn answer(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.serves {
            for client in self.asked.drain(..) {
                cx.send(client, Message::Value(self.value));
            }
        }
    }
}

impl Node<Message> for Follower {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if !self.serves {
            cx.set_timer(Duration::from_secs(1), 0);
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Replicate(value) => {
                self.value = value;
                cx.send(from, Message::Replicated);
            }
            Message::Read => {
                self.asked.push(from);
                self.answer(cx);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        self.serves = true;
        self.answer(cx);
    }
}

/// Writes 1, if it is to, and then reads, from whichever of `readable` answers first.
struct Caller {
    leader: NodeId,
    writes: bool,
    readable: Vec<NodeId>,
    client: Client<Register<u32>>,
    reads: bool,
}

impl Caller {
    fn read(&mut self, cx: &mut Ctx<'_, Message>) {
        self.client.invoke(RegisterOp::Read);
        self.reads = true;
        cx.send_all(&self.readable, &Message::Read);
    }
}

impl Node<Message> for Caller {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.writes {
            self.client.invoke(RegisterOp::Write(1));
            cx.send(self.leader, Message::Write(1));
        } else {
            self.read(cx);
        }
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Written => {
                self.client.ok(RegisterRet::Written);
                self.read(cx);
            }
            Message::Value(value) if self.reads => {
                self.reads = false;
                self.client.ok(RegisterRet::Value(value));
            }
            _ => {}
        }
    }
}

fn run(is_fixed: bool, fails_over: bool) {
    let mut cluster = Cluster::new();
    let history = cluster.history(Register::new(0));
    let follower = cluster.node("follower", move || Follower { serves: !fails_over, value: 0, asked: Vec::new() });
    let leader = cluster.node("leader", move || Leader { follower, is_fixed, value: 0, waits: None });
    let readable = if fails_over { vec![leader, follower] } else { vec![follower] };
    let parts = (history, readable);
    let caller = move |(history, readable): (Watch<Register<u32>>, _), writes| Caller {
        leader,
        writes,
        readable,
        client: history.client(),
        reads: false,
    };
    cluster.client_with("client", parts.clone(), move |parts| caller(parts, true));
    if !fails_over {
        cluster.client_with("reader", parts, move |parts| caller(parts, false));
    } else {
        cluster.faults(Faults::none().crashes(1).crash_only([leader]).certain());
    }
    cluster.run();
}

/// The client reads from the follower.
pub(super) fn follower_read(is_fixed: bool) {
    run(is_fixed, false);
}

/// The follower takes over when the leader seems to be gone.
pub(super) fn fail_over(is_fixed: bool) {
    run(is_fixed, true);
}
