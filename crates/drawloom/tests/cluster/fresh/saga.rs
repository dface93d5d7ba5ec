//! A saga: reserve, then pay; if the payment fails, cancel the reservation. Bug: a cancellation that overtakes its reservation is ignored, and
//! the reservation stays. Fixed: it leaves a mark.

use drawloom::cluster::{Cluster, Ctx, Node, NodeId};

#[derive(Clone, Debug)]
enum Message {
    Reserve,
    Cancel,
    Pay,
    Refused,
}

#[derive(Default)]
struct Hotel {
    is_reserved: bool,
    was_cancelled: bool,
    is_fixed: bool,
}

impl Node<Message> for Hotel {
    fn on_message(&mut self, _: NodeId, message: Message, _: &mut Ctx<'_, Message>) {
        match message {
            Message::Reserve if !(self.is_fixed && self.was_cancelled) => self.is_reserved = true,
            Message::Cancel => (self.is_reserved, self.was_cancelled) = (false, true),
            _ => {}
        }
    }
}

struct Bank;

impl Node<Message> for Bank {
    fn on_message(&mut self, from: NodeId, _: Message, cx: &mut Ctx<'_, Message>) {
        cx.send(from, Message::Refused);
    }
}

struct Coordinator {
    hotel: NodeId,
    bank: NodeId,
}

impl Node<Message> for Coordinator {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.hotel, Message::Reserve);
        cx.send(self.bank, Message::Pay);
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        if let Message::Refused = message {
            cx.send(self.hotel, Message::Cancel);
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let hotel = cluster.node("hotel", move || Hotel { is_fixed, ..Hotel::default() });
    let bank = cluster.node("bank", || Bank);
    cluster.node("coordinator", move || Coordinator { hotel, bank });
    let world = cluster.run();
    let reserved = world.get::<Hotel>(hotel).is_some_and(|hotel| hotel.is_reserved);
    assert!(!reserved, "a room is reserved that nobody pays for");
}
