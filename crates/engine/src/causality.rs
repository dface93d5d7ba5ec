//! Vector clocks over a trace: what happened before what.
//!
//! Computed after the fact, from the steps and the dependence table alone, so that an execution pays
//! nothing for them. A step knows of
//!
//! - its task's previous step;
//! - what ended the wait after that step, or would have ended it had it come later: the unlock before
//!   a lock, the send of the ticket that was received. The *request* does not know of it, only what
//!   follows: so it makes no difference whether a task came before the unlock and waited, or after;
//! - every earlier step that it depends on or is enabled by.
//!
//! Looking at the dependent ones newest first finds exactly the *immediate* races: pairs of dependent
//! steps that nothing else orders. Of each task only the newest step of a kind can be one, so a place
//! remembers just those, and a step costs time in proportion to the tasks, not to the steps before it.
//!
//! Timers: one that fires because nobody could go on comes after everything. One that fires early, as a
//! choice, does not; but which of the two it is depends on the budget of early firings, which no step
//! shows. So clocks of runs with early timers are right, but not the same for all equivalent runs.

use crate::dependence::{Relation, relation};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::trace::Step;

/// For each step, how many steps of every task happened before it or are it.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    tasks: usize,
    /// The clock of step j is the j-th row of `tasks` words.
    clocks: Vec<u32>,
    /// The number of each step among its own task's, from 1.
    own: Vec<u32>,
    races: Vec<(usize, usize)>,
}

impl Causality {
    /// Computes the clocks of `steps`.
    pub fn of(steps: &[Step]) -> Self {
        let tasks = steps.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
        let mut weaver = Weaver {
            steps,
            made: Causality {
                tasks,
                clocks: Vec::with_capacity(tasks * steps.len()),
                own: Vec::with_capacity(steps.len()),
                races: Vec::new(),
            },
            newest: vec![None; tasks],
            fired: vec![None; tasks],
            places: Vec::new(),
            earlier: Vec::new(),
        };
        for j in 0..steps.len() {
            weaver.step(j);
        }
        weaver.made
    }

    /// Whether step `i` happened before step `j`, or is it.
    pub fn before(&self, steps: &[Step], i: usize, j: usize) -> bool {
        i <= j && self.own[i] <= self.row(j)[steps[i].task.index()]
    }

    /// Pairs of dependent steps of different tasks that nothing else orders.
    pub fn races(&self) -> &[(usize, usize)] {
        &self.races
    }

    /// How much of `task` step `j` knows of.
    pub fn clock(&self, j: usize, task: TaskId) -> u32 {
        self.row(j).get(task.index()).copied().unwrap_or(0)
    }

    /// The number of step `j` among its own task's, from 1.
    pub fn own(&self, j: usize) -> u32 {
        self.own[j]
    }

    fn row(&self, j: usize) -> &[u32] {
        &self.clocks[j * self.tasks..(j + 1) * self.tasks]
    }
}

/// What is remembered of the steps at one place: a resource, a task that is aimed at, the clock.
#[derive(Default)]
struct Place {
    /// The newest step of each task, kind and outcome.
    newest: Vec<usize>,
    /// The last release of an exclusive hold; the end of an initialiser.
    exclusive: Option<usize>,
    /// All that the shared releases since then, or the closings of sending ends, know of.
    shared: Vec<u32>,
    /// Permits released so far after each release.
    released: Vec<(u64, usize)>,
    sends: Tickets,
    receives: Tickets,
}

/// Steps by ticket number.
#[derive(Default)]
struct Tickets(Vec<Option<usize>>);

impl Tickets {
    fn put(&mut self, ticket: u64, step: usize) {
        let at = ticket as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(step);
    }

    fn get(&self, ticket: Option<u64>) -> Option<usize> {
        self.0.get(usize::try_from(ticket?).ok()?).copied().flatten()
    }
}

struct Weaver<'a> {
    steps: &'a [Step],
    made: Causality,
    /// The newest step of each task.
    newest: Vec<Option<usize>>,
    /// The newest firing of a timer of each task.
    fired: Vec<Option<usize>>,
    places: Vec<Place>,
    /// The candidates of the step at hand; kept for its memory.
    earlier: Vec<usize>,
}

impl Weaver<'_> {
    fn step(&mut self, j: usize) {
        let step = &self.steps[j];
        let task = step.task.index();
        let tasks = self.made.tasks;
        match self.newest[task] {
            Some(previous) => self.made.clocks.extend_from_within(previous * tasks..(previous + 1) * tasks),
            None => self.made.clocks.resize((j + 1) * tasks, 0),
        }
        self.made.clocks[j * tasks + task] += 1;
        self.made.own.push(self.made.clocks[j * tasks + task]);
        if step.after > 0 {
            self.learn(j, step.after as usize - 1);
        }
        if let Some(fire) = self.fired[task] {
            self.learn(j, fire);
        }
        if let Some(previous) = self.newest[task] {
            self.learn_grant(j, previous);
        }
        if step.kind == OpKind::TimerFire {
            self.learn_before_firing(j);
        }
        self.learn_related(j);
        self.remember(j);
    }

    /// Step `j` knows all that step `i` knows.
    fn learn(&mut self, j: usize, i: usize) {
        let tasks = self.made.tasks;
        if self.made.own[i] > self.made.clocks[j * tasks + self.steps[i].task.index()] {
            let (before, at) = self.made.clocks.split_at_mut(j * tasks);
            join(at, &before[i * tasks..(i + 1) * tasks]);
        }
    }

    /// Step `j` follows request `p` of its task: what let `p` go on, waited for or not.
    fn learn_grant(&mut self, j: usize, p: usize) {
        use OpKind::*;
        let request = &self.steps[p];
        let Some(place) = self.places.get(Place::of_resource(request.resource)) else {
            return;
        };
        let waited = self.steps[j].after.checked_sub(1).map(|by| self.steps[by as usize].kind);
        if waited == Some(TimerFire) {
            return;
        }
        let closed = u32::from(request.outcome) == outcome::DISCONNECTED || waited == Some(CloseSend);
        let (mut by, mut all) = (None, false);
        match request.kind {
            Lock | Read | OnceEnter => by = place.exclusive,
            Write => (by, all) = (place.exclusive, true),
            Acquire if waited.is_none() => by = place.release_for(p, request),
            Recv if closed => all = true,
            Recv if waited.is_none() => by = place.sends.get(Some(request.value)),
            Send if waited.is_none() && !closed => by = place.receives.get(request.value.checked_sub(request.arg)),
            _ => {}
        }
        if all && !place.shared.is_empty() {
            join(&mut self.made.clocks[j * self.made.tasks..], &place.shared);
        }
        if let Some(i) = by {
            self.learn(j, i);
        }
    }

    /// A timer knows of the wait that it ends; and where it fires because nobody could go on, all that
    /// was done had to be done before.
    fn learn_before_firing(&mut self, j: usize) {
        let step = &self.steps[j];
        for task in 0..self.made.tasks {
            if !step.was_choice || step.arg == task as u64 {
                if let Some(i) = self.newest[task] {
                    self.learn(j, i);
                }
            }
        }
    }

    /// What the table says of earlier steps at the same places, newest first.
    fn learn_related(&mut self, j: usize) {
        let step = &self.steps[j];
        let mut earlier = std::mem::take(&mut self.earlier);
        earlier.clear();
        for place in places(step).into_iter().flatten() {
            let Some(place) = self.places.get(place) else {
                continue;
            };
            earlier.extend(&place.newest);
            // Which tickets meet depends on their numbers: the newest need not be the one.
            match step.kind {
                OpKind::TrySend => earlier.extend(place.receives.get(step.value.checked_sub(step.arg))),
                OpKind::TryRecv => earlier.extend(place.sends.get(Some(step.value))),
                _ => {}
            }
        }
        earlier.sort_unstable_by(|a, b| b.cmp(a));
        earlier.dedup();
        let label = step.label();
        for &i in &earlier {
            let other = &self.steps[i];
            if self.made.own[i] <= self.made.clocks[j * self.made.tasks + other.task.index()] {
                continue;
            }
            match relation(&other.label(), &label) {
                Relation::Independent | Relation::Granting => continue,
                Relation::Dependent => self.made.races.push((i, j)),
                Relation::Enabling => {}
            }
            self.learn(j, i);
        }
        self.earlier = earlier;
    }

    fn remember(&mut self, j: usize) {
        let step = &self.steps[j];
        self.newest[step.task.index()] = Some(j);
        if step.kind == OpKind::TimerFire {
            if let Some(fired) = self.fired.get_mut(step.arg as usize) {
                *fired = Some(j);
            }
        }
        for at in places(step).into_iter().flatten() {
            if self.places.len() <= at {
                self.places.resize_with(at + 1, Place::default);
            }
            let place = &mut self.places[at];
            let alike = |i: &&mut usize| {
                let other = &self.steps[**i];
                other.task == step.task && other.kind == step.kind && other.outcome == step.outcome
            };
            match place.newest.iter_mut().find(alike) {
                Some(newest) => *newest = j,
                None => place.newest.push(j),
            }
            place.note_grant(j, step, self.made.row(j));
        }
    }
}

impl Place {
    /// What tasks can conflict on is a resource, a task that is aimed at, or the time.
    fn of_resource(id: ResourceId) -> usize {
        2 * id.index() + 2
    }

    fn of_task(task: usize) -> usize {
        2 * task + 1
    }

    const TIME: usize = 0;

    /// Takes note of a step that lets requests go on, or whose ticket does.
    fn note_grant(&mut self, j: usize, step: &Step, clock: &[u32]) {
        use OpKind::*;
        let ok = u32::from(step.outcome) == outcome::OK;
        match step.kind {
            Unlock | CondWait | WriteUnlock | Downgrade | OnceFinish => {
                self.exclusive = Some(j);
                self.shared.clear();
            }
            ReadUnlock | CloseSend => {
                self.shared.resize(clock.len(), 0);
                join(&mut self.shared, clock);
            }
            Release => {
                let sum = self.released.last().map_or(0, |(sum, _)| *sum) + step.arg;
                self.released.push((sum, j));
            }
            Send | TrySend if ok => self.sends.put(step.value, j),
            Recv | TryRecv if ok => self.receives.put(step.value, j),
            _ => {}
        }
    }

    /// The release without which `request`, step `p`, had waited.
    fn release_for(&self, p: usize, request: &Step) -> Option<usize> {
        let made = self.released.partition_point(|(_, i)| *i < p);
        let total = made.checked_sub(1).map_or(0, |last| self.released[last].0);
        // `value` is what was free when it was asked for.
        let needed = (total + request.arg).saturating_sub(request.value);
        let first = self.released.partition_point(|(sum, _)| *sum < needed);
        (needed > 0).then(|| self.released.get(first).map(|(_, i)| *i))?
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// Where `step` can meet others.
fn places(step: &Step) -> [Option<usize>; 3] {
    use OpKind::*;
    let resource = (step.resource != ResourceId::NONE).then(|| Place::of_resource(step.resource));
    let other = match step.kind {
        CondWait => Some(Place::of_resource(ResourceId(step.arg as u32))),
        Exit | Park => Some(Place::of_task(step.task.index())),
        Join | IsFinished | Unpark => Some(Place::of_task(step.arg as usize)),
        TimerFire => Some(Place::of_task(step.arg as usize)),
        Now => Some(Place::TIME),
        _ => None,
    };
    let time = matches!(step.kind, TimerFire | Exit).then_some(Place::TIME);
    [resource, other, time]
}
