//! Waits for objects. To the engine a task that drives a future is parked; what the future has done to objects says for what.

use crate::act::{Act, Awaited};
use crate::engine::Engine;
use crate::finding::{Blocked, Deadlock};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, ResourceKind};
use crate::task::Status;
use crate::trace::Step;

/// A wait for an object.
pub(super) struct ObjectWait {
    task: TaskId,
    pub(super) resource: ResourceId,
    pub(super) awaited: Awaited,
    pub(super) site: Site,
    /// The step in which it began, counted from where steps are looked at.
    since: usize,
}

impl Engine {
    /// What `task` has begun to wait for and not got since; of several, the last.
    pub(super) fn awaited(&self, task: TaskId) -> Option<ObjectWait> {
        let mut over: Vec<ResourceId> = Vec::new();
        for (since, step) in self.recent_steps().enumerate().rev().filter(|(_, step)| step.task == task) {
            match self.act(step) {
                Some(Act::Awaits(awaited)) if !over.contains(&step.resource) => {
                    return Some(ObjectWait { task, resource: step.resource, awaited, site: step.site, since });
                }
                Some(_) => over.push(step.resource),
                None => {}
            }
        }
        None
    }

    /// What was found, with what a front end knows of some of the waits in place of what the engine could tell: a circle may
    /// show then.
    pub fn with_declared(&self, found: &Deadlock, declared: Vec<Blocked>) -> Deadlock {
        let mut deadlock = found.clone();
        for wait in declared {
            match deadlock.blocked.binary_search_by_key(&wait.task, |known| known.task) {
                Ok(at) => deadlock.blocked[at] = wait,
                Err(at) => deadlock.blocked.insert(at, wait),
            }
        }
        let waits = &deadlock.blocked;
        let blockers = |task: TaskId| match waits.binary_search_by_key(&task, |known| known.task) {
            Ok(at) => waits[at].blockers.clone(),
            Err(_) => Vec::new(),
        };
        let circle = waits.iter().find_map(|wait| self.circle(wait.task, blockers));
        let cycle = circle.unwrap_or_else(|| found.cycle.clone());
        Deadlock { cycle, ..deadlock }
    }

    /// Who holds what is waited for, or is queued for it before, or was the last on the other side.
    pub(super) fn who_could_end(&self, wait: &ObjectWait) -> Vec<(TaskId, Site)> {
        let on_the_other_side = |acts: &[Act]| self.have_done(wait, acts);
        match wait.awaited {
            Awaited::Task(joined) => vec![(joined, self.tasks[joined.index()].spawned_at)],
            Awaited::Lock | Awaited::ReadLock | Awaited::WriteLock | Awaited::Init => {
                let mut holders = self.holders(wait);
                holders.extend(self.queued_before(wait));
                holders
            }
            Awaited::Permits => self.holders(wait),
            Awaited::Room => on_the_other_side(&[Act::Receives]),
            Awaited::Message => on_the_other_side(&[Act::Sends]),
            Awaited::Notification => on_the_other_side(&[Act::Wakes, Act::WakesNobody]),
            Awaited::Change | Awaited::Others | Awaited::Value => {
                on_the_other_side(&[Act::Wakes, Act::WakesNobody, Act::Sends])
            }
        }
    }

    /// What a step does to an object, if it is a use of one.
    pub(crate) fn act(&self, step: &Step) -> Option<Act> {
        let uses = step.kind == OpKind::Rmw || step.kind.is_of_queue();
        let of_object = uses
            && self.resources.get(step.resource.index()).is_some_and(|resource| resource.kind == ResourceKind::Object);
        of_object.then(|| Act::of(step.value))
    }

    fn acts_on(&self, object: ResourceId) -> impl DoubleEndedIterator<Item = (&Step, Act)> {
        let on_it = self.recent_steps().filter(move |step| step.resource == object);
        on_it.filter_map(|step| Some((step, self.act(step)?)))
    }

    /// Who has taken it and not given it back, and where. What somebody gives back who has nothing was another one's.
    fn holders(&self, wait: &ObjectWait) -> Vec<(TaskId, Site)> {
        let mut holders: Vec<(TaskId, Site)> = Vec::new();
        for (step, act) in self.acts_on(wait.resource) {
            match act {
                Act::Locks | Act::LocksShared | Act::Acquires => holders.push((step.task, step.site)),
                Act::Unlocks | Act::Releases => {
                    let own = holders.iter().rposition(|(task, _)| *task == step.task);
                    if let Some(at) = own.or_else(|| holders.len().checked_sub(1)) {
                        holders.remove(at);
                    }
                }
                _ => {}
            }
        }
        holders
    }

    /// Who waits for the same, and has for longer.
    fn queued_before(&self, wait: &ObjectWait) -> Vec<(TaskId, Site)> {
        let others = (0..self.tasks.len() as u32).map(TaskId).filter(|task| *task != wait.task);
        let parked =
            others.filter(|task| matches!(self.tasks[task.index()].status, Status::Waiting | Status::Disabled));
        let theirs = parked.filter_map(|task| self.awaited(task));
        let before = theirs.filter(|other| other.resource == wait.resource && other.since < wait.since);
        before.map(|other| (other.task, other.site)).collect()
    }

    /// Other tasks that are there yet and have done one of these, the last one first.
    fn have_done(&self, wait: &ObjectWait, acts: &[Act]) -> Vec<(TaskId, Site)> {
        let mut seen: Vec<(TaskId, Site)> = Vec::new();
        for (step, act) in self.acts_on(wait.resource).rev() {
            let is_new = step.task != wait.task && seen.iter().all(|(task, _)| *task != step.task);
            if is_new && acts.contains(&act) && self.tasks[step.task.index()].status != Status::Finished {
                seen.push((step.task, step.site));
            }
        }
        seen
    }
}
