//! The trace with one column for each task: what comes when is read downwards, who does it across.

use std::fmt::Write as _;

use super::{Screen, cut};
use crate::explain::{Item, Line};
use crate::terminal::paint::Ink;

/// Between columns.
pub(super) const GAP: usize = 3;

impl Screen<'_> {
    pub(super) fn in_columns(&self, tasks: &[u32], widths: &[usize]) -> String {
        let mut out = String::new();
        let indent = " ".repeat(self.gutter());
        let heads = tasks.iter().zip(widths).map(|(task, width)| {
            let head = cut(&format!("task {}", self.names.tag(*task)), *width - 1);
            let pad = width.saturating_sub(head.chars().count());
            format!("{}{}", self.paint.ink(Ink::Task(*task), &head), " ".repeat(pad))
        });
        let _ = writeln!(out, "{}", format!("{indent}{}", heads.collect::<String>()).trim_end());
        let edges = self.edges();
        for (item, edges) in self.explanation.trace.iter().zip(edges) {
            let Item::Line(line) = item else {
                let margin = self.margin(edges.0, None, None);
                let _ = writeln!(out, "{margin}{}", self.paint.ink(Ink::Dim, &Self::folded(item)));
                continue;
            };
            match tasks.iter().position(|task| *task == line.task) {
                Some(at) => self.cell(&mut out, line, edges, widths[..at].iter().sum(), widths[at] - GAP),
                None => self.across(&mut out, line, edges, widths.iter().sum()),
            }
        }
        out
    }

    /// The source line; under it what was done, and where; under that why the task did not go on.
    fn cell(&self, out: &mut String, line: &Line, edges: (char, char), indent: usize, room: usize) {
        let place = self.place(line.place.as_ref());
        let shown = |place: &str| if place.is_empty() { 0 } else { place.chars().count() + 2 };
        // What was done, with its value, matters more than the place.
        let place = if line.text.chars().count() + shown(&place) > room { String::new() } else { place };
        let text = cut(&line.text, room.saturating_sub(shown(&place)));
        let gap = room.saturating_sub(text.chars().count() + place.chars().count());
        let text = format!("{text}{}{}", " ".repeat(gap), self.paint.ink(Ink::Dim, &place));
        let source = line.source.as_deref().filter(|source| !source.is_empty());
        let source = source.map(|source| self.paint.ink(Ink::Task(line.task), &cut(source, room)));
        let why = line.switch.as_ref().map(|why| self.paint.ink(Ink::Dim, &cut(&format!("… {why}"), room)));
        self.rows(out, line, edges, indent, &[source, Some(text), why].into_iter().flatten().collect::<Vec<_>>());
    }

    /// A line of a task without a column.
    fn across(&self, out: &mut String, line: &Line, edges: (char, char), room: usize) {
        let who = format!("task {}: ", self.names.tag(line.task));
        let place = self.place(line.place.as_ref());
        let what = cut(&format!("{}  {}", line.text, place), room.saturating_sub(who.chars().count()));
        let first = format!("{}{what}", self.paint.ink(Ink::Task(line.task), &who));
        let source = line.source.as_deref().filter(|source| !source.is_empty());
        let source = source.map(|source| format!("    {}", cut(source, room.saturating_sub(4))));
        let why = line.switch.as_ref().map(|why| self.paint.ink(Ink::Dim, &format!("… {why}")));
        self.rows(out, line, edges, 0, &[Some(first), source, why].into_iter().flatten().collect::<Vec<_>>());
    }

    fn rows(&self, out: &mut String, line: &Line, (edge, below): (char, char), indent: usize, rows: &[String]) {
        let pad = " ".repeat(indent);
        for (i, row) in rows.iter().enumerate() {
            let margin = match i {
                0 => self.margin(edge, line.mark, line.step),
                _ => self.margin(below, None, None),
            };
            let _ = writeln!(out, "{}", format!("{margin}{pad}{row}").trim_end());
        }
    }
}
