//! raft-rs as nodes of a simulated cluster: three peers, two proposals, crashes that lose what was not on disk, partitions, duplicates.
//!
//! A `RawNode` is a state machine without I/O: `step`, `tick` and `propose` go in, and a `Ready` says what is to be stored, sent and applied.
//! That is all that an adapter needs. What is checked is Raft's own: one leader a term, the same entry at the same place of the log.
//!
//! `cargo run --release -- 20000` (needs `protoc`, for the messages of raft-rs).

use std::collections::BTreeMap;
use std::time::Duration;

use drawloom::Config;
use drawloom::cluster::{Cluster, Ctx, Faults, Loss, Node, NodeId, Probe, Shape, Timer};
use raft::eraftpb::{ConfState, Entry, HardState, Message};
use raft::storage::MemStorage;
use raft::{Config as RaftConfig, GetEntriesContext, RawNode, StateRole, Storage};

const TICK: Duration = Duration::from_millis(100);

/// What peers and the client send.
#[derive(Clone, Debug)]
enum Sent {
    Raft(Message),
    Propose(u8),
}

/// How the adapter keeps what raft-rs wants stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keeps {
    /// Before anything that depends on it is sent, as raft-rs demands.
    Everything,
    /// It writes and does not sync: a crash loses it.
    Unsynced,
    /// Entries, but not the vote and the term.
    NoVote,
}

/// What was seen.
#[derive(Default)]
struct Facts {
    leaders: BTreeMap<u64, u64>,
    applied: BTreeMap<u64, (u64, Vec<u8>)>,
    wrong: Option<String>,
}

struct Peer {
    id: u64,
    keeps: Keeps,
    raft: Option<RawNode<MemStorage>>,
    facts: Probe<Facts>,
}

impl Peer {
    fn raft(&mut self) -> &mut RawNode<MemStorage> {
        self.raft.as_mut().expect("it has started")
    }

    fn send(&self, messages: Vec<Message>, cx: &mut Ctx<'_, Sent>) {
        for message in messages {
            cx.send(NodeId::from_index(message.to as usize - 1), Sent::Raft(message));
        }
    }

    fn apply(&self, entries: Vec<Entry>) {
        let mut facts = self.facts.note();
        for entry in entries {
            let applied = (entry.term, entry.data.to_vec());
            let known = facts.applied.entry(entry.index).or_insert_with(|| applied.clone()).clone();
            if known != applied {
                facts.wrong =
                    Some(format!("{} applies {applied:?} at {}, another one {known:?}", self.id, entry.index));
            }
        }
    }

    /// What a step or a tick has brought about.
    fn handle_ready(&mut self, cx: &mut Ctx<'_, Sent>) {
        while self.raft().has_ready() {
            let mut ready = self.raft().ready();
            self.send(ready.take_messages(), cx);
            assert!(ready.snapshot().is_empty(), "logs are short: nobody needs a snapshot");
            self.apply(ready.take_committed_entries());
            let store = self.raft().store().clone();
            if !ready.entries().is_empty() {
                store.wl().append(ready.entries()).expect("entries that fit");
                cx.write("entries", all_entries(&store));
            }
            if let Some(hard) = ready.hs() {
                store.wl().set_hardstate(hard.clone());
                if self.keeps != Keeps::NoVote {
                    cx.write("hard state", hard.clone());
                }
            }
            if self.keeps != Keeps::Unsynced {
                cx.sync();
            }
            self.send(ready.take_persisted_messages(), cx);
            let mut light = self.raft().advance(ready);
            if let Some(commit) = light.commit_index() {
                store.wl().mut_hard_state().commit = commit;
            }
            self.send(light.take_messages(), cx);
            self.apply(light.take_committed_entries());
            self.raft().advance_apply();
        }
        let (role, term) = (self.raft().raft.state, self.raft().raft.term);
        if role == StateRole::Leader {
            let mut facts = self.facts.note();
            let leader = *facts.leaders.entry(term).or_insert(self.id);
            if leader != self.id {
                facts.wrong = Some(format!("{leader} and {} both lead in term {term}", self.id));
            }
        }
    }
}

/// The whole log.
fn all_entries(store: &MemStorage) -> Vec<Entry> {
    let (first, last) = (store.first_index().expect("a log"), store.last_index().expect("a log"));
    store.entries(first, last + 1, None, GetEntriesContext::empty(false)).expect("entries of the log")
}

impl Node<Sent> for Peer {
    fn on_start(&mut self, cx: &mut Ctx<'_, Sent>) {
        self.id = cx.me().index() as u64 + 1;
        let store = MemStorage::new_with_conf_state(ConfState { voters: vec![1, 2, 3], ..ConfState::default() });
        if let Some(entries) = cx.load::<Vec<Entry>>("entries") {
            store.wl().append(&entries).expect("entries that were stored");
        }
        if let Some(hard) = cx.load::<HardState>("hard state") {
            store.wl().set_hardstate(hard);
        }
        // Timeouts that do not differ: which of them comes first is the schedule's to say.
        let config = RaftConfig {
            id: self.id,
            election_tick: 2,
            heartbeat_tick: 1,
            min_election_tick: 2,
            max_election_tick: 3,
            ..RaftConfig::default()
        };
        let logger = slog::Logger::root(slog::Discard, slog::o!());
        self.raft = Some(RawNode::new(&config, store, &logger).expect("a peer"));
        cx.set_timer(TICK, 0);
    }

    fn on_message(&mut self, _: NodeId, message: Sent, cx: &mut Ctx<'_, Sent>) {
        match message {
            // Messages of peers that it does not know, or that are out of date, are refused.
            Sent::Raft(message) => _ = self.raft().step(message),
            Sent::Propose(what) => _ = self.raft().propose(Vec::new(), vec![what]),
        }
        self.handle_ready(cx);
    }

    fn on_timer(&mut self, _: Timer, cx: &mut Ctx<'_, Sent>) {
        self.raft().tick();
        self.handle_ready(cx);
        cx.set_timer(TICK, 0);
    }
}

/// Proposes to everybody, whoever leads.
struct Client;

impl Node<Sent> for Client {
    fn on_start(&mut self, cx: &mut Ctx<'_, Sent>) {
        for peer in (0..3).map(NodeId::from_index) {
            cx.send(peer, Sent::Propose(peer.index() as u8 + 1));
        }
    }

    fn on_message(&mut self, _: NodeId, _: Sent, _: &mut Ctx<'_, Sent>) {}
}

fn run(keeps: Keeps, faults: Faults) {
    let facts = Probe::<Facts>::default();
    let mut cluster = Cluster::new();
    for name in ["a", "b", "c"] {
        cluster.node_with(name, facts.clone(), move |facts| Peer { id: 0, keeps, raft: None, facts });
    }
    cluster.client("client", || Client);
    cluster.timers(8);
    cluster.faults(faults);
    cluster.stable_invariant("one leader a term, one entry a place", move |_| {
        facts.get().wrong.clone().map_or(Ok(()), Err)
    });
    cluster.run();
}

fn main() {
    let iterations = std::env::args().nth(1).unwrap_or_else(|| "5000".to_owned());
    let all: [(&str, Keeps, fn() -> Faults); 5] = [
        ("no faults", Keeps::Everything, Faults::none),
        ("two reboots that lose what is unsynced", Keeps::Everything, || {
            Faults::none().reboots(2).loses(Loss::Unsynced)
        }),
        ("a partition, a duplicate, a reboot", Keeps::Everything, || {
            Faults::none().partitions(1, Shape::IsolateOne).duplicates(1).reboots(1).loses(Loss::Unsynced)
        }),
        ("an adapter that does not sync, two reboots", Keeps::Unsynced, || {
            Faults::none().reboots(2).loses(Loss::Unsynced)
        }),
        ("an adapter that forgets votes, a reboot", Keeps::NoVote, || Faults::none().reboots(1).certain()),
    ];
    for (name, keeps, faults) in all {
        let config: Config = format!("auto(iterations = {iterations}), fixes = 0").parse().expect("a configuration");
        let found = drawloom::explore(config, move || run(keeps, faults()));
        match found.findings().first() {
            None => println!("{name}: {}", found.summary()),
            Some(finding) => println!("{name}: found in execution {}\n{}", found.executions(), finding.report()),
        }
    }
}
