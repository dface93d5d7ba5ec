//! A prefix as a partial order.

use super::shadow::Shadow;
use crate::dependence::{Label, Relation, relation};
use crate::exhaustive::execution::Execution;
use crate::id::{ResourceId, TaskId};
use crate::look::Look;
use crate::operation::outcome;
use crate::resource::{Traits, writes};
use crate::trace::Step;

/// When a step is made on a real machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goes {
    /// When its task gets there.
    AtOnce,
    /// When it need not wait.
    WhenGranted,
    /// It waits to the end: it has no effect, and nobody has to make it.
    Never,
}

/// A step of a sequence.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) label: Label,
    /// Its number among its own task's, from 1.
    pub(super) number: u32,
    pub(super) goes: Goes,
    /// Its task has yielded right before.
    pub(super) after_yield: bool,
    /// It can let others go on.
    pub(super) gives: bool,
    /// It came to nothing: a wait that ended without what was waited for.
    pub(super) void: bool,
    /// The step that ended the wait before this one, by task and number.
    gate: Option<(usize, u32)>,
    /// Writes that it makes, none or one. Of an `Await`: those to its atomic that the execution had made before it.
    writes: usize,
}

/// Steps, and what of other tasks each comes after.
#[derive(Default)]
pub(super) struct Sequence {
    tasks: usize,
    /// By task: whether it belongs to the environment.
    environment: Vec<bool>,
    events: Vec<Event>,
    /// By event: how many steps of each task have to be made before, or are it.
    rows: Vec<u32>,
    by_task: Vec<Vec<usize>>,
    shadow: Shadow,
}

impl Sequence {
    /// The steps of the execution at `positions`, in ascending order and without any of which something
    /// is missing that it comes after; then, if there is one, that at another position, with its label there.
    pub(super) fn become_of(
        &mut self,
        execution: &Execution<'_>,
        positions: impl Iterator<Item = usize>,
        moved: Option<(usize, Label)>,
    ) {
        self.tasks = execution.steps.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
        self.environment.clear();
        self.environment.extend((0..self.tasks).map(|task| execution.is_environment(TaskId(task as u32))));
        self.events.clear();
        self.rows.clear();
        self.by_task.iter_mut().for_each(Vec::clear);
        self.by_task.resize(self.tasks, Vec::new());
        for position in positions {
            self.rows.extend((0..self.tasks).map(|t| execution.causality.clock(position, TaskId(t as u32))));
            self.push(execution, position, execution.steps[position].label());
        }
        if let Some((position, label)) = moved {
            self.push_row_of(execution, position, &label);
            self.push(execution, position, label);
        }
        self.find_what_is_awaited();
        self.find_waits_without_success();
        self.shadow.become_of(&self.events, execution);
        self.find_waits_without_end();
    }

    pub(super) fn tasks(&self) -> usize {
        self.tasks
    }

    pub(super) fn is_environment(&self, task: usize) -> bool {
        self.environment[task]
    }

    fn push(&mut self, execution: &Execution<'_>, position: usize, label: Label) {
        let task = label.task.index();
        let own = &self.by_task[task];
        let previous = own.last().map(|i| self.events[*i].label);
        let after = execution.steps[position].after.checked_sub(1).map(|by| by as usize);
        let gate = match after {
            Some(by) => Some((execution.steps[by].task.index(), execution.causality.own(by))),
            None => previous.and_then(|previous| self.partner(&previous)),
        };
        let is_write = |s: &&Step| s.resource == label.resource && writes(s.kind, u32::from(s.outcome));
        let event = Event {
            label,
            number: own.len() as u32 + 1,
            goes: if label.kind.room().waits_for_its_turn(&label) { Goes::WhenGranted } else { Goes::AtOnce },
            after_yield: previous.is_some_and(|previous| previous.kind.gives_way()),
            gives: label.kind.is(Traits::GIVES),
            void: label.outcome == outcome::DISCONNECTED && !label.kind.is(Traits::CLOSES),
            gate,
            writes: match label.kind.awaits() {
                true => execution.steps[..position].iter().filter(is_write).count(),
                false => usize::from(writes(label.kind, label.outcome)),
            },
        };
        self.by_task[task].push(self.events.len());
        self.events.push(event);
    }

    /// The other side of a rendezvous that `request` did not have to wait for.
    fn partner(&self, request: &Label) -> Option<(usize, u32)> {
        let other = request.kind.room().partners(request);
        let meets = |e: &&Event| {
            let l = &e.label;
            l.resource == request.resource
                && l.value == request.value
                && l.outcome == outcome::OK
                && other.contains(&l.kind)
        };
        self.events.iter().find(meets).map(|e| (e.label.task.index(), e.number))
    }

    /// What a step that was moved to the end has to come after: what it depends on there.
    fn push_row_of(&mut self, execution: &Execution<'_>, position: usize, label: &Label) {
        let task = label.task.index();
        let start = self.rows.len();
        self.rows.resize(start + self.tasks, 0);
        let granted = execution.steps[position].after.checked_sub(1);
        let granted =
            granted.map(|by| (execution.steps[by as usize].task.index(), execution.causality.own(by as usize)));
        let partner = self.by_task[task].last().and_then(|i| self.partner(&self.events[*i].label));
        for (i, event) in self.events.iter().enumerate() {
            let id = Some((event.label.task.index(), event.number));
            let related = matches!(relation(&event.label, label), Relation::Dependent | Relation::Enabling);
            if related || id == granted || id == partner {
                let (before, row) = self.rows.split_at_mut(start);
                let known = &before[i * self.tasks..(i + 1) * self.tasks];
                row.iter_mut().zip(known).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            }
        }
        self.rows[start + task] += 1;
    }

    /// What is written to an atomic that somebody awaits lets others go on, or keeps them from it.
    fn find_what_is_awaited(&mut self) {
        let is_await = |e: &&Event| e.label.kind.awaits();
        let mut awaited: Vec<ResourceId> = self.events.iter().filter(is_await).map(|e| e.label.resource).collect();
        awaited.dedup();
        for event in self.events.iter_mut().filter(|e| awaited.contains(&e.label.resource)) {
            event.gives |= !event.label.kind.awaits() && event.writes > 0;
        }
    }

    /// Whether the next step of its task, an `Await`, could be made: in another class also where it is not in this one.
    fn is_awaited_no_more(&self, event: &Event, done: &[u32]) -> bool {
        let made = |e: &&Event| e.number <= done[e.label.task.index()];
        let on_it = |e: &&Event| e.label.resource == event.label.resource && !e.label.kind.awaits();
        let written: usize = self.events.iter().filter(on_it).filter(made).map(|e| e.writes).sum();
        let since = event.writes.checked_sub(written);
        // What was so long ago that it is not known is taken for the better: nothing is dropped because of it.
        since.and_then(|since| Look::of(event.label.arg).held(since)).unwrap_or(false)
    }

    /// Waits that were ended by a timer, or because the other side went away.
    fn find_waits_without_success(&mut self) {
        for i in 0..self.events.len() {
            let Event { label, gate, number, .. } = self.events[i];
            if label.kind.fires() {
                let task = label.arg as usize;
                let before = self.rows[i * self.tasks + task] as usize;
                if let Some(&request) = before.checked_sub(1).and_then(|at| self.by_task[task].get(at)) {
                    let request = &mut self.events[request];
                    if request.goes == Goes::WhenGranted {
                        (request.goes, request.void) = (Goes::AtOnce, true);
                    }
                }
            }
            let by = gate.and_then(|(task, number)| self.by_task[task].get(number as usize - 1).copied());
            if by.is_some_and(|by| self.events[by].label.kind.is(Traits::CLOSES)) && number > 1 {
                let request = self.by_task[label.task.index()][number as usize - 2];
                self.events[request].void = true;
            }
        }
    }

    /// Plays the sequence in its order, with queues: who is left in one is never granted what it asks for. Who
    /// is in one when a timer fires was there before, since time passes when nobody can go on.
    fn find_waits_without_end(&mut self) {
        let mut done = vec![0; self.tasks];
        let mut granted = vec![true; self.events.len()];
        let mut queue: Vec<usize> = Vec::new();
        for i in 0..self.events.len() {
            let event = &self.events[i];
            done[event.label.task.index()] = event.number;
            if event.goes == Goes::WhenGranted {
                granted[i] = false;
                queue.push(i);
            }
            if event.label.kind.fires() {
                queue.iter().for_each(|waiting| self.events[*waiting].goes = Goes::AtOnce);
            }
            let mut at = 0;
            while let Some(&first) = queue.get(at) {
                let same =
                    |other: &&usize| self.shadow.same_queue(&self.events[**other].label, &self.events[first].label);
                let is_first = !queue[..at].iter().any(|other| same(&other));
                let has = |j: usize| granted[j] && self.events[j].number <= done[self.events[j].label.task.index()];
                if is_first && self.shadow.could_complete(&self.events, first, has) {
                    granted[first] = true;
                    queue.remove(at);
                    at = 0;
                } else {
                    at += 1;
                }
            }
        }
        for i in queue {
            let event = &mut self.events[i];
            let is_last = self.by_task[event.label.task.index()].len() == event.number as usize;
            event.goes = if is_last { Goes::Never } else { Goes::AtOnce };
            event.void |= is_last;
        }
    }

    /// The next event of `task`.
    #[inline]
    pub(super) fn next(&self, task: usize, done: &[u32]) -> Option<&Event> {
        self.by_task[task].get(done[task] as usize).map(|i| &self.events[*i])
    }

    /// Whether everything has been made.
    pub(super) fn is_whole(&self, done: &[u32]) -> bool {
        self.by_task.iter().zip(done).all(|(events, done)| events.len() == *done as usize)
    }

    /// Whether all that the next event of its task comes after has been made.
    pub(super) fn may_come(&self, event: &Event, done: &[u32]) -> bool {
        let task = event.label.task.index();
        let index = self.by_task[task][event.number as usize - 1];
        let row = &self.rows[index * self.tasks..(index + 1) * self.tasks];
        row.iter().zip(done).enumerate().all(|(t, (needed, done))| t == task || needed <= done)
    }

    /// Whether the next step of `task` can be made, and the class stays the same.
    pub(super) fn can_go(&self, task: usize, done: &[u32]) -> bool {
        let Some(event) = self.next(task, done) else { return false };
        self.may_come(event, done) && (event.goes == Goes::AtOnce || self.is_possible(task, done))
    }

    /// Whether `task` could have gone on, in this class or another, so that leaving it is a preemption.
    pub(super) fn could_go_on(&self, task: usize, done: &[u32]) -> bool {
        let Some(event) = self.next(task, done) else { return false };
        let waits = event.gate.is_some_and(|(by, number)| done[by] < number);
        !event.after_yield && !waits && event.goes != Goes::Never && self.is_possible(task, done)
    }

    /// Whether the task of a park has been given a token since it parked last: one that comes later changes nothing more, but
    /// its class may be another one.
    fn has_token(&self, park: &Event, done: &[u32]) -> bool {
        let task = park.label.task.index();
        let own = &self.by_task[task][..park.number as usize - 1];
        let before = own.iter().rev().find(|i| self.events[**i].label.kind.parks());
        let is_spent = |e: &Event| before.is_some_and(|i| self.rows[i * self.tasks + e.label.task.index()] >= e.number);
        let gives = |e: &&Event| e.label.kind.unparks() && e.label.arg == task as u64;
        let made = |e: &&Event| e.number <= done[e.label.task.index()];
        self.events.iter().filter(gives).filter(made).any(|e| !is_spent(e))
    }

    /// Whether the next step of `task` need not wait.
    fn is_possible(&self, task: usize, done: &[u32]) -> bool {
        let Some(event) = self.next(task, done) else { return false };
        let target = || self.by_task[event.label.arg as usize].last().map(|i| &self.events[*i]);
        match event.label.kind {
            kind if kind.joins() => {
                let exited = |e: &Event| e.label.kind.ends_task() && e.number <= done[event.label.arg as usize];
                target().is_some_and(exited)
            }
            // Whether it is time, only its own class can tell.
            kind if kind.parks() => self.has_token(event, done) || self.may_come(event, done),
            kind if kind.waits_first() => self.may_come(event, done),
            kind if kind.awaits() => self.is_awaited_no_more(event, done),
            kind if !kind.room().waits_for_its_turn(&event.label) => true,
            _ => {
                let index = self.by_task[task][event.number as usize - 1];
                let has = |j: usize| self.events[j].number <= done[self.events[j].label.task.index()];
                self.shadow.could_complete(&self.events, index, has)
            }
        }
    }
}
