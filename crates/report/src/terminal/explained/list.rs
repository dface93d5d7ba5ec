//! The trace as numbered lines with the task's name in front: where there is no room for columns.

use std::fmt::Write as _;

use super::{Screen, cut};
use crate::explain::Item;
use crate::terminal::paint::Ink;

/// What was done is not padded beyond this, nor are places.
const WIDEST_TEXT: usize = 40;
const WIDEST_PLACE: usize = 28;
/// Less of a source line says nothing.
const LEAST_SOURCE: usize = 24;

impl Screen<'_> {
    pub(super) fn as_list(&self) -> String {
        let lines = || self.explanation.lines();
        let widest = |of: &dyn Fn(&crate::explain::Line) -> usize| lines().map(of).max().unwrap_or(0);
        let path = widest(&|line| self.names.path(line.task).chars().count());
        let text = widest(&|line| line.text.chars().count()).min(WIDEST_TEXT);
        let place = widest(&|line| self.place(line.place.as_ref()).chars().count()).min(WIDEST_PLACE);
        let mut out = String::new();
        for (item, (edge, below)) in self.explanation.trace.iter().zip(self.edges()) {
            let Item::Line(line) = item else {
                let margin = self.margin(edge, None, None);
                let _ = writeln!(out, "{margin}{}", self.paint.ink(Ink::Dim, &Self::folded(item)));
                continue;
            };
            let margin = self.margin(edge, line.mark, line.step);
            let who = self.paint.ink(Ink::Task(line.task), &format!("{:<path$}", self.names.path(line.task)));
            let at = self.place(line.place.as_ref());
            let at = format!("{at:<place$}");
            let most = self.width.saturating_sub(self.gutter() + path + 4 + at.chars().count());
            let what = format!("{:<text$}", cut(&line.text, most.max(text)));
            let used = self.gutter() + path + 2 + what.chars().count() + 2 + at.chars().count() + 2;
            let room = self.width.saturating_sub(used);
            let source = line.source.as_deref().unwrap_or_default();
            let beside = if room < LEAST_SOURCE { String::new() } else { cut(source, room) };
            let row = format!("{margin}{who}  {what}  {}  {beside}", self.paint.ink(Ink::Dim, &at));
            let _ = writeln!(out, "{}", row.trim_end());
            // Where it does not fit beside, it goes below.
            if beside.is_empty() && !source.is_empty() {
                let below = self.margin(below, None, None);
                let room = self.width.saturating_sub(self.gutter() + path + 4);
                let _ = writeln!(out, "{below}{:path$}    {}", "", cut(source, room));
            }
            if let Some(why) = &line.switch {
                let margin = self.margin(below, None, None);
                let _ = writeln!(out, "{margin}{:path$}  {}", "", self.paint.ink(Ink::Dim, &format!("… {why}")));
            }
        }
        out
    }
}
