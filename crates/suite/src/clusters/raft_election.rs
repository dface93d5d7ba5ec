//! Raft's elections.
//!
//! R1: a vote is given before it is on disk; who has crashed and come back votes again. R2: a vote of an older term counts in the term
//! that the candidate is in by now. Both give a term two leaders.

use std::collections::BTreeSet;
use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Node, NodeId, Probe, Timer, TimerId};

const MAJORITY: usize = 2;

/// What nodes send.
#[derive(Clone, Debug)]
pub enum Message {
    Ask { term: u32 },
    Vote { term: u32 },
}

/// Who has won which term.
type Leaders = Probe<BTreeSet<(u32, NodeId)>>;

/// What is wrong, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    Right,
    VoteIsForgotten,
    LateVoteCounts,
}

struct Peer {
    rules: Rules,
    peers: [NodeId; 3],
    /// So many more times it may stand.
    elections: u32,
    term: u32,
    voted: Option<NodeId>,
    votes: usize,
    is_candidate: bool,
    timer: Option<TimerId>,
    leaders: Leaders,
}

impl Peer {
    fn remember(&self, cx: &mut Ctx<'_, Message>) {
        if self.rules != Rules::VoteIsForgotten {
            cx.save("vote", (self.term, self.voted));
        }
    }

    /// Stands for election if nothing is heard for a while, but only so often.
    fn wait(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.elections > 0 && self.timer.is_none() {
            self.elections -= 1;
            self.timer = Some(cx.set_timer(Duration::from_millis(150), 0));
        }
    }
}

impl Node<Message> for Peer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        (self.term, self.voted) = cx.load("vote").unwrap_or_default();
        self.wait(cx);
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Ask { term } => {
                if term > self.term {
                    (self.term, self.voted, self.is_candidate) = (term, None, false);
                }
                if term == self.term && self.voted.is_none_or(|voted| voted == from) {
                    self.voted = Some(from);
                    self.remember(cx);
                    if let Some(timer) = self.timer.take() {
                        cx.cancel_timer(timer);
                    }
                    self.wait(cx);
                    cx.send(from, Message::Vote { term });
                }
            }
            Message::Vote { term } => {
                if self.is_candidate && (term == self.term || self.rules == Rules::LateVoteCounts) {
                    self.votes += 1;
                    if self.votes == MAJORITY {
                        self.leaders.note().insert((self.term, cx.me()));
                    }
                }
            }
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        self.timer = None;
        if self.votes < MAJORITY || !self.is_candidate {
            (self.term, self.voted, self.votes, self.is_candidate) = (self.term + 1, Some(cx.me()), 1, true);
            self.remember(cx);
            cx.send_all(&self.peers, &Message::Ask { term: self.term });
            self.wait(cx);
        }
    }
}

fn elections(rules: Rules, stand: usize, times: u32, faults: impl FnOnce([NodeId; 3]) -> Faults) -> Cluster<Message> {
    let mut cluster = Cluster::new();
    let leaders = Leaders::default();
    let peers = [0, 1, 2].map(NodeId::from_index);
    for peer in peers {
        cluster.node_with(format!("n{}", peer.index()), leaders.clone(), move |leaders| Peer {
            rules,
            peers,
            elections: if peer.index() < stand { times } else { 0 },
            term: 0,
            voted: None,
            votes: 0,
            is_candidate: false,
            timer: None,
            leaders,
        });
    }
    cluster.faults(faults(peers));
    cluster.stable_invariant("one leader a term", move |_| {
        let leaders = leaders.get();
        let two = leaders.iter().zip(leaders.iter().skip(1)).find(|(a, b)| a.0 == b.0);
        two.map_or(Ok(()), |((term, a), (_, b))| Err(format!("{a} and {b} both lead in term {term}")))
    });
    cluster
}

/// One election, in which the first two nodes stand; one node crashes and comes back at some time, if that is asked for.
pub fn one_election(is_fixed: bool, reboots: Option<usize>) -> Cluster<Message> {
    let rules = if is_fixed { Rules::Right } else { Rules::VoteIsForgotten };
    elections(rules, 2, 1, |peers| match reboots {
        Some(node) => Faults::none().reboots(1).crash_only([peers[node]]).certain(),
        None => Faults::none(),
    })
}

/// R1.
pub(super) fn vote_is_forgotten(is_fixed: bool) {
    let rules = if is_fixed { Rules::Right } else { Rules::VoteIsForgotten };
    elections(rules, 2, 1, |_| Faults::none().reboots(1).certain()).run();
}

/// R2.
pub(super) fn late_vote_counts(is_fixed: bool) {
    let rules = if is_fixed { Rules::Right } else { Rules::LateVoteCounts };
    elections(rules, 3, 2, |_| Faults::none()).run();
}
