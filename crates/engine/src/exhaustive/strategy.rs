//! The strategy of one execution: follow the route to a leaf, run on freely, then add what follows from it.

use std::sync::Arc;

use super::checkpoint::Ticket;
use super::execution::Analysis;
use super::frugal::Sleep;
use super::names::{Cast, Name};
use super::reverse::{Reversal, Worth};
use super::route::Route;
use super::tree::{NodeId, Place, Tree};
use super::{Claimed, Explorer, Planned};
use crate::ending::Ending;
use crate::finding::{Divergence, FindingKind};
use crate::id::TaskId;
use crate::resource::Within;
use crate::strategy::{Profile, Strategy, Tape, View, sequential_fill_with};
use crate::task::{Status, Task};
use crate::trace::Step;

/// The strategy of one execution of an exhaustive exploration.
pub struct Exhaustive {
    pub(super) explorer: Explorer,
    pub(super) ticket: Ticket,
    pub(super) leaf: NodeId,
    /// The next one is to be claimed when it is over.
    pub(super) ahead: bool,
    /// Who is to be avoided, if the exploration is frugal.
    pub(super) sleep: Option<Box<Sleep>>,
    /// What it makes may be made elsewhere, too: that is to be found out when it is over.
    pub(super) may_repeat: bool,
    /// Handed on when the execution is over.
    pub(super) scratch: Option<Box<Scratch>>,
    /// As long as it has not come to its leaf: what is open on the way is drawn from it.
    pub(super) on_the_way: Option<Tape>,
    /// Before this step, who was picked last goes on: it is planned so, or nothing is.
    pub(super) goes_on_until: usize,
}

/// What an execution leaves to the next one that a worker makes.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) route: Route,
    analysis: Analysis,
    pub(super) reversal: Reversal,
    /// By task: whose which child it was, and the name that it had been given.
    given: Vec<(Name, u32, Name)>,
    /// The names that hold for all executions, of the tasks of this one.
    cast: Cast,
    children: Vec<u32>,
}

impl Scratch {
    /// The same without any memory of executions, but with its room.
    pub(super) fn forgetful(mut self: Box<Self>) -> Box<Self> {
        self.route.back_to(0);
        self.analysis.forget();
        self.given.clear();
        self
    }

    /// Whether its room is not much.
    pub(super) fn is_small(&self) -> bool {
        self.analysis.is_small()
    }

    /// Whether the steps are those that were planned; the first `as_before` are those of the execution before.
    fn as_planned(&self, made: &[Step], as_before: usize) -> bool {
        let planned = self.route.steps();
        // Where both were to go the same way, that one has.
        let from = as_before.min(self.route.common());
        let same = |(planned, step): (&Planned, &Step)| planned.task == self.cast.name(step.task);
        made.len() >= planned.len()
            && planned[from..].iter().zip(&made[from..]).all(same)
            && self.repeated_otherwise(made, as_before).is_none()
    }

    /// Whether all steps are those that were planned but for the last one, which [may be impossible](crate::OpKind::may_find_nothing).
    fn was_in_vain(&self, view: &View<'_>) -> bool {
        let (Some((last, planned)), made) = (self.route.steps().split_last(), view.steps()) else { return false };
        let Some(task) = self.cast.task(last.task) else { return false };
        let next = made.get(planned.len());
        if made.len() < planned.len() || next.is_some_and(|step| step.task == task) {
            return false;
        }
        let own = made[planned.len()..].iter().find(|step| step.task == task);
        let (kind, arg) = own.map_or((view.pending(task).kind, view.pending(task).arg), |step| (step.kind, step.arg));
        kind.may_find_nothing(arg)
            && planned.iter().zip(made).all(|(planned, step)| planned.task == self.cast.name(step.task))
    }

    /// The step of the execution before instead of which its task has made another one, although nothing was otherwise
    /// until then. What steps came to may differ: a program may work with values that are none of its schedule's.
    #[inline]
    fn repeated_otherwise(&self, made: &[Step], as_before: usize) -> Option<&Step> {
        let (before, step) = (self.analysis.step(as_before)?, made.get(as_before)?);
        // Which timer fires is a choice.
        let by_same_task = before.task == step.task && !step.kind.fires();
        (by_same_task && (before.kind, before.resource) != (step.kind, step.resource)).then_some(before)
    }

    /// Where an execution that is over did not keep to its prefix.
    fn first_difference(&self, view: &View<'_>) -> Divergence {
        let (planned, made) = (self.route.steps(), view.steps());
        let as_before = self.analysis.common(view);
        if let Some(before) = self.repeated_otherwise(made, as_before) {
            let path = view.path(before.task);
            let said = |step: &Step| format!("`{}` by task {path}", step.kind.word());
            return Divergence {
                step: as_before as u64,
                expected: said(before),
                found: said(&made[as_before]),
                task: Some(path.clone()),
            };
        }
        let differs = |(planned, step): (&Planned, &Step)| planned.task != self.cast.name(step.task);
        let at = planned.iter().zip(made).position(differs).unwrap_or(made.len());
        let by = |task: TaskId| format!("a step of task {}", view.path(task));
        let expected = planned.get(at).and_then(|planned| self.cast.task(planned.task));
        Divergence {
            step: at as u64,
            expected: expected.map_or_else(|| "a step of a task that does not exist".to_owned(), by),
            found: made.get(at).map_or_else(|| "the end of the execution".to_owned(), |step| by(step.task)),
            task: expected.map(|task| view.path(task)),
        }
    }
}

impl Exhaustive {
    /// One that has no execution to make yet.
    pub(super) fn new(explorer: Explorer, ahead: bool) -> Self {
        let (ticket, leaf) = (Ticket(0), Tree::root());
        let (sleep, may_repeat, scratch, on_the_way, goes_on_until) = (None, false, None, None, 0);
        Exhaustive { explorer, ticket, leaf, ahead, sleep, may_repeat, scratch, on_the_way, goes_on_until }
    }

    /// Makes the execution that was claimed.
    pub(super) fn take(&mut self, claimed: Claimed, scratch: Box<Scratch>) {
        (self.leaf, self.ticket, self.goes_on_until) = (claimed.leaf, claimed.ticket, 0);
        self.may_repeat = claimed.may_repeat;
        self.sleep = claimed.frugal.then(|| Box::new(Sleep::new(&scratch.route)));
        self.scratch = Some(scratch);
    }

    /// What to [settle](Explorer::settle) the execution with.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Nothing is to follow from its execution, nor from any other: what is left to explore is of no use any more.
    pub(crate) fn abandon(&mut self) {
        let scratch = self.scratch.take().map(Scratch::forgetful);
        self.explorer.own.kept(|kept| kept.scratch = scratch);
    }

    /// Its execution was stopped: nobody knows what would have followed from it, so that it is as if it had not been made.
    fn leave_unfinished(&mut self) {
        self.abandon();
        if self.on_the_way.is_none() {
            self.explorer.own.with_and_tell(|board| {
                board.tree.unclaim(self.leaf);
                board.claimed -= 1;
            });
        }
    }

    /// Whether its prefix says what step number `position` is, from 0. After that, any choices will do.
    pub(crate) fn plans(&self, position: usize) -> bool {
        self.planned_at(position).is_some()
    }

    /// Whether it has yet to come to its leaf.
    pub(crate) fn is_on_the_way(&self) -> bool {
        self.on_the_way.is_some()
    }

    /// Who goes next on the way to a leaf: `proposed`, if that leads to one.
    pub fn descend(&mut self, view: &View<'_>, proposed: Option<TaskId>) -> Result<TaskId, Box<Divergence>> {
        self.catch_up(view.steps());
        match (self.go_on_by(proposed), proposed) {
            (Some(planned), _) => self.ready(planned, view),
            (None, Some(proposed)) => Ok(proposed),
            (None, None) => Ok(go_on_freely(view)),
        }
    }

    /// Takes note of the steps that were made without a choice.
    fn catch_up(&mut self, made: &[Step]) {
        while let Some(step) = self.scratch.as_ref().and_then(|scratch| made.get(scratch.route.steps().len())) {
            if self.go_on_by(Some(step.task)).is_none() {
                return;
            }
        }
    }

    /// Goes a step further on the way: by one of `task`, if that leads to a leaf. `None` if there is no way.
    fn go_on_by(&mut self, task: Option<TaskId>) -> Option<Planned> {
        let (scratch, tape) = (self.scratch.as_mut()?, self.on_the_way.as_mut()?);
        let Scratch { route, cast, .. } = &mut **scratch;
        let fits = |planned: Planned| task.is_none_or(|task| cast.name(task) == planned.task);
        let draw = |several: usize| if several == 1 { 0 } else { tape.below(several as u64) as usize };
        if let Place::Leaf(leaf) = self.explorer.own.with(|board| board.tree.descend(route, fits, draw))? {
            self.leaf = leaf;
            self.on_the_way = None;
        }
        route.steps().last().copied()
    }

    /// Who makes the step that is planned.
    fn ready(&mut self, planned: Planned, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let task = self.scratch.as_ref().and_then(|scratch| scratch.cast.task(planned.task));
        match task {
            Some(task) if view.is_ready(task) => Ok(task),
            Some(task) if self.ends_in_vain(task, view) => Ok(go_on_freely(view)),
            _ => Err(self.diverged(view, planned, "that it cannot go".to_owned())),
        }
    }

    /// Whether the last step that is planned is one of `task` that nobody knew to be impossible.
    fn ends_in_vain(&mut self, task: TaskId, view: &View<'_>) -> bool {
        let planned = self.scratch.as_ref().map_or(0, |scratch| scratch.route.steps().len());
        let is_last = self.on_the_way.is_none() && view.steps().len() + 1 == planned;
        let pending = view.pending(task);
        let in_vain = is_last && pending.kind.may_find_nothing(pending.arg);
        if in_vain {
            self.goes_on_until = 0;
        }
        in_vain
    }

    /// Nothing follows from its execution, which is one that is made elsewhere.
    fn leave_in_vain(&mut self, scratch: Box<Scratch>) {
        self.explorer.own.with_and_tell(|board| {
            board.finish(self.leaf, self.ticket);
            board.tree.leave(self.leaf);
        });
        self.explorer.own.kept(|kept| {
            kept.redundant.push(self.ticket);
            kept.scratch = Some(scratch.forgetful());
        });
    }

    /// The program did not do again what it did before.
    fn diverged(&mut self, view: &View<'_>, planned: Planned, found: String) -> Box<Divergence> {
        self.explorer.own.with(|board| board.diverged = true);
        let cast = self.scratch.as_mut().map(|scratch| &mut scratch.cast);
        let task = cast.and_then(|cast| {
            cast.forget_others();
            cast.task(planned.task)
        });
        let expected = match task {
            Some(task) => format!("a step of task {}", view.path(task)),
            None => "a step of a task that does not exist yet".to_owned(),
        };
        Box::new(Divergence { step: view.steps().len() as u64, expected, found, task: None })
    }

    /// Where the steps of `task` end that are planned from `position` on.
    fn planned_until(&self, position: usize, task: Name) -> usize {
        let Some(scratch) = &self.scratch else { return position };
        let rest = &scratch.route.steps()[position..];
        match rest.iter().position(|planned| planned.task != task) {
            Some(steps) => position + steps,
            // And then nobody else is.
            None if self.sleep.is_none() && self.on_the_way.is_none() => usize::MAX,
            None => position + rest.len(),
        }
    }

    fn planned_at(&self, position: usize) -> Option<Planned> {
        self.scratch.as_ref()?.route.steps().get(position).copied()
    }
}

impl Strategy for Exhaustive {
    fn prepare(&mut self, _number: u64, _profile: &Arc<Profile>) {
        // Else it is to make the same one again.
        if self.ahead && self.scratch.is_none() {
            let next = self.explorer.own.kept(|kept| {
                let next = kept.next.take()?;
                Some((next, kept.scratch.take().unwrap_or_default()))
            });
            if let Some((next, scratch)) = next {
                self.take(next, scratch);
            }
        }
    }

    fn begin(&mut self, _seed: u64) {
        let scratch = self.scratch.get_or_insert_default();
        scratch.cast.begin();
        scratch.children.clear();
        scratch.children.extend([0, 0]);
        if let Some(sleep) = &mut self.sleep {
            scratch.cast.forget_others();
            sleep.begin();
        }
    }

    fn is_exhaustive(&self) -> bool {
        true
    }

    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        if let Some(scratch) = &mut self.scratch {
            scratch.children[parent.index()] = ordinal - 1;
        }
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        let Some(scratch) = &mut self.scratch else { return };
        let Scratch { cast, children, given, .. } = &mut **scratch;
        debug_assert_eq!(child.index(), cast.len(), "tasks are numbered in the order of their creation");
        children[parent.index()] += 1;
        let ordinal = children[parent.index()];
        let (parent, at) = (cast.name(parent), child.index() - 2);
        let name = match given.get(at) {
            Some((of, number, name)) if (*of, *number) == (parent, ordinal) => *name,
            _ => {
                let name = self.explorer.own.with(|board| board.names.child(parent, ordinal));
                given.truncate(at);
                given.push((parent, ordinal, name));
                name
            }
        };
        cast.push(name);
        children.push(0);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let position = view.steps().len();
        let Some(planned) = self.planned_at(position) else {
            if self.is_on_the_way() {
                return self.descend(view, None);
            }
            return Ok(match (&mut self.sleep, &self.scratch) {
                (Some(sleep), Some(scratch)) => sleep.pick(view, &scratch.cast),
                _ => {
                    self.goes_on_until = usize::MAX;
                    go_on_freely(view)
                }
            });
        };
        self.goes_on_until = self.planned_until(position, planned.task);
        self.ready(planned, view)
    }

    fn goes_on_until(&self) -> usize {
        self.goes_on_until
    }

    /// A yield decides nothing.
    fn passes_over(&mut self, _task: TaskId, _view: &View<'_>) -> bool {
        false
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        // The step itself has been recorded already.
        let (step, before) = view.steps().split_last().map_or((None, &[][..]), |(step, before)| (Some(step), before));
        if self.planned_at(before.len()).is_none() {
            self.catch_up(before);
            self.go_on_by(step.map(|step| step.task));
        }
        match self.planned_at(before.len()) {
            None => Ok(match (&mut self.sleep, &self.scratch) {
                (Some(sleep), Some(scratch)) => sleep.choose(outcomes, view, &scratch.cast),
                _ => 0,
            }),
            Some(planned) if step.is_some_and(|step| step.kind.happens()) => {
                let made = step.map_or(0, |step| Within(step.value).count());
                let choice = Within::planned(planned.choice, made);
                match choice < outcomes {
                    true => Ok(choice),
                    false => Err(self.diverged(view, planned, format!("a choice of {outcomes} outcomes"))),
                }
            }
            Some(planned) if planned.choice < outcomes => Ok(planned.choice),
            Some(planned) => Err(self.diverged(view, planned, format!("a choice of {outcomes} outcomes"))),
        }
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) {
        match ending {
            Ending::Done | Ending::Failed(_) => {}
            Ending::Abandoned(_) => return, // it is made again
            Ending::Stopped(_) => return self.leave_unfinished(),
        }
        self.catch_up(view.steps());
        let Some(mut scratch) = self.scratch.take() else { return };
        scratch.cast.forget_others();
        if self.on_the_way.is_none() && scratch.was_in_vain(view) {
            return self.leave_in_vain(scratch);
        }
        let as_before = scratch.analysis.common(view);
        if self.on_the_way.is_none() && scratch.as_planned(view.steps(), as_before) {
            let Scratch { route, analysis, reversal, cast, .. } = &mut *scratch;
            let execution = analysis.of(view, cast, as_before, reversal.preemptions.is_bounded());
            let mut worth = match &self.sleep {
                Some(sleep) => reversal.look_through_frugally(route, &execution, Some(sleep)),
                None => reversal.look_through(route, &execution, self.may_repeat),
            };
            let is_within = reversal.preemptions.is_within(&execution);
            if self.sleep.is_none() && self.explorer.own.has_company() {
                // What is covered, and where the rest belongs, can be found out without keeping anybody waiting.
                reversal.find_places(&*self.explorer.own.commons, route, &execution);
            }
            let waits = |task: &Task| task.status == Status::Waiting;
            let next = self.explorer.own.with_and_tell(|board| {
                if board.must_be_frugal() && self.sleep.is_none() {
                    // Since it was begun memory has run short.
                    worth = reversal.look_through_frugally(route, &execution, None);
                }
                let frugal = board.frugal;
                board.may_repeat |= ending.finding().is_some() && view.engine.tasks().iter().any(waits);
                reversal.plant(&mut board.tree, route, &execution, frugal);
                board.diverged |= worth == Worth::Unknown;
                board.dropped += reversal.preemptions.take_dropped();
                board.within_bound += u64::from(worth == Worth::New && is_within);
                board.finish(self.leaf, self.ticket);
                route.was_gone();
                let next = if self.ahead { board.claim_next(route) } else { None };
                board.tree.leave(self.leaf);
                next
            });
            self.explorer.own.kept(|kept| {
                if worth == Worth::Redundant {
                    kept.redundant.push(self.ticket);
                }
                (kept.scratch, kept.next) = (Some(scratch), next);
            });
        } else {
            if !ending.finding().is_some_and(|finding| matches!(finding.kind, FindingKind::Divergence(_))) {
                self.explorer.own.kept(|kept| kept.divergence = Some(scratch.first_difference(view)));
            }
            self.explorer.own.with_and_tell(|board| {
                board.diverged = true;
                if self.on_the_way.is_none() {
                    board.finish(self.leaf, self.ticket);
                    board.tree.leave(self.leaf);
                }
            });
        }
    }
}

/// Who goes on where nothing is planned: a task runs as long as it can. Who was interrupted before its end ends, and then
/// who has ended is joined, when there is nothing else to do: it costs a switch less, and steps after which nothing
/// races need not be looked at.
#[inline]
fn go_on_freely(view: &View<'_>) -> TaskId {
    sequential_fill_with(view, |task| match task.pending.kind {
        kind if kind.joins() => 2,
        kind if kind.ends_task() => 1,
        _ => 0,
    })
}
