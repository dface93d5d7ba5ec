//! A semaphore of one permit on a server. Bug: a release that comes twice gives two permits. Fixed: a release names the grant that it ends.

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Probe};

#[derive(Clone, Debug)]
enum Message {
    Acquire,
    Granted { grant: u32 },
    Release { grant: u32 },
    Work,
}

struct Server {
    permits: u32,
    grants: u32,
    current: Option<u32>,
    waiting: Vec<NodeId>,
    is_fixed: bool,
}

impl Server {
    fn grant(&mut self, cx: &mut Ctx<'_, Message>) {
        while self.permits > 0 && !self.waiting.is_empty() {
            let to = self.waiting.remove(0);
            self.permits -= 1;
            self.grants += 1;
            self.current = Some(self.grants);
            cx.send(to, Message::Granted { grant: self.grants });
        }
    }
}

impl Node<Message> for Server {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Acquire => self.waiting.push(from),
            Message::Release { grant } if !self.is_fixed || self.current == Some(grant) => {
                self.permits += 1;
                self.current = None;
            }
            _ => {}
        }
        self.grant(cx);
    }
}

struct Worker {
    server: NodeId,
    inside: Probe<u32>,
    grant: u32,
    is_inside: bool,
}

impl Node<Message> for Worker {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.server, Message::Acquire);
    }
    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        let me = cx.me();
        match message {
            Message::Granted { grant } if !self.is_inside && grant != self.grant => {
                (self.grant, self.is_inside) = (grant, true);
                *self.inside.note() += 1;
                cx.send(me, Message::Work);
            }
            Message::Work if self.is_inside => {
                self.is_inside = false;
                *self.inside.note() -= 1;
                cx.send(self.server, Message::Release { grant: self.grant });
            }
            _ => {}
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let server =
        cluster.node("server", move || Server { permits: 1, grants: 0, current: None, waiting: Vec::new(), is_fixed });
    let inside = Probe::new(0);
    for name in ["a", "b", "c"] {
        cluster.client_with(name, inside.clone(), move |inside| Worker { server, inside, grant: 0, is_inside: false });
    }
    cluster.faults(Faults::none().duplicates(1));
    cluster.invariant("one is inside", move |_| *inside.get() <= 1);
    cluster.run();
}
