//! What is known of processes: who is linked to whom, who has which name. A process is kept by those who know it, not by this.

use std::collections::{BTreeMap, BTreeSet};

use super::Known;
use crate::actor::pid::{AnyPid, ProcessId, WeakPid};
use crate::actor::reason::{ExitReason, PanicInfo, Unnamed};
use crate::actor::signal::{MonitorRef, TimerRef};
use crate::rt::{ResourceId, TaskId};

/// All processes, names and timers of a system.
#[derive(Default)]
pub(super) struct Table {
    processes: BTreeMap<ProcessId, Process>,
    /// By task.
    here: Vec<Option<WeakPid>>,
    names: BTreeMap<String, Name>,
    /// By two processes, and whether it is about monitors of the first.
    pairs: BTreeMap<(ProcessId, ProcessId, bool), ResourceId>,
    /// Where a monitor is, and whether anything can still come of it.
    monitored: BTreeMap<MonitorRef, (ProcessId, bool)>,
    /// By sender and receiver: what delivers the last that is on its way.
    couriers: BTreeMap<(ProcessId, ProcessId), TaskId>,
    pub(super) timers: BTreeMap<TimerRef, Timer>,
    /// Who has panicked, as long as nobody has been told.
    crashes: Vec<(PanicInfo, TaskId)>,
    /// Whose panics are mistakes of the program, whoever is told.
    pub(super) blamed: BTreeSet<ProcessId>,
}

struct Process {
    pid: WeakPid,
    known: Known,
    ended: bool,
    /// Why it is about to end.
    doom: Option<ExitReason>,
    traps: bool,
    name: Option<String>,
    links: Vec<ProcessId>,
    monitors: Vec<(ProcessId, MonitorRef)>,
}

struct Name {
    resource: ResourceId,
    holder: Option<ProcessId>,
}

#[derive(Clone, Copy)]
pub(super) struct Timer {
    pub(super) task: TaskId,
    pub(super) resource: ResourceId,
    /// Whom it is for.
    pub(super) to: ProcessId,
    pub(super) deadline: u64,
    pub(super) over: bool,
    /// That process has waited for it.
    pub(super) is_known: bool,
}

/// Whom an end concerns.
pub(super) struct Ends {
    pub(super) reason: ExitReason,
    pub(super) links: Vec<Party>,
    pub(super) monitors: Vec<(Party, MonitorRef)>,
}

/// A process to which something is sent. Whether anybody still knows it makes no difference to the steps that are made.
#[derive(Clone)]
pub(super) struct Party {
    pub(super) id: ProcessId,
    pub(super) known: Known,
    pid: WeakPid,
}

impl Party {
    pub(super) fn of(process: &AnyPid) -> Party {
        Party { id: process.id(), known: Known::of(process), pid: process.downgrade() }
    }

    pub(super) fn pid(&self) -> Option<AnyPid> {
        self.pid.upgrade()
    }
}

impl Table {
    pub(super) fn add(&mut self, process: &AnyPid, task: TaskId) {
        if self.here.len() <= task.index() {
            self.here.resize(task.index() + 1, None);
        }
        self.here[task.index()] = Some(process.downgrade());
        let entry = Process {
            pid: process.downgrade(),
            known: Known::of(process),
            ended: false,
            doom: None,
            traps: false,
            name: None,
            links: Vec::new(),
            monitors: Vec::new(),
        };
        self.processes.insert(process.id(), entry);
    }

    /// The task that a process is.
    pub(super) fn task_of(&self, id: ProcessId) -> Option<TaskId> {
        Some(self.processes.get(&id)?.known.task)
    }

    /// The process that a task is.
    pub(super) fn here(&self, task: TaskId) -> Option<AnyPid> {
        self.here.get(task.index())?.as_ref()?.upgrade()
    }

    pub(super) fn is_alive(&self, id: ProcessId) -> bool {
        self.processes.get(&id).is_some_and(|process| !process.ended && process.doom.is_none())
    }

    pub(super) fn traps(&self, id: ProcessId) -> bool {
        self.processes.get(&id).is_some_and(|process| process.traps)
    }

    /// Whether it did before.
    pub(super) fn set_traps(&mut self, id: ProcessId, traps: bool) -> bool {
        self.processes.get_mut(&id).is_some_and(|process| std::mem::replace(&mut process.traps, traps))
    }

    /// Why a process is about to end.
    pub(super) fn doom(&self, id: ProcessId) -> Option<ExitReason> {
        self.processes.get(&id)?.doom.clone()
    }

    /// The first fatal signal decides; whether it is this one.
    pub(super) fn set_doom(&mut self, id: ProcessId, reason: ExitReason) -> bool {
        let Some(process) = self.processes.get_mut(&id).filter(|process| !process.ended && process.doom.is_none())
        else {
            return false;
        };
        process.doom = Some(reason);
        true
    }

    pub(super) fn link(&mut self, one: ProcessId, other: ProcessId) {
        for (mine, theirs) in [(one, other), (other, one)] {
            if let Some(process) = self.processes.get_mut(&mine) {
                if !process.links.contains(&theirs) {
                    process.links.push(theirs);
                }
            }
        }
    }

    pub(super) fn unlink(&mut self, one: ProcessId, other: ProcessId) {
        for (mine, theirs) in [(one, other), (other, one)] {
            if let Some(process) = self.processes.get_mut(&mine) {
                process.links.retain(|linked| *linked != theirs);
            }
        }
    }

    /// Whether `one` is linked to `other`. The end of either changes nothing: who ends tells the other one even if that has ended.
    pub(super) fn is_linked(&self, one: ProcessId, other: ProcessId) -> bool {
        self.processes.get(&one).is_some_and(|process| process.links.contains(&other))
    }

    pub(super) fn monitor(&mut self, watcher: ProcessId, target: ProcessId, monitor: MonitorRef) {
        self.monitored.insert(monitor, (target, true));
        if let Some(process) = self.processes.get_mut(&target) {
            process.monitors.push((watcher, monitor));
        }
    }

    /// Whom a monitor is for, or was for that has told of an end.
    pub(super) fn monitored(&self, monitor: MonitorRef) -> Option<Party> {
        self.party(self.monitored.get(&monitor)?.0)
    }

    pub(super) fn party(&self, id: ProcessId) -> Option<Party> {
        let Process { pid, known, .. } = self.processes.get(&id)?;
        Some(Party { id, known: *known, pid: pid.clone() })
    }

    /// A monitor is taken back; whether anything could still have come of it.
    pub(super) fn demonitor(&mut self, monitor: MonitorRef) -> bool {
        let is_open = self.close_monitor(monitor);
        self.monitored.remove(&monitor);
        is_open
    }

    /// Nothing comes of a monitor any more; whether something could have. Who takes it back later still makes a step for that.
    pub(super) fn close_monitor(&mut self, monitor: MonitorRef) -> bool {
        let Some((target, is_open)) = self.monitored.get_mut(&monitor) else { return false };
        let target = *target;
        if let Some(process) = self.processes.get_mut(&target) {
            process.monitors.retain(|(_, other)| *other != monitor);
        }
        std::mem::replace(is_open, false)
    }

    /// A process ends for `reason`, unless it was to end for another one before.
    pub(super) fn end(&mut self, id: ProcessId, reason: ExitReason) -> Ends {
        let Some(process) = self.processes.get_mut(&id) else {
            return Ends { reason, links: Vec::new(), monitors: Vec::new() };
        };
        process.ended = true;
        let reason = process.doom.clone().unwrap_or(reason);
        // A signal of one of them may be on its way: it is in force as before.
        let mut links = process.links.clone();
        let mut monitors = std::mem::take(&mut process.monitors);
        // Two that link or monitor it may have come in either order, and nobody is to know.
        links.sort_unstable();
        monitors.sort_unstable();
        if let Some(name) = process.name.take() {
            self.free(&name);
        }
        let links = links.iter().filter_map(|id| self.party(*id)).collect();
        let with_party = |(watcher, monitor): &(ProcessId, MonitorRef)| Some((self.party(*watcher)?, *monitor));
        let monitors = monitors.iter().filter_map(with_party).collect();
        Ends { reason, links, monitors }
    }

    /// Whether somebody is told of the end of a process and lives on.
    pub(super) fn is_watched(&self, ends: &Ends) -> bool {
        !ends.monitors.is_empty() || ends.links.iter().any(|party| self.is_alive(party.id) && self.traps(party.id))
    }

    /// A process has panicked, and those that are linked to it end with it, if anybody is.
    pub(super) fn add_crash(&mut self, panic: PanicInfo, task: TaskId) {
        self.crashes.push((panic, task));
    }

    /// Somebody is told of an end for that reason and lives on: whose panic it was.
    pub(super) fn take_crashes(&mut self, reason: &ExitReason) -> Vec<TaskId> {
        let ExitReason::Panic(panic) = reason else { return Vec::new() };
        let (told, left) = std::mem::take(&mut self.crashes).into_iter().partition(|(crash, _)| crash == panic);
        self.crashes = left;
        let told: Vec<(PanicInfo, TaskId)> = told;
        told.into_iter().map(|(_, task)| task).collect()
    }

    fn free(&mut self, name: &str) {
        if let Some(name) = self.names.get_mut(name) {
            name.holder = None;
        }
    }

    /// The timers that are due before `deadline`.
    pub(super) fn timers_before(&self, deadline: u64) -> Vec<TaskId> {
        let mut earlier: Vec<_> = self.timers.values().filter(|timer| timer.deadline < deadline).collect();
        earlier.sort_unstable_by_key(|timer| (timer.deadline, timer.task));
        earlier.into_iter().map(|timer| timer.task).collect()
    }

    /// Those of them that are for a process and of which it does not know yet that they are over: it does from now on.
    pub(super) fn own_timers_before(&mut self, deadline: u64, to: ProcessId) -> Vec<TaskId> {
        let is_own = |timer: &&mut Timer| timer.to == to && timer.deadline < deadline && !timer.is_known;
        let mut earlier: Vec<&mut Timer> = self.timers.values_mut().filter(is_own).collect();
        earlier.sort_unstable_by_key(|timer| (timer.deadline, timer.task));
        earlier.iter_mut().for_each(|timer| timer.is_known = true);
        earlier.into_iter().map(|timer| timer.task).collect()
    }

    // ── names ────────────────────────────────────────────────────────────────────────────────────

    pub(super) fn name(&self, name: &str) -> Option<ResourceId> {
        self.names.get(name).map(|name| name.resource)
    }

    pub(super) fn set_name(&mut self, name: &str, resource: ResourceId) {
        self.names.insert(name.to_owned(), Name { resource, holder: None });
    }

    pub(super) fn name_of(&self, id: ProcessId) -> Option<ResourceId> {
        self.name(self.processes.get(&id)?.name.as_deref()?)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    pub(super) fn register(&mut self, name: &str, process: &AnyPid) -> Result<(), Unnamed> {
        if let Some(by) = self.whereis(name) {
            return Err(Unnamed::Taken(by));
        }
        let is_alive = self.is_alive(process.id());
        let (Some(taken), Some(entry)) = (self.names.get_mut(name), self.processes.get_mut(&process.id())) else {
            return Err(Unnamed::Ended);
        };
        match &entry.name {
            Some(other) => return Err(Unnamed::Named(other.clone())),
            None if taken.holder.is_some() || !is_alive => return Err(Unnamed::Ended),
            None => {}
        }
        taken.holder = Some(process.id());
        entry.name = Some(name.to_owned());
        Ok(())
    }

    /// Whose it was.
    pub(super) fn unregister(&mut self, name: &str) -> Option<ResourceId> {
        let holder = self.names.get_mut(name)?.holder.take()?;
        let process = self.processes.get_mut(&holder)?;
        process.name = None;
        Some(process.known.resource)
    }

    pub(super) fn whereis(&self, name: &str) -> Option<AnyPid> {
        let holder = self.names.get(name)?.holder?;
        self.processes.get(&holder)?.pid.upgrade()
    }

    // ── what stands for pairs of processes ───────────────────────────────────────────────────────

    pub(super) fn pair(&self, one: ProcessId, other: ProcessId, monitors: bool) -> Option<ResourceId> {
        self.pairs.get(&pair_key(one, other, monitors)).copied()
    }

    pub(super) fn set_pair(&mut self, one: ProcessId, other: ProcessId, monitors: bool, id: ResourceId) {
        self.pairs.insert(pair_key(one, other, monitors), id);
    }

    pub(super) fn courier(&self, from: ProcessId, to: ProcessId) -> Option<TaskId> {
        self.couriers.get(&(from, to)).copied()
    }

    pub(super) fn set_courier(&mut self, from: ProcessId, to: ProcessId, task: TaskId) {
        self.couriers.insert((from, to), task);
    }
}

fn pair_key(one: ProcessId, other: ProcessId, monitors: bool) -> (ProcessId, ProcessId, bool) {
    if monitors { (one, other, true) } else { (one.min(other), one.max(other), false) }
}
