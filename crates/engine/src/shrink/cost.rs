//! What makes one schedule simpler than another.

use crate::operation::OpKind;
use crate::trace::Step;

/// How much a person has to follow: compared field by field, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cost {
    /// Tasks that were left although they could have gone on and did not yield
    /// ([`Preemptions`](crate::strategy::Preemptions)).
    pub preemptions: u64,
    /// Faults that strike a cluster, timers that fired early, and choices of two that did not come to the first: a spurious wake-up and
    /// a weak failure are such, and so is a coin.
    pub faults: u64,
    /// Switches from one task to another, whatever the reason.
    pub switches: u64,
    /// What the other choices came to, added up.
    pub data: u64,
    /// Steps.
    pub steps: u64,
}

impl Cost {
    /// The cost of an execution.
    pub fn of(steps: &[Step], preemptions: u64) -> Cost {
        let mut cost = Cost { preemptions, steps: steps.len() as u64, ..Cost::default() };
        cost.switches = steps.windows(2).filter(|pair| pair[0].task != pair[1].task).count() as u64;
        for step in steps {
            match step.outcomes() {
                _ if is_fault(step) => cost.faults += 1,
                1 | 2 => {
                    let within = step.choices().each().filter(|_| step.kind.happens());
                    cost.data = within.fold(cost.data, |data, (_, chosen)| data.saturating_add(chosen));
                }
                _ => cost.data = cost.data.saturating_add(step.value),
            }
        }
        cost
    }
}

/// Whether a step is one of the [`faults`](Cost::faults).
pub(super) fn is_fault(step: &Step) -> bool {
    let strikes = step.kind == OpKind::Strike;
    strikes || (step.kind.fires() && step.was_choice) || (step.outcomes() == 2 && step.value == 1)
}
