//! Data races: accesses to plain memory that nothing orders.
//!
//! Two accesses to one cell by different tasks, at least one of them a write, are a data race if neither
//! happens before the other. In which order they happened to come in this execution does not matter, so
//! one execution shows races that would do harm in another one only.
//!
//! The method is FastTrack's (Flanagan, Freund: *FastTrack: efficient and precise dynamic race
//! detection*, PLDI 2009), over the finished trace: a clock for each task; of each cell the last write
//! and the reads since. Clocks flow as follows, and by nothing else; each line stands in the room of its primitive:
//!
//! | from | to |
//! |---|---|
//! | a spawn | all that the task does |
//! | the exit of a task | a join, or a question whether it has finished that is answered yes |
//! | an unpark | the park that takes the token |
//! | an unlock, also by a wait on a condition variable | whoever has the mutex later, waited for or not |
//! | the release of a write lock | readers and writers later; of a read lock: writers |
//! | a notification | the waiters that it wakes |
//! | a release of permits | whoever takes permits later |
//! | an arrival at a barrier | all who leave it with this one |
//! | the end of an initialiser | whoever finds it ended, or has the next try |
//! | a send | the receive of its message |
//! | a receive | the send that needs its room |
//! | the end of one side of a channel | whoever is told so on the other side |
//! | a store | the loads and exchanges that read it |
//!
//! So the order in which requests queue up is no order between accesses, and neither is time: a sleep
//! synchronises with nobody.
//!
//! Where we deviate: memory is sequentially consistent for now, and every atomic operation counts as
//! acquiring what it reads and releasing what it writes, whatever ordering it was given. A race that is
//! due to a `Relaxed` is not found.

mod clocks;

use clocks::Clocks;
pub(crate) use clocks::Row;

use crate::engine::Engine;
use crate::finding::{CellAccess, DataRace};
use crate::id::{ResourceId, TaskId};
use crate::operation::{ResourceKind, outcome};
use crate::resource::{Traits, writes};
use crate::trace::Step;

/// Looks for data races in traces; keeps its memory from one trace to the next.
#[derive(Default)]
pub struct Races {
    flow: Flow,
    waits: Vec<Wait>,
    /// The newest step of each task; [`NONE`] before its first.
    newest: Vec<u32>,
}

/// No step.
const NONE: u32 = u32::MAX;

/// Tasks beyond which nothing is looked for: clocks take memory in proportion to their square.
const MOST_TASKS: usize = 4096;

impl Races {
    /// The first data race of an execution that is over; free where no cell was touched.
    pub fn of(&mut self, engine: &Engine) -> Option<DataRace> {
        let touched = engine.resources().iter().any(|r| r.kind == ResourceKind::Cell);
        if touched && engine.tasks().len() <= MOST_TASKS { self.of_steps(engine.steps()) } else { None }
    }

    /// The first data race of a trace: its later access is the first one that races with anything, its
    /// earlier access the newest of those.
    pub fn of_steps(&mut self, steps: &[Step]) -> Option<DataRace> {
        self.begin(steps);
        let (i, j) = (0..steps.len()).find_map(|j| self.step(steps, j).map(|i| (i, j)))?;
        let sync = |mut range: std::ops::Range<usize>, task, synchronises: fn(&Step) -> bool| {
            range.rfind(|k| steps[*k].task == task && synchronises(&steps[*k])).map(|k| k as u64)
        };
        let access = |at: usize, sync| CellAccess {
            task: steps[at].task,
            step: at as u64,
            site: steps[at].site,
            kind: steps[at].kind,
            sync,
        };
        Some(DataRace {
            cell: steps[j].resource,
            earlier: access(i, sync(i..j, steps[i].task, releases)),
            later: access(j, sync(0..j, steps[j].task, acquires)),
        })
    }

    fn begin(&mut self, steps: &[Step]) {
        let tasks = steps.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
        self.flow.clocks.begin(tasks);
        self.newest.clear();
        self.newest.resize(tasks, NONE);
        self.flow.tokens.clear();
        self.flow.tokens.resize(tasks, Row::NONE);
        self.flow.places.iter_mut().for_each(Place::renew);
        self.waits.clear();
        self.waits.resize(steps.len(), Wait::default());
        // Which requests had to wait, and whose waits each step has ended, shows only afterwards.
        for (j, step) in steps.iter().enumerate() {
            let request = std::mem::replace(&mut self.newest[step.task.index()], j as u32);
            if let Some(by) = step.after.checked_sub(1) {
                self.waits[j].next = std::mem::replace(&mut self.waits[by as usize].ended, j as u32);
                if let Some(request) = self.waits.get_mut(request as usize) {
                    request.waits = true;
                }
            }
        }
        self.newest.fill(NONE);
    }

    /// Lets step `j` learn and tell; an access with which it races, if there is one.
    fn step(&mut self, steps: &[Step], j: usize) -> Option<usize> {
        let step = &steps[j];
        let mine = Row(step.task.0);
        self.flow.clocks.tick(mine);
        if step.kind.is_of_cell() {
            let race = self.access(j, step);
            self.newest[step.task.index()] = j as u32;
            return race;
        }
        if !self.waits[j].waits {
            self.acquire(step, mine);
        }
        if touches(step) {
            step.kind.room().release(&mut self.flow, step, mine);
        }
        let mut next = self.waits[j].ended;
        while next != NONE {
            self.end_wait(step, steps, next as usize);
            next = self.waits[next as usize].next;
        }
        step.kind.room().settle(&mut self.flow, step, self.waits[j].waits, mine);
        self.newest[step.task.index()] = j as u32;
        None
    }

    fn access(&mut self, j: usize, step: &Step) -> Option<usize> {
        let mine = Row(step.task.0);
        let (clocks, cell) = self.flow.at(step.resource);
        let access = Access { task: step.task.0, number: clocks.get(mine, step.task.0), step: j as u32 };
        let write = writes(step.kind, outcome::OK);
        let unordered = |a: &&Access| clocks.get(mine, a.task) < a.number;
        let reads = cell.reads.iter().filter(|_| write);
        if let Some(race) = cell.write.iter().chain(reads).filter(unordered).map(|a| a.step).max() {
            return Some(race as usize);
        }
        if write {
            // All reads so far happened before it, and so before all that it happens before.
            cell.write = Some(access);
            cell.reads.clear();
        } else {
            match cell.reads.iter_mut().find(|read| read.task == access.task) {
                Some(read) => *read = access,
                None => cell.reads.push(access),
            }
        }
        None
    }

    /// What `request` learns when it need not wait.
    fn acquire(&mut self, request: &Step, mine: Row) {
        // A comparison that failed has read, too.
        if touches(request) && (!request.is_refused() || request.kind.is_told()) {
            request.kind.room().acquire(&mut self.flow, request, mine);
        }
    }

    /// Step `by` has ended the wait before step `j`, or is the spawn before it.
    fn end_wait(&mut self, by: &Step, steps: &[Step], j: usize) {
        let mine = Row(steps[j].task.0);
        if by.kind.fires() && by.arg == u64::from(mine.0) {
            return;
        }
        match steps.get(self.newest[mine.0 as usize] as usize) {
            Some(request) => request.kind.room().end_wait(&mut self.flow, by, request, mine),
            None => self.flow.learn_of_task(by.task, mine),
        }
    }
}

/// What tasks leave behind for others to learn.
#[derive(Default)]
pub(crate) struct Flow {
    clocks: Clocks,
    /// What the unparks of each task know.
    tokens: Vec<Row>,
    places: Vec<Place>,
}

/// Who learns what, told by the rooms of the primitives. `mine` is the clock of the task that makes the step.
impl Flow {
    fn at(&mut self, resource: ResourceId) -> (&mut Clocks, &mut Place) {
        (&mut self.clocks, at(&mut self.places, resource.index()))
    }

    /// All that `task` knows, if it has made a step.
    pub(crate) fn learn_of_task(&mut self, task: TaskId, mine: Row) {
        if task.index() < self.tokens.len() {
            self.clocks.join(mine, Row(task.0));
        }
    }

    /// The tokens that the task was given.
    pub(crate) fn take_token(&mut self, mine: Row) {
        self.clocks.join(mine, self.tokens[mine.0 as usize]);
    }

    pub(crate) fn give_token(&mut self, target: TaskId, mine: Row) {
        if let Some(token) = self.tokens.get_mut(target.index()) {
            self.clocks.publish(token, mine);
        }
    }

    /// What an exclusive hold, a permit or the sending side was given up with.
    pub(crate) fn learn_of_releases(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.join(mine, place.released);
    }

    pub(crate) fn release(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.publish(&mut place.released, mine);
    }

    /// What was released before is of no interest to those who come later.
    pub(crate) fn forget_releases(&mut self, resource: ResourceId) {
        let (clocks, place) = self.at(resource);
        clocks.forget(&mut place.released);
    }

    /// What shared holds, or the receiving side, were given up with.
    pub(crate) fn learn_of_shared(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.join(mine, place.shared);
    }

    pub(crate) fn release_shared(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.publish(&mut place.shared, mine);
    }

    /// What the store knows that is read.
    pub(crate) fn read_atomic(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.join(mine, place.atomic);
    }

    pub(crate) fn write_atomic(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.publish(&mut place.atomic, mine);
    }

    pub(crate) fn replace_atomic(&mut self, resource: ResourceId, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.replace(&mut place.atomic, mine);
    }

    /// What the send of a message knows.
    pub(crate) fn take_message(&mut self, resource: ResourceId, ticket: u64, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.take(mine, &mut place.messages, Some(ticket));
    }

    pub(crate) fn put_message(&mut self, resource: ResourceId, ticket: u64, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.replace(at(&mut place.messages, ticket as usize), mine);
    }

    /// What the receive knows that has made room.
    pub(crate) fn take_room(&mut self, resource: ResourceId, ticket: Option<u64>, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.take(mine, &mut place.rooms, ticket);
    }

    pub(crate) fn put_room(&mut self, resource: ResourceId, ticket: u64, mine: Row) {
        let (clocks, place) = self.at(resource);
        clocks.replace(at(&mut place.rooms, ticket as usize), mine);
    }
}

/// Whether the step has touched what it is meant for: memory that nobody has registered is no resource.
fn touches(step: &Step) -> bool {
    step.resource != ResourceId::NONE || step.kind.family().is_none()
}

/// Whether others can learn of the past from this step.
pub(crate) fn releases(step: &Step) -> bool {
    step.kind.is(Traits::TELLS) || step.is_ok() && step.kind.is(Traits::TELLS_IF_OK)
}

/// Whether this step can learn of the past of others.
fn acquires(step: &Step) -> bool {
    step.kind.is(Traits::LEARNS) || step.is_ok() && step.kind.is(Traits::LEARNS_IF_OK)
}

/// What becomes of the waits around one step.
#[derive(Clone, Copy)]
struct Wait {
    /// The first of the steps that follow a wait which this step has ended.
    ended: u32,
    /// The next of those after this step, which is one itself.
    next: u32,
    /// This step is a request that had to wait.
    waits: bool,
}

impl Default for Wait {
    fn default() -> Self {
        Wait { ended: NONE, next: NONE, waits: false }
    }
}

/// What is remembered of a resource.
#[derive(Default)]
struct Place {
    /// What exclusive releases know, or the ends of the sending side.
    released: Row,
    /// What shared releases know, or the ends of the receiving side.
    shared: Row,
    /// What the store that can be read knows. Locks have one too: whether they are poisoned.
    atomic: Row,
    /// What the sends of messages know that nobody has received, by ticket.
    messages: Vec<Row>,
    /// What the receives know whose room nobody has taken, by ticket.
    rooms: Vec<Row>,
    write: Option<Access>,
    /// The newest read of each task since the last write.
    reads: Vec<Access>,
}

impl Place {
    fn renew(&mut self) {
        (self.released, self.shared, self.atomic) = (Row::NONE, Row::NONE, Row::NONE);
        self.messages.clear();
        self.rooms.clear();
        self.write = None;
        self.reads.clear();
    }
}

/// An access to a cell.
#[derive(Clone, Copy)]
struct Access {
    task: u32,
    /// The number of the step among its own task's, from 1.
    number: u32,
    step: u32,
}

fn at<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}
