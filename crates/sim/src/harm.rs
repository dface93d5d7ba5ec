//! Faults that a node brings about: the nemesis of a test.
//!
//! The faults of a [budget](crate::Faults) are chosen before a run begins and strike when they like. A nemesis decides in the midst of it, as a
//! client does what it calls: so it can break things in one phase of a test and mend them in the next.

use std::panic::Location;

use crate::ctx::Ctx;
use crate::event::Event;
use crate::fault::{Action, Loss};
use crate::id::NodeId;
use crate::partition::{Mode, Shape};
use crate::world::nodes_of;

/// What a nemesis does, in Jepsen's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Harm {
    /// A partition begins: one of this shape.
    Partition(Shape, Mode),
    /// All links are there again.
    Heal,
    /// A node crashes: one of these, or of all that are no clients.
    Kill(Vec<NodeId>, Loss),
    /// All nodes that are down restart.
    Restart,
    /// A node pauses: one of these, or of all that are no clients.
    Pause(Vec<NodeId>),
    /// All nodes that pause resume.
    Resume,
    /// The wall clock of a node jumps by so many milliseconds: that of one of these, or of all that are no clients.
    Bump(Vec<NodeId>, i64),
}

impl<M> Ctx<'_, M> {
    /// Brings a fault about: it strikes at any time after. Which node it hits is a [choice](Self::choose), if several can be.
    ///
    /// # Panics
    ///
    /// If it can hit nobody, or names a node that there is not.
    #[track_caller]
    pub fn inflict(&mut self, harm: Harm) {
        let many = self.world.nodes.len();
        let all: Vec<NodeId> = (0..many).map(NodeId::from_index).collect();
        let servers: Vec<NodeId> =
            all.iter().copied().filter(|node| !self.world.nodes[node.index()].is_client).collect();
        let one_of = |cx: &mut Self, named: Vec<NodeId>| {
            let among = if named.is_empty() { &servers } else { &named };
            if let Some(unknown) = among.iter().find(|node| node.index() >= many) {
                panic!(
                    "`{}` wants to harm node {unknown}, but the cluster has only {}",
                    cx.world.name(cx.me),
                    nodes_of(many)
                );
            }
            assert!(!among.is_empty(), "`{}` wants to harm a node, but there are only clients", cx.world.name(cx.me));
            among[cx.choose(among.len())]
        };
        let steps: Vec<(NodeId, Action)> = match harm {
            Harm::Partition(shape, mode) => {
                let mut cuts = shape.cuts(match shape {
                    Shape::Links(_) | Shape::Between(..) => &all,
                    _ => &servers,
                });
                assert!(!cuts.is_empty(), "a partition can hit nobody: its shape cuts no link between these nodes");
                let chosen = self.choose(cuts.len());
                cuts.swap_remove(chosen).into_iter().map(|(node, from)| (node, Action::Cut(from, mode))).collect()
            }
            Harm::Heal => all.iter().map(|node| (*node, Action::Heal(all.clone()))).collect(),
            Harm::Kill(named, loss) => vec![(one_of(self, named), Action::Crash(loss, 0))],
            Harm::Restart => all.iter().map(|node| (*node, Action::Restart)).collect(),
            Harm::Pause(named) => vec![(one_of(self, named), Action::Pause)],
            Harm::Resume => all.iter().map(|node| (*node, Action::Resume)).collect(),
            Harm::Bump(named, by) => vec![(one_of(self, named), Action::Jump(by))],
        };
        for (node, action) in steps {
            let event = Event::Fault(self.world.actions.len() as u32);
            self.world.actions.push((node, action));
            self.host.post(self.me, node, event, Some(Location::caller()));
        }
    }
}
