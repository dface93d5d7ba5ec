//! SWIM: a node that answers no ping is suspected, and refutes that by a higher incarnation. Bug: a suspicion counts whatever its
//! incarnation, so a late one overrides the refutation. Fixed: only one of the same or a higher incarnation counts.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Timer};

#[derive(Clone, Copy, Debug)]
enum Message {
    Ping,
    Ack,
    Suspect { whom: NodeId, incarnation: u32 },
    Alive { whom: NodeId, incarnation: u32 },
}

struct Member {
    watches: Option<NodeId>,
    incarnation: u32,
    heard: bool,
    /// What is known of the others: the incarnation, and whether it is suspected.
    known: Vec<(u32, bool)>,
    is_fixed: bool,
}

impl Node<Message> for Member {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        self.known = vec![(0, false); 3];
        if let Some(whom) = self.watches {
            cx.send(whom, Message::Ping);
            cx.set_timer(Duration::from_millis(100), 0);
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        let all: Vec<NodeId> = cx.nodes().collect();
        match message {
            Message::Ping => cx.send(from, Message::Ack),
            Message::Ack => self.heard = true,
            Message::Suspect { whom, incarnation } if whom == cx.me() => {
                self.incarnation = self.incarnation.max(incarnation + 1);
                let incarnation = self.incarnation;
                cx.send_all(&all, &Message::Alive { whom, incarnation });
            }
            Message::Suspect { whom, incarnation } => {
                let known = &mut self.known[whom.index()];
                if !self.is_fixed || incarnation >= known.0 {
                    *known = (incarnation.max(known.0), true);
                }
            }
            Message::Alive { whom, incarnation } => {
                let known = &mut self.known[whom.index()];
                if incarnation > known.0 {
                    *known = (incarnation, false);
                }
            }
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        if let (false, Some(whom)) = (self.heard, self.watches) {
            let incarnation = self.known[whom.index()].0;
            self.known[whom.index()].1 = true;
            let all: Vec<NodeId> = cx.nodes().collect();
            cx.send_all(&all, &Message::Suspect { whom, incarnation });
        }
    }
}

pub fn run(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let watched = NodeId::from_index(2);
    for (name, watches) in [("a", Some(watched)), ("b", None), ("c", None)] {
        cluster.node_with(name, watches, move |watches| Member {
            watches,
            incarnation: 0,
            heard: false,
            known: Vec::new(),
            is_fixed,
        });
    }
    cluster.converges("nobody suspects a node that is up", Duration::from_secs(1), move |world| {
        world.all::<Member>().all(|(_, member)| !member.known[watched.index()].1)
    });
    cluster.run();
}
