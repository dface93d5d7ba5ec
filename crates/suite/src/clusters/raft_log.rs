//! Raft's log, from the first leader on.
//!
//! R3: a follower appends entries without a look at those before (a gap), or cuts its log off after a late append that repeats old
//! entries. R5: a leader that was deposed, and does not know it, answers reads.

use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Probe, Timer};
use drawloom::history::model::{Register, RegisterOp, RegisterRet};
use drawloom::history::{Client, Watch};

const MAJORITY: usize = 2;

/// Its term, and the value of the register.
type Entry = (u32, u32);

#[derive(Clone, Debug)]
enum Message {
    /// `entries` follow the first `after` of the log, the last of which is of the term `last`.
    Append {
        term: u32,
        after: usize,
        last: u32,
        entries: Vec<Entry>,
    },
    /// So many entries are as the leader's.
    Appended {
        term: u32,
        length: usize,
    },
    /// So many entries at most are.
    Gap {
        length: usize,
    },
    /// A candidate, the term of whose last entry is `last`, and that has so many.
    Ask {
        term: u32,
        last: u32,
        length: usize,
    },
    Vote {
        term: u32,
    },
    Command(u32),
    Done,
    Read,
    Value(u32),
    /// Whether the leader of this term still is one.
    Check {
        term: u32,
    },
    Confirmed {
        term: u32,
    },
    Leads,
}

/// What is wrong, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    Right,
    Gap,
    StaleAppend,
    StaleRead,
}

/// What was committed in which term, by its place in the log; and what is wrong with a leader's log.
#[derive(Default)]
struct Facts {
    committed: Vec<Entry>,
    lost: Option<String>,
}

struct Peer {
    rules: Rules,
    peers: [NodeId; 3],
    client: NodeId,
    has_timer: bool,
    /// One entry at a time, and not all that may be missing.
    pipelines: bool,
    term: u32,
    votes: usize,
    is_candidate: bool,
    leads: bool,
    log: Vec<Entry>,
    committed: usize,
    reads: Vec<(NodeId, usize)>,
    facts: Probe<Facts>,
}

impl Peer {
    fn last(&self, length: usize) -> u32 {
        length.checked_sub(1).map_or(0, |at| self.log[at].0)
    }

    fn value(&self) -> u32 {
        self.committed.checked_sub(1).map_or(0, |at| self.log[at].1)
    }

    fn append(&self, after: usize) -> Message {
        Message::Append { term: self.term, after, last: self.last(after), entries: self.log[after..].to_vec() }
    }

    /// A message of a later term: whoever leads or stands does no more.
    fn sees(&mut self, term: u32) {
        if term > self.term {
            (self.term, self.is_candidate, self.leads) = (term, false, false);
            self.reads.clear();
        }
    }

    fn commit(&mut self, length: usize, cx: &mut Ctx<'_, Message>) {
        if length > self.committed && self.last(length) == self.term {
            let mut facts = self.facts.note();
            for at in self.committed..length {
                if at >= facts.committed.len() {
                    facts.committed.push(self.log[at]);
                }
                cx.send(self.client, Message::Done);
            }
            self.committed = length;
        }
    }

    fn win(&mut self, cx: &mut Ctx<'_, Message>) {
        (self.leads, self.is_candidate) = (true, false);
        let mut facts = self.facts.note();
        if !self.log.starts_with(&facts.committed) {
            facts.lost = Some(format!("{} leads with {:?}, but {:?} is committed", cx.me(), self.log, facts.committed));
        }
        drop(facts);
        cx.send(self.client, Message::Leads);
    }

    /// The entries, where the log is as the leader's up to `after`.
    fn take(&mut self, after: usize, entries: Vec<Entry>) {
        if self.rules == Rules::StaleAppend {
            self.log.truncate(after);
        }
        for (at, entry) in (after..).zip(entries) {
            if self.log.get(at) != Some(&entry) {
                self.log.truncate(at);
                self.log.push(entry);
            }
        }
    }
}

impl Node<Message> for Peer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.has_timer {
            cx.set_timer(Duration::from_millis(150), 0);
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Command(value) if self.leads => {
                self.log.push((self.term, value));
                let after = if self.pipelines { self.log.len() - 1 } else { self.committed };
                let append = self.append(after);
                cx.send_all(&self.peers, &append);
            }
            Message::Append { term, after, last, entries } => {
                self.sees(term);
                if term < self.term {
                    return;
                }
                let fits = after <= self.log.len() && self.last(after) == last;
                if fits {
                    let length = after + entries.len();
                    self.take(after, entries);
                    cx.send(from, Message::Appended { term, length });
                } else if self.rules == Rules::Gap {
                    self.log.extend(entries);
                } else {
                    cx.send(from, Message::Gap { length: self.log.len().min(after.saturating_sub(1)) });
                }
            }
            Message::Appended { term, length } if self.leads && term == self.term => self.commit(length, cx),
            Message::Gap { length } if self.leads => cx.send(from, self.append(length)),
            Message::Ask { term, last, length } => {
                let is_later = term > self.term;
                self.sees(term);
                if is_later && (last, length) >= (self.last(self.log.len()), self.log.len()) {
                    cx.send(from, Message::Vote { term });
                }
            }
            Message::Vote { term } if self.is_candidate && term == self.term => {
                self.votes += 1;
                if self.votes == MAJORITY {
                    self.win(cx);
                }
            }
            Message::Read if self.leads && self.rules == Rules::StaleRead => {
                cx.send(from, Message::Value(self.value()))
            }
            Message::Read if self.leads => {
                self.reads.push((from, 1));
                cx.send_all(&self.peers, &Message::Check { term: self.term });
            }
            Message::Check { term } => {
                self.sees(term);
                if term == self.term {
                    cx.send(from, Message::Confirmed { term });
                }
            }
            Message::Confirmed { term } if self.leads && term == self.term => {
                let value = self.value();
                for (client, confirmed) in &mut self.reads {
                    *confirmed += 1;
                    if *confirmed == MAJORITY {
                        cx.send(*client, Message::Value(value));
                    }
                }
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        if !self.leads {
            (self.term, self.votes, self.is_candidate) = (self.term + 1, 1, true);
            let length = self.log.len();
            cx.send_all(&self.peers, &Message::Ask { term: self.term, last: self.last(length), length });
        }
    }
}

/// Gives the first leader two commands, one after the other.
struct Commander {
    leader: NodeId,
}

impl Node<Message> for Commander {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        cx.send(self.leader, Message::Command(1));
        cx.send(self.leader, Message::Command(2));
    }

    fn on_message(&mut self, _: NodeId, _: Message, _: &mut Ctx<'_, Message>) {}
}

/// Writes to the second leader, and then reads from the first.
struct Caller {
    first: NodeId,
    client: Client<Register<u32>>,
    has_written: bool,
}

impl Node<Message> for Caller {
    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Leads => {
                self.client.invoke(RegisterOp::Write(1));
                cx.send(from, Message::Command(1));
            }
            Message::Done if !self.has_written => {
                self.has_written = true;
                self.client.ok(RegisterRet::Written);
                self.client.invoke(RegisterOp::Read);
                cx.send(self.first, Message::Read);
            }
            Message::Value(value) => self.client.ok(RegisterRet::Value(value)),
            _ => {}
        }
    }
}

fn peers(cluster: &mut Cluster<Message>, rules: Rules, with_timer: &'static [usize]) -> Probe<Facts> {
    let facts = Probe::<Facts>::default();
    let peers = [0, 1, 2].map(NodeId::from_index);
    let client = NodeId::from_index(3);
    for peer in peers {
        cluster.node_with(format!("n{}", peer.index()), facts.clone(), move |facts| Peer {
            rules,
            peers,
            client,
            has_timer: with_timer.contains(&peer.index()),
            pipelines: rules == Rules::Gap || with_timer.is_empty(),
            term: 1,
            votes: 0,
            is_candidate: false,
            leads: peer.index() == 0,
            log: Vec::new(),
            committed: 0,
            reads: Vec::new(),
            facts,
        });
    }
    facts
}

/// R3, a gap.
pub(super) fn gap(is_fixed: bool) {
    let mut cluster = Cluster::new();
    peers(&mut cluster, if is_fixed { Rules::Right } else { Rules::Gap }, &[]);
    cluster.client("client", || Commander { leader: NodeId::from_index(0) });
    cluster.invariant("logs match", |world| {
        let logs: Vec<&[Entry]> = world.all::<Peer>().map(|(_, peer)| &peer.log[..]).collect();
        let differ = |a: &[Entry], b: &[Entry]| a.iter().zip(b).any(|(a, b)| a.0 == b.0 && a != b);
        !logs.iter().any(|a| logs.iter().any(|b| differ(a, b)))
    });
    cluster.run();
}

/// R3, a late append.
pub(super) fn stale_append(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let facts = peers(&mut cluster, if is_fixed { Rules::Right } else { Rules::StaleAppend }, &[1]);
    cluster.client("client", || Commander { leader: NodeId::from_index(0) });
    cluster.stable_invariant("a leader has what was committed", move |_| facts.get().lost.clone().map_or(Ok(()), Err));
    cluster.run();
}

/// R5.
pub(super) fn stale_read(is_fixed: bool) {
    let mut cluster = Cluster::new();
    let history = cluster.history(Register::new(0));
    peers(&mut cluster, if is_fixed { Rules::Right } else { Rules::StaleRead }, &[1, 2]);
    cluster.client_with("client", history, |history: Watch<Register<u32>>| Caller {
        first: NodeId::from_index(0),
        client: history.client(),
        has_written: false,
    });
    cluster.faults(Faults::none());
    cluster.run();
}
