//! Who is linked to whom, who monitors whom, who has which name, who is to end.

use std::collections::{BTreeMap, HashMap};

use crate::actor::backend::Tie;
use crate::actor::pid::{AnyPid, ProcessId};
use crate::actor::reason::{ExitReason, Unnamed};
use crate::actor::signal::{Down, Exit, MonitorRef, Signal};

/// The processes that have not ended, and what they are to each other.
#[derive(Default)]
pub(super) struct Relations {
    processes: HashMap<ProcessId, Relative>,
    names: BTreeMap<String, AnyPid>,
    /// The first process has.
    ended: bool,
}

struct Relative {
    /// In the order in which they were made.
    links: Vec<AnyPid>,
    monitored_by: Vec<(AnyPid, MonitorRef, bool)>,
    /// Whom it monitors.
    monitors: HashMap<MonitorRef, ProcessId>,
    traps_exits: bool,
    name: Option<String>,
    fatal: Option<ExitReason>,
}

/// What a process leaves behind.
#[derive(Default)]
pub(super) struct Gone {
    pub(super) links: Vec<AnyPid>,
    /// By whom, and whether the monitor came when the process was to end already.
    pub(super) monitored_by: Vec<(AnyPid, MonitorRef, bool)>,
    pub(super) fatal: Option<ExitReason>,
}

impl Relations {
    pub(super) fn insert(&mut self, process: &AnyPid, parent: Option<&AnyPid>, tie: Tie) {
        let mut relative = Relative {
            links: Vec::new(),
            monitored_by: Vec::new(),
            monitors: HashMap::new(),
            traps_exits: false,
            name: None,
            fatal: None,
        };
        if let Some(parent) = parent {
            if let Some(theirs) = self.processes.get_mut(&parent.id()) {
                if tie.link {
                    theirs.links.push(process.clone());
                    relative.links.push(parent.clone());
                }
                if let Some(monitor) = tie.monitor {
                    theirs.monitors.insert(monitor, process.id());
                    relative.monitored_by.push((parent.clone(), monitor, false));
                }
            }
        }
        self.processes.insert(process.id(), relative);
    }

    /// Takes the process out of everything.
    pub(super) fn remove(&mut self, process: ProcessId) -> Gone {
        let Some(gone) = self.processes.remove(&process) else { return Gone::default() };
        for other in &gone.links {
            if let Some(other) = self.processes.get_mut(&other.id()) {
                other.links.retain(|link| link.id() != process);
            }
        }
        for (monitor, target) in &gone.monitors {
            if let Some(target) = self.processes.get_mut(target) {
                target.monitored_by.retain(|(_, theirs, _)| theirs != monitor);
            }
        }
        for (owner, monitor, _) in &gone.monitored_by {
            if let Some(owner) = self.processes.get_mut(&owner.id()) {
                owner.monitors.remove(monitor);
            }
        }
        if let Some(name) = &gone.name {
            self.names.remove(name);
        }
        Gone { links: gone.links, monitored_by: gone.monitored_by, fatal: gone.fatal }
    }

    /// Nobody continues: all who have not ended.
    pub(super) fn end(&mut self) -> Vec<ProcessId> {
        self.ended = true;
        self.processes.keys().copied().collect()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn is_alive(&self, process: ProcessId) -> bool {
        self.processes.get(&process).is_some_and(|process| process.fatal.is_none())
    }

    pub(super) fn fatal(&self, process: ProcessId) -> Option<ExitReason> {
        self.processes.get(&process)?.fatal.clone()
    }

    /// The process is to end; whether that is news.
    pub(super) fn doom(&mut self, process: ProcessId, reason: ExitReason) -> bool {
        let Some(process) = self.processes.get_mut(&process).filter(|process| process.fatal.is_none()) else {
            return false;
        };
        process.fatal = Some(reason);
        true
    }

    pub(super) fn trap_exit(&mut self, process: ProcessId, trap: bool) -> bool {
        let process = self.processes.get_mut(&process);
        process.is_some_and(|process| std::mem::replace(&mut process.traps_exits, trap))
    }

    pub(super) fn takes_exit_as_message(&self, process: ProcessId) -> bool {
        self.processes.get(&process).is_some_and(|process| process.traps_exits && process.fatal.is_none())
    }

    pub(super) fn post_exit(&self, from: Option<&AnyPid>, to: &AnyPid, reason: ExitReason) {
        let sender = from.map_or(ProcessId::OUTSIDE, AnyPid::id);
        to.0.post_signal(sender, Signal::Exit(Exit { from: from.cloned(), reason }));
    }

    pub(super) fn post_down(&self, process: Option<&AnyPid>, to: &AnyPid, monitor: MonitorRef, reason: ExitReason) {
        let sender = process.map_or(ProcessId::OUTSIDE, AnyPid::id);
        to.0.post_signal(sender, Signal::Down(Down { monitor, process: process.cloned(), reason }));
    }

    /// Whether there is somebody to monitor. One who is to end says that it was no process any more, when it has.
    pub(super) fn monitor(&mut self, me: &AnyPid, target: &AnyPid, monitor: MonitorRef) -> bool {
        let Some(theirs) = self.processes.get_mut(&target.id()) else { return false };
        // Nobody hears of his own end.
        if me != target {
            let late = theirs.fatal.is_some();
            theirs.monitored_by.push((me.clone(), monitor, late));
        }
        if let Some(mine) = self.processes.get_mut(&me.id()) {
            mine.monitors.insert(monitor, target.id());
        }
        true
    }

    pub(super) fn demonitor(&mut self, me: &AnyPid, monitor: MonitorRef) -> bool {
        let mine = self.processes.get_mut(&me.id());
        let Some(target) = mine.and_then(|mine| mine.monitors.remove(&monitor)) else { return false };
        if let Some(theirs) = self.processes.get_mut(&target) {
            theirs.monitored_by.retain(|(_, theirs, _)| *theirs != monitor);
        }
        true
    }

    /// Whether there is somebody to link to.
    pub(super) fn link(&mut self, me: &AnyPid, other: &AnyPid) -> bool {
        if me == other {
            return true;
        }
        if !self.is_alive(other.id()) {
            return false;
        }
        for (one, another) in [(me, other), (other, me)] {
            if let Some(relative) = self.processes.get_mut(&one.id()) {
                if !relative.links.contains(another) {
                    relative.links.push(another.clone());
                }
            }
        }
        true
    }

    pub(super) fn unlink(&mut self, me: &AnyPid, other: &AnyPid) {
        for (one, another) in [(me, other), (other, me)] {
            if let Some(relative) = self.processes.get_mut(&one.id()) {
                relative.links.retain(|link| link != another);
            }
        }
    }

    pub(super) fn register(&mut self, name: &str, process: &AnyPid) -> Result<(), Unnamed> {
        if let Some(by) = self.names.get(name) {
            return Err(Unnamed::Taken(by.clone()));
        }
        let alive = self.processes.get_mut(&process.id()).filter(|relative| relative.fatal.is_none());
        let relative = alive.ok_or(Unnamed::Ended)?;
        if let Some(other) = &relative.name {
            return Err(Unnamed::Named(other.clone()));
        }
        relative.name = Some(name.to_owned());
        self.names.insert(name.to_owned(), process.clone());
        Ok(())
    }

    pub(super) fn unregister(&mut self, name: &str) -> bool {
        let Some(process) = self.names.remove(name) else { return false };
        if let Some(relative) = self.processes.get_mut(&process.id()) {
            relative.name = None;
        }
        true
    }

    pub(super) fn whereis(&self, name: &str) -> Option<AnyPid> {
        self.names.get(name).cloned()
    }

    pub(super) fn registered(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }
}
