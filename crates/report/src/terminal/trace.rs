//! The interleaving: who did what, line by line, with every switch and its reason.

use std::fmt::Write as _;

use super::fold::{Item, fold};
use super::operation::describe;
use super::paint::{Ink, Paint};
use super::reason::{Ending, endings, reason};
use super::{MOST_LISTED, RenderOptions};
use crate::names::{Names, count};
use crate::record::waits::{Wait, waits};
use crate::record::{Place, Record, StepRecord};
use crate::source::Sources;

/// What was done is not padded beyond this.
const WIDEST_OPERATION: usize = 48;
/// Nor are places.
const WIDEST_PLACE: usize = 32;

/// The trace as text; ends with a line break.
pub(super) fn trace(record: &Record, names: &Names<'_>, options: &RenderOptions<'_>) -> String {
    let waits = waits(record);
    // Beginnings and ends of tasks show in the headers and in the reasons of switches.
    let shown = |i: &u32| !matches!(record.operation(&record.steps[*i as usize]), "start" | "exit");
    let steps: Vec<u32> = (0..record.steps.len() as u32).filter(shown).collect();
    let items = fold(record, &steps);
    let (head, tail) = ends(&items, options.max_steps);
    let mut writer = Writer {
        record,
        names,
        waits: &waits,
        paint: Paint(options.colour),
        sources: Sources::of(record, options.sources),
        width: options.width,
        columns: Columns::default(),
        out: String::new(),
        last: None,
    };
    writer.measure(head.iter().chain(tail));
    writer.items(head);
    if head.len() + tail.len() < items.len() {
        writer.gap(head, tail, options);
    }
    writer.items(tail);
    writer.ending();
    writer.out
}

/// The first quarter and the last three that fit; all in the first if all fit.
fn ends(items: &[Item], most: usize) -> (&[Item], &[Item]) {
    if items.len() <= most {
        return (items, &[]);
    }
    let head = most / 4;
    let mut tail = items.len() - (most - head);
    // "The last 3 steps" must be there to be read.
    if let Some(Item::Again { length, .. }) = items.get(tail..).and_then(|t| {
        t.iter().enumerate().find_map(|(i, item)| match item {
            Item::Again { length, .. } if *length > i => Some(item),
            _ => None,
        })
    }) {
        tail = tail.saturating_sub(*length).max(head);
    }
    (&items[..head], &items[tail..])
}

#[derive(Default)]
struct Columns {
    number: usize,
    path: usize,
    operation: usize,
    place: usize,
}

struct Writer<'a> {
    record: &'a Record,
    names: &'a Names<'a>,
    waits: &'a [Wait],
    paint: Paint,
    sources: Sources<'a>,
    width: usize,
    columns: Columns,
    out: String,
    /// The step that was shown last.
    last: Option<u32>,
}

impl<'a> Writer<'a> {
    fn step(&self, index: u32) -> &'a StepRecord {
        &self.record.steps[index as usize]
    }

    fn measure<'i>(&mut self, items: impl Iterator<Item = &'i Item>) {
        for item in items {
            let Item::Step(i) = item else { continue };
            let step = self.step(*i);
            let operation = describe(self.record, self.names, step).chars().count();
            let place = self.record.place(step.place).map_or(0, |p| p.to_string().chars().count());
            let columns = &mut self.columns;
            columns.number = columns.number.max((i + 1).to_string().len());
            columns.path = columns.path.max(self.names.path(step.task).len());
            columns.operation = columns.operation.max(operation.min(WIDEST_OPERATION));
            columns.place = columns.place.max(place.min(WIDEST_PLACE));
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match *item {
                Item::Step(i) => self.one(i),
                Item::Again { length, times } => {
                    let what = if length == 1 { "step repeats".into() } else { format!("{length} steps repeat") };
                    let line = format!("… the last {what} {} …", count(times as u64, "time"));
                    self.note(&line);
                    self.last = self.last.map(|last| self.skip(last, length * times));
                }
            }
        }
    }

    /// The last of `count` shown steps after `last`, so that the reason of the next switch is told of
    /// the right one.
    fn skip(&self, last: u32, count: usize) -> u32 {
        let shown = |i: &u32| !matches!(self.record.operation(self.step(*i)), "start" | "exit");
        (last + 1..self.record.steps.len() as u32).filter(shown).nth(count - 1).unwrap_or(last)
    }

    fn one(&mut self, i: u32) {
        let step = self.step(i);
        let before = self.last.map(|last| self.step(last).task);
        if before != Some(step.task) {
            if let Some(last) = self.last {
                if let Some(reason) = self.reason(last) {
                    self.note(&reason);
                }
            }
            self.header(step.task);
        }
        self.last = Some(i);
        let number = format!("{:>w$}", i + 1, w = self.columns.number + 1);
        self.line(&number, step.task, &describe(self.record, self.names, step), self.record.place(step.place));
    }

    /// `  12  0.1  lock mutex `a`   src/bank.rs:9   let a = self.a.lock();`
    fn line(&mut self, number: &str, task: u32, operation: &str, place: Option<&'a Place>) {
        let Columns { path: path_width, operation: operation_width, place: place_width, .. } = self.columns;
        let path = format!("{:<path_width$}", self.names.path(task));
        let mut columns = number.chars().count() + 2 + path.chars().count() + 2;
        let operation = format!("{operation:<operation_width$}");
        columns += operation.chars().count() + 2;
        let place_text = place.map(ToString::to_string).unwrap_or_default();
        let source = place.and_then(|place| self.sources.line(place)).unwrap_or_default();
        let place_text = if source.is_empty() { place_text } else { format!("{place_text:<place_width$}") };
        columns += place_text.chars().count() + 2;
        let room = if self.width == 0 { usize::MAX } else { self.width.saturating_sub(columns) };
        let source = cut(&source, room);
        let line = format!(
            "{}  {}  {operation}  {}  {source}",
            self.paint.ink(Ink::Dim, number),
            self.paint.ink(Ink::Task(task), &path),
            self.paint.ink(Ink::Dim, &place_text),
        );
        let _ = writeln!(self.out, "{}", line.trim_end());
    }

    /// `── task 0.1 (deposit), spawned at src/bank.rs:20 ──`
    fn header(&mut self, task: u32) {
        let spawned_at = self.record.tasks.get(task as usize).and_then(|t| self.record.place(t.spawned_at));
        let spawned = spawned_at.map(|place| format!(", spawned at {place}")).unwrap_or_default();
        let text = match self.names.path(task) {
            "clock" => "── the clock ──".to_owned(),
            _ => format!("── task {}{spawned} ──", self.names.tag(task)),
        };
        let _ = writeln!(self.out, "{}", self.paint.ink(Ink::Task(task), &text));
    }

    fn note(&mut self, text: &str) {
        let indent = self.columns.number + 1 + 2 + self.columns.path + 2;
        let _ = writeln!(self.out, "{:indent$}{}", "", self.paint.ink(Ink::Dim, text));
    }

    /// Why the task of step `i`, the last one shown of it, did not go on, where that is known.
    fn reason(&self, i: u32) -> Option<String> {
        reason(self.record, self.names, self.waits, i)
    }

    fn gap(&mut self, head: &[Item], tail: &[Item], options: &RenderOptions<'_>) {
        let first_of_tail = tail.iter().find_map(|item| match item {
            Item::Step(i) => Some(*i),
            Item::Again { .. } => None,
        });
        let after_head = match head.last() {
            Some(_) => self.last.map_or(0, |last| last + 1),
            None => 0,
        };
        let left_out = first_of_tail.unwrap_or(self.record.steps.len() as u32).saturating_sub(after_head);
        let whole = match options.trace_file {
            Some(_) => "the trace file has all of them",
            None => "`trace = true` writes all of them to a file",
        };
        let line = format!("… {} left out here; {whole} …", count(u64::from(left_out), "step"));
        let _ = writeln!(self.out, "{}", self.paint.ink(Ink::Strong, &line));
        self.last = None;
    }

    /// What cannot be seen from the steps: where the failing tasks were in the end.
    fn ending(&mut self) {
        if let Some(reason) = self.last.and_then(|last| self.reason(last)) {
            self.note(&reason);
        }
        let ends = endings(self.record, self.names);
        if ends.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "{}", self.paint.ink(Ink::Alarm, "── in the end ──"));
        let number = format!("{:>w$}", "✗", w = self.columns.number + 1);
        for Ending { task, what, place } in ends.into_iter().take(MOST_LISTED) {
            self.line(&number, task, &what, self.record.place(place));
        }
    }
}

/// At most `room` characters of `text`.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    if room < 8 {
        return String::new();
    }
    text.chars().take(room - 1).chain(['…']).collect()
}
