//! The register of Attiya, Bar-Noy and Dolev: three servers, of which any two are a majority.
//!
//! A read takes the newest value of a majority. It may have seen a write that is under way, where a later read sees it not: a new
//! value, and then the old one. Fixed: a read writes what it returns back to a majority first.

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Probe};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::history::{Client, Watch};

const MAJORITY: usize = 2;

/// What clients and servers send.
#[derive(Clone, Debug)]
pub enum Message {
    Write(u32),
    Written,
    Read,
    Value(u32),
    /// To the second reader, from the first one.
    GoOn(u32),
}

#[derive(Default)]
struct Server(u32);

impl Node<Message> for Server {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(value) => {
                self.0 = self.0.max(value);
                cx.send(from, Message::Written);
            }
            Message::Read => cx.send(from, Message::Value(self.0)),
            _ => {}
        }
    }
}

/// What clients tell of what they do.
enum Told {
    History(Client<Register<u32>>),
    /// Only what the second reader returns after the first.
    Inversions(Probe<bool>),
}

impl Told {
    fn calls(&mut self, operation: RegisterOp<u32>) {
        if let Told::History(client) = self {
            client.invoke(operation);
        }
    }

    fn returns(&mut self, result: RegisterRet<u32>) {
        if let Told::History(client) = self {
            client.ok(result);
        }
    }
}

struct Writer {
    servers: [NodeId; 3],
    written: usize,
    told: Told,
}

impl Node<Message> for Writer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.told.calls(RegisterOp::Write(1));
        cx.send_all(&self.servers, &Message::Write(1));
    }

    fn on_message(&mut self, _: NodeId, _: Message, _: &mut Ctx<'_, Message>) {
        self.written += 1;
        if self.written == MAJORITY {
            self.told.returns(RegisterRet::Written);
        }
    }
}

struct Reader {
    servers: [NodeId; 3],
    /// Reads after this one has.
    next: Option<NodeId>,
    is_first: bool,
    writes_back: bool,
    before: u32,
    values: Vec<u32>,
    written: usize,
    told: Told,
}

impl Reader {
    fn begin(&mut self, cx: &mut Ctx<'_, Message>) {
        self.told.calls(RegisterOp::Read);
        cx.send_all(&self.servers, &Message::Read);
    }

    fn end(&mut self, cx: &mut Ctx<'_, Message>) {
        let value = self.values.iter().copied().max().unwrap_or(0);
        self.told.returns(RegisterRet::Value(value));
        if let Told::Inversions(inversion) = &self.told {
            *inversion.note() |= value < self.before;
        }
        if let Some(next) = self.next {
            cx.send(next, Message::GoOn(value));
        }
    }
}

impl Node<Message> for Reader {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.is_first {
            self.begin(cx);
        }
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::GoOn(before) => {
                self.before = before;
                self.begin(cx);
            }
            Message::Value(value) if self.values.len() < MAJORITY => {
                self.values.push(value);
                match self.values.iter().max() {
                    Some(newest) if self.values.len() == MAJORITY && self.writes_back => {
                        cx.send_all(&self.servers, &Message::Write(*newest));
                    }
                    _ if self.values.len() == MAJORITY => self.end(cx),
                    _ => {}
                }
            }
            Message::Written => {
                self.written += 1;
                if self.written == MAJORITY {
                    self.end(cx);
                }
            }
            _ => {}
        }
    }
}

/// One writer, and two readers one after the other. Either all that clients see is checked while it happens, and for that their events are
/// ordered; or only whether the second reader sees an older value than the first, which needs no order.
pub fn register_of(writes_back: bool, has_history: bool) -> (Cluster<Message>, Probe<bool>) {
    let mut cluster = Cluster::new();
    let servers = ["s0", "s1", "s2"].map(|name| cluster.node(name, Server::default));
    let inversion = Probe::new(false);
    let history = has_history.then(|| cluster.history(Register::new(0)));
    let parts = (history, inversion.clone());
    let told = |(history, inversion): (Option<Watch<Register<u32>>>, Probe<bool>)| match history {
        Some(history) => Told::History(history.client()),
        None => Told::Inversions(inversion),
    };
    cluster.client_with("writer", parts.clone(), move |parts| Writer { servers, written: 0, told: told(parts) });
    let reader = move |told: Told, next: Option<NodeId>| Reader {
        servers,
        next,
        is_first: next.is_some(),
        writes_back,
        before: 0,
        values: Vec::new(),
        written: 0,
        told,
    };
    let second = cluster.client_with("second", parts.clone(), move |parts| reader(told(parts), None));
    cluster.client_with("first", parts, move |parts| reader(told(parts), Some(second)));
    (cluster, inversion)
}

pub(super) fn register(is_fixed: bool) {
    register_of(is_fixed, true).0.run();
}
