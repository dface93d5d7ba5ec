//! How the choices of a scenario follow each other.

use std::cell::{Cell, RefCell};

use drawloom_engine::Site;

/// What the clients call, by the numbers of operations. Clients do not differ, so the one with most to do comes first.
pub(super) type Lists = Vec<Vec<usize>>;

/// How the choices of a scenario follow each other.
///
/// Each client in turn chooses its operations, one after the other, or to call nothing more. What a client calls is
/// never greater, as a sequence, than what the one before it does: scenarios that differ only in who is who are one.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Where the choices are made; nothing else is chosen there.
    pub site: Site,
    /// How many clients there are.
    pub clients: usize,
    /// The most operations of a client.
    pub length: usize,
    /// How many there are to choose from.
    pub operations: usize,
}

std::thread_local! {
    /// The layout of the execution that was the last to choose on this OS thread.
    static LAYOUT: Cell<Option<Layout>> = const { Cell::new(None) };
    /// The scenario of all executions on this OS thread, while one is explored by itself.
    static FIXED: RefCell<Option<Lists>> = const { RefCell::new(None) };
}

impl Layout {
    /// The scenario of the execution that runs: for each client the numbers of the operations that it calls. `choose` is
    /// asked for one of two or more outcomes.
    pub fn choose(self, choose: impl FnMut(usize) -> usize) -> Vec<Vec<usize>> {
        LAYOUT.set(Some(self));
        FIXED.with_borrow(Clone::clone).unwrap_or_else(|| self.lists(choose))
    }

    /// The layout of the execution that `run` makes, if that chooses a scenario.
    pub(super) fn of(run: impl FnOnce()) -> Option<Layout> {
        LAYOUT.set(None);
        run();
        LAYOUT.get()
    }

    pub(super) fn lists(&self, mut choose: impl FnMut(usize) -> usize) -> Lists {
        let mut lists: Lists = Vec::with_capacity(self.clients);
        for _ in 0..self.clients {
            let mut list = Vec::new();
            while list.len() < self.length {
                let outcomes = self.outcomes(&list, lists.last());
                // The first outcome is to call nothing more.
                let chosen = if outcomes < 2 { 0 } else { choose(outcomes) };
                let Some(operation) = chosen.checked_sub(1) else { break };
                list.push(operation);
            }
            lists.push(list);
        }
        lists
    }

    /// The choices that lead to these lists.
    pub(super) fn choices(&self, lists: &Lists) -> Vec<u64> {
        let mut choices = Vec::new();
        for (client, list) in lists.iter().enumerate() {
            let before = client.checked_sub(1).map(|before| &lists[before]);
            // One more than it calls, to call nothing more.
            for at in 0..self.length.min(list.len() + 1) {
                if self.outcomes(&list[..at], before) > 1 {
                    choices.push(list.get(at).map_or(0, |operation| *operation as u64 + 1));
                }
            }
        }
        choices
    }

    /// How many outcomes the next choice of a client has, given what it has chosen and what the one before it has.
    fn outcomes(&self, list: &[usize], before: Option<&Vec<usize>>) -> usize {
        match before {
            Some(before) if before.starts_with(list) => before.get(list.len()).map_or(1, |operation| operation + 2),
            _ => self.operations + 1,
        }
    }
}

/// While it lives, executions on this OS thread are of one scenario, which they do not choose.
pub(super) struct Fixed(());

impl Fixed {
    pub(super) fn on(lists: &Lists) -> Fixed {
        FIXED.set(Some(lists.clone()));
        Fixed(())
    }
}

impl Drop for Fixed {
    fn drop(&mut self) {
        FIXED.set(None);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn layout(clients: usize, length: usize, operations: usize) -> Layout {
        Layout { site: Site(1), clients, length, operations }
    }

    /// Every scenario, by every sequence of choices, each with the choices that were made.
    fn all(layout: Layout) -> Vec<(Lists, Vec<u64>)> {
        let mut all = Vec::new();
        let mut next: Vec<(u64, usize)> = Vec::new();
        loop {
            let mut made = Vec::new();
            let lists = layout.lists(|outcomes| {
                let chosen = next.get(made.len()).map_or(0, |(chosen, _)| *chosen);
                made.push((chosen, outcomes));
                chosen as usize
            });
            all.push((lists, made.iter().map(|(chosen, _)| *chosen).collect()));
            while made.last().is_some_and(|(chosen, outcomes)| *chosen as usize + 1 == *outcomes) {
                made.pop();
            }
            match made.last_mut() {
                Some((chosen, _)) => *chosen += 1,
                None => return all,
            }
            next = made;
        }
    }

    #[test]
    fn every_scenario_is_chosen_in_one_way_whoever_is_who() {
        // One of 1 + n + … + n^length lists for each client, in no order: a multiset.
        for (clients, length, operations, scenarios) in [(1, 2, 3, 13), (2, 2, 3, 91), (3, 1, 2, 10), (2, 3, 1, 10)] {
            let layout = layout(clients, length, operations);
            let all = all(layout);
            let mut distinct: HashSet<Lists> = HashSet::new();
            for (lists, choices) in &all {
                assert!(lists.is_sorted_by(|a, b| a >= b), "{lists:?}");
                assert!(distinct.insert(lists.clone()), "{lists:?}");
                assert_eq!(layout.choices(lists), *choices, "{lists:?}");
            }
            assert_eq!(all.len(), scenarios);
        }
    }
}
