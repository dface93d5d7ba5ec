//! Where steps meet, and what is remembered there.

use super::history::{Change, History, packed};
use super::{WORDS, Words};
use crate::id::ResourceId;
use crate::operation::OpKind;
use crate::resource::reads_only;
use crate::trace::Step;

/// What is remembered of the steps at one place: a resource, a task that is aimed at, the clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(super) number: u64,
    /// The newest step of each task, kind and outcome, oldest first; none that a step after it knows of
    /// with which all are ordered.
    pub(super) newest: Vec<Newest>,
    /// The last release of an exclusive hold; the end of an initialiser.
    pub(crate) exclusive: Option<usize>,
    /// All that the shared releases since then, or the closings of sending ends, know of.
    pub(super) shared: Vec<Words>,
    /// Permits released so far after each release.
    pub(super) released: Vec<(u64, usize)>,
    pub(crate) sends: Tickets,
    pub(crate) receives: Tickets,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    pub(super) step: u32,
    pub(super) task: u32,
    /// Its number among its own task's.
    pub(super) own: u32,
    outcome: u16,
    pub(super) kind: OpKind,
}

impl Newest {
    pub(super) fn new(j: usize, step: &Step, own: u32) -> Self {
        Newest { step: j as u32, task: step.task.0, own, outcome: step.outcome, kind: step.kind }
    }

    /// Whether it is an access that changes nothing.
    #[inline]
    pub(super) fn reads(&self) -> bool {
        reads_only(self.kind, u32::from(self.outcome))
    }

    #[inline]
    fn is_like(&self, other: &Newest) -> bool {
        (self.task, self.kind, self.outcome) == (other.task, other.kind, other.outcome)
    }
}

/// Steps by ticket number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tickets(Vec<Option<usize>>);

impl Tickets {
    /// The step of `ticket` is another one; which it was.
    fn put(&mut self, ticket: u64, step: usize) -> Option<usize> {
        let at = ticket as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at].replace(step)
    }

    pub(super) fn set(&mut self, ticket: u32, step: Option<usize>) {
        if let Some(known) = self.0.get_mut(ticket as usize) {
            *known = step;
        }
    }

    pub(crate) fn get(&self, ticket: Option<u64>) -> Option<usize> {
        self.0.get(usize::try_from(ticket?).ok()?).copied().flatten()
    }
}

impl Place {
    /// What tasks can conflict on is a resource, a task that is aimed at, or the time.
    pub(super) fn of_resource(id: ResourceId) -> usize {
        2 * id.index() + 2
    }

    pub(crate) fn of_task(task: usize) -> usize {
        2 * task + 1
    }

    pub(crate) const TIME: usize = 0;

    pub(super) fn reset(&mut self, number: u64) {
        self.number = number;
        self.newest.clear();
        self.exclusive = None;
        self.shared.clear();
        self.released.clear();
        self.sends.0.clear();
        self.receives.0.clear();
    }

    /// Takes note of the newest step, and says what that changed; `over_all` says that it is ordered with all
    /// that can come here. Then it knows of all that came before, and who comes later and is ordered with
    /// any of these learns of them from it: no need to remember them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn remember(&mut self, newest: Newest, over_all: bool, history: &mut History) -> Change {
        let change = if self.newest.is_empty() {
            Change::Added
        } else if over_all {
            let change = history.forget_all(&self.newest);
            self.newest.clear();
            change
        } else if let Some(at) = self.newest.iter().position(|known| known.is_like(&newest)) {
            history.forget(at, self.newest.remove(at))
        } else {
            Change::Added
        };
        self.newest.push(newest);
        change
    }

    /// Step `j` gives up an exclusive hold, or ends an initialiser; says what that changed.
    pub(crate) fn give_up(&mut self, j: usize, history: &mut History) -> Change {
        let words = history.keep_clock(&self.shared);
        self.shared.clear();
        Change::Exclusive(packed(self.exclusive.replace(j)), words)
    }

    /// A step that knows `clock` gives up a shared hold, or a sending end; says what that changed.
    pub(crate) fn stop_sharing(&mut self, clock: &[Words], history: &mut History) -> Change {
        let words = history.keep_clock(&self.shared);
        self.shared.resize(clock.len(), [0; WORDS]);
        join(&mut self.shared, clock);
        Change::Shared(words)
    }

    /// Step `j` gives permits back; says what that changed.
    pub(crate) fn release_permits(&mut self, j: usize, permits: u64) -> Change {
        let sum = self.released.last().map_or(0, |(sum, _)| *sum) + permits;
        self.released.push((sum, j));
        Change::Released
    }

    /// Step `j` sends message number `ticket`; says what that changed.
    pub(crate) fn send(&mut self, j: usize, ticket: u64) -> Change {
        Change::Sent(ticket as u32, packed(self.sends.put(ticket, j)))
    }

    /// Step `j` receives message number `ticket`; says what that changed.
    pub(crate) fn receive(&mut self, j: usize, ticket: u64) -> Change {
        Change::Received(ticket as u32, packed(self.receives.put(ticket, j)))
    }

    /// The release without which `request`, step `p`, had waited.
    pub(crate) fn release_for(&self, p: usize, request: &Step) -> Option<usize> {
        let made = self.released.partition_point(|(_, i)| *i < p);
        let total = made.checked_sub(1).map_or(0, |last| self.released[last].0);
        // `value` is what was free when it was asked for.
        let needed = (total + request.arg).saturating_sub(request.value);
        let first = self.released.partition_point(|(sum, _)| *sum < needed);
        (needed > 0).then(|| self.released.get(first).map(|(_, i)| *i))?
    }
}

/// The clock knows all that the other one does.
#[inline]
pub(super) fn join(clock: &mut [Words], other: &[Words]) {
    // Signed, as there are no more steps than that: it takes fewer instructions.
    let newer = |a: Words, b: Words| -> Words {
        std::array::from_fn(|word| if a[word] as i32 > b[word] as i32 { a[word] } else { b[word] })
    };
    // Most are as short as that.
    match (&mut *clock, other) {
        ([a], [b]) => *a = newer(*a, *b),
        ([a, c], [b, d]) => (*a, *c) = (newer(*a, *b), newer(*c, *d)),
        ([a, c, e], [b, d, f]) => (*a, *c, *e) = (newer(*a, *b), newer(*c, *d), newer(*e, *f)),
        _ => clock.iter_mut().zip(other).for_each(|(a, b)| *a = newer(*a, *b)),
    }
}

/// The clock knows what the other one does.
#[inline]
pub(super) fn copy(clock: &mut [Words], other: &[Words]) {
    // Most are too short to be worth a call.
    match (&mut *clock, other) {
        ([a], [b]) => *a = *b,
        ([a, c], [b, d]) => (*a, *c) = (*b, *d),
        ([a, c, e], [b, d, f]) => (*a, *c, *e) = (*b, *d, *f),
        _ => clock.copy_from_slice(other),
    }
}

/// Where `step` can meet others; the time counts only where the clock has any part in the execution.
pub(super) fn places(step: &Step, timed: bool) -> Places {
    let mut places = Places { at: [0; 3], len: 0 };
    step.kind.room().footprint(step, timed, &mut places);
    places
}

/// What lets a request go on.
pub(crate) struct Grant {
    /// This step.
    pub(crate) by: Option<usize>,
    /// All that has been shared there.
    pub(crate) all_shared: bool,
}

impl Grant {
    pub(crate) const NONE: Grant = Grant { by: None, all_shared: false };

    /// One step, if there was any.
    pub(crate) fn by(step: Option<usize>) -> Grant {
        Grant { by: step, all_shared: false }
    }
}

/// At most three places.
pub(crate) struct Places {
    at: [usize; 3],
    len: usize,
}

impl Places {
    /// A resource, if it is one.
    pub(crate) fn push_resource(&mut self, id: ResourceId) {
        if id != ResourceId::NONE {
            self.push(Place::of_resource(id));
        }
    }

    pub(crate) fn push(&mut self, at: usize) {
        self.at[self.len] = at;
        self.len += 1;
    }

    pub(super) fn as_slice(&self) -> &[usize] {
        &self.at[..self.len]
    }
}
