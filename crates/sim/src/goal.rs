//! How a run ends: nothing is left that could happen, time passes, faults stop.

use std::cmp::Reverse;
use std::fmt::Debug;

use crate::clock::Clock;
use crate::event::Event;
use crate::host::Host;
use crate::id::NodeId;
use crate::world::World;

impl<M: Clone + Debug + 'static> World<M> {
    /// Nothing is left that could happen without time. Whether that was all.
    pub(crate) fn has_arrived(&mut self, host: &mut dyn Host) -> Result<bool, String> {
        let Some(goal) = &self.goal else { return Ok(!self.time_passes(host)) };
        let Some(healed) = self.healed else {
            if !self.time_passes(host) {
                self.heal(host);
            }
            return Ok(false);
        };
        let Some(what) = (goal.check)(self) else { return Ok(true) };
        let (name, within) = (goal.name.clone(), goal.within);
        let what = if what.is_empty() { what } else { format!(": {what}") };
        if !self.time_passes(host) {
            return Err(format!("\"{name}\" does not come true after faults have stopped, and no event is left{what}"));
        }
        match u128::from(self.now - healed) > within.as_nanos() {
            true => Err(format!("\"{name}\" does not come true within {within:?} after faults have stopped{what}")),
            false => Ok(false),
        }
    }

    /// Faults stop, and all nodes have one clock from now on.
    #[cold]
    fn heal(&mut self, host: &mut dyn Host) {
        let of_nodes = self.nodes.iter().map(|state| state.timers.now).max().unwrap_or(0);
        let earliest = self.zone.take().map_or(0, |zone| zone.into_inner().shown());
        (self.clock, self.now) = (Clock::Virtual, self.now.max(of_nodes).max(earliest));
        self.healed = Some(self.now);
        for node in (0..self.nodes.len()).map(NodeId::from_index) {
            let state = &mut self.nodes[node.index()];
            (state.is_paused, state.duplicates, state.losses, state.corruptions, state.resets) = (false, 0, 0, 0, 0);
            state.deaf_to.clear();
            state.disk.faults.clear();
            let set = state.timers.all().map(|(deadline, id)| Reverse((deadline, node, id)));
            self.next_deadlines.extend(set);
            self.let_go(node, host);
            self.release(node, host);
        }
        for node in (0..self.nodes.len()).map(NodeId::from_index) {
            if !self.nodes[node.index()].is_up {
                self.start(node, host);
            }
        }
    }

    /// Nothing is left that could happen without time: lets the earliest timer of all fire. Whether there is one.
    pub(crate) fn time_passes(&mut self, host: &mut dyn Host) -> bool {
        while let Some(Reverse((deadline, node, _))) = self.next_deadlines.pop() {
            let state = &mut self.nodes[node.index()];
            if state.is_up && state.timers.earliest() == Some(deadline) {
                self.now = self.now.max(deadline);
                host.post(node, node, Event::Tick(node), None);
                return true;
            }
        }
        false
    }
}
