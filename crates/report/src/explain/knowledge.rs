//! What other executions have shown: how shared state is guarded, and whether all of them fail.
//!
//! To look at every execution of an exploration would cost each step something. So an exploration that has
//! found something makes a few more executions for this, and says how many.

use drawloom_engine::sorted::Map;

use super::accesses::Accesses;
use super::explanation::Basis;
use crate::names::Names;
use crate::record::{PASSED, Record};
use crate::source::Sources;

/// What is known from other executions of the same program.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// By what the resource is called in every execution.
    guards: Map<String, Tally>,
    basis: Basis,
    /// The executions themselves.
    others: Vec<Record>,
    /// Executions made to see whether all fail, and those that failed as this one did.
    tried: u64,
    failed: u64,
}

/// How often a resource was accessed, and how often each lock was held then.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) accesses: u64,
    /// By the lock's id and name.
    pub(super) held: Map<(String, String), u64>,
}

impl Knowledge {
    /// Takes an execution into account; of a failing one, `alike` says whether it fails in the way that is
    /// to be explained.
    pub fn add(&mut self, record: Record, alike: bool, sources: &dyn Fn(&str) -> Option<String>) {
        self.tried += 1;
        self.failed += u64::from(alike);
        self.tally(&record, &Sources::of(&record, sources));
        self.others.push(record);
    }

    /// Adds the accesses of one execution.
    pub(super) fn tally(&mut self, record: &Record, sources: &Sources<'_>) {
        self.basis.executions += 1;
        self.basis.passing += u64::from(record.finding.kind == PASSED);
        let names = Names::of(record, sources);
        let accesses = Accesses::of(record, &names, sources);
        let keys = names.keys();
        let mut owner: Map<u32, Option<u32>> = Map::default();
        // By resource: the two tasks that use it which are over last, the later one first. All are not gone through for
        // each access: there may be as many.
        let mut ends: Map<u32, [Option<(u32, u32)>; 2]> = Map::default();
        let mut exits = vec![u32::MAX; record.tasks.len()];
        for (i, step) in (0..).zip(&record.steps).filter(|(_, step)| record.operation(step) == "exit") {
            exits[step.task as usize] = i;
        }
        for access in &accesses.all {
            let last = ends.at(access.resource);
            let own = (exits[access.task as usize], access.task);
            match last {
                [Some((_, known)), _] | [_, Some((_, known))] if *known == access.task => {}
                [first, second] if *first < Some(own) => *second = first.replace(own),
                [_, second] if *second < Some(own) => *second = Some(own),
                _ => {}
            }
        }
        for access in &accesses.all {
            // Nor when all others have finished.
            let others = ends[&access.resource].iter().flatten().filter(|(_, task)| *task != access.task);
            if others.map(|(end, _)| *end).all(|end| end < access.at) {
                continue;
            }
            // Before a second task has come, nobody has to guard anything.
            let owner = owner.get_or_insert_with(access.resource, || Some(access.task));
            if *owner == Some(access.task) {
                continue;
            }
            *owner = None;
            let tally = self.guards.at(keys[access.resource as usize].clone());
            tally.accesses += 1;
            for lock in access.locks.iter().filter(|lock| **lock != access.resource || access.section) {
                let name = names.short(*lock).to_owned();
                *tally.held.at((keys[*lock as usize].clone(), name)) += 1;
            }
        }
    }

    /// What is known of the resource that is called so in every execution.
    pub(super) fn of(&self, key: &str) -> Option<&Tally> {
        self.guards.get(key)
    }

    pub(super) fn basis(&self) -> Basis {
        self.basis
    }

    /// The other executions.
    pub(super) fn others(&self) -> &[Record] {
        &self.others
    }

    /// The number of other executions, if every one of them failed in the same way, and if they are enough: if three
    /// of four failed, so many would be without one that passes once in a hundred thousand times.
    pub(super) fn always(&self) -> Option<u64> {
        (self.tried >= Knowledge::ENOUGH && self.failed == self.tried).then_some(self.tried)
    }

    /// Whether no execution that was looked at went otherwise, so far.
    pub fn all_fail(&self) -> bool {
        self.failed == self.tried
    }

    /// There are executions that did not fail as this one did, and that are not shown.
    pub fn others_pass(&mut self) {
        self.tried += 1;
    }

    /// Fewer executions than these say nothing about all of them.
    pub const ENOUGH: u64 = 40;
}
