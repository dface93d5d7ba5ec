//! How a run begins: nodes are made, faults chosen, and everybody starts.

use std::cell::RefCell;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use crate::clock::Timers;
use crate::cluster::Cluster;
use crate::drift::Zone;
use crate::event::Event;
use crate::files::Disk;
use crate::host::{Host, QueueId};
use crate::id::NodeId;
use crate::log::Log;
use crate::network::InFlight;
use crate::random::Stream;
use crate::store::Store;
use crate::world::{NodeState, World};

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
        let is_ordered = is_ordered || clock.is_bounded();
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
                held_by_rule: Vec::new(),
                falters: None,
                ticks_held: 0,
                duplicates: 0,
                losses: 0,
                corruptions: 0,
                resets: 0,
                listens: Vec::new(),
            });
        }
        if faults.is_any() {
            host.expect_faults();
        }
        let chosen = faults.draw(&all, &servers, faults_at, &mut |outcomes| host.choose(outcomes));
        let mut world = World {
            nodes,
            in_flight: InFlight::new(),
            connections: Vec::new(),
            clock,
            zone: clock.drift().map(|drift| RefCell::new(Zone::new(drift))),
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
