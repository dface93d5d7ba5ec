//! Global names: each node has a view of them, and nodes that are connected have the same one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Net;
use crate::actor::backend::Place;
use crate::actor::controlled::seen_if;
use crate::actor::nodes::Resolve;
use crate::actor::pid::{AnyPid, ProcessId, WeakPid};
use crate::actor::reason::ExitReason;
use crate::rt::{self, OpKind, Operation};

/// Who has which global name, as each node knows it, and who is connected.
pub(super) struct Globals {
    pub(super) connected: Vec<Vec<bool>>,
    pub(super) views: Vec<BTreeMap<String, Global>>,
}

#[derive(Clone)]
pub(super) struct Global {
    process: WeakPid,
    id: ProcessId,
    node: usize,
    resolve: Resolve,
}

impl Net {
    /// Who has a name in the view of a node, if that process lives.
    fn holder(&self, at: Place, view: usize, name: &str) -> Option<(AnyPid, ProcessId)> {
        let known = self.globals.look_from(at, |globals| globals.views[view].get(name).cloned())?;
        let (world, process) = (self.world.upgrade()?, known.process.upgrade());
        let (rt, party) = (world.rt()?, world.table().party(known.id)?);
        let alive = Operation::new(OpKind::Alive, party.known.resource, rt::site(at));
        let is_alive = world.act(rt, alive, |table| {
            let is_alive = table.is_alive(party.id);
            (is_alive, seen_if(is_alive))
        });
        if is_alive { Some((process?, known.id)) } else { None }
    }

    pub(crate) fn register_global(self: &Arc<Self>, at: Place, name: &str, who: &AnyPid, resolve: Resolve) -> bool {
        let node = who.core().backend.node();
        let node = node.unwrap_or_else(|| panic!("a process that is on no node gets the global name `{name}`"));
        let taken = self.holder(at, node, name);
        let dead = match taken {
            Some(_) => return false,
            None => self.globals.look_from(at, |globals| globals.views[node].get(name).map(|known| known.id)),
        };
        let global = Global { process: who.downgrade(), id: who.id(), node, resolve };
        self.globals.update_from(at, |globals| {
            let is_free = globals.views[node].get(name).is_none_or(|known| Some(known.id) == dead);
            if is_free {
                for view in globals.side(node) {
                    globals.views[view].insert(name.to_owned(), global.clone());
                }
            }
            is_free
        })
    }

    pub(crate) fn whereis_global(&self, at: Place, from: Option<usize>, name: &str) -> Option<AnyPid> {
        self.holder(at, from.unwrap_or(0), name).map(|(process, _)| process)
    }

    pub(crate) fn unregister_global(&self, at: Place, from: Option<usize>, name: &str) {
        self.globals.update_from(at, |globals| {
            for view in globals.side(from.unwrap_or(0)) {
                globals.views[view].remove(name);
            }
        });
    }

    /// Two have one name.
    pub(super) fn resolve(&self, at: Place, name: &str, one: Global, other: Global) {
        let Some(world) = self.world.upgrade() else { return };
        let Some(rt) = world.rt() else { return };
        let keeps_none = one.resolve == Resolve::KeepNone;
        let is_second = !keeps_none && rt.choose(2, rt::site(at)) == 1;
        let (kept, lost) = if is_second { (other, one) } else { (one, other) };
        self.globals.update_from(at, |globals| {
            for view in globals.side(kept.node) {
                if keeps_none {
                    globals.views[view].remove(name);
                } else {
                    globals.views[view].insert(name.to_owned(), kept.clone());
                }
            }
        });
        let party = world.table().party(lost.id);
        if let (Resolve::Kill, Some(party)) = (lost.resolve, party) {
            world.signal(rt, rt::site(at), None, &party, &ExitReason::Kill, None);
        }
    }
}

impl Globals {
    /// Nodes that are connected to this one, itself included.
    fn side(&self, node: usize) -> Vec<usize> {
        (0..self.views.len()).filter(|other| self.connected[node][*other]).collect()
    }

    /// Each forgets the names of processes at the other.
    pub(super) fn part(&mut self, a: usize, b: usize) {
        for (one, other) in [(a, b), (b, a)] {
            self.connected[one][other] = false;
            self.views[one].retain(|_, known| known.node != other);
        }
    }

    /// Each learns what the other knows; the names that both have for different processes.
    pub(super) fn join(&mut self, a: usize, b: usize) -> Vec<(String, Global, Global)> {
        if self.connected[a][b] {
            return Vec::new();
        }
        (self.connected[a][b], self.connected[b][a]) = (true, true);
        let mut conflicts = Vec::new();
        let (of_a, of_b) = (self.views[a].clone(), self.views[b].clone());
        for (name, theirs) in &of_b {
            match of_a.get(name) {
                Some(mine) if mine.id != theirs.id => conflicts.push((name.clone(), mine.clone(), theirs.clone())),
                Some(_) => {}
                None => _ = self.views[a].insert(name.clone(), theirs.clone()),
            }
        }
        for (name, mine) in of_a {
            self.views[b].entry(name).or_insert(mine);
        }
        conflicts
    }
}
