//! The case: everything that the rooms of an explanation look at, and what they come to.

use super::accesses::{Access, Accesses, is_no_state};
use super::class::Class;
use super::explanation::{RaceWindow, Stack};
use super::knowledge::{Knowledge, Tally};
use crate::names::Names;
use crate::processes::Told;
use crate::record::{Details, Place, Record};
use crate::source::{Sources, is_identifier};
use drawloom_engine::sorted::sort_by_key;

/// A failing execution and what is known besides.
pub(super) struct Case<'a> {
    /// As it failed.
    pub(super) record: &'a Record,
    /// The same with what the tasks would have done next; steps, tasks and resources have the same numbers.
    pub(super) whole: &'a Record,
    /// Steps before the failure. The execution may have gone on for a while: a panic is a finding when nobody
    /// receives it.
    end: u32,
    pub(super) names: Names<'a>,
    pub(super) sources: &'a Sources<'a>,
    /// Of the whole.
    pub(super) accesses: Accesses,
    pub(super) knowledge: &'a Knowledge,
    /// By resource: what it is called in every execution.
    keys: Vec<String>,
}

/// What is to blame.
#[derive(Default)]
pub(super) struct Blame {
    pub(super) class: Option<Class>,
    pub(super) subkind: Option<&'static str>,
    pub(super) sentence: String,
    pub(super) pattern: Option<String>,
    pub(super) reasons: Vec<String>,
    pub(super) window: Option<RaceWindow>,
    /// The steps that show it; what opens the window first, what does the harm, what closes it.
    pub(super) opens: Option<Access>,
    pub(super) intrudes: Vec<Access>,
    pub(super) closes: Option<Access>,
    /// A step that does the harm and is no access: a notification.
    pub(super) harm: Option<u32>,
    /// What else belongs into the trace: all that happens to these resources.
    pub(super) resources: Vec<u32>,
    /// Steps that are shown in any case.
    pub(super) steps: Vec<u32>,
    pub(super) stacks: Vec<Stack>,
}

impl<'a> Case<'a> {
    pub(super) fn of(
        record: &'a Record,
        whole: &'a Record,
        knowledge: &'a Knowledge,
        sources: &'a Sources<'a>,
    ) -> Case<'a> {
        let names = Names::of(whole, sources);
        let accesses = Accesses::of(whole, &names, sources);
        let keys = names.keys();
        Case { record, whole, end: end(record), names, sources, accesses, knowledge, keys }
    }

    /// What is known of the processes, if there were any.
    pub(super) fn told(&self) -> Told<'_> {
        Told { record: self.record, names: &self.names }
    }

    /// The number of steps until the failure.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// What a resource is called in every execution.
    pub(super) fn key(&self, resource: u32) -> &str {
        &self.keys[resource as usize]
    }

    /// How executions have used a resource.
    pub(super) fn tally(&self, resource: u32) -> Option<&Tally> {
        self.knowledge.of(self.key(resource))
    }

    pub(super) fn operation(&self, step: u32) -> &str {
        self.whole.operation(&self.whole.steps[step as usize])
    }

    pub(super) fn place_of(&self, step: u32) -> Option<&Place> {
        self.whole.place(self.whole.steps.get(step as usize)?.place)
    }

    /// What a step is about: of several parts those that it writes, or else all.
    pub(super) fn subject(&self, step: u32) -> String {
        let step = &self.whole.steps[step as usize];
        self.whole.subject(&self.names, step)
    }

    /// The place to show for a step: of a piece of a coroutine, the line that uses what it is about.
    pub(super) fn shown_at(&self, step: u32) -> Option<Place> {
        self.shown_for(step, || self.subject(step))
    }

    /// The same for an access: one piece may touch several things, each in a line of its own.
    pub(super) fn accessed_at(&self, access: &Access) -> Option<Place> {
        self.shown_for(access.step, || self.names.bare(access.resource).to_owned())
    }

    /// The line of a step, or of the piece that it is, that uses what is called `name`.
    fn shown_for(&self, step: u32, name: impl FnOnce() -> String) -> Option<Place> {
        let place = self.place_of(step)?;
        if !self.sources.begins_piece(place) {
            return Some(place.clone());
        }
        let name = name();
        // Of several things that are one to the engine, any may be used first.
        if let Some(first) = name.contains(", ").then(|| self.sources.first_of_piece(place)).flatten() {
            return Some(first);
        }
        // Types say nothing of where it is used. An attribute has its dot, which a variable or a word in a text has not.
        let attribute = name.split_once('.').filter(|(of, _)| of.starts_with(char::is_uppercase));
        let attribute = attribute.map(|(_, name)| name).filter(|name| is_identifier(name));
        let words = name.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words = words.filter(|w| w.starts_with(|c: char| c.is_lowercase() || c == '_'));
        let names: Vec<String> = match attribute {
            Some(attribute) => vec![format!(".{attribute}")],
            None => words.map(str::to_owned).collect(),
        };
        let plain = ["dict", "list", "set", "deque"];
        let names: Vec<String> = names.into_iter().filter(|name| !plain.contains(&name.as_str())).collect();
        Some(self.sources.in_piece(place, &names).unwrap_or_else(|| place.clone()))
    }

    /// Whether it is taken and given back; an object of a library may be a lock.
    pub(super) fn is_lock(&self, resource: u32) -> bool {
        matches!(self.record.resources[resource as usize].kind.as_str(), "mutex" | "rwlock" | "object")
    }

    /// The step in which `task` begins to wait for a notification between two others, or is woken without one.
    pub(super) fn notification_awaited(&self, task: u32, from: u32, to: u32) -> Option<u32> {
        let steps = &self.whole.steps;
        let is_condvar = |resource: Option<u32>| {
            resource.is_some_and(|resource| self.whole.resources[resource as usize].kind == "condvar")
        };
        (from..to).find(|i| {
            let step = &steps[*i as usize];
            let waits = self.operation(*i) == "wait" && is_condvar(step.resource);
            step.task == task && (waits || self.is_spurious(*i))
        })
    }

    /// Whether a step is the choice that a task which waits for a notification wakes up without one. It gives the lock back then,
    /// and takes it again.
    pub(super) fn is_spurious(&self, i: u32) -> bool {
        let steps = &self.whole.steps;
        let step = &steps[i as usize];
        if self.operation(i) != "choose" || step.resource.is_some() || step.value != Some(1) {
            return false;
        }
        let mut own = (i + 1..steps.len() as u32).filter(|k| steps[*k as usize].task == step.task);
        own.next().is_some_and(|k| self.operation(k) == "unlock")
            && own.next().is_some_and(|k| self.operation(k) == "lock" && steps[k as usize].place == step.place)
    }

    /// The accesses by which the failing task learned what it failed by: those on the line of the panic, or
    /// else its last one.
    pub(super) fn telling(&self) -> Vec<&Access> {
        let finding = &self.record.finding;
        let place = self.record.place(finding.place);
        // An end of a channel that is dropped, at the line that has made it, tells nothing.
        let is_dropped = |a: &Access| {
            let (step, made) = (&self.whole.steps[a.step as usize], &self.whole.resources[a.resource as usize]);
            made.kind == "object" && step.place.is_some() && step.place == made.created_at
        };
        let own = || {
            let before = |a: &&Access| a.task == finding.task && a.step < self.end() && !is_dropped(a);
            self.accesses.all.iter().filter(before)
        };
        let on_its_line = |a: &&Access| {
            let at = self.place_of(a.step);
            place.zip(at).is_some_and(|(p, at)| p.file == at.file && p.line == at.line)
        };
        let mut here: Vec<&Access> = own().filter(on_its_line).collect();
        if here.is_empty() {
            here.extend(own().next_back());
            // What was read just before, on one or two lines, belongs to the same judgement.
            let line = |a: &&Access| self.place_of(a.step).map(|p| (p.file.as_str(), p.line));
            let last = here.first().and_then(line);
            let near = |a: &&Access| {
                let before =
                    |(file, line): (&str, u32)| last.is_some_and(|(f, l)| f == file && line <= l && l - line <= 3);
                a.mode.reads() && line(a).is_some_and(before)
            };
            let more: Vec<&Access> = own().rev().skip(1).take(3).filter(near).collect();
            here.extend(more);
        }
        sort_by_key(&mut here, |a| a.at);
        // A loop comes by its line many times: the last round counts.
        let last = here.iter().map(|a| a.at).max().unwrap_or(0);
        let mut latest: Vec<&Access> = Vec::new();
        for access in here.into_iter().rev() {
            if !latest.iter().any(|a| a.resource == access.resource) && (access.at + 200 > last) {
                latest.push(access);
            }
        }
        latest
    }
}

/// A task that panics gives back what it holds, and exits; what it did before that is the last that counts.
fn end(record: &Record) -> u32 {
    let all = record.steps.len() as u32;
    if !matches!(record.finding.details, Details::Panic { .. }) {
        return all;
    }
    let unwinds = |operation: &str| {
        matches!(
            operation,
            "exit" | "unlock" | "unlock read" | "unlock write" | "drop sender" | "drop receiver" | "release" | "unpark"
        )
    };
    let own = |i: &u32| record.steps[*i as usize].task == record.finding.task;
    let runs_it = |i: u32| {
        let resource = record.steps[i as usize].resource.map(|r| &record.resources[r as usize]);
        resource.is_some_and(|resource| is_no_state(record, resource))
    };
    let last =
        (0..all).rev().filter(own).find(|i| !unwinds(record.operation(&record.steps[*i as usize])) && !runs_it(*i));
    last.map_or(all, |last| last + 1)
}
