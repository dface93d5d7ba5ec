//! What tasks do to shared state: reads and writes, with the locks held meanwhile.
//!
//! A step on an atomic, a cell or a once is an access by itself. What a mutex or rwlock protects is accessed
//! without steps of its own, so there the critical section is the access: a shared one reads, an exclusive one
//! may do both, unless its source says that it only reads (`jobs.lock().unwrap().len()`). A lock that protects nothing of its own (`Mutex<()>`), or whose sections contain accesses that
//! can be seen, is a lock only.

use drawloom_engine::sorted::{Map, Set, sort_by_key};

use drawloom_engine::act::Act;

use super::acts;
use crate::html::walk::{Bar, holds};
use crate::names::Names;
use crate::record::waits::{Wait, waits};
use crate::record::{Record, ResourceRecord, StepRecord, TURN, WATCH};
use crate::source::Sources;

/// Steps that are looked at: the last ones. What lies further back than that explains nothing to a person.
const MOST_STEPS: usize = 100_000;
/// Locks that are known of an access: the last ones that its task took. Whoever takes ever more locks, and gives none
/// back, would have each access remember all of them.
const MOST_HELD: usize = 64;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Read,
    Write,
    /// Both in one.
    Update,
}

impl Mode {
    pub(super) fn reads(self) -> bool {
        self != Mode::Write
    }

    pub(super) fn writes(self) -> bool {
        self != Mode::Read
    }
}

/// The code that an access belongs to: the place of the section around it, if any, its own place, what it does,
/// and to what: a helper has one place for all that call it.
type Code = (Option<u32>, Option<u32>, u16, u32);

/// A step as code: its place, what it does, and to what.
type Near = (Option<u32>, u16, Option<u32>);

/// One access to shared state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Access {
    /// The step that makes it; of a section, the request.
    pub(super) step: u32,
    /// The step with which it takes effect: of a section, the one that granted it.
    pub(super) at: u32,
    /// The step with which it is over.
    pub(super) until: u32,
    pub(super) task: u32,
    pub(super) resource: u32,
    pub(super) mode: Mode,
    /// What it found; of a write, nothing.
    pub(super) found: Option<u64>,
    /// What it left, if it writes and that is known.
    pub(super) left: Option<u64>,
    /// Whether it is a critical section.
    pub(super) section: bool,
    /// Whether it is a piece of a coroutine, in which much may happen.
    pub(super) piece: bool,
    /// Whether it is made in a transaction that its task has begun before.
    pub(super) in_transaction: bool,
    /// The locks that the task holds, its own section's included.
    pub(super) locks: Vec<u32>,
    /// Where in the program it is.
    pub(super) code: Code,
    /// What the task did right before, and right after.
    near: [Option<Near>; 2],
}

#[cfg(test)]
impl Access {
    /// One without locks, at a place of its own.
    pub(super) fn plain(at: u32, task: u32, resource: u32, mode: Mode) -> Access {
        Access {
            step: at,
            at,
            until: at,
            task,
            resource,
            mode,
            found: None,
            left: None,
            section: false,
            piece: false,
            in_transaction: false,
            locks: Vec::new(),
            code: (None, Some(at), 0, resource),
            near: [None; 2],
        }
    }
}

impl Access {
    /// A step that looks at something without an effect of its own: the beginning of a wait.
    pub(super) fn of_step(i: u32, step: &StepRecord, resource: u32) -> Access {
        Access {
            step: i,
            at: i,
            until: i,
            task: step.task,
            resource,
            mode: Mode::Read,
            found: None,
            left: None,
            section: false,
            piece: false,
            in_transaction: false,
            locks: Vec::new(),
            code: (None, step.place, step.operation, resource),
            near: [None; 2],
        }
    }
}

/// All accesses of an execution; of a long one, those of its end.
pub(super) struct Accesses {
    pub(super) all: Vec<Access>,
    pub(super) waits: Vec<Wait>,
    pub(super) holds: Vec<Bar>,
    /// By index in `holds`: the step that asked for it, the last one that the task made until then.
    requests: Vec<u32>,
    /// Resources that are locks and nothing else.
    pub(super) locks_only: Set<u32>,
    /// By task and code: when it was met first.
    first: Map<(u32, Code), u32>,
}

impl Accesses {
    pub(super) fn of(record: &Record, names: &Names<'_>, sources: &Sources<'_>) -> Accesses {
        let waits = waits(record);
        let mut holds = holds(record, names, &waits);
        holds.retain(|bar| kind(record, bar.resource) != "once");
        holds.extend(acts::holds(record));
        let semaphores = acts::with_act(record, &[Act::Acquires, Act::Releases]);
        let mut accesses = Accesses {
            all: Vec::new(),
            waits,
            holds,
            requests: Vec::new(),
            locks_only: Set::default(),
            first: Map::default(),
        };
        let mut sections = accesses.explicit(record, sources, &semaphores);
        accesses.find_pure_locks(record, sources);
        sections.retain(|section| !accesses.locks_only.contains(&section.resource));
        accesses.all.extend(sections);
        accesses.find_updates(record, sources);
        sort_by_key(&mut accesses.all, |access| (access.at, access.step));
        accesses.find_neighbours(record);
        for access in &accesses.all {
            accesses.first.get_or_insert_with((access.task, access.code), || access.at);
        }
        accesses
    }

    /// Goes along the steps with the locks that each task holds; finds the accesses that are steps, and returns
    /// the sections.
    fn explicit(&mut self, record: &Record, sources: &Sources<'_>, semaphores: &Set<u32>) -> Vec<Access> {
        let mut reading: Map<Option<u32>, bool> = Map::default();
        let (mut begin, mut end): (Map<u32, Vec<usize>>, Map<u32, Vec<usize>>) = Default::default();
        for (at, bar) in self.holds.iter().enumerate() {
            begin.at(bar.from).push(at);
            end.at(bar.to).push(at);
        }
        let first = record.steps.len().saturating_sub(MOST_STEPS) as u32;
        // What runs the program is no lock of it.
        let ours: Vec<bool> = record.resources.iter().map(|resource| resource.name.as_deref() == Some(TURN)).collect();
        let is_ours = |resource: u32| ours.get(resource as usize).copied().unwrap_or(false);
        self.requests = self.holds.iter().map(|bar| bar.from.min(first)).collect();
        let mut open: Vec<Vec<usize>> = vec![Vec::new(); record.tasks.len()];
        for (at, bar) in self.holds.iter().enumerate().filter(|(_, bar)| bar.from < first && first <= bar.to) {
            open[bar.task as usize].push(at);
        }
        let mut last: Vec<u32> = vec![first; record.tasks.len()];
        let mut sections = Vec::new();
        // Where parts have names, each is something of its own.
        let has_parts = |step: &&StepRecord| record.is_of_parts(step) && !record.parts(step).is_empty();
        let in_parts: Set<u32> = record.steps.iter().filter(has_parts).filter_map(|step| step.resource).collect();
        for (i, step) in (first..).zip(&record.steps[first as usize..]) {
            for at in end.get(&i).into_iter().flatten() {
                open[self.holds[*at].task as usize].retain(|other| other != at);
            }
            last[step.task as usize] = i;
            let own = &open[step.task as usize];
            let section = own.last().and_then(|at| record.steps[self.requests[*at] as usize].place);
            let locks = self.innermost(own, &is_ours);
            let is_of_parts = step.resource.is_some_and(|whole| in_parts.contains(&whole));
            let whole = if is_of_parts { None } else { access(record, i, step, section, locks.clone()) };
            self.all.extend(accesses_to_parts(record, i, step, section, &locks));
            self.all.extend(whole.map(|mut access| {
                // How many permits are left is not told; that it is another number is known.
                if semaphores.contains(&access.resource) {
                    (access.found, access.left) = (None, None);
                }
                access
            }));
            for at in begin.get(&i).into_iter().flatten() {
                let bar = self.holds[*at];
                let request = last[bar.task as usize];
                self.requests[*at] = request;
                open[bar.task as usize].push(*at);
                let Some(resource) = bar.resource.filter(|resource| !is_ours(*resource)) else { continue };
                let asked = &record.steps[request as usize];
                let reads = *reading.get_or_insert_with(asked.place, || {
                    let statement = record.place(asked.place).and_then(|place| sources.statement(place));
                    statement.and_then(|statement| statement.only_reads()) == Some(true)
                });
                sections.push(Access {
                    step: request,
                    at: bar.from,
                    until: bar.to,
                    task: bar.task,
                    resource,
                    mode: if bar.shared || reads { Mode::Read } else { Mode::Update },
                    found: None,
                    left: None,
                    section: true,
                    piece: false,
                    in_transaction: false,
                    locks: self.innermost(&open[bar.task as usize], &is_ours),
                    code: (None, asked.place, asked.operation, resource),
                    near: [None; 2],
                });
            }
        }
        sections
    }

    /// The locks of those of `open`, indices in `holds`, that were taken last.
    fn innermost(&self, open: &[usize], is_ours: &impl Fn(u32) -> bool) -> Vec<u32> {
        let last = &open[open.len().saturating_sub(MOST_HELD)..];
        let held = last.iter().filter_map(|at| self.holds[*at].resource);
        held.filter(|resource| !is_ours(*resource)).collect()
    }

    /// A call that changes a container looks at it, too (`order.remove(x)`), and so does a piece of a coroutine.
    fn find_updates(&mut self, record: &Record, sources: &Sources<'_>) {
        let mut known: Map<u32, (bool, bool)> = Map::default();
        // Of an event or a queue it is known what is done inside.
        let inside = |resource: u32| {
            let name = record.resources[resource as usize].name.as_deref();
            name.is_some_and(|name| record.meta.language.made_of_locks(name).is_some())
        };
        for access in self.all.iter_mut().filter(|access| !access.section && !inside(access.resource)) {
            let Some(at) = record.steps[access.step as usize].place else { continue };
            let (piece, calls) = *known.get_or_insert_with(at, || {
                let Some(place) = record.place(Some(at)) else { return (false, false) };
                let calls = sources.statement(place).is_some_and(|statement| statement.calls());
                (sources.begins_piece(place), calls)
            });
            access.piece = piece;
            if access.mode == Mode::Write && (piece || calls) {
                access.mode = Mode::Update;
            }
        }
    }

    fn find_neighbours(&mut self, record: &Record) {
        let near = |i: Option<u32>| i.map(|i| &record.steps[i as usize]).map(|s| (s.place, s.operation, s.resource));
        let mut before = vec![None; record.steps.len()];
        for (i, wait) in (0..).zip(&self.waits) {
            if let Some(next) = wait.next {
                before[next as usize] = Some(i);
            }
        }
        for access in &mut self.all {
            let last =
                if access.section && (access.until as usize) < record.steps.len() { access.until } else { access.step };
            access.near = [near(before[access.step as usize]), near(self.waits[last as usize].next)];
        }
    }

    /// The step that asked for what the hold with this index in `holds` holds.
    pub(super) fn request(&self, hold: usize) -> u32 {
        self.requests[hold]
    }

    /// The hold, by index in `holds`, within which all others lie that the task of `access` has then, its own
    /// section's included.
    pub(super) fn outermost(&self, access: &Access) -> Option<usize> {
        let around = |bar: &Bar| bar.task == access.task && bar.from <= access.at && access.at < bar.to;
        let all = (0..self.holds.len()).filter(|i| around(&self.holds[*i]));
        all.filter(|i| access.section || self.holds[*i].from < access.at).min_by_key(|i| self.holds[*i].from)
    }

    /// A lock that `task` holds all the way from `from` to `to`.
    pub(super) fn held_throughout(&self, task: u32, from: u32, to: u32) -> Option<u32> {
        let covers = |bar: &&Bar| bar.task == task && bar.from < from && to < bar.to;
        self.holds.iter().find(covers).and_then(|bar| bar.resource)
    }

    /// Whether `task` has `lock` from before step `from` until after step `to`.
    pub(super) fn holds_throughout(&self, task: u32, lock: u32, from: u32, to: u32) -> bool {
        let covers = |bar: &Bar| bar.task == task && bar.resource == Some(lock) && bar.from < from && to < bar.to;
        self.holds.iter().any(covers)
    }

    fn find_pure_locks(&mut self, record: &Record, sources: &Sources<'_>) {
        let mut inside: Set<u32> = self.all.iter().flat_map(|access| access.locks.iter().copied()).collect();
        // Whose guard is used for what it guards has something of its own: `*self.seen.lock().unwrap() = now`.
        let mut known: Map<Option<u32>, bool> = Map::default();
        for (at, bar) in self.holds.iter().enumerate() {
            let asked = record.steps[self.requests[at] as usize].place;
            let uses = *known.get_or_insert_with(asked, || {
                let statement = record.place(asked).and_then(|place| sources.statement(place));
                statement.is_some_and(|statement| statement.uses_guarded())
            });
            if let Some(lock) = bar.resource.filter(|_| uses) {
                inside.remove(&lock);
            }
        }
        for (i, resource) in (0..).zip(&record.resources) {
            let made = record.place(resource.created_at).and_then(|place| sources.after(place));
            let empty = made.is_some_and(|text| {
                let arguments = text.split_once("new(").map(|(_, rest)| rest.trim_start());
                arguments.is_some_and(|rest| rest.starts_with(')') || rest.starts_with("())"))
            });
            let is_lock = matches!(resource.kind.as_str(), "mutex" | "rwlock" | "object");
            if is_lock && (empty || inside.contains(&i)) {
                self.locks_only.insert(i);
            }
        }
    }

    /// Whether the code of `later` comes after that of `earlier`, as the task went through it the first time:
    /// if not, the two are in different rounds of a loop, and nobody meant them to be one. The same code with the
    /// same steps before or after is such a round; else it is a helper that was called twice.
    pub(super) fn forward(&self, earlier: &Access, later: &Access) -> bool {
        let first = |access: &Access| self.first.get(&(access.task, access.code)).copied();
        if earlier.code == later.code {
            let alike = |(a, b): (&Option<Near>, &Option<Near>)| a == b && a.is_some();
            return !earlier.near.iter().zip(&later.near).any(alike);
        }
        first(earlier) < first(later)
    }
}

/// Whether it watches the program, or runs it, and is no part of it: a handle by which a task is awaited, say.
pub(super) fn is_no_state(record: &Record, resource: &ResourceRecord) -> bool {
    let nameless = resource.kind == "object" && resource.name.is_none();
    let of_a_task = |place: u32| record.tasks.iter().any(|task| task.spawned_at == Some(place));
    let runs_it = nameless && resource.created_at.is_none_or(of_a_task);
    resource.kind == "history" || matches!(resource.name.as_deref(), Some(WATCH | TURN)) || runs_it
}

/// The accesses that a step makes to the parts of its resource that have names.
fn accesses_to_parts<'a>(
    record: &'a Record,
    i: u32,
    step: &'a StepRecord,
    section: Option<u32>,
    locks: &'a [u32],
) -> impl Iterator<Item = Access> + 'a {
    record.parts(step).into_iter().map(move |(part, writes)| Access {
        mode: if writes { Mode::Write } else { Mode::Read },
        locks: locks.to_vec(),
        code: (section, step.place, step.operation, part),
        ..Access::of_step(i, step, part)
    })
}

/// The access that a step makes to the whole of its resource.
fn access(record: &Record, i: u32, step: &StepRecord, section: Option<u32>, locks: Vec<u32>) -> Option<Access> {
    let resource = step.resource?;
    if record.resources.get(resource as usize).is_some_and(|resource| is_no_state(record, resource)) {
        return None;
    }
    let refused = record.outcome(step) == "refused";
    let (mode, found, left) = match record.operation(step) {
        "load" | "spin_until" => (Mode::Read, step.value, None),
        "store" => (Mode::Write, None, step.value),
        // Who leaves what was there has only looked: `flag.swap(true)` when it was set.
        "read-modify-write" if step.value.is_some() && step.value == step.argument => (Mode::Read, step.value, None),
        "read-modify-write" => (Mode::Update, step.value, step.argument),
        "compare-exchange" if refused => (Mode::Read, step.value, None),
        "compare-exchange" => (Mode::Update, step.value, step.argument),
        // Nothing is known of what an object holds; each use is whole, so that as if nothing changed is right.
        "look" => (Mode::Read, Some(0), None),
        "use" => match acts::act(record, step) {
            // The section is the access; and who waits has done nothing yet.
            Some(Act::Locks | Act::LocksShared | Act::Unlocks | Act::Awaits(_) | Act::Abandons) => return None,
            _ => (Mode::Update, Some(0), Some(0)),
        },
        "read cell" | "read parts" | "get" => (Mode::Read, None, None),
        "write cell" | "write parts" | "initialised" => (Mode::Write, None, None),
        _ => return None,
    };
    Some(Access {
        step: i,
        at: i,
        until: i,
        task: step.task,
        resource,
        mode,
        found,
        left,
        section: false,
        piece: false,
        in_transaction: matches!(record.operation(step), "read cell" | "write cell") && step.argument == Some(1),
        locks,
        code: (section, step.place, step.operation, resource),
        near: [None; 2],
    })
}

fn kind(record: &Record, resource: Option<u32>) -> &str {
    resource.and_then(|r| record.resources.get(r as usize)).map_or("", |r| r.kind.as_str())
}
