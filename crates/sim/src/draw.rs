//! Which nodes and links are hit by the faults of a run: drawn before anything happens.

use std::panic::Location;

use crate::fault::{Action, Fault, Faults, Loss};
use crate::id::NodeId;
use crate::partition::Mode;
use crate::world::nodes_of;

/// After so many operations at most an event is broken off.
const MOST_MIDWAY: u32 = 3;

impl Faults {
    /// The faults of one run, each a list of what happens where. `choose` picks one of so many outcomes.
    ///
    /// # Panics
    ///
    /// If a fault names an unknown node, or can hit nobody; it was asked for `at` this place.
    #[doc(hidden)]
    #[track_caller]
    pub fn draw(
        &self,
        all: &[NodeId],
        servers: &[NodeId],
        at: Option<&'static Location<'static>>,
        choose: &mut dyn FnMut(u64) -> u64,
    ) -> Vec<Fault> {
        let at = at.map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        let mut chosen: Vec<Fault> = Vec::new();
        for kind in self.kinds(all, servers) {
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
                match (self.certain, left) {
                    (true, 1) => {}
                    (true, _) => from += choose(left) as usize,
                    (false, _) => match choose(left + 1) as usize {
                        0 => break,
                        ahead => from += ahead - 1,
                    },
                }
                let mut fault = kind.options[from].clone();
                if let Some((_, Action::Crash(loss, left) | Action::Reboot(loss, left))) = fault.first_mut() {
                    // Mostly everything is lost.
                    let some = loss.left();
                    let is_some = !some.is_empty() && choose(2) == 1;
                    *left = if is_some { some[choose(some.len() as u64) as usize] } else { 0 };
                }
                if let (true, Some((_, first @ (Action::Crash(..) | Action::Reboot(..))))) =
                    (self.midway, fault.first_mut())
                {
                    let after = choose(u64::from(MOST_MIDWAY) + 1) as u32;
                    if after > 0 {
                        *first = Action::Midway(after, Box::new(first.clone()));
                    }
                }
                chosen.push(fault);
            }
        }
        chosen
    }

    /// The first kind of fault that only a state machine can have, and not one that runs ordinary code.
    #[doc(hidden)]
    pub fn needs_nodes(&self) -> Option<&'static str> {
        let Faults { pauses, stops, corruptions, resets, disk_errors, jumps, .. } = self;
        let kinds = [
            (*pauses > 0, "pauses"),
            (*stops > 0, "stops"),
            (*corruptions > 0, "corruptions"),
            (*resets > 0, "resets of streams"),
            (*disk_errors > 0, "errors of disks"),
            (*jumps > 0, "jumps of clocks"),
            (self.midway, "crashes midway (each of their steps is one already)"),
            (self.loss != Loss::Nothing, "loss of what is stored (what is saved is durable)"),
            (self.mode == Mode::Reject, "rejected messages"),
        ];
        kinds.into_iter().find(|(is_wanted, _)| *is_wanted).map(|(_, kind)| kind)
    }

    /// Whether some messages are lost or come twice.
    #[doc(hidden)]
    pub fn counts_messages(&self) -> bool {
        self.losses + self.duplicates > 0
    }

    /// Whether anything may go wrong.
    #[doc(hidden)]
    pub fn is_any(&self) -> bool {
        let Faults { crashes, reboots, pauses, stops, duplicates, losses, corruptions, .. } = self;
        let Faults { resets, disk_errors, partitions, jumps, .. } = self;
        let of_nodes = crashes + reboots + pauses + stops;
        of_nodes + duplicates + losses + corruptions + resets + disk_errors + partitions + jumps > 0
    }
}
