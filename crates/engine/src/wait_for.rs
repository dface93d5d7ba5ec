//! The wait-for graph: who waits for whom, and whether in a circle.

mod objects;

use self::objects::ObjectWait;
use crate::engine::Engine;
use crate::finding::{Blocked, Deadlock};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation};
use crate::resource::{State, ahead};
use crate::task::{Status, Task};
use crate::trace::Step;

impl Engine {
    /// The tasks one of which must act before `task` can go on, if that is certain.
    ///
    /// Certain are holders of locks, those queued before it, tasks to be joined and tasks that run an
    /// initialiser. Who might send, notify, release or unpark is anybody's guess.
    fn certain_blockers(&self, task: TaskId) -> Vec<(TaskId, Site)> {
        let t = &self.tasks[task.index()];
        if !matches!(t.status, Status::Waiting | Status::Disabled) || t.is_limited() {
            return Vec::new();
        }
        t.pending.kind.room().blockers(self, task)
    }

    /// Who holds what `task` waits for, and who is queued before it; without those who share it, unless `shared`.
    pub(crate) fn who_is_before(&self, task: TaskId, shared: bool) -> Vec<(TaskId, Site)> {
        let id = self.tasks[task.index()].pending.resource;
        let resource = &self.resources[id.index()];
        let in_the_way = resource.holders.iter().filter(|h| h.exclusive || shared);
        let mut blockers: Vec<_> = in_the_way.map(|h| (h.task, self.taken_at(h.task, id))).collect();
        let ahead = ahead(&resource.waiters, &self.tasks, task);
        blockers.extend(ahead.map(|w| (w, self.tasks[w.index()].pending.site)));
        blockers
    }

    /// The tasks that might end the wait of `task`, certain or not.
    fn possible_blockers(&self, task: TaskId) -> Vec<(TaskId, Site)> {
        let certain = self.certain_blockers(task);
        if !certain.is_empty() {
            return certain;
        }
        let pending = &self.tasks[task.index()].pending;
        pending.kind.room().guesses(self, task, pending)
    }

    /// Live tasks other than `task` that have made steps of these kinds on `resource`, each with its last one.
    pub(crate) fn who_did(&self, kinds: &[OpKind], task: TaskId, resource: ResourceId) -> Vec<(TaskId, Site)> {
        let mut seen: Vec<(TaskId, Site)> = Vec::new();
        for step in self.recent_steps().rev().filter(|step| step.resource == resource && kinds.contains(&step.kind)) {
            let known = seen.iter().any(|(t, _)| *t == step.task);
            let live = self.tasks[step.task.index()].status != Status::Finished;
            if step.task != task && live && !known {
                seen.push((step.task, step.site));
            }
        }
        seen
    }

    /// The steps that guesses are made from; of very long traces the end only.
    pub(crate) fn recent_steps(&self) -> std::slice::Iter<'_, Step> {
        const ENOUGH: usize = 100_000;
        self.steps[self.steps.len().saturating_sub(ENOUGH)..].iter()
    }

    /// A circle of certain waits that `task` has just closed, starting with it.
    pub(crate) fn cycle_through(&self, task: TaskId) -> Option<Vec<TaskId>> {
        self.circle(task, |t| self.certain_blockers(t))
    }

    fn circle(&self, start: TaskId, blockers: impl Fn(TaskId) -> Vec<(TaskId, Site)>) -> Option<Vec<TaskId>> {
        // Depth first; the path is the stack of tasks whose blockers are being looked through.
        let mut path = vec![(start, blockers(start))];
        let mut visited = vec![start];
        while let Some((_, remaining)) = path.last_mut() {
            match remaining.pop() {
                Some((next, _)) if next == start => {
                    return Some(path.iter().map(|(t, _)| *t).collect());
                }
                Some((next, _)) => {
                    if !visited.contains(&next) {
                        visited.push(next);
                        path.push((next, blockers(next)));
                    }
                }
                None => {
                    path.pop();
                }
            }
        }
        None
    }

    /// Everybody who is blocked now; a circle of possible waits among them, if there is one.
    pub(crate) fn blocked_now(&self) -> Deadlock {
        let waits = |t: &Task| !t.environment && matches!(t.status, Status::Waiting | Status::Disabled);
        let tasks: Vec<TaskId> =
            (0..self.tasks.len() as u32).map(TaskId).filter(|t| waits(&self.tasks[t.index()])).collect();
        let blocked: Vec<Blocked> = tasks.iter().map(|t| self.describe_blocked(*t)).collect();
        let blockers = |t: TaskId| match tasks.binary_search(&t) {
            Ok(at) if blocked[at].waits_for_notification() => Vec::new(),
            Ok(at) => blocked[at].blockers.clone(),
            Err(_) => Vec::new(),
        };
        let cycle = tasks.iter().find_map(|t| self.circle(*t, blockers)).unwrap_or_default();
        Deadlock { blocked, cycle, ..Deadlock::default() }
    }

    pub(crate) fn describe_blocked(&self, task: TaskId) -> Blocked {
        let pending = self.tasks[task.index()].pending;
        let Operation { kind, arg, resource, site } = pending;
        if let Some(wait) = self.awaited(task).filter(|_| kind.parks() && arg != 0) {
            let blockers = self.who_could_end(&wait);
            let ObjectWait { resource, site, awaited, .. } = wait;
            return Blocked { task, kind, resource, arg, awaited: Some(awaited), site, blockers, queued: 0 };
        }
        let queued = match resource {
            ResourceId::NONE => 0,
            id => match (&self.resources[id.index()].inbox, self.resources[id.index()].state) {
                (Some(inbox), _) => inbox.left(),
                (None, State::Channel(c)) => c.sent.saturating_sub(c.received),
                _ => 0,
            },
        };
        Blocked { task, kind, resource, arg, awaited: None, site, blockers: self.possible_blockers(task), queued }
    }
}
