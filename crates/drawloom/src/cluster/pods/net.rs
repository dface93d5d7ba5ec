//! What is between pods: who is up, which links are cut, and what the next messages meet.

use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::wire::Renew;
use super::{Faults, Pods};
use crate::cluster::{Mode, NodeId};
use crate::object::Object;
use crate::rt::Handle;
use crate::sync::Latch;

/// So many times a pod may start in a run.
pub(super) const MOST_STARTS: u16 = 64;

/// What all pods of a run share. No pod can name it.
#[derive(Default)]
pub(super) struct Net {
    /// Known when the run begins.
    pods: OnceLock<Vec<Known>>,
    /// The next messages to a pod may be lost or come twice: then each arrival changes what the pod meets.
    counts: OnceLock<bool>,
    /// Who can use one keeps it.
    wires: Mutex<Vec<Weak<dyn Renew>>>,
}

/// A pod, as the network knows it.
struct Known {
    name: Box<str>,
    /// Each arrival and each fault there is a step on it.
    host: Object<Host>,
}

/// What happens to messages to a pod.
#[derive(Default)]
pub(super) struct Host {
    pub(super) is_up: bool,
    pub(super) starts: u16,
    pub(super) losses: u32,
    pub(super) duplicates: u32,
    /// Whom it does not hear, how, and what opens when it does again.
    pub(super) deaf_to: Vec<(NodeId, Mode, Arc<Latch>)>,
}

/// What becomes of a message that has arrived.
pub(super) enum Fate {
    Arrives {
        twice: bool,
    },
    Lost,
    /// Until the link heals.
    Waits(Arc<Latch>),
}

impl Host {
    /// Of a message from that pod; one that keeps its order is never lost on the way.
    fn fate(&self, from: Option<NodeId>, is_ordered: bool) -> Fate {
        let cut = self.deaf_to.iter().find(|(node, ..)| Some(*node) == from);
        match cut {
            Some((_, mode, heals)) if is_ordered || *mode == Mode::Defer => Fate::Waits(Arc::clone(heals)),
            Some(_) => Fate::Lost,
            None if !self.is_up => Fate::Lost,
            None if is_ordered => Fate::Arrives { twice: false },
            None if self.losses > 0 => Fate::Lost,
            None => Fate::Arrives { twice: self.duplicates > 0 },
        }
    }

    /// The same, of one that has met it.
    fn meet(&mut self, from: Option<NodeId>, is_ordered: bool) -> Fate {
        let is_cut = self.deaf_to.iter().any(|(node, ..)| Some(*node) == from);
        let fate = self.fate(from, is_ordered);
        match fate {
            Fate::Lost if self.is_up && !is_cut => self.losses -= 1,
            Fate::Arrives { twice: true } => self.duplicates -= 1,
            Fate::Lost | Fate::Waits(_) | Fate::Arrives { twice: false } => {}
        }
        fate
    }
}

impl Net {
    /// All channels that are in use.
    pub(super) fn wires(&self) -> Vec<Arc<dyn Renew>> {
        let wires = self.wires.lock().unwrap_or_else(PoisonError::into_inner);
        wires.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn add_wire(&self, wire: Weak<dyn Renew>) {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner).push(wire);
    }

    /// Who takes part is known.
    pub(super) fn begin(&self, pods: &Pods, counts: bool) {
        let known = pods.plans.iter().map(|plan| Known {
            name: plan.name.clone(),
            host: Object::new(Host { is_up: true, starts: 1, ..Host::default() }),
        });
        let known: Vec<Known> = known.collect();
        for pod in &known {
            crate::label(&pod.host, &format!("the network at {}", pod.name));
        }
        let is_first = self.pods.set(known).is_ok() && self.counts.set(counts).is_ok();
        debug_assert!(is_first, "pods run once");
    }

    fn pods(&self) -> &[Known] {
        self.pods.get().map_or(&[], Vec::as_slice)
    }

    pub(super) fn named(&self, name: &str) -> Option<NodeId> {
        self.pods().iter().position(|pod| *pod.name == *name).map(NodeId::from_index)
    }

    pub(super) fn name(&self, pod: NodeId) -> &str {
        &self.pods()[pod.index()].name
    }

    pub(super) fn host(&self, pod: NodeId) -> &Object<Host> {
        &self.pods()[pod.index()].host
    }

    /// What becomes of a message that arrives: a step at the pod where it does.
    pub(super) fn fate(
        &self,
        from: Option<NodeId>,
        to: NodeId,
        is_ordered: bool,
        place: &'static Location<'static>,
    ) -> Fate {
        match self.counts.get() {
            Some(true) => self.host(to).update_from(place, |host| host.meet(from, is_ordered)),
            _ => self.host(to).look_from(place, |host| host.fate(from, is_ordered)),
        }
    }

    /// The pod that the running task belongs to; none, if it is the test itself.
    pub(super) fn here(rt: Handle) -> Option<NodeId> {
        let group = rt.with_engine(|engine| engine.group(rt.running()));
        group.checked_sub(1).map(|of| NodeId::from_index(usize::from(of / MOST_STARTS)))
    }

    /// The tasks of one start of a pod.
    pub(super) fn group(pod: NodeId, starts: u16) -> u16 {
        pod.index() as u16 * MOST_STARTS + starts + 1
    }
}

/// Whether faults of these kinds can be had among pods; the first that cannot, otherwise.
pub(super) fn refused(faults: &Faults) -> Option<&'static str> {
    faults.needs_nodes()
}
