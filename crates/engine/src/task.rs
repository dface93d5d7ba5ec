//! Tasks: who can be let run, and what each is about to do.

use crate::engine::Engine;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation};

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Has announced its next operation (or is carrying it out): may be picked.
    Ready,
    /// Was spawned or granted, and must run its own code up to its next announcement.
    Unsettled,
    /// Has announced an operation that cannot be carried out yet (a join, a park, a sleep).
    Disabled,
    /// Has committed a request and waits for the grant. The wait is no step.
    Waiting,
    /// Has exited.
    Finished,
}

/// A task of the current execution.
#[derive(Clone, Debug)]
pub struct Task {
    /// The operation that it has announced, is carrying out or waits in.
    pub pending: Operation,
    /// Where it stands.
    pub status: Status,
    /// Who spawned it.
    pub parent: TaskId,
    /// Its number among its parent's children, from 1.
    pub ordinal: u32,
    /// Where it was spawned.
    pub spawned_at: Site,
    /// The name its creator gave it.
    pub name: Option<Box<str>>,
    /// The message of the panic that it ended by. Boxed twice: it takes one word while there is none.
    pub panic: Option<Box<Box<str>>>,
    /// Whether nobody waits for it in the end: it may be left waiting.
    pub daemon: bool,
    /// It belongs to the environment, not to the program: it has operations and no code.
    pub environment: bool,
    /// It was killed: its next step is its last, and does nothing.
    pub killed: bool,
    /// The group that it belongs to, which can be killed as a whole; its children belong to it, too. 0 is none.
    pub group: u16,
    pub(crate) children: u32,
    pub(crate) resources_created: u32,
    pub(crate) ready_at: u32,
    pub(crate) next_waiter: TaskId,
    pub(crate) joiners: WaitList,
    /// What the operation it was suspended in has come to.
    pub(crate) result: u32,
    pub(crate) granted_by: u32,
    pub(crate) park_token: bool,
    /// Its wait has an end at the virtual instant `limit`.
    is_limited: bool,
    limit: u64,
    /// Distinguishes the timer of this wait from those of waits long over.
    pub(crate) timer: u32,
    pub(crate) ready_since: u32,
    /// Of all that its steps depended on ([`crate::behaviour`]).
    pub(crate) hash: u64,
}

// Every step looks up several tasks: a power of two makes of each a shift.
const _: () = assert!(std::mem::size_of::<Task>() == 128);

impl Task {
    pub(crate) fn new(parent: TaskId, ordinal: u32, spawned_at: Site, name: Option<Box<str>>) -> Self {
        Task {
            pending: Operation::new(OpKind::Start, ResourceId::NONE, spawned_at),
            status: Status::Unsettled,
            parent,
            ordinal,
            spawned_at,
            name,
            panic: None,
            daemon: false,
            environment: false,
            killed: false,
            group: 0,
            children: 0,
            resources_created: 0,
            ready_at: NOT_READY,
            next_waiter: TaskId::NONE,
            joiners: WaitList::EMPTY,
            result: 0,
            granted_by: 0,
            park_token: false,
            is_limited: false,
            limit: 0,
            timer: 0,
            ready_since: 0,
            hash: 0,
        }
    }

    /// The virtual instant that ends its wait, if it has one.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.is_limited.then_some(self.limit)
    }

    /// Whether its wait has a deadline.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    #[inline]
    pub(crate) fn set_deadline(&mut self, deadline: Option<u64>) {
        self.is_limited = deadline.is_some();
        self.limit = deadline.unwrap_or_default();
    }

    /// Its wait is over, by step number `by`, counted from 1.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_grant(&mut self, result: u32, by: usize) {
        self.status = Status::Unsettled;
        self.result = result;
        self.granted_by = by as u32;
        if self.is_limited {
            self.set_deadline(None);
            self.timer = self.timer.wrapping_add(1);
        }
    }

    /// Steps at the time when it last became ready, or later: its own steps since do not count.
    pub(crate) fn ready_since(&self) -> u64 {
        u64::from(self.ready_since.max(self.granted_by))
    }
}

impl Engine {
    /// The tasks that nobody has joined so far, by the trace: main and those of the environment are not meant to be.
    pub fn unjoined(&self) -> Vec<TaskId> {
        let mut joined = vec![false; self.tasks.len()];
        for step in self.steps.iter().filter(|step| step.kind.joins()) {
            joined[step.arg as usize] = true;
        }
        let spawned = (0..self.tasks.len() as u32)
            .map(TaskId)
            .filter(|t| *t != TaskId::MAIN && !self.tasks[t.index()].environment);
        spawned.filter(|t| !joined[t.index()]).collect()
    }
}

/// `ready_at` of a task that is not in the ready list.
pub(crate) const NOT_READY: u32 = u32::MAX;

/// A queue of waiting tasks, linked through [`Task::next_waiter`].
///
/// A task waits in one place at a time, so the links can live in the tasks and queues never allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaitList {
    head: TaskId,
    tail: TaskId,
}

impl WaitList {
    pub(crate) const EMPTY: WaitList = WaitList { head: TaskId::NONE, tail: TaskId::NONE };

    pub(crate) fn is_empty(&self) -> bool {
        self.head == TaskId::NONE
    }

    pub(crate) fn front(&self) -> Option<TaskId> {
        (!self.is_empty()).then_some(self.head)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push(&mut self, task: TaskId, tasks: &mut [Task]) {
        tasks[task.index()].next_waiter = TaskId::NONE;
        // `NONE` is beyond all tasks, here and in `pop`: one comparison tells both.
        match tasks.get_mut(self.tail.index()) {
            Some(last) => last.next_waiter = task,
            None => self.head = task,
        }
        self.tail = task;
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn pop(&mut self, tasks: &mut [Task]) -> Option<TaskId> {
        let first = self.head;
        self.head = tasks.get(first.index())?.next_waiter;
        if self.is_empty() {
            self.tail = TaskId::NONE;
        }
        Some(first)
    }

    /// Takes `task` out of the middle: its wait ended for another reason than a grant.
    pub(crate) fn remove(&mut self, task: TaskId, tasks: &mut [Task]) -> bool {
        let mut previous = TaskId::NONE;
        let mut at = self.head;
        while at != TaskId::NONE {
            let next = tasks[at.index()].next_waiter;
            if at == task {
                if previous == TaskId::NONE {
                    self.head = next;
                } else {
                    tasks[previous.index()].next_waiter = next;
                }
                if self.tail == task {
                    self.tail = previous;
                }
                return true;
            }
            previous = at;
            at = next;
        }
        false
    }

    pub(crate) fn iter<'a>(&self, tasks: &'a [Task]) -> impl Iterator<Item = TaskId> + 'a {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let task = at;
            (task != TaskId::NONE).then(|| {
                at = tasks[task.index()].next_waiter;
                task
            })
        })
    }
}
