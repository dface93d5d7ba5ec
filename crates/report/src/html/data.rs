//! What the page knows of a record: columns of numbers, and every text once.

use drawloom_engine::sorted::Map;

use super::order::arrows;
use super::walk::{Bar, walk};
use super::{PageOptions, Shown, sentence};
use crate::explain::Fix;
use crate::names::Names;
use crate::paste::replay_line;
use crate::processes::{Kind, Row, Told, story};
use crate::record::waits::waits;
use crate::record::{BLOCKED, Details, PASSED, Record};
use crate::source::Sources;
use crate::terminal::operation::words;
use crate::terminal::reason::{Ending, endings, reason};

/// No text, no resource, no place.
const NONE: i32 = -1;

/// Texts, each once, by number.
#[derive(Default)]
pub(super) struct Texts {
    numbers: Map<String, i32>,
    all: Vec<String>,
}

impl Texts {
    /// The number of `text`; [`NONE`] for the empty one.
    pub(super) fn intern(&mut self, text: &str) -> i32 {
        if text.is_empty() {
            return NONE;
        }
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len() as i32;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

pub(super) struct RecordData<'a> {
    label: &'a str,
    kind: &'a str,
    /// What a task has done that did not end well, in the words of its language.
    ended: &'a str,
    passed: bool,
    sentence: String,
    details: String,
    /// The class of the mistake and the race window, a line each.
    why: Vec<String>,
    fixes: Vec<FixData<'a>>,
    test: &'a str,
    /// How it was found, in words: `seed 0x5eed`, `iteration 17`, …
    facts: Vec<String>,
    replay: Option<String>,
    tasks: Vec<TaskData<'a>>,
    resources: Vec<ResourceData<'a>>,
    places: Vec<(&'a str, u32, u32)>,
    /// Steps that are left out before the first one here.
    first: u32,
    steps: Columns,
    /// Rows after the last step: where the failing tasks were in the end.
    endings: Vec<EndingData>,
    /// Steps that show the failure themselves, as indices in `steps`.
    failing: Vec<u32>,
    /// From, to, whether they race; three numbers for each arrow.
    arrows: Vec<u32>,
    all_arrows: bool,
    /// Task, resource, from, to, shared; five numbers for each bar.
    holds: Vec<i32>,
    waits: Vec<i32>,
    /// Step (−1: from the beginning), resource, text; three numbers for each change.
    changes: Vec<i32>,
    /// From, to, resource.
    window: Option<(u32, u32, i32)>,
    /// The steps that show what went wrong, in their order.
    evidence: Vec<u32>,
    /// Among processes, the rows that tell what they said and how they ended.
    messages: Vec<MessageData>,
    /// The tasks that stand for nodes of a cluster.
    nodes: Vec<u32>,
    texts: Vec<String>,
}

struct TaskData<'a> {
    path: &'a str,
    tag: String,
    full: String,
    clock: bool,
    /// What it is called, without its path.
    name: String,
}

/// What could be done.
struct FixData<'a> {
    title: &'a str,
    effort: &'a str,
    /// What trying it came to.
    verified: Option<&'a str>,
    sketch: &'a str,
    closes: &'a str,
    cost: &'a str,
    risk: &'a str,
}

/// A row that tells what a process was told, or how it ended.
struct MessageData {
    step: u32,
    kind: &'static str,
    /// The other process, a task; none if there is none.
    other: i32,
    whom: String,
    text: String,
}

struct ResourceData<'a> {
    name: String,
    kind: &'a str,
    place: i32,
}

struct EndingData {
    task: u32,
    what: String,
    /// The rest of what it says, if that does not fit a row.
    told: String,
    place: i32,
}

/// One array for each property of a step.
#[derive(Default)]
struct Columns {
    task: Vec<u32>,
    verb: Vec<i32>,
    object: Vec<i32>,
    told: Vec<i32>,
    resource: Vec<i32>,
    /// A second resource: the mutex of a condition variable's wait.
    other: Vec<i32>,
    place: Vec<i32>,
    /// 1 if another task could have gone instead.
    choice: Vec<u8>,
    /// Why the task did not go on, at a switch.
    reason: Vec<i32>,
}

fn fix(fix: &Fix) -> FixData<'_> {
    FixData {
        title: &fix.title,
        effort: fix.effort.word(),
        verified: fix.verified.as_ref().map(|verified| verified.text.as_str()),
        sketch: &fix.sketch,
        closes: &fix.closes,
        cost: &fix.tradeoff,
        risk: &fix.risk,
    }
}

fn message(row: Row, names: &Names<'_>, first: u32) -> Option<MessageData> {
    let kind = match row.kind {
        Kind::Received => "received",
        Kind::Sent => "sent",
        Kind::Ended => "ended",
        Kind::Signalled => "signalled",
        Kind::Did => "did",
        Kind::Lost => "lost",
        Kind::Struck => "struck",
    };
    let name = |task: u32| names.role(task).unwrap_or_else(|| names.path(task)).to_owned();
    // A timer is more than the process that has set it.
    let timer =
        row.other.as_ref().filter(|other| other.starts_with("a timer")).map(|_| "a timer of ").unwrap_or_default();
    let whom = row.other_task.map(|task| format!("{timer}{}", name(task))).unwrap_or_default();
    Some(MessageData { step: row.step.checked_sub(first)?, kind, other: index(row.other_task), whom, text: row.text })
}

/// What the page knows of one record.
pub(super) fn record<'a>(shown: &Shown<'a>, options: &PageOptions<'_>) -> RecordData<'a> {
    let record = shown.record;
    let names = Names::of(record, &Sources::of(record, options.sources));
    let waits = waits(record);
    let mut texts = Texts::default();
    let first = record.steps.len().saturating_sub(options.max_steps) as u32;
    let walk = walk(record, &names, &waits, first, &mut texts);
    let (arrows, all_arrows) = arrows(record, first);
    let mut steps = Columns::default();
    for (i, step) in (0..).zip(&record.steps).skip(first as usize) {
        let words = words(record, &names, step);
        let switches = record.steps.get(i as usize + 1).is_none_or(|next| next.task != step.task);
        let why = if switches { reason(record, &names, &waits, i) } else { None };
        let mutex = (record.operation(step) == "wait").then_some(step.argument).flatten();
        steps.task.push(step.task);
        steps.verb.push(texts.intern(&words.verb));
        steps.object.push(texts.intern(&words.object));
        steps.told.push(texts.intern(&words.told));
        steps.resource.push(index(step.resource));
        steps.other.push(index(mutex.and_then(|m| u32::try_from(m).ok())));
        steps.place.push(index(step.place));
        steps.choice.push(u8::from(step.choice));
        steps.reason.push(texts.intern(&why.unwrap_or_default()));
    }
    let inside = |step: u32| step.checked_sub(first);
    // What began before the first step that is shown is there from the beginning.
    let bars = |bars: &[Bar]| -> Vec<i32> {
        let shown = bars.iter().filter(|bar| bar.to >= first);
        shown
            .flat_map(|bar| {
                let from = inside(bar.from).map_or(-1, |from| from as i32);
                [bar.task as i32, index(bar.resource), from, (bar.to - first) as i32, i32::from(bar.shared)]
            })
            .collect()
    };
    let changes = walk.changes.iter();
    let sentence = match options.sentence {
        Some(sentence) if record.finding.kind != PASSED => sentence.to_owned(),
        _ => match &record.explanation {
            Some(explanation) => explanation.sentence.clone(),
            None => sentence::sentence(record, &names),
        },
    };
    RecordData {
        label: shown.label,
        kind: record.kind_in_words(),
        ended: match record.finding.details {
            Details::Panic { .. } => record.meta.language.words.panicked,
            _ => "stuck",
        },
        passed: record.finding.kind == PASSED,
        sentence,
        details: sentence::details(record, &names, options.sources),
        why: record.explanation.as_deref().map(sentence::why).unwrap_or_default(),
        fixes: record.explanation.iter().flat_map(|explanation| &explanation.fixes).map(fix).collect(),
        test: &record.meta.test,
        facts: facts(record),
        replay: replay_line(record, None),
        tasks: (0..)
            .zip(&record.tasks)
            .map(|(i, task)| TaskData {
                path: &task.path,
                tag: names.tag(i),
                full: names.full(i),
                clock: task.path == "clock",
                name: names.role(i).unwrap_or(&task.path).to_owned(),
            })
            .collect(),
        resources: (0..)
            .zip(&record.resources)
            .map(|(i, resource)| ResourceData {
                name: names.resource(Some(i)).unwrap_or_default().to_owned(),
                kind: &resource.kind,
                place: index(resource.created_at),
            })
            .collect(),
        places: record.places.iter().map(|p| (p.file.as_str(), p.line, p.column)).collect(),
        first,
        steps,
        endings: rows_after_the_end(record, &names),
        failing: failing(record).into_iter().filter_map(inside).collect(),
        arrows: arrows.iter().flat_map(|a| [a.from, a.to, u32::from(a.race)]).collect(),
        all_arrows,
        holds: bars(&walk.holds),
        waits: bars(&walk.waits),
        changes: changes
            .flat_map(|c| {
                let step = c.step.and_then(inside).map_or(-1, |step| step as i32);
                [step, c.resource as i32, c.text]
            })
            .collect(),
        window: window(record).and_then(|(from, to, r)| Some((inside(from).unwrap_or(0), inside(to)?, index(r)))),
        evidence: evidence(record).into_iter().filter_map(inside).collect(),
        messages: story(Told { record, names: &names })
            .into_iter()
            .filter_map(|row| message(row, &names, first))
            .collect(),
        nodes: record.processes.nodes.clone(),
        texts: texts.all,
    }
}

fn index(index: Option<u32>) -> i32 {
    index.map_or(NONE, |index| index as i32)
}

fn facts(record: &Record) -> Vec<String> {
    let meta = &record.meta;
    let mut facts = Vec::new();
    if !meta.strategy.is_empty() {
        facts.push(meta.strategy.clone());
    }
    facts.extend(meta.seed.map(|seed| format!("seed {seed:#x}")));
    if meta.iteration > 0 {
        facts.push(format!("iteration {}", meta.iteration));
    }
    facts
}

/// The steps by which one sees that it failed.
fn failing(record: &Record) -> Vec<u32> {
    match &record.finding.details {
        Details::DataRace { earlier, later, .. } => vec![earlier.step, later.step],
        Details::Deadlock { .. } => {
            let for_ever = |i: &u32| record.outcome(&record.steps[*i as usize]) == BLOCKED;
            (0..record.steps.len() as u32).filter(for_ever).collect()
        }
        _ => Vec::new(),
    }
}

/// The race window: the one that the record has, or the stretch between the accesses of a data race.
fn window(record: &Record) -> Option<(u32, u32, Option<u32>)> {
    match (&record.window, &record.finding.details) {
        (Some(window), _) => Some((window.from, window.to, window.resource)),
        (None, Details::DataRace { resource, earlier, later }) => Some((earlier.step, later.step, Some(*resource))),
        (None, _) => None,
    }
}

/// The steps that an explanation rests on, or the ends of the window.
fn evidence(record: &Record) -> Vec<u32> {
    let steps = record.explanation.as_ref().map(|explanation| explanation.evidence.steps.clone()).unwrap_or_default();
    match (steps.is_empty(), window(record)) {
        (true, Some((from, to, _))) => vec![from, to],
        _ => steps,
    }
}

/// A page always has a row that shows the failure: where no task's end does, the finding's message.
fn rows_after_the_end(record: &Record, names: &Names<'_>) -> Vec<EndingData> {
    let finding = &record.finding;
    let mut endings = endings(record, names);
    if endings.is_empty() && failing(record).is_empty() && finding.kind != PASSED && !record.tasks.is_empty() {
        endings.push(Ending { task: finding.task, what: finding.message.clone(), place: finding.place });
    }
    let message = |task| match &finding.details {
        Details::Panic { .. } if task == finding.task => finding.message.clone(),
        _ => String::new(),
    };
    let data = |e: Ending| EndingData { told: message(e.task), task: e.task, what: e.what, place: index(e.place) };
    endings.into_iter().map(data).collect()
}

crate::json::written! {
    RecordData<'a> { label, kind, ended, passed, sentence, details, why, fixes, test, facts, replay, tasks, resources, places, first, steps, endings, failing, arrows, all_arrows, holds, waits, changes, window, evidence, messages, nodes, texts }
    TaskData<'a> { path, tag, full, clock, name }
    FixData<'a> { title, effort, verified, sketch, closes, cost, risk }
    MessageData { step, kind, other, whom, text }
    ResourceData<'a> { name, kind, place }
    EndingData { task, what, told, place }
    Columns { task, verb, object, told, resource, other, place, choice, reason }
}
