//! `drawloom diff`: where two executions part, and what came of it.
//!
//! Executions of one program are the same until a choice differs: another task runs, or an operation has
//! another outcome. What follows from it shows where a task, in its own order of steps, does or sees something
//! else than it did before.

use std::fmt::Write as _;

use drawloom_engine::schedule::Schedule;
use drawloom_report::{Record, StepRecord, printable, resource_names};
use serde::Serialize;

use crate::answer::Answer;
use crate::args::{DiffArguments, Place};
use crate::error::Error;
use crate::store::{Store, looks_like_a_file};
use crate::test::human::path;

/// Steps of an execution that is compared by its token alone.
const MOST_STEPS: u64 = 1_000_000;

/// An execution, as far as it is known.
struct Side {
    steps: Vec<Taken>,
    summary: SideSummary,
}

/// A step of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Taken {
    /// Its number in its execution, from 1.
    step: usize,
    task: String,
    /// What it did; not known of an execution that only its token is left of.
    operation: Option<String>,
    place: Option<String>,
    outcome: Option<String>,
    value: Option<u64>,
    /// What tells the operation apart from others of its execution. Names come from the sources, which may have changed
    /// between two executions.
    #[serde(skip)]
    id: Option<String>,
}

impl Taken {
    /// Whether it is the same step: what is not known is taken to be.
    fn is(&self, other: &Taken) -> bool {
        fn agree<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        let same_name = agree(&self.operation, &other.operation);
        self.task == other.task
            && (same_name || (self.id.is_some() && self.id == other.id))
            && agree(&self.outcome, &other.outcome)
            && self.value == other.value
    }

    fn text(&self) -> String {
        let mut text = format!("task {}", printable(&self.task));
        self.operation.iter().for_each(|operation| text.push_str(&format!(": {}", printable(operation))));
        if let Some(outcome) = self.outcome.as_ref().filter(|outcome| *outcome != "ok") {
            text.push_str(&format!(" ({})", printable(outcome)));
        }
        self.value.iter().for_each(|value| text.push_str(&format!(" = {value}")));
        self.place.iter().for_each(|place| text.push_str(&format!(" at {}", printable(place))));
        text
    }
}

/// What is said of an execution.
#[derive(Clone, Debug, Serialize)]
struct SideSummary {
    /// What it was asked for by.
    name: String,
    test: Option<String>,
    steps: usize,
    /// What it came to, if that is known.
    kind: Option<String>,
    message: Option<String>,
}

/// Where two executions part.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    r#type: &'static str,
    /// Whether there is none.
    same: bool,
    one: SideSummary,
    other: SideSummary,
    /// Steps that they have in common.
    common: usize,
    /// The last of them.
    after: Option<Taken>,
    /// The first step that differs; none where an execution is over.
    first: Option<[Option<Taken>; 2]>,
    /// Whether it is the scheduler that chose otherwise; else it is an outcome.
    another_task: bool,
    /// For each task, the first of its steps that came to something else.
    changed: Vec<Changed>,
}

/// What a task did otherwise.
#[derive(Debug, Serialize)]
struct Changed {
    task: String,
    one: Option<Taken>,
    other: Option<Taken>,
}

/// Compares two executions.
pub(crate) fn diff(arguments: &DiffArguments) -> Result<Difference, Error> {
    let one = side(&arguments.one, &arguments.place)?;
    let other = side(&arguments.other, &arguments.place)?;
    Ok(compare(one, other))
}

fn compare(one: Side, other: Side) -> Difference {
    let common = one.steps.iter().zip(&other.steps).take_while(|(a, b)| a.is(b)).count();
    let (a, b) = (one.steps.get(common).cloned(), other.steps.get(common).cloned());
    let same = a.is_none() && b.is_none();
    let another_task = match (&a, &b) {
        (Some(a), Some(b)) => a.task != b.task,
        _ => false,
    };
    Difference {
        r#type: "diff",
        same,
        common,
        after: common.checked_sub(1).and_then(|last| one.steps.get(last).cloned()),
        first: (!same).then_some([a, b]),
        another_task,
        changed: if same { Vec::new() } else { changes(&one.steps, &other.steps) },
        one: one.summary,
        other: other.summary,
    }
}

/// The first step of each task, in its own order, that differs; in the order of the first execution.
fn changes(one: &[Taken], other: &[Taken]) -> Vec<Changed> {
    let mut tasks: Vec<&String> = Vec::new();
    for step in one.iter().chain(other) {
        if !tasks.contains(&&step.task) {
            tasks.push(&step.task);
        }
    }
    let own = |steps: &[Taken], task: &str| -> Vec<Taken> {
        steps.iter().filter(|step| step.task == task).cloned().collect()
    };
    let change = |task: &String| {
        let (a, b) = (own(one, task), own(other, task));
        let equal = a.iter().zip(&b).take_while(|(a, b)| a.is(b)).count();
        let (a, b) = (a.into_iter().nth(equal), b.into_iter().nth(equal));
        (a.is_some() || b.is_some()).then(|| Changed { task: task.clone(), one: a, other: b })
    };
    let mut changed: Vec<Changed> = tasks.into_iter().filter_map(change).collect();
    let first = |changed: &Changed| changed.one.iter().chain(&changed.other).map(|taken| taken.step).min();
    changed.sort_by_key(first);
    changed
}

/// The execution that `text` means. Of a token whose trace is not kept, only the order of tasks is known.
fn side(text: &str, place: &Place) -> Result<Side, Error> {
    let is_token = text.starts_with("dl1") && !looks_like_a_file(text);
    let found = Store::for_finding(text, place).and_then(|store| store.find(text).map(|stored| (store, stored)));
    match found {
        Ok((store, stored)) => Ok(of_record(text, &stored.record, &|file| store.source(file))),
        Err(_) if is_token => match Schedule::decode(text)? {
            schedule if schedule.len() > MOST_STEPS => Err(Error::TooLong { steps: schedule.len(), most: MOST_STEPS }),
            schedule => Ok(of_schedule(text, &schedule)),
        },
        Err(error) => Err(error),
    }
}

fn of_schedule(name: &str, schedule: &Schedule) -> Side {
    let mut steps = Vec::new();
    for segment in &schedule.segments {
        let task = path(&segment.task.0);
        for i in 0..segment.count {
            let first = segment.first.filter(|_| i == 0);
            steps.push(Taken {
                step: steps.len() + 1,
                task: task.clone(),
                // Only the line is known, and not of which file.
                operation: first.map(|first| first.kind.word().to_owned()),
                place: first.map(|first| format!("line {}", first.line)),
                outcome: None,
                value: None,
                id: None,
            });
        }
    }
    let summary = SideSummary { name: name.to_owned(), test: None, steps: steps.len(), kind: None, message: None };
    Side { steps, summary }
}

fn of_record(name: &str, record: &Record, sources: &dyn Fn(&str) -> Option<String>) -> Side {
    let names = resource_names(record, sources);
    let steps = (1..).zip(&record.steps).map(|(number, step)| taken(record, &names, step, number));
    let steps: Vec<Taken> = steps.collect();
    let summary = SideSummary {
        name: name.to_owned(),
        test: Some(record.meta.test.clone()),
        steps: steps.len(),
        kind: Some(record.finding.kind.clone()),
        message: Some(record.finding.message.clone()),
    };
    Side { steps, summary }
}

fn taken(record: &Record, names: &[String], step: &StepRecord, number: usize) -> Taken {
    let word = record.operation(step);
    let with = |what: Option<&String>| what.map_or_else(|| word.to_owned(), |what| format!("{word} {what}"));
    let index = step.resource.map(|resource| resource as usize);
    let operation = with(index.and_then(|index| names.get(index)));
    let id = with(index.and_then(|index| record.resources.get(index)).map(|resource| &resource.id));
    Taken {
        step: number,
        task: record.tasks.get(step.task as usize).map(|task| task.path.clone()).unwrap_or_default(),
        operation: Some(operation),
        place: record.place(step.place).map(ToString::to_string),
        outcome: Some(record.outcome(step).to_owned()),
        value: step.value,
        id: Some(id),
    }
}

impl Answer for Difference {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.same {
            let _ = writeln!(text, "the same: {} steps, in the same order", self.common);
            return text;
        }
        let side = |side: &SideSummary| match (&side.kind, &side.message) {
            (Some(kind), Some(message)) => {
                format!("{}: {}", printable(kind), printable(message.lines().next().unwrap_or_default()))
            }
            _ => format!("{} steps", side.steps),
        };
        let _ = writeln!(text, "- {}\n+ {}\n", side(&self.one), side(&self.other));
        if let (Some(one), Some(other)) = (&self.one.test, &self.other.test)
            && one != other
        {
            let _ = writeln!(text, "these are different tests: {} and {}\n", printable(one), printable(other));
        }
        let steps = match self.common {
            0 => "they diverge at the first step".to_owned(),
            1 => "1 step in common".to_owned(),
            n => format!("{n} steps in common"),
        };
        let last = self.after.as_ref().map(|taken| format!(", the last of them {}", taken.text())).unwrap_or_default();
        let _ = writeln!(text, "{steps}{last}");
        let what = if self.another_task { "another task runs" } else { "the same task, but with another result" };
        let what = if self.first.iter().flatten().any(Option::is_none) { "one of them ends" } else { what };
        let _ = writeln!(text, "then {what}:");
        let [one, other] = self.first.clone().unwrap_or_default();
        let said = |taken: &Option<Taken>| taken.as_ref().map_or("nothing more".to_owned(), Taken::text);
        let numbered =
            |taken: &Option<Taken>| taken.as_ref().map_or(String::new(), |taken| format!("{:>5}  ", taken.step));
        let _ = writeln!(text, "- {}{}\n+ {}{}", numbered(&one), said(&one), numbered(&other), said(&other));
        let what = match self.changed.is_empty() {
            true => "the order only: every task did and saw the same",
            false => "consequences, task by task:",
        };
        let _ = writeln!(text, "\n{what}");
        for Changed { one, other, .. } in &self.changed {
            let _ = writeln!(text, "- {}{}\n+ {}{}", numbered(one), said(one), numbered(other), said(other));
        }
        text
    }
}
