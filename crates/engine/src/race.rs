//! Data races: accesses to plain memory that nothing orders.
//!
//! Two accesses to one cell by different tasks, at least one of them a write, are a data race if neither
//! happens before the other. In which order they happened to come in this execution does not matter, so
//! one execution shows races that would do harm in another one only.
//!
//! The method is FastTrack's (Flanagan, Freund: *FastTrack: efficient and precise dynamic race
//! detection*, PLDI 2009), over the finished trace: a clock for each task; of each cell the last write
//! and the reads since. Clocks flow as follows, and by nothing else:
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

use clocks::{Clocks, Row};

use crate::engine::Engine;
use crate::finding::{CellAccess, DataRace};
use crate::id::ResourceId;
use crate::operation::{OpKind, ResourceKind, outcome};
use crate::resource::UNBOUNDED;
use crate::trace::Step;

/// Looks for data races in traces; keeps its memory from one trace to the next.
#[derive(Default)]
pub struct Races {
    clocks: Clocks,
    waits: Vec<Wait>,
    /// The newest step of each task; [`NONE`] before its first.
    newest: Vec<u32>,
    /// What the unparks of each task know.
    tokens: Vec<Row>,
    places: Vec<Place>,
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
        self.clocks.begin(tasks);
        self.newest.clear();
        self.newest.resize(tasks, NONE);
        self.tokens.clear();
        self.tokens.resize(tasks, Row::NONE);
        self.places.iter_mut().for_each(Place::renew);
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
        self.clocks.tick(mine);
        if let OpKind::CellRead | OpKind::CellWrite = step.kind {
            let race = self.access(j, step);
            self.newest[step.task.index()] = j as u32;
            return race;
        }
        if !self.waits[j].waits {
            self.acquire(step, mine);
        }
        self.release(step, mine);
        let mut next = self.waits[j].ended;
        while next != NONE {
            self.end_wait(step, steps, next as usize);
            next = self.waits[next as usize].next;
        }
        self.settle(j, step, mine);
        self.newest[step.task.index()] = j as u32;
        None
    }

    fn access(&mut self, j: usize, step: &Step) -> Option<usize> {
        let mine = Row(step.task.0);
        let access = Access { task: step.task.0, number: self.clocks.get(mine, step.task.0), step: j as u32 };
        at(&mut self.places, step.resource.index());
        let cell = &mut self.places[step.resource.index()];
        let write = step.kind == OpKind::CellWrite;
        let unordered = |a: &&Access| self.clocks.get(mine, a.task) < a.number;
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

    /// What `request` learns when it need not wait, or when its wait has ended well.
    fn acquire(&mut self, request: &Step, mine: Row) {
        use OpKind::*;
        let result = u32::from(request.outcome);
        if result == outcome::REFUSED && request.kind != Cas {
            return;
        }
        match request.kind {
            Join | IsFinished => {
                if (request.arg as usize) < self.newest.len() {
                    self.clocks.join(mine, Row(request.arg as u32));
                }
                return;
            }
            Park => {
                if result == outcome::OK {
                    self.clocks.join(mine, self.tokens[mine.0 as usize]);
                }
                return;
            }
            _ => {}
        }
        if request.resource == ResourceId::NONE {
            return;
        }
        let place = at(&mut self.places, request.resource.index());
        match request.kind {
            Load | Await | Rmw | Cas => self.clocks.join(mine, place.atomic),
            Lock | TryLock | Read | TryRead | Acquire | TryAcquire | OnceEnter | OnceCheck | Arrive => {
                self.clocks.join(mine, place.released)
            }
            Write | TryWrite => {
                self.clocks.join(mine, place.released);
                self.clocks.join(mine, place.shared);
            }
            Recv | TryRecv if result == outcome::DISCONNECTED => self.clocks.join(mine, place.released),
            Recv | TryRecv => self.clocks.take(mine, &mut place.messages, Some(request.value)),
            Send | TrySend if result == outcome::DISCONNECTED => self.clocks.join(mine, place.shared),
            _ => {}
        }
    }

    /// What others can learn of `step`.
    fn release(&mut self, step: &Step, mine: Row) {
        use OpKind::*;
        let result = u32::from(step.outcome);
        if step.kind == Unpark {
            if let Some(token) = self.tokens.get_mut(step.arg as usize) {
                self.clocks.publish(token, mine);
            }
            return;
        }
        // A wait on a condition variable gives its mutex back.
        let id = if step.kind == CondWait { step.arg as usize } else { step.resource.index() };
        if step.resource == ResourceId::NONE {
            return;
        }
        let place = at(&mut self.places, id);
        match step.kind {
            // Nothing of what was there before can be read any more.
            Store => self.clocks.replace(&mut place.atomic, mine),
            Rmw => self.clocks.publish(&mut place.atomic, mine),
            Cas if result == outcome::OK => self.clocks.publish(&mut place.atomic, mine),
            Unlock | CondWait | WriteUnlock | Downgrade | Release | OnceFinish | Arrive | CloseSend => {
                self.clocks.publish(&mut place.released, mine)
            }
            ReadUnlock | CloseRecv => self.clocks.publish(&mut place.shared, mine),
            Send | TrySend if result == outcome::OK => {
                self.clocks.replace(at(&mut place.messages, step.value as usize), mine)
            }
            _ => {}
        }
    }

    /// Step `by` has ended the wait before step `j`, or is the spawn before it.
    fn end_wait(&mut self, by: &Step, steps: &[Step], j: usize) {
        use OpKind::*;
        let (mine, theirs) = (Row(steps[j].task.0), Row(by.task.0));
        if by.kind == TimerFire && by.arg == u64::from(mine.0) {
            return;
        }
        let Some(request) = steps.get(self.newest[mine.0 as usize] as usize) else {
            return self.clocks.join(mine, theirs);
        };
        match (request.kind, by.kind) {
            // Its own ticket may have been moved up since it was given.
            (Recv, Send | TrySend) => {
                let place = at(&mut self.places, request.resource.index());
                self.clocks.take(mine, &mut place.messages, Some(by.value));
                if request.arg != UNBOUNDED {
                    self.clocks.replace(at(&mut place.rooms, by.value as usize), mine);
                }
            }
            (Recv, CloseSend) => {
                let closed = at(&mut self.places, request.resource.index()).released;
                self.clocks.join(mine, closed);
            }
            (Send, CloseRecv) => {
                let closed = at(&mut self.places, request.resource.index()).shared;
                self.clocks.join(mine, closed);
            }
            (Send, _) | (CondWait, _) => self.clocks.join(mine, theirs),
            _ => self.acquire(request, mine),
        }
    }

    /// What is to be done after the waits that step `j` has ended.
    fn settle(&mut self, j: usize, step: &Step, mine: Row) {
        use OpKind::*;
        let result = u32::from(step.outcome);
        match step.kind {
            Arrive if result == outcome::LEADER => {
                let place = at(&mut self.places, step.resource.index());
                self.clocks.forget(&mut place.released);
            }
            Recv | TryRecv if result == outcome::OK && !self.waits[j].waits && step.arg != UNBOUNDED => {
                let place = at(&mut self.places, step.resource.index());
                self.clocks.replace(at(&mut place.rooms, step.value as usize), mine);
            }
            Send | TrySend if result == outcome::OK && !self.waits[j].waits => {
                let place = at(&mut self.places, step.resource.index());
                self.clocks.take(mine, &mut place.rooms, step.value.checked_sub(step.arg));
            }
            _ => {}
        }
    }
}

/// Whether others can learn of the past from this step. (From an exit, too; but that goes without saying.)
fn releases(step: &Step) -> bool {
    use OpKind::*;
    let ok = u32::from(step.outcome) == outcome::OK;
    match step.kind {
        Spawn | Unpark | Store | Rmw | Unlock | ReadUnlock | WriteUnlock | Downgrade | CondWait | Release | Arrive
        | OnceFinish | CloseSend | CloseRecv => true,
        Cas | NotifyOne | NotifyAll | Send | TrySend => ok,
        _ => false,
    }
}

/// Whether this step can learn of the past of others.
fn acquires(step: &Step) -> bool {
    use OpKind::*;
    let ok = u32::from(step.outcome) == outcome::OK;
    match step.kind {
        Join | Load | Await | Rmw | Cas | Lock | Read | Write | CondWait | Acquire | Arrive | OnceEnter | Recv => true,
        IsFinished | Park | TryLock | TryRead | TryWrite | TryAcquire | OnceCheck | TryRecv => ok,
        _ => false,
    }
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
