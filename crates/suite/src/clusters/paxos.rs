//! Paxos for one value: two proposers, three acceptors.
//!
//! An acceptor that has promised to accept nothing older does so all the same; or a proposer proposes its own value where acceptors have told
//! it that they have accepted another one. Both let two values be chosen.

use drawloom::cluster::{Cluster, Ctx, Node, NodeId, Probe};

const MAJORITY: usize = 2;

/// A ballot and its value.
type Accepted = (u32, u32);

#[derive(Clone, Debug)]
enum Message {
    Prepare(u32),
    Promise(Option<Accepted>),
    Accept(Accepted),
    Accepted,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    Right,
    PromiseIsBroken,
    ValueIsIgnored,
}

struct Acceptor {
    rules: Rules,
    promised: u32,
    accepted: Option<Accepted>,
}

impl Node<Message> for Acceptor {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Prepare(ballot) if ballot > self.promised => {
                self.promised = ballot;
                cx.send(from, Message::Promise(self.accepted));
            }
            Message::Accept(proposal) if proposal.0 >= self.promised || self.rules == Rules::PromiseIsBroken => {
                self.promised = self.promised.max(proposal.0);
                self.accepted = Some(proposal);
                cx.send(from, Message::Accepted);
            }
            _ => {}
        }
    }
}

struct Proposer {
    rules: Rules,
    acceptors: [NodeId; 3],
    ballot: u32,
    value: u32,
    newest: u32,
    promises: usize,
    accepted: usize,
    chosen: Probe<Vec<u32>>,
}

impl Node<Message> for Proposer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send_all(&self.acceptors, &Message::Prepare(self.ballot));
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Promise(accepted) if self.promises < MAJORITY => {
                self.promises += 1;
                if let Some((ballot, value)) = accepted.filter(|(ballot, _)| *ballot > self.newest) {
                    self.newest = ballot;
                    if self.rules != Rules::ValueIsIgnored {
                        self.value = value;
                    }
                }
                if self.promises == MAJORITY {
                    cx.send_all(&self.acceptors, &Message::Accept((self.ballot, self.value)));
                }
            }
            Message::Accepted => {
                self.accepted += 1;
                if self.accepted == MAJORITY {
                    self.chosen.note().push(self.value);
                }
            }
            _ => {}
        }
    }
}

fn agree(rules: Rules) {
    let mut cluster = Cluster::new();
    let chosen = Probe::<Vec<u32>>::default();
    let acceptors =
        ["a", "b", "c"].map(|name| cluster.node(name, move || Acceptor { rules, promised: 0, accepted: None }));
    for ballot in [1, 2] {
        cluster.node_with(format!("p{ballot}"), chosen.clone(), move |chosen| Proposer {
            rules,
            acceptors,
            ballot,
            value: ballot * 10,
            newest: 0,
            promises: 0,
            accepted: 0,
            chosen,
        });
    }
    cluster.stable_invariant("one value is chosen", move |_| {
        let chosen = chosen.get();
        chosen.iter().all(|value| *value == chosen[0])
    });
    cluster.run();
}

pub(super) fn promise_is_broken(is_fixed: bool) {
    agree(if is_fixed { Rules::Right } else { Rules::PromiseIsBroken });
}

pub(super) fn value_is_ignored(is_fixed: bool) {
    agree(if is_fixed { Rules::Right } else { Rules::ValueIsIgnored });
}
