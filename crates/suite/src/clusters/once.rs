//! A server that carries each request out at most once.
//!
//! A client that hears nothing asks again. The server knows requests by their numbers; it keeps what it counts on disk, and the numbers in
//! memory, so a crash makes it count twice. Fixed: both are on disk.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Timer};

/// A request by its number, or the answer to it.
type Message = u32;

struct Server {
    is_fixed: bool,
    last: u32,
}

impl Node<Message> for Server {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.last = cx.load("last").unwrap_or(0);
    }

    fn on_message(&mut self, from: NodeId, number: Message, cx: &mut Ctx<'_, Message>) {
        if number > self.last {
            self.last = number;
            cx.write("count", cx.load::<u32>("count").unwrap_or(0) + 1);
            if self.is_fixed {
                cx.write("last", number);
            }
            cx.sync();
        }
        cx.send(from, number);
    }
}

struct Caller {
    server: NodeId,
    is_answered: bool,
}

impl Node<Message> for Caller {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.server, 1);
        cx.set_timer(Duration::from_secs(1), 0);
    }

    fn on_message(&mut self, _: NodeId, _: Message, _: &mut Ctx<'_, Message>) {
        self.is_answered = true;
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        if !self.is_answered {
            cx.send(self.server, 1);
        }
    }
}

pub(super) fn forgets_requests(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let server = cluster.node("server", move || Server { is_fixed, last: 0 });
    cluster.client("client", move || Caller { server, is_answered: false });
    cluster.faults(Faults::none().reboots(1).certain());
    cluster.stable_invariant("a request takes effect once", move |world| {
        world.stored::<u32>(server, "count").is_none_or(|count| count == 1)
    });
    cluster.run();
}
