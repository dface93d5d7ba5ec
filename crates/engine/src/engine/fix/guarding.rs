//! What a guard knows of the execution: who is in which region, and where in its statements each task is.

use std::sync::Arc;

use crate::act::Act;
use crate::guard::{Armed, Guard, Region};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, outcome};
use crate::resource::Traits;
use crate::trace::Step;

/// What is known of the guard in this execution.
pub(in crate::engine) struct Guarding {
    pub(super) armed: Arc<Armed>,
    /// What the guard has to do with each place that was met.
    places: Vec<Place>,
    pub(super) resource: ResourceId,
    pub(super) of_tasks: Vec<OfTask>,
    /// Steps that have been looked at.
    pub(super) known: usize,
    /// Tasks that have announced, or will, what has not been looked at.
    pub(super) fresh: Vec<TaskId>,
    /// Tasks on a detour that have been granted what they waited for.
    pub(super) granted: Vec<TaskId>,
    /// Steps on resources of the program that the guard has made, by their numbers.
    pub(super) made: Vec<usize>,
    /// Who is in a region, and in which.
    pub(super) inside: TaskId,
    pub(super) open: Vec<usize>,
    /// The steps show all that the guard has brought about.
    pub(super) exact: bool,
    /// A task has come to where the guard has something to say.
    pub(super) met: bool,
    /// A region ended in its midst, since a future waited there.
    pub(super) cut: bool,
    /// When limits are to be checked.
    pub(super) next_check: u64,
}

/// A place, and the regions that begin and end there; of an order, 0 for what comes first, 1 for what waits.
pub(super) struct Place {
    site: Site,
    enters: Vec<usize>,
    pub(super) leaves: Vec<usize>,
}

/// What is known of a task.
#[derive(Default)]
pub(super) struct OfTask {
    pub(super) statement: Option<Statement>,
    pub(super) detour: Option<Detour>,
    /// Regions in which it waits for a notification.
    pub(super) interrupted: Vec<usize>,
    /// The locks of a library that it has, and where it took them.
    held: Vec<(ResourceId, Site)>,
}

impl OfTask {
    /// Whether an operation gives a lock back. Whoever drops the guard of a library's lock uses the object once more, at the
    /// place where it was taken.
    pub(super) fn gives_back(&self, operation: &Operation) -> bool {
        gives_back(operation.kind) || self.held.contains(&(operation.resource, operation.site))
    }
}

/// Operations at one place that belong together.
#[derive(Clone, Copy)]
pub(super) struct Statement {
    pub(super) site: Site,
    first: OpKind,
    /// What the first was done to, if the same done to something else belongs to it.
    whole: ResourceId,
    /// It has taken a lock, and is not over before that is given back.
    pub(super) takes: bool,
    /// It has given a lock back: that is its end.
    gave_back: bool,
    /// The lock of a library that it has taken.
    object: ResourceId,
    /// It is a future that waits: until it is polled again, its task parks, and waits for its turn, and does nothing else.
    pub(super) awaits: bool,
}

impl Statement {
    /// Whether an operation belongs to it.
    pub(super) fn goes_on_with(&self, operation: &Operation) -> bool {
        let on_another = self.whole != ResourceId::NONE && self.whole != operation.resource;
        let is_another = self.first != operation.kind || on_another || operation.is_in_transaction();
        let gives_back = self.takes && self.object == operation.resource && self.object != ResourceId::NONE;
        self.site == operation.site && (is_another || gives_back || self.awaits) && !self.gave_back
    }
}

/// What a task has announced, and does when the guard is content.
#[derive(Clone, Copy)]
pub(super) struct Detour {
    pub(super) operation: Operation,
    pub(super) deadline: Option<u64>,
    /// The turn that the task has, which it gives up while it waits for the new lock.
    pub(super) turn: ResourceId,
    /// It was in a region already, in which it has waited for a notification.
    pub(super) comes_back: bool,
}

impl Guarding {
    pub(super) fn new(armed: &Arc<Armed>) -> Guarding {
        Guarding {
            armed: Arc::clone(armed),
            places: Vec::new(),
            resource: ResourceId::NONE,
            of_tasks: Vec::new(),
            known: 0,
            fresh: Vec::new(),
            granted: Vec::new(),
            made: Vec::new(),
            inside: TaskId::NONE,
            open: Vec::new(),
            exact: !matches!(armed.guard, Guard::Atomic(_)),
            met: false,
            cut: false,
            next_check: 0,
        }
    }

    fn regions(&self) -> &[Region] {
        match &self.armed.guard {
            Guard::Lock(regions) | Guard::Atomic(regions) => regions,
            Guard::Order { .. } | Guard::NotifyAll(_) => &[],
        }
    }

    /// What the guard has to do with `site`, found out when it is first met.
    pub(super) fn place(&mut self, site: Site) -> &Place {
        let at = self.places.iter().position(|place| place.site == site).unwrap_or_else(|| {
            let place = self.look_up(site);
            self.places.push(place);
            self.places.len() - 1
        });
        &self.places[at]
    }

    /// Whether `site` lies between the lines of an open region.
    pub(super) fn is_among_open_lines(&self, site: Site) -> bool {
        let Some(at) = (self.armed.place)(site) else { return false };
        let contains = |region: &Region| {
            (&region.enter.file, &region.leave.file) == (&at.file, &at.file)
                && (region.enter.line..=region.leave.line).contains(&at.line)
        };
        self.open.iter().any(|i| contains(&self.regions()[*i]))
    }

    fn look_up(&self, site: Site) -> Place {
        let mut place = Place { site, enters: Vec::new(), leaves: Vec::new() };
        let Some(at) = (self.armed.place)(site) else { return place };
        if let Guard::Order { before, after } = &self.armed.guard {
            place.leaves.extend(before.is_at(&at).then_some(0));
            place.enters.extend(after.is_at(&at).then_some(0));
        }
        if let Guard::NotifyAll(sites) = &self.armed.guard {
            place.enters.extend(sites.iter().any(|site| site.is_at(&at)).then_some(0));
        }
        for (i, region) in self.regions().iter().enumerate() {
            place.enters.extend(region.enter.is_at(&at).then_some(i));
            place.leaves.extend(region.leave.is_at(&at).then_some(i));
        }
        place
    }

    /// Whether a region begins or ends with the whole of what is at `site`.
    fn is_whole(&mut self, site: Site) -> bool {
        let armed = Arc::clone(&self.armed);
        let (Guard::Lock(regions) | Guard::Atomic(regions)) = &armed.guard else { return false };
        let place = self.place(site);
        place.enters.iter().chain(&place.leaves).any(|i| regions[*i].whole)
    }

    pub(super) fn enters(&mut self, site: Site) -> Vec<usize> {
        self.place(site).enters.clone()
    }

    /// `task` is in the regions that begin at `site`.
    pub(super) fn enter(&mut self, task: TaskId, site: Site) {
        let enters = self.enters(site);
        if !enters.is_empty() {
            self.met = true;
            self.inside = task;
            self.open.extend(enters);
        }
    }

    /// Ends the open regions that begin where one of `regions` does; says whether that was the last of them.
    pub(super) fn end(&mut self, regions: &[usize]) -> bool {
        let mut open = std::mem::take(&mut self.open);
        let same = |a: usize, b: usize| a == b || self.regions()[a].enter == self.regions()[b].enter;
        let had_any = !open.is_empty();
        let ended: Vec<usize> = open.iter().copied().filter(|a| regions.contains(a)).collect();
        open.retain(|a| !ended.iter().any(|b| same(*a, *b)));
        self.open = open;
        had_any && self.open.is_empty()
    }

    /// Whether an operation is part of a future's wait: of one that has begun to wait elsewhere, and the guard has nothing to do
    /// with this place.
    pub(super) fn is_of_a_wait(&mut self, task: TaskId, site: Site) -> bool {
        let statement = self.of_tasks.get(task.index()).and_then(|own| own.statement);
        statement.is_some_and(|statement| statement.awaits && statement.site != site) && {
            let place = self.place(site);
            place.enters.is_empty() && place.leaves.is_empty()
        }
    }

    /// Takes note of a step that was made, and of what it did to an object.
    pub(super) fn saw(&mut self, step: &Step, act: Option<Act>) {
        let is_of_a_wait = self.is_of_a_wait(step.task, step.site);
        let Some(own) = self.of_tasks.get_mut(step.task.index()) else { return };
        if !self.fresh.contains(&step.task) {
            self.fresh.push(step.task);
        }
        if is_of_a_wait {
            return;
        }
        let goes_on = own.statement.is_some_and(|s| s.goes_on_with(&step.operation()));
        let whole = !goes_on && self.is_whole(step.site);
        let own = &mut self.of_tasks[step.task.index()];
        let mut statement = match own.statement {
            Some(statement) if goes_on => statement,
            _ => Statement {
                site: step.site,
                first: step.kind,
                whole: if whole { step.resource } else { ResourceId::NONE },
                takes: false,
                gave_back: false,
                object: ResourceId::NONE,
                awaits: false,
            },
        };
        statement.awaits = matches!(act, Some(Act::Awaits(_)));
        let mut gave_back = gives_back(step.kind);
        if takes(step.kind) && u32::from(step.outcome) != outcome::REFUSED {
            statement.takes = true;
        } else if let Some(Act::Locks | Act::LocksShared) = act {
            (statement.takes, statement.object) = (true, step.resource);
            own.held.push((step.resource, step.site));
        } else if let Some(Act::Unlocks) = act {
            let held = own.held.iter().rposition(|held| *held == (step.resource, step.site));
            held.map(|at| own.held.swap_remove(at));
            gave_back = true;
        }
        if gave_back {
            (statement.takes, statement.gave_back) = (false, true);
        }
        own.statement = Some(statement);
        let begins = !goes_on && !gave_back && matches!(self.armed.guard, Guard::Atomic(_));
        if begins && (self.inside == TaskId::NONE || self.inside == step.task) {
            self.enter(step.task, step.site);
        }
    }
}

/// Whether an operation takes a lock, so that its statement is over when that is given back.
fn takes(kind: OpKind) -> bool {
    kind.is(Traits::LOCKS)
}

/// Whether an operation gives a lock back: its place is that of the operation that took it.
fn gives_back(kind: OpKind) -> bool {
    kind.is(Traits::UNLOCKS)
}
