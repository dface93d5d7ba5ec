//! Who would have to wait, as far as counting tells.

use super::sequence::Event;
use crate::dependence::Label;
use crate::exhaustive::execution::Execution;
use crate::id::ResourceId;
use crate::operation::{OpKind, outcome};
use crate::resource::{State, Traits};
use crate::trace::Step;

/// By resource, the steps that count.
#[derive(Default)]
pub(super) struct Shadow {
    on: Vec<Vec<usize>>,
    /// Of semaphores, the permits that there were at first.
    permits: Vec<u64>,
    /// Of channels, which operation ends a side, and how many of these there have to be.
    ends: Vec<(OpKind, ResourceId, usize)>,
}

impl Shadow {
    pub(super) fn become_of(&mut self, events: &[Event], execution: &Execution<'_>) {
        let resources = execution.resources.len();
        self.on.iter_mut().for_each(Vec::clear);
        self.on.resize(resources.max(self.on.len()), Vec::new());
        self.permits.clear();
        self.permits.extend(execution.resources.iter().map(|r| match r.initial {
            State::Count(free) => free,
            _ => 0,
        }));
        for (i, event) in events.iter().enumerate() {
            let label = &event.label;
            if label.resource != ResourceId::NONE && !label.kind.fires() {
                self.on[label.resource.index()].push(i);
            }
            let also = label.also();
            if also != ResourceId::NONE {
                self.on[also.index()].push(i);
            }
        }
        self.ends.clear();
        let closes = execution.steps.iter().filter(|step| step.kind.is(Traits::CLOSES));
        for last in closes.clone().filter(|step| u32::from(step.outcome) == outcome::DISCONNECTED) {
            let is_like = |step: &&Step| (step.kind, step.resource) == (last.kind, last.resource);
            self.ends.push((last.kind, last.resource, closes.clone().filter(is_like).count()));
        }
    }

    /// Whether two requests wait in one queue.
    pub(super) fn same_queue(&self, a: &Label, b: &Label) -> bool {
        a.resource == b.resource && a.kind.is(Traits::SENDS) == b.kind.is(Traits::SENDS)
    }

    /// Whether the request need not wait when the events that `made` accepts have been made.
    pub(super) fn could_complete(&self, events: &[Event], request: usize, made: impl Fn(usize) -> bool) -> bool {
        let request = &events[request].label;
        request.kind.room().could_complete(request, &Made { shadow: self, events, request, made: &made })
    }
}

/// Events that have been made, as far as they have to do with the resource of a request.
pub(crate) struct Made<'a> {
    shadow: &'a Shadow,
    events: &'a [Event],
    request: &'a Label,
    made: &'a dyn Fn(usize) -> bool,
}

impl Made<'_> {
    /// Those that came to something, each with its number.
    pub(crate) fn here(&self) -> impl Iterator<Item = (usize, &Label)> {
        let made = self.shadow.on[self.request.resource.index()].iter().filter(|i| (self.made)(**i));
        made.map(|i| (*i, &self.events[*i])).filter(|(_, event)| !event.void).map(|(i, event)| (i, &event.label))
    }

    fn of_kinds(&self, kinds: &[OpKind]) -> impl Iterator<Item = &Label> {
        self.here().map(|(_, label)| label).filter(move |l| kinds.contains(&l.kind) && l.outcome == outcome::OK)
    }

    /// How many of these kinds have succeeded.
    pub(crate) fn count(&self, kinds: &[OpKind]) -> u64 {
        self.of_kinds(kinds).count() as u64
    }

    /// How many have succeeded that act on the resource besides their own.
    pub(crate) fn count_beside(&self) -> u64 {
        let beside = |l: &&Label| l.resource != self.request.resource && l.outcome == outcome::OK;
        self.here().map(|(_, label)| label).filter(beside).count() as u64
    }

    /// The sum of their second operands.
    pub(crate) fn sum(&self, kinds: &[OpKind]) -> u64 {
        self.of_kinds(kinds).map(|label| label.arg).sum()
    }

    /// The permits that there were at first.
    pub(crate) fn permits(&self) -> u64 {
        self.shadow.permits[self.request.resource.index()]
    }

    /// Whether the side of a channel is gone whose ends go away by operations of the kind `close`.
    pub(crate) fn is_gone(&self, close: OpKind) -> bool {
        let ends = self.shadow.ends.iter();
        let mut all = ends.filter(|(kind, resource, _)| (*kind, *resource) == (close, self.request.resource));
        all.next().is_some_and(|(.., all)| self.here().filter(|(_, l)| l.kind == close).count() >= *all)
    }

    /// What the task of event number `i` does next to the resource.
    pub(crate) fn next_of(&self, i: usize) -> Option<OpKind> {
        let Label { task, resource, .. } = self.events[i].label;
        let mut later = self.events[i + 1..].iter().map(|e| &e.label);
        later.find(|l| l.task == task && l.resource == resource).map(|l| l.kind)
    }
}
