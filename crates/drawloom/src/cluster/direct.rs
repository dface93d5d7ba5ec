//! A cluster outside an exploration: everything is taken as it comes.

use std::collections::VecDeque;

use drawloom_sim::{Event, Host, NodeId, Place, QueueId};

/// First come, first served; timers when nothing else is left.
#[derive(Default)]
pub(super) struct AsItComes {
    events: VecDeque<Event>,
    ticks: VecDeque<Event>,
}

impl Host for AsItComes {
    fn add_node(&mut self, _: NodeId, _: &str, _: Option<NodeId>) {}

    fn choose(&mut self, _: u64) -> u64 {
        0
    }

    fn choose_within(&mut self, outcomes: u64) -> u64 {
        crate::chance::any_of(outcomes as usize) as u64
    }

    fn post(&mut self, _: NodeId, _: NodeId, event: Event, _: Place) {
        self.events.push_back(event);
    }

    fn queue(&mut self, _: NodeId) -> QueueId {
        QueueId(0)
    }

    fn post_in_turn(&mut self, _: QueueId, _: NodeId, event: Event, _: Place) {
        self.ticks.push_back(event);
    }

    fn next(&mut self) -> Option<Event> {
        self.events.pop_front().or_else(|| self.ticks.pop_front())
    }
}
