//! Two-phase commit.
//!
//! A: the coordinator sends its decision before it is on disk. After a crash it knows nothing of it, and decides otherwise. Fixed: it
//! logs, and then sends. B: a participant that has voted yes and hears nothing aborts by itself. Fixed: it asks, and waits.

use std::collections::BTreeSet;
use std::time::Duration;

use drawloom::cluster::{Cluster, Ctx, Faults, Loss, Node, NodeId, Probe, Timer};

#[derive(Clone, Debug)]
enum Message {
    Prepare,
    Vote(bool),
    Decision(bool),
    Inquire,
}

/// Who has decided what.
type Decisions = Probe<Vec<(NodeId, bool)>>;

struct Coordinator {
    participants: Vec<NodeId>,
    logs_first: bool,
    yes: BTreeSet<NodeId>,
}

impl Coordinator {
    fn decide(&mut self, commits: bool, cx: &mut Ctx<'_, Message>) {
        if cx.load::<bool>("decision").is_none() {
            cx.write("decision", commits);
            if self.logs_first {
                cx.sync();
            }
            cx.send_all(&self.participants, &Message::Decision(commits));
        }
    }
}

impl Node<Message> for Coordinator {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        match cx.load::<bool>("decision") {
            Some(commits) => cx.send_all(&self.participants, &Message::Decision(commits)),
            None if cx.starts() > 1 => self.decide(false, cx),
            None => cx.send_all(&self.participants, &Message::Prepare),
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Vote(true) => {
                self.yes.insert(from);
                if self.yes.len() == self.participants.len() {
                    self.decide(true, cx);
                }
            }
            Message::Vote(false) => self.decide(false, cx),
            Message::Inquire => {
                if let Some(commits) = cx.load("decision") {
                    cx.send(from, Message::Decision(commits));
                }
            }
            _ => {}
        }
    }
}

struct Participant {
    coordinator: NodeId,
    has_timer: bool,
    gives_up: bool,
    voted: bool,
    decided: bool,
    decisions: Decisions,
}

impl Participant {
    fn decide(&mut self, commits: bool, cx: &mut Ctx<'_, Message>) {
        if !self.decided {
            self.decided = true;
            self.decisions.note().push((cx.me(), commits));
        }
    }
}

impl Node<Message> for Participant {
    fn on_start(&mut self, cx: &mut Ctx<'_, Message>) {
        if self.has_timer {
            cx.set_timer(Duration::from_secs(1), 0);
        }
    }

    fn on_message(&mut self, _: NodeId, message: Message, cx: &mut Ctx<'_, Message>) {
        match message {
            Message::Prepare => {
                self.voted = true;
                cx.send(self.coordinator, Message::Vote(!self.decided));
            }
            Message::Decision(commits) => self.decide(commits, cx),
            _ => {}
        }
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Message>) {
        if self.voted && !self.gives_up {
            cx.send(self.coordinator, Message::Inquire);
        } else {
            self.decide(false, cx);
        }
    }
}

fn run(logs_first: bool, has_timer: bool, gives_up: bool, faults: impl FnOnce(NodeId) -> Faults) {
    let mut cluster = Cluster::new();
    let decisions = Decisions::default();
    let coordinator = NodeId::from_index(2);
    let participants = ["a", "b"].map(|name| {
        cluster.node_with(name, decisions.clone(), move |decisions| Participant {
            coordinator,
            has_timer,
            gives_up,
            voted: false,
            decided: false,
            decisions,
        })
    });
    cluster.node_with("coordinator", participants.to_vec(), move |participants| Coordinator {
        participants,
        logs_first,
        yes: BTreeSet::new(),
    });
    cluster.faults(faults(coordinator));
    cluster.stable_invariant("all decide alike", move |_| {
        let decisions = decisions.get();
        decisions.iter().all(|(_, commits)| *commits == decisions[0].1)
    });
    cluster.run();
}

/// A.
pub(super) fn decision_is_logged_late(is_fixed: bool) {
    let crash = |coordinator| Faults::none().reboots(1).crash_only([coordinator]).loses(Loss::Unsynced).certain();
    run(is_fixed, false, false, crash);
}

/// B.
pub(super) fn participant_gives_up(is_fixed: bool) {
    run(true, true, !is_fixed, |_| Faults::none());
}
