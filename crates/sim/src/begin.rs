//! How a run begins: nodes are made, faults chosen, and everybody starts.

use std::collections::BinaryHeap;
use std::fmt::Debug;

use crate::clock::Timers;
use crate::cluster::Cluster;
use crate::event::Event;
use crate::fault::{Action, Fault};
use crate::files::Disk;
use crate::host::{Host, QueueId};
use crate::id::NodeId;
use crate::log::Log;
use crate::network::InFlight;
use crate::random::Stream;
use crate::store::Store;
use crate::world::{NodeState, World, nodes_of};

impl<M: Clone + Debug + 'static> World<M> {
    #[track_caller]
    pub(crate) fn new(cluster: Cluster<M>, host: &mut dyn Host) -> World<M> {
        let Cluster { members, faults, clock, most_timers, most_events, invariants, .. } = cluster;
        let Cluster { is_ordered, clients_are_ordered, corrupter, survives, rule, goal, faults_at, .. } = cluster;
        assert!(!members.is_empty(), "a cluster without nodes: add some with `node` before it runs");
        let at = faults_at.map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        let down = faults.crashes + faults.stops;
        if let Some(survives) = survives.filter(|survives| down > *survives) {
            panic!(
                "{down} nodes may crash or stop{at}, but the protocol is declared to survive only {survives} that are down"
            );
        }
        let can_corrupt = faults.corruptions == 0 || corrupter.is_some();
        assert!(can_corrupt, "messages may be corrupted{at}: define how, with `corrupts`");
        let all: Vec<NodeId> = (0..members.len()).map(NodeId::from_index).collect();
        let servers: Vec<NodeId> = all.iter().copied().filter(|node| !members[node.index()].is_client).collect();
        let mut nodes = Vec::with_capacity(members.len());
        let mut first_client = None;
        for (member, id) in members.into_iter().zip(&all) {
            let first = if clients_are_ordered && member.is_client { &mut first_client } else { &mut None };
            let with = if is_ordered { all.first().filter(|first| *first != id).copied() } else { *first };
            first.get_or_insert(*id);
            host.add_node(*id, &member.name, with);
            nodes.push(NodeState {
                name: member.name,
                factory: member.factory,
                is_client: member.is_client,
                code: None,
                is_up: false,
                is_paused: false,
                starts: 0,
                timers: Timers::default(),
                ticks: QueueId(0),
                random: Stream::new(u64::from(id.0)),
                store: Store::default(),
                disk: Disk::default(),
                wall_offset_ms: 0,
                deaf_to: Vec::new(),
                held: Vec::new(),
                ticks_held: 0,
                duplicates: 0,
                losses: 0,
                corruptions: 0,
                resets: 0,
                listens: Vec::new(),
            });
        }
        let draw = |host: &mut dyn Host, outcomes: u64| if outcomes < 2 { 0 } else { host.choose(outcomes) as usize };
        let certain = faults.certain;
        let mut chosen: Vec<Fault> = Vec::new();
        let kinds = faults.kinds(&all, &servers);
        if !kinds.is_empty() {
            host.expect_faults();
        }
        for kind in kinds {
            let unknown = kind.options.iter().flatten().find(|(node, _)| node.index() >= all.len());
            if let Some((node, action)) = unknown {
                let what = action.tell(&|node| node.to_string());
                let nodes = nodes_of(all.len());
                panic!("a fault{at} names node {node}, but the cluster has only {nodes}: \"{what}\"");
            }
            assert!(!kind.options.is_empty(), "{}{at} can hit no node: {}", kind.what, kind.why_nobody);
            // Those before the last one that was chosen would be the same faults in another order.
            let mut from = 0;
            for _ in 0..kind.most {
                // One of them, or none any more: that is not as likely as all of them together, since a fault that comes last is as good
                // as none.
                let left = (kind.options.len() - from) as u64;
                match if certain { draw(host, left) + 1 } else { host.choose(left + 1) as usize } {
                    0 => break,
                    ahead => from += ahead - 1,
                }
                let mut fault = kind.options[from].clone();
                if let Some((_, Action::Crash(loss, left) | Action::Reboot(loss, left))) = fault.first_mut() {
                    // Mostly everything is lost.
                    let some = loss.left();
                    let is_some = !some.is_empty() && host.choose(2) == 1;
                    *left = if is_some { some[host.choose(some.len() as u64) as usize] } else { 0 };
                }
                chosen.push(fault);
            }
        }
        let mut world = World {
            nodes,
            in_flight: InFlight::new(),
            connections: Vec::new(),
            clock,
            most_timers,
            timers_left_out: 0,
            next_deadlines: BinaryHeap::new(),
            now: 0,
            most_events,
            events: 0,
            invariants,
            corrupter,
            rule,
            goal,
            healed: None,
            actions: Vec::new(),
            log: Log::new(),
        };
        for node in &all {
            world.nodes[node.index()].ticks = host.queue(*node);
        }
        for fault in chosen {
            let Some((first, _)) = fault.first() else { continue };
            let queue = host.queue(*first);
            for (node, action) in fault {
                let event = Event::Fault(world.actions.len() as u32);
                world.actions.push((node, action));
                host.post_in_turn(queue, node, event, None);
            }
        }
        for node in all {
            world.start(node, host);
        }
        world
    }
}
