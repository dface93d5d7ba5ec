//! A store with a log that is written ahead.
//!
//! A write is acknowledged when it is in the log, which reaches the disk some time after; a crash loses it. Fixed: it is acknowledged when it
//! is on disk. Or the log is written beside and put in place by a rename, and a crash takes the rename back. Fixed: the directory is synced. Or
//! half of a record survives a crash and is taken for one. Fixed: a record has a checksum.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, DiskError, Faults, Loss, Node, NodeId, Timer};
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

/// The whole log is written beside and put in place.
struct Renames {
    is_fixed: bool,
}

impl Renames {
    fn put(&self, value: u32, cx: &mut Ctx<'_, Message>) -> Result<(), DiskError> {
        cx.write_file("log.new", 0, &value.to_le_bytes())?;
        cx.sync_file("log.new")?;
        cx.rename_file("log.new", "log")?;
        if self.is_fixed { cx.sync_directory() } else { Ok(()) }
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

impl Node<Message> for Renames {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(value) => {
                let put = self.put(value, cx);
                if put.is_ok() {
                    cx.send(from, Message::Written);
                }
            }
            Message::Read => {
                let value = cx.read_file("log").map_or(0, |bytes| number(&bytes));
                cx.send(from, Message::Value(value));
            }
            _ => {}
        }
    }
}

/// Records are appended, and read when the server starts: values, with checksums or without.
struct Appends {
    is_fixed: bool,
    value: u32,
    waits: Vec<NodeId>,
}

impl Node<Message> for Appends {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        let log = cx.read_file("log").unwrap_or_default();
        for record in log.chunks(if self.is_fixed { 8 } else { 4 }) {
            let (value, sum) = record.split_at(record.len().min(4));
            if !self.is_fixed || number(sum) == !number(value) && !sum.is_empty() {
                self.value = number(value);
            }
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Write(value) => {
                let record = [value.to_le_bytes(), (!value).to_le_bytes()].concat();
                let length = if self.is_fixed { 8 } else { 4 };
                if cx.append_file("log", &record[..length]).is_ok() {
                    cx.set_timer(Duration::from_millis(10), u64::from(value));
                    self.waits.push(from);
                }
            }
            Message::Read => cx.send(from, Message::Value(self.value)),
            _ => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Ctx<'_, Message>) {
        if cx.sync_file("log").and_then(|()| cx.sync_directory()).is_ok() {
            self.value = timer.tag as u32;
            for client in self.waits.drain(..) {
                cx.send(client, Message::Written);
            }
        }
    }
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

/// Writes if it is to, and then reads.
struct Caller {
    server: NodeId,
    writes: Option<u32>,
    client: Client<Register<u32>>,
}

impl Caller {
    fn read(&mut self, cx: &mut Ctx<'_, Message>) {
        self.client.invoke(RegisterOp::Read);
        cx.send(self.server, Message::Read);
    }
}

impl Node<Message> for Caller {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        match self.writes {
            Some(value) => {
                self.client.invoke(RegisterOp::Write(value));
                cx.send(self.server, Message::Write(value));
            }
            None => self.read(cx),
        }
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Written => {
                self.client.ok(RegisterRet::Written);
                self.read(cx);
            }
            Message::Value(value) => self.client.ok(RegisterRet::Value(value)),
            _ => {}
        }
    }
}

/// A client writes, and then reads; another one reads.
fn run(loss: Loss, value: u32, server: impl FnOnce(&mut Cluster<Message>) -> NodeId) {
    let mut cluster = Cluster::new();
    let history = cluster.history(Register::new(0));
    let server = server(&mut cluster);
    for (name, writes) in [("writer", Some(value)), ("reader", None)] {
        cluster.client_with(name, history.clone(), move |history: Watch<Register<u32>>| Caller {
            server,
            writes,
            client: history.client(),
        });
    }
    cluster.faults(Faults::none().reboots(1).loses(loss).certain());
    cluster.run();
}

pub(super) fn acknowledged_early(is_fixed: bool) {
    run(Loss::Unsynced, 1, |cluster| cluster.node("server", move || Server { is_fixed, waits: Vec::new() }));
}

pub(super) fn renamed(is_fixed: bool) {
    run(Loss::AnyImage, 1, |cluster| cluster.node("server", move || Renames { is_fixed }));
}

pub(super) fn torn(is_fixed: bool) {
    let server = move || Appends { is_fixed, value: 0, waits: Vec::new() };
    run(Loss::AnyImage, 0x0102_0304, |cluster| cluster.node("server", server));
}
