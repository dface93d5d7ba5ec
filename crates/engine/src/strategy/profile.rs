//! The profile: what the executions so far have in common, for strategies that aim.
//!
//! How long an execution is, how many steps each task makes, how often each task touches each
//! resource, and which places of the program meet at one resource. Everything is a running maximum or minimum, or
//! a union, so that the order in which executions are added does not matter but for the numbers that
//! names get, and those are given out in the order of the executions.
//!
//! Names hold for all executions. A task is its place in the tree of spawns. A resource is the place at
//! which it was made, and its number among those made there, in the order in which they were first
//! touched: where several are made at one place, which is which may depend on the schedule.

use super::lookup::Lookup;
use super::{Drawn, Kept};
use crate::engine::Engine;
use crate::finding::FindingKind;
use crate::id::{Site, TaskId};
use crate::operation::OpKind;
use crate::resource::Traits;
use crate::trace::Step;

/// What earlier executions have shown.
#[derive(Clone, Debug)]
pub struct Profile {
    executions: u64,
    steps: u64,
    choices: u64,
    concurrent: u64,
    observes_exits: bool,
    yields: bool,
    /// The most outcomes that a step had to choose from.
    outcomes: u64,
    tasks: Vec<Node>,
    resources: Vec<Known>,
    by_place: Lookup<(usize, u32)>,
    accesses: Vec<Access>,
    by_access: Lookup<(u8, usize)>,
    /// Accesses that met at a resource in two tasks, in the order of their discovery.
    pairs: Vec<(u32, u32)>,
    known_pairs: Lookup<(u32, u32)>,
    /// For a strategy that keeps what shows something new.
    kept: Option<Box<Kept>>,
    scratch: Scratch,
}

impl Default for Profile {
    fn default() -> Self {
        Self::nothing()
    }
}

/// A task, by its place in the tree of spawns. A child comes after its parent.
#[derive(Clone, Debug, Default)]
struct Node {
    children: Vec<u32>,
    /// The most that it has made in an execution, and the fewest.
    steps: u64,
    fewest: Option<u64>,
}

impl Node {
    /// There were executions in which it made so many steps.
    fn add(&mut self, fewest: u64, most: u64) {
        self.steps = self.steps.max(most);
        self.fewest = Some(self.fewest.map_or(fewest, |known| known.min(fewest)));
    }
}

/// A resource.
#[derive(Clone, Debug)]
struct Known {
    created_at: Site,
    nth: u32,
    written: bool,
    /// Who touches it, and at most how often.
    touched: Vec<(u32, u64)>,
}

/// An operation of the program, as the pairs know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    pub(super) kind: OpKind,
    pub(super) site: Site,
}

/// A resource that a strategy may aim at.
pub(super) struct Target {
    pub(super) created_at: Site,
    pub(super) nth: u32,
    pub(super) index: u32,
}

/// The name of no task: it was never seen before.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl Profile {
    /// Of no execution.
    pub(super) const fn nothing() -> Self {
        Profile {
            executions: 0,
            steps: 0,
            choices: 0,
            concurrent: 0,
            observes_exits: false,
            yields: false,
            outcomes: 0,
            tasks: Vec::new(),
            resources: Vec::new(),
            by_place: Lookup::new(),
            accesses: Vec::new(),
            by_access: Lookup::new(),
            pairs: Vec::new(),
            known_pairs: Lookup::new(),
            kept: None,
            scratch: Scratch::new(),
        }
    }

    /// Forgets everything, and keeps its memory for another exploration.
    pub fn forget(&mut self) {
        let mut known = std::mem::take(self);
        let room = &mut known.scratch.room;
        room.children.extend(known.tasks.drain(..).map(|node| emptied(node.children)));
        room.touched.extend(known.resources.drain(..).map(|known| emptied(known.touched)));
        known.scratch.resources.clear();
        known.by_place.clear();
        known.accesses.clear();
        known.by_access.clear();
        known.pairs.clear();
        known.known_pairs.clear();
        self.tasks = known.tasks;
        self.resources = known.resources;
        self.by_place = known.by_place;
        self.accesses = known.accesses;
        self.by_access = known.by_access;
        self.pairs = known.pairs;
        self.known_pairs = known.known_pairs;
        self.scratch = known.scratch;
    }

    /// Whether it is worth to be kept for another exploration: most programs are small.
    pub fn is_small(&self) -> bool {
        const FEW: usize = 256;
        self.kept.is_none() && self.tasks.len().max(self.resources.len()).max(self.pairs.len()) <= FEW
    }

    /// Executions that it was made of.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Steps of the longest execution that ended by itself.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The most choices of an execution that ended by itself: PCT's k.
    pub fn choices(&self) -> u64 {
        self.choices
    }

    /// The most tasks of an execution: PCT's n.
    pub fn tasks(&self) -> u64 {
        self.concurrent
    }

    /// The most outcomes that a step had to choose from.
    pub fn outcomes(&self) -> u64 {
        self.outcomes
    }

    /// Whether some task has noticed when another one, or a timer, came to its end. Where none does,
    /// an exit commutes with everything.
    pub(super) fn observes_exits(&self) -> bool {
        self.observes_exits
    }

    /// Whether some task yields: how many steps it makes depends on others then.
    pub(super) fn yields(&self) -> bool {
        self.yields
    }

    /// The name of the `ordinal`-th child (from 1) of the task named `parent`.
    pub(super) fn child(&self, parent: u32, ordinal: u32) -> u32 {
        let parent = self.tasks.get(parent as usize);
        parent.and_then(|p| p.children.get(ordinal as usize - 1)).copied().unwrap_or(UNKNOWN)
    }

    /// The number of named tasks.
    pub(super) fn names(&self) -> usize {
        self.tasks.len()
    }

    /// The most steps of each task by name, but for those that commute with everything; where tasks yield, the fewest:
    /// the others are turns of a loop that waits.
    pub(super) fn steps_of_tasks(&self) -> impl Iterator<Item = u64> {
        self.tasks.iter().map(|task| if self.yields { task.fewest.unwrap_or(0) } else { task.steps })
    }

    /// Adds to each task's number, by name, those of all its descendants.
    pub(super) fn add_descendants(&self, numbers: &mut [u64]) {
        for (at, node) in self.tasks.iter().enumerate().rev() {
            let known = node.children.iter().filter(|child| **child != UNKNOWN);
            numbers[at] += known.map(|child| numbers[*child as usize]).sum::<u64>();
        }
    }

    /// What tasks can race for, each with the number of accesses to it.
    pub(super) fn targets(&self) -> impl Iterator<Item = (u64, Target)> {
        let shared = self.resources.iter().enumerate().filter(|(_, r)| r.written && r.touched.len() > 1);
        shared.map(|(index, r)| {
            let accesses = r.touched.iter().map(|(_, count)| count).sum();
            (accesses, Target { created_at: r.created_at, nth: r.nth, index: index as u32 })
        })
    }

    /// Who touches a resource, and at most how often.
    pub(super) fn touched(&self, resource: u32) -> &[(u32, u64)] {
        &self.resources[resource as usize].touched
    }

    /// Pairs of accesses that meet at a resource; each stands for two orders.
    pub(super) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The pair number `index`.
    pub(super) fn pair(&self, index: usize) -> Option<(Access, Access)> {
        let (a, b) = *self.pairs.get(index)?;
        Some((self.accesses[a as usize], self.accesses[b as usize]))
    }

    /// Adds the execution that `engine` has made. `contested` is the number of choices that the
    /// strategy saw two or more tasks in question at, if it has counted them.
    pub fn learn(&mut self, engine: &Engine, contested: Option<u64>) {
        self.executions += 1;
        let ended = |kind: &FindingKind| !matches!(kind, FindingKind::StepLimit | FindingKind::Livelock);
        if engine.finding().is_none_or(|finding| ended(&finding.kind)) {
            self.steps = self.steps.max(engine.steps().len() as u64);
            let counted = || engine.steps().iter().filter(|s| s.was_choice && !is_silent(s.kind)).count() as u64;
            self.choices = self.choices.max(contested.unwrap_or_else(counted));
        }
        // The clock is no task of the program.
        self.concurrent = self.concurrent.max(engine.tasks().len() as u64 - 1);
        let mut scratch = std::mem::replace(&mut self.scratch, Scratch::new());
        let Scratch { tasks, made, resources, by_place, seen, room } = &mut scratch;
        std::mem::swap(&mut self.scratch.room, room);
        self.name_tasks(engine, tasks);
        self.name_resources(engine, resources, by_place);
        made.clear();
        made.resize(tasks.len(), 0);
        if seen.len() < resources.len() {
            seen.resize_with(resources.len(), Seen::default);
        }
        seen[..resources.len()].iter_mut().for_each(Seen::clear);
        let mut seen_traits = Traits::NONE;
        for step in engine.steps() {
            seen_traits = seen_traits.with(step.kind.traits());
            made[step.task.index()] += u64::from(!is_silent(step.kind));
            if is_access(step.kind) && step.resource.index() < resources.len() {
                let access = self.access(step);
                seen[step.resource.index()].add(step, access);
            }
        }
        self.observes_exits |= seen_traits.has(Traits::OBSERVES_EXITS);
        self.yields |= seen_traits.has(Traits::GIVES_WAY);
        if seen_traits.has(Traits::CHOOSES) {
            let choices = engine.steps().iter().filter(|step| step.kind.is(Traits::CHOOSES));
            self.outcomes = choices.map(Step::outcomes).fold(self.outcomes, u64::max);
        }
        for (name, made) in tasks.iter().zip(made).filter(|(name, _)| **name != UNKNOWN) {
            self.tasks[*name as usize].add(*made, *made);
        }
        for ((_, name), seen) in resources.iter().zip(seen) {
            self.add_resource(*name, tasks, seen);
        }
        std::mem::swap(&mut self.scratch.room, &mut scratch.room);
        self.scratch = scratch;
    }

    /// To begin with, for a strategy that [keeps](super::Strategy::drawn) what shows something new.
    pub fn with_kept(kept: Kept) -> Self {
        Profile { kept: Some(Box::new(kept)), ..Profile::default() }
    }

    /// What is kept of executions that have shown something new.
    pub fn kept(&self) -> Option<&Kept> {
        self.kept.as_deref()
    }

    /// Keeps the execution that `engine` has made, as `drawn`, if it has shown something new.
    pub fn keep(&mut self, engine: &Engine, drawn: &Drawn) {
        self.kept.get_or_insert_default().learn(engine, drawn);
    }

    /// Adds what another profile has learned.
    pub fn merge(&mut self, other: &Profile) {
        self.executions += other.executions;
        self.steps = self.steps.max(other.steps);
        self.choices = self.choices.max(other.choices);
        self.concurrent = self.concurrent.max(other.concurrent);
        self.observes_exits |= other.observes_exits;
        self.yields |= other.yields;
        self.outcomes = self.outcomes.max(other.outcomes);
        if let Some(theirs) = &other.kept {
            self.kept.get_or_insert_default().merge(theirs);
        }
        let mut tasks = vec![UNKNOWN; other.tasks.len()];
        for (at, node) in other.tasks.iter().enumerate() {
            if at == 0 {
                tasks[0] = self.main();
            }
            let mine = tasks[at];
            if let Some(fewest) = node.fewest {
                self.tasks[mine as usize].add(fewest, node.steps);
            }
            for (ordinal, child) in node.children.iter().enumerate().filter(|(_, child)| **child != UNKNOWN) {
                tasks[*child as usize] = self.grow_child(mine, ordinal as u32 + 1);
            }
        }
        for known in &other.resources {
            let mine = self.resource(known.created_at, known.nth);
            self.resources[mine as usize].written |= known.written;
            for (task, count) in &known.touched {
                self.touch(mine, tasks[*task as usize], *count);
            }
        }
        let accesses: Vec<u32> = other.accesses.iter().map(|access| self.number(*access)).collect();
        for (a, b) in &other.pairs {
            self.add_pair(accesses[*a as usize], accesses[*b as usize]);
        }
    }

    fn add_pair(&mut self, a: u32, b: u32) {
        let pair = (a.min(b), a.max(b));
        if self.known_pairs.is_new(pair) {
            self.pairs.push(pair);
        }
    }

    fn main(&mut self) -> u32 {
        if self.tasks.is_empty() {
            self.add_task();
        }
        0
    }

    fn add_task(&mut self) {
        let children = self.scratch.room.children.pop().unwrap_or_default();
        self.tasks.push(Node { children, ..Node::default() });
    }

    fn grow_child(&mut self, parent: u32, ordinal: u32) -> u32 {
        let new = self.tasks.len() as u32;
        let children = &mut self.tasks[parent as usize].children;
        let at = ordinal as usize - 1;
        if children.len() <= at {
            children.resize(at + 1, UNKNOWN);
        }
        if children[at] == UNKNOWN {
            children[at] = new;
            self.add_task();
        }
        self.tasks[parent as usize].children[at]
    }

    /// The names of the execution's tasks.
    fn name_tasks(&mut self, engine: &Engine, names: &mut Vec<u32>) {
        names.clear();
        names.resize(engine.tasks().len(), UNKNOWN);
        names[TaskId::MAIN.index()] = self.main();
        for (id, task) in engine.tasks().iter().enumerate().filter(|(_, task)| task.parent != TaskId::NONE) {
            names[id] = self.grow_child(names[task.parent.index()], task.ordinal);
        }
    }

    /// The names of the execution's resources. They are those of the execution before as long as the resources were
    /// made at the same places, one after the other.
    fn name_resources(&mut self, engine: &Engine, names: &mut Vec<(Site, u32)>, by_place: &mut Lookup<usize>) {
        let resources = engine.resources();
        let as_before = names.len() >= resources.len()
            && names.iter().zip(resources).all(|((site, _), resource)| *site == resource.created_at);
        if as_before {
            return names.truncate(resources.len());
        }
        names.clear();
        by_place.clear();
        for resource in resources {
            let nth = by_place.count(resource.created_at.0);
            names.push((resource.created_at, self.resource(resource.created_at, nth)));
        }
    }

    fn resource(&mut self, created_at: Site, nth: u32) -> u32 {
        let new = self.resources.len() as u32;
        let name = self.by_place.number((created_at.0, nth), new);
        if name == new {
            let touched = self.scratch.room.touched.pop().unwrap_or_default();
            self.resources.push(Known { created_at, nth, written: false, touched });
        }
        name
    }

    fn touch(&mut self, resource: u32, task: u32, count: u64) {
        let touched = &mut self.resources[resource as usize].touched;
        match touched.iter_mut().find(|(t, _)| *t == task) {
            Some((_, most)) => *most = (*most).max(count),
            None => touched.push((task, count)),
        }
    }

    fn access(&mut self, step: &Step) -> u32 {
        self.number(Access { kind: step.kind, site: step.site })
    }

    fn number(&mut self, access: Access) -> u32 {
        let new = self.accesses.len() as u32;
        let number = self.by_access.number((access.kind as u8, access.site.0), new);
        if number == new {
            self.accesses.push(access);
        }
        number
    }

    fn add_resource(&mut self, name: u32, tasks: &[u32], seen: &Seen) {
        self.resources[name as usize].written |= seen.written;
        for (task, count) in &seen.tasks {
            if tasks[task.index()] != UNKNOWN {
                self.touch(name, tasks[task.index()], *count);
            }
        }
        for (i, (x, by_x)) in seen.accesses.iter().enumerate() {
            for (y, by_y) in &seen.accesses[i + 1..] {
                let read = |access: &u32| is_read(self.accesses[*access as usize].kind);
                let apart = by_x != by_y || by_x.is_none();
                if apart && !(read(x) && read(y)) {
                    self.add_pair(*x, *y);
                }
            }
        }
    }
}

/// What learning from one execution leaves to the next: room.
#[derive(Debug)]
struct Scratch {
    /// The names of tasks, and the steps of each.
    tasks: Vec<u32>,
    made: Vec<u64>,
    /// The places and names of resources, and how many were made at each place.
    resources: Vec<(Site, u32)>,
    by_place: Lookup<usize>,
    seen: Vec<Seen>,
    room: Room,
}

/// Lists of tasks and resources that were forgotten.
#[derive(Debug, Default)]
struct Room {
    children: Vec<Vec<u32>>,
    touched: Vec<Vec<(u32, u64)>>,
}

fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
    list.clear();
    list
}

impl Scratch {
    const fn new() -> Self {
        Scratch {
            tasks: Vec::new(),
            made: Vec::new(),
            resources: Vec::new(),
            by_place: Lookup::new(),
            seen: Vec::new(),
            room: Room { children: Vec::new(), touched: Vec::new() },
        }
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Scratch::new()
    }
}

/// What one execution did at a resource.
#[derive(Debug, Default)]
struct Seen {
    written: bool,
    tasks: Vec<(TaskId, u64)>,
    /// Each with the one task that made it, or nobody if several did.
    accesses: Vec<(u32, Option<TaskId>)>,
}

impl Seen {
    fn clear(&mut self) {
        self.written = false;
        self.tasks.clear();
        self.accesses.clear();
    }

    fn add(&mut self, step: &Step, access: u32) {
        self.written |= !is_read(step.kind);
        match self.tasks.iter_mut().find(|(task, _)| *task == step.task) {
            Some((_, count)) => *count += 1,
            None => self.tasks.push((step.task, 1)),
        }
        match self.accesses.iter_mut().find(|(known, _)| *known == access) {
            Some((_, by)) if *by != Some(step.task) => *by = None,
            Some(_) => {}
            None => self.accesses.push((access, Some(step.task))),
        }
    }
}

/// Whether an operation commutes with everything, exits at least where nobody looks at them.
#[inline]
pub(super) fn is_silent(kind: OpKind) -> bool {
    kind.is(Traits::SILENT)
}

#[inline]
pub(super) fn is_read(kind: OpKind) -> bool {
    kind.is(Traits::LOOKS)
}

/// Whether an operation competes with others for its resource. Who gives something back does not: the
/// order that matters is that of the requests.
#[inline]
pub(super) fn is_access(kind: OpKind) -> bool {
    kind.is(Traits::COMPETES)
}
