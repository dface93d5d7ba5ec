//! One walk along the steps: who held what, who waited, and what each resource came to.

use drawloom_engine::sorted::{Map, sort_by_key};

use super::data::Texts;
use crate::names::{Names, count};
use crate::record::waits::{Wait, may_wait};
use crate::record::{BLOCKED, Record, StepRecord};
use crate::terminal::operation::shown;
use crate::terminal::reason::blocked;

/// Holders and waiters that a state names, lest it be as long as there are tasks.
const MOST_NAMED: usize = 6;

/// A stretch of the trace, in one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bar {
    pub(crate) task: u32,
    pub(crate) resource: Option<u32>,
    pub(crate) from: u32,
    /// The number of steps, if it was never ended.
    pub(crate) to: u32,
    /// Of a lock, whether others may hold it too.
    pub(crate) shared: bool,
}

/// From this step on (none: from the beginning), the resource is as the text says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    pub(super) step: Option<u32>,
    pub(super) resource: u32,
    pub(super) text: i32,
}

/// What the walk has found.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) holds: Vec<Bar>,
    pub(super) waits: Vec<Bar>,
    pub(super) changes: Vec<Change>,
}

/// Walks along all steps of `record`; those before `first` are not shown.
pub(super) fn walk(record: &Record, names: &Names<'_>, waits: &[Wait], first: u32, texts: &mut Texts) -> Walk {
    let values = values(record);
    let mut walker = Walker {
        record,
        names,
        waits,
        resources: record.resources.iter().map(|_| Resource::default()).collect(),
        granted: Map::default(),
        previous: vec![None; record.tasks.len()],
        found: Walk::default(),
    };
    for (resource, value) in walker.resources.iter_mut().zip(&values.initial) {
        resource.value = *value;
    }
    for (i, step) in (0..).zip(&record.steps) {
        if i == first {
            walker.note_all(texts);
        }
        walker.step(i, step);
        walker.note(i, step, values.after[i as usize], (i >= first).then_some(&mut *texts));
    }
    if record.steps.is_empty() {
        walker.note_all(texts);
    }
    walker.end();
    walker.found
}

/// Who held what, and from which step to which.
pub(crate) fn holds(record: &Record, names: &Names<'_>, waits: &[Wait]) -> Vec<Bar> {
    walk(record, names, waits, u32::MAX, &mut Texts::default()).holds
}

/// What is known of one resource at a step.
#[derive(Default)]
struct Resource {
    holders: Vec<Bar>,
    /// Requests that wait, the longest first.
    waiting: Vec<u32>,
    /// Those of them whose end the record does not tell.
    unended: Vec<u32>,
    /// Messages sent, permits taken, arrivals.
    put: u64,
    /// Messages received, permits given back.
    taken: u64,
    /// What else there is to say: how an initialiser ended, who wrote a cell.
    word: Option<String>,
    value: Option<u64>,
    text: Option<i32>,
}

struct Walker<'a> {
    record: &'a Record,
    names: &'a Names<'a>,
    waits: &'a [Wait],
    resources: Vec<Resource>,
    /// By the step that grants: the requests.
    granted: Map<u32, Vec<u32>>,
    /// By task: its last step.
    previous: Vec<Option<u32>>,
    found: Walk,
}

impl Walker<'_> {
    fn step(&mut self, i: u32, step: &StepRecord) {
        let word = self.record.operation(step);
        let previous = self.previous[step.task as usize].replace(i);
        let wait = self.waits[i as usize];
        if let (true, Some(from)) = (wait.came_late, previous) {
            self.found.waits.push(Bar { task: step.task, resource: step.resource, from, to: i, shared: false });
        }
        self.release(i, step, word);
        let granted = self.granted.remove(&i).unwrap_or_default();
        let woken = !granted.is_empty();
        granted.into_iter().for_each(|request| self.grant(i, request));
        let for_ever = self.record.outcome(step) == BLOCKED;
        let is_last = wait.ended_by.is_none() && wait.next.is_none() && !for_ever;
        if may_wait(word) && (wait.ended_by.is_some() || for_ever || is_last && self.must_wait(step)) {
            if let Some(by) = wait.ended_by {
                self.granted.at(by).push(i);
            }
            if let Some(resource) = step.resource.map(|r| &mut self.resources[r as usize]) {
                resource.waiting.push(i);
                if wait.ended_by.is_none() {
                    resource.unended.push(i);
                }
            }
        } else {
            self.hold(i, step);
        }
        self.grant_last_requests(i, step, woken);
    }

    /// The wait after `request` is over.
    fn grant(&mut self, i: u32, request: u32) {
        let step = self.record.steps[request as usize];
        self.found.waits.push(Bar { task: step.task, resource: step.resource, from: request, to: i, shared: false });
        if let Some(resource) = step.resource {
            self.resources[resource as usize].waiting.retain(|waits| *waits != request);
        }
        self.hold(i, &step);
    }

    /// Whether a request has to wait as things stand. Only asked of the last step of a task: of the others
    /// the record tells.
    fn must_wait(&self, request: &StepRecord) -> bool {
        let Some(resource) = request.resource.map(|r| &self.resources[r as usize]) else { return false };
        match self.record.operation(request) {
            "lock" | "write" | "call_once" => !resource.holders.is_empty(),
            "read" => resource.holders.iter().any(|hold| !hold.shared),
            "recv" => request.value.is_some_and(|ticket| resource.put <= ticket),
            "wait" => true,
            _ => false,
        }
    }

    /// What step `i` lets go on of those whose next step was never made.
    fn grant_last_requests(&mut self, i: u32, step: &StepRecord, woken: bool) {
        let notifies = matches!(self.record.operation(step), "notify_one" | "notify_all");
        let all = self.record.operation(step) == "notify_all";
        let mut wakes = notifies && self.record.outcome(step) == "ok" && (all || !woken);
        for at in self.touched(step) {
            // First come, first served: only the longest waiter can be next.
            while let Some(&request) = self.resources[at].unended.first() {
                let is_first = self.resources[at].waiting.first() == Some(&request);
                let must_wait = self.must_wait(&self.record.steps[request as usize]);
                if request == i || !is_first || must_wait && !wakes {
                    break;
                }
                wakes &= all;
                self.resources[at].unended.remove(0);
                self.grant(i, request);
            }
        }
    }

    /// The resource of a step, and the mutex that a wait on a condition variable gives back.
    fn touched(&self, step: &StepRecord) -> impl Iterator<Item = usize> + use<> {
        let mutex = match self.record.operation(step) {
            "wait" => step.argument.and_then(|i| u32::try_from(i).ok()),
            _ => None,
        };
        let known = self.resources.len();
        let parts: Vec<u32> = self.record.parts(step).into_iter().map(|(part, _)| part).collect();
        step.resource.into_iter().chain(mutex).chain(parts).map(|r| r as usize).filter(move |r| *r < known)
    }

    /// What this step gives back.
    fn release(&mut self, i: u32, step: &StepRecord, word: &str) {
        let Some(resource) = step.resource else { return };
        match word {
            "unlock" | "unlock write" | "initialised" => self.close(i, resource, |hold| !hold.shared),
            "unlock read" => {
                let own = |hold: &Bar| hold.shared && hold.task == step.task;
                let any_own = self.resources[resource as usize].holders.iter().any(own);
                // A guard may have been sent to another task.
                self.close(i, resource, |hold| if any_own { own(hold) } else { hold.shared });
            }
            "downgrade" => {
                self.close(i, resource, |hold| !hold.shared);
                let hold = Bar { task: step.task, resource: Some(resource), from: i, to: 0, shared: true };
                self.resources[resource as usize].holders.push(hold);
            }
            "wait" => {
                let mutex = step.argument.and_then(|i| u32::try_from(i).ok());
                if let Some(mutex) = mutex.filter(|mutex| (*mutex as usize) < self.resources.len()) {
                    self.close(i, mutex, |hold| !hold.shared);
                }
            }
            _ => {}
        }
        for (part, _) in self.record.parts(step).into_iter().filter(|(_, writes)| *writes) {
            self.resources[part as usize].word = Some(format!("written by {}", self.names.path(step.task)));
        }
        let state = &mut self.resources[resource as usize];
        match word {
            "initialised" => {
                state.word = Some(if step.argument == Some(0) { "panicked" } else { "initialised" }.to_owned());
            }
            "write cell" => state.word = Some(format!("written by {}", self.names.path(step.task))),
            "release" => state.taken = state.taken.saturating_add(step.argument.unwrap_or(1)),
            "send" | "try_send" if self.record.outcome(step) == "ok" => state.put += 1,
            "recv" | "try_recv" if self.record.outcome(step) == "ok" => state.taken += 1,
            "barrier wait" => state.put += 1,
            "drop sender" | "drop receiver" if self.record.outcome(step) == "disconnected" => {
                state.word = Some("closed".to_owned());
            }
            _ => {}
        }
    }

    fn close(&mut self, i: u32, resource: u32, which: impl Fn(&Bar) -> bool) {
        let holders = &mut self.resources[resource as usize].holders;
        if let Some(at) = holders.iter().position(which) {
            let hold = holders.remove(at);
            self.found.holds.push(Bar { to: i, ..hold });
        }
    }

    /// What a request that waits no longer has now, from step `i` on.
    fn hold(&mut self, i: u32, request: &StepRecord) {
        let Some(resource) = request.resource else { return };
        let shared = match (self.record.operation(request), self.record.outcome(request)) {
            ("lock" | "try_lock" | "write" | "try_write", "ok") => false,
            ("read" | "try_read", "ok") => true,
            ("call_once", "runs it" | "runs it after a panic") => {
                self.resources[resource as usize].word = None;
                false
            }
            ("acquire" | "try_acquire", "ok") => {
                let state = &mut self.resources[resource as usize];
                state.put = state.put.saturating_add(request.argument.unwrap_or(1));
                return;
            }
            _ => return,
        };
        let hold = Bar { task: request.task, resource: Some(resource), from: i, to: 0, shared };
        self.resources[resource as usize].holders.push(hold);
    }

    /// Writes down what every resource is before the first step that is shown.
    fn note_all(&mut self, texts: &mut Texts) {
        for at in 0..self.resources.len() {
            let text = texts.intern(&self.said(at));
            self.resources[at].text = Some(text);
            self.found.changes.push(Change { step: None, resource: at as u32, text });
        }
    }

    /// Writes down what the resources that the step may have touched are now; without texts, only remembers.
    fn note(&mut self, i: u32, step: &StepRecord, value: Option<u64>, mut texts: Option<&mut Texts>) {
        for at in self.touched(step) {
            if value.is_some() {
                self.resources[at].value = value;
            }
            let Some(texts) = texts.as_deref_mut() else { continue };
            let text = texts.intern(&self.said(at));
            if self.resources[at].text.replace(text) != Some(text) {
                self.found.changes.push(Change { step: Some(i), resource: at as u32, text });
            }
        }
    }

    /// The value of an atomic, where it is known; else the state.
    fn said(&self, at: usize) -> String {
        match self.resources[at].value {
            Some(value) => shown(value),
            None => self.state(at as u32),
        }
    }

    /// What is to be said of a resource now.
    fn state(&self, index: u32) -> String {
        let resource = &self.resources[index as usize];
        let record = &self.record.resources[index as usize];
        let all = |tasks: &mut dyn Iterator<Item = u32>| {
            let mut paths: Vec<&str> = (&mut *tasks).take(MOST_NAMED).map(|task| self.names.path(task)).collect();
            let more = match tasks.count() {
                0 => String::new(),
                more => format!("{more} more"),
            };
            paths.extend((!more.is_empty()).then_some(more.as_str()));
            paths.join(", ")
        };
        let holders = all(&mut resource.holders.iter().map(|hold| hold.task));
        let shared = resource.holders.iter().any(|hold| hold.shared);
        let there = |word: &str| resource.word.clone().unwrap_or_else(|| word.to_owned());
        let state = match record.kind.as_str() {
            "mutex" | "rwlock" => match (holders.is_empty(), shared) {
                (true, _) => "free".to_owned(),
                (false, false) => format!("held by {holders}"),
                (false, true) => format!("read by {holders}"),
            },
            "once" if holders.is_empty() => there("not run yet"),
            "once" => format!("runs in {holders}"),
            "cell" => there("not written yet"),
            "channel" => {
                // A message that its sender could not put in yet is not in it.
                let full = record.size.unwrap_or(u64::MAX);
                let messages = resource.put.saturating_sub(resource.taken).min(full);
                let messages = if messages == 0 { "empty".to_owned() } else { count(messages, "message") };
                resource.word.iter().fold(messages, |text, word| format!("{text}, {word}"))
            }
            "condvar" if resource.waiting.is_empty() => "nobody waits".to_owned(),
            "semaphore" => format!("{} taken", count(resource.put.saturating_sub(resource.taken), "permit")),
            "barrier" => {
                let size = record.size.unwrap_or(1).max(1);
                format!("{} of {size} have come", resource.put % size)
            }
            _ => String::new(),
        };
        match (resource.waiting.as_slice(), record.kind.as_str()) {
            ([], _) | (_, "barrier") => state,
            (waiting, _) => {
                let verb = if waiting.len() == 1 { "waits" } else { "wait" };
                let waiting = format!(
                    "{} {verb}",
                    all(&mut waiting.iter().map(|request| self.record.steps[*request as usize].task))
                );
                if state.is_empty() { waiting } else { format!("{state}; {waiting}") }
            }
        }
    }

    /// What nobody gave back, and what nobody ended.
    fn end(&mut self) {
        let to = self.record.steps.len() as u32;
        for resource in &mut self.resources {
            self.found.holds.extend(resource.holders.drain(..).map(|hold| Bar { to, ..hold }));
            for request in resource.unended.drain(..) {
                let StepRecord { task, resource, .. } = self.record.steps[request as usize];
                self.found.waits.push(Bar { task, resource, from: request, to, shared: false });
            }
        }
        // A join or a park is no step before its wait is over.
        for b in blocked(self.record).iter().filter(|b| !self.record.waits_in_a_step(b)) {
            if let Some(from) = self.previous[b.task as usize] {
                self.found.waits.push(Bar { task: b.task, resource: b.resource, from, to, shared: false });
            }
        }
        sort_by_key(&mut self.found.holds, |bar| (bar.from, bar.task));
        sort_by_key(&mut self.found.waits, |bar| (bar.from, bar.task));
    }
}

/// By resource, the value that it begins with; by step, the value after it, of accesses to atomics.
struct Values {
    initial: Vec<Option<u64>>,
    after: Vec<Option<u64>>,
}

fn values(record: &Record) -> Values {
    let mut initial: Vec<Option<u64>> = vec![None; record.resources.len()];
    let mut after = vec![None; record.steps.len()];
    for (after, step) in after.iter_mut().zip(&record.steps) {
        let (Some(resource), Some(value)) = (step.resource, step.value) else { continue };
        let refused = record.outcome(step) == "refused";
        let (found, left) = match record.operation(step) {
            "load" | "spin_until" => (value, value),
            "compare-exchange" if refused => (value, value),
            "store" => (step.argument.unwrap_or(value), value),
            "read-modify-write" | "compare-exchange" => (value, step.argument.unwrap_or(value)),
            _ => continue,
        };
        initial[resource as usize].get_or_insert(found);
        *after = Some(left);
    }
    Values { initial, after }
}
