//! An explanation as text: what happened and how on the first screen, then what it rests on and what to do.

mod columns;
mod list;
mod rest;

use drawloom_engine::sorted::sort;
use std::fmt::Write as _;

use super::RenderOptions;
use super::paint::{Ink, Paint};
use super::processes::processes;
use crate::explain::{Explanation, Item, Mark};
use crate::names::{Names, count};
use crate::record::{Place, Record};

/// A column that is narrower than this shows nothing of a source line.
const NARROWEST_COLUMN: usize = 36;
/// Tasks that can be told apart side by side.
const MOST_COLUMNS: usize = 4;

/// Everything that an explanation says; ends with a line break.
pub(super) fn explained(
    record: &Record,
    names: &Names<'_>,
    explanation: &Explanation,
    options: &RenderOptions<'_>,
) -> String {
    let screen = Screen { record, names, explanation, paint: Paint(options.colour), width: width(options) };
    let mut out = String::new();
    for line in wrapped(&format!("{}.", explanation.sentence), screen.width) {
        let _ = writeln!(out, "{}", screen.paint.ink(Ink::Strong, &line));
    }
    let processes = processes(record, names, options);
    // Where nothing is to blame but what was said, the messages say it all.
    if processes.is_empty() || explanation.window.is_some() {
        out.push('\n');
        out.push_str(&screen.trace());
    }
    screen.window(&mut out);
    out.push_str(&processes);
    screen.stacks(&mut out);
    screen.shared(&mut out);
    screen.checkpoints(&mut out);
    screen.classification(&mut out);
    screen.fixes(&mut out);
    out
}

fn width(options: &RenderOptions<'_>) -> usize {
    if options.width == 0 { 200 } else { options.width }
}

/// What the parts of a screen need.
struct Screen<'a> {
    record: &'a Record,
    names: &'a Names<'a>,
    explanation: &'a Explanation,
    paint: Paint,
    width: usize,
}

impl Screen<'_> {
    /// The trace: a column for each task that has a part in it, where there is room for them.
    fn trace(&self) -> String {
        let tasks = self.lanes();
        match self.columns(&tasks) {
            Some(widths) => self.in_columns(&tasks, &widths),
            None => self.as_list(),
        }
    }

    /// The tasks whose steps are interleaved. Who only fails in the end needs no column.
    fn lanes(&self) -> Vec<u32> {
        let mut tasks: Vec<u32> = Vec::new();
        let window = self.explanation.window.is_some();
        let mut open = !window;
        for line in self.explanation.lines() {
            open |= line.mark == Some(Mark::Opens);
            if open && line.step.is_some() && !tasks.contains(&line.task) {
                tasks.push(line.task);
            }
            open &= !(window && line.mark == Some(Mark::Closes));
        }
        sort(&mut tasks);
        tasks
    }

    /// How wide each column is: as its lines need it, if that fits.
    fn columns(&self, tasks: &[u32]) -> Option<Vec<usize>> {
        if !(2..=MOST_COLUMNS).contains(&tasks.len()) {
            return None;
        }
        let room = self.width.saturating_sub(self.gutter());
        let needs = |task: &u32| {
            let own = self.explanation.lines().filter(|line| line.task == *task);
            let widest = own.map(|line| {
                let source = line.source.as_ref().map_or(0, |source| source.chars().count());
                source.max(line.text.chars().count() + 2 + self.place(line.place.as_ref()).chars().count())
            });
            widest.max().unwrap_or(0).max(self.names.tag(*task).chars().count() + 5) + columns::GAP
        };
        let mut widths: Vec<usize> = tasks.iter().map(needs).collect();
        // What is too much is taken from the widest.
        while widths.iter().sum::<usize>() > room {
            let widest = widths.iter_mut().max()?;
            if *widest <= NARROWEST_COLUMN {
                return None;
            }
            *widest -= 1;
        }
        Some(widths)
    }

    /// A place in few characters: the file's name, if there are several, and the line.
    fn place(&self, place: Option<&Place>) -> String {
        let Some(place) = place else { return String::new() };
        let file = place.file.rsplit(['/', '\\']).next().unwrap_or(&place.file);
        format!("{file}:{}", place.line)
    }

    /// ` │▶ 12  `: the window's edge, a mark, the number.
    fn gutter(&self) -> usize {
        1 + 2 + 1 + self.digits() + 2
    }

    fn digits(&self) -> usize {
        let last = self.explanation.lines().filter_map(|line| line.step).max().unwrap_or(0);
        (last + 1).to_string().len()
    }

    /// For each item of the trace, how the window's edge looks beside it, and beside what follows in the same item.
    fn edges(&self) -> Vec<(char, char)> {
        let opens = |item: &Item| matches!(item, Item::Line(line) if line.mark == Some(Mark::Opens));
        let closes = |item: &Item| matches!(item, Item::Line(line) if line.mark == Some(Mark::Closes));
        let trace = &self.explanation.trace;
        let from = trace.iter().position(opens).filter(|_| self.explanation.window.is_some());
        let fails = |item: &Item| matches!(item, Item::Line(line) if line.mark == Some(Mark::Fails));
        // A window that the failure has left open lasts until then.
        let to = trace.iter().rposition(closes).or_else(|| trace.iter().position(fails));
        let Some((from, to)) = from.zip(to).filter(|(from, to)| from < to) else {
            return vec![(' ', ' '); trace.len()];
        };
        (0..trace.len())
            .map(|i| match i {
                i if i == from => ('┌', '│'),
                i if i == to => ('└', ' '),
                i if i > from && i < to => ('│', '│'),
                _ => (' ', ' '),
            })
            .collect()
    }

    /// The beginning of a row: the edge, the mark and the number.
    fn margin(&self, edge: char, mark: Option<Mark>, step: Option<u32>) -> String {
        let sign = match mark {
            Some(Mark::Intrudes) => '▶',
            Some(Mark::Fails) => '✗',
            Some(Mark::Opens | Mark::Closes) | None => ' ',
        };
        let number = step.map(|step| (step + 1).to_string()).unwrap_or_default();
        let edge = if edge == ' ' { " ".to_owned() } else { self.paint.ink(Ink::Alarm, &edge.to_string()) };
        let sign = if sign == ' ' { " ".to_owned() } else { self.paint.ink(Ink::Alarm, &sign.to_string()) };
        let number = self.paint.ink(Ink::Dim, &format!("{number:>w$}", w = self.digits()));
        format!(" {edge}{sign} {number}  ")
    }

    /// What stands for steps that are not shown.
    fn folded(item: &Item) -> String {
        match item {
            Item::Folded { steps: 1 } => "… 1 unrelated step …".to_owned(),
            Item::Folded { steps } => format!("… {steps} unrelated steps …"),
            Item::Again { lines, times } => {
                let what = if *lines == 1 { "line comes again".into() } else { format!("{lines} lines come again") };
                format!("… the last {what} {} …", count(*times, "time"))
            }
            Item::Line(_) => String::new(),
        }
    }
}

/// The text in lines of at most `width` characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// At most `room` characters of `text`.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
