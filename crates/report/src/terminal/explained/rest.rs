//! What comes after the trace: the window, who holds what, shared state, checkpoints, class and fixes.

use std::fmt::Write as _;

use super::{Screen, cut, wrapped};
use crate::explain::{Accessor, Fix, Taken};
use crate::names::count;
use crate::record::Details;
use crate::terminal::paint::Ink;

/// Tasks that a cell of the table names.
const MOST_NAMED: usize = 3;
/// Columns of the table are no wider.
const WIDEST_CELL: usize = 44;

impl Screen<'_> {
    fn heading(&self, out: &mut String, text: &str, note: &str) {
        let note = if note.is_empty() { String::new() } else { format!(" {}", self.paint.ink(Ink::Dim, note)) };
        let _ = writeln!(out, "\n{}{note}", self.paint.ink(Ink::Strong, text));
    }

    /// A text under a heading.
    fn indented(&self, out: &mut String, indent: usize, text: &str) {
        let pad = " ".repeat(indent);
        for line in text.lines().flat_map(|line| wrapped(line, self.width.saturating_sub(indent))) {
            let _ = writeln!(out, "{}", format!("{pad}{line}").trim_end());
        }
    }

    /// `race window: steps 3–9 (…)`
    pub(super) fn window(&self, out: &mut String) {
        let Some(window) = &self.explanation.window else { return };
        let steps = match window.to {
            Some(to) => format!("steps {}–{}", window.from + 1, to + 1),
            None => format!("from step {} on, and still open at the failure", window.from + 1),
        };
        let _ = writeln!(out, "\n{} {steps}: {}", self.paint.ink(Ink::Alarm, "Race window:"), window.reason);
    }

    /// What each task had taken, and what it waits for, with source lines.
    pub(super) fn stacks(&self, out: &mut String) {
        let stacks = &self.explanation.stacks;
        if stacks.is_empty() {
            return;
        }
        let holds = stacks.iter().any(|stack| !stack.held.is_empty());
        self.heading(out, if holds { "Who holds what" } else { "Waits" }, "");
        let all = || stacks.iter().flat_map(|s| s.held.iter().chain([&s.wanted]));
        let widest = all().map(|taken| taken.text.chars().count()).max().unwrap_or(0).min(WIDEST_CELL);
        let place = |taken: &Taken| self.place(taken.place.as_ref());
        let widest_place = all().map(|taken| place(taken).chars().count()).max().unwrap_or(0);
        for stack in stacks {
            let _ = writeln!(
                out,
                "  {}",
                self.paint.ink(Ink::Task(stack.task), &format!("task {}", self.names.tag(stack.task)))
            );
            for (word, taken) in stack.held.iter().map(|held| ("holds", held)).chain([("wants", &stack.wanted)]) {
                let number = taken.step.map(|step| format!("step {}", step + 1)).unwrap_or_default();
                let at = place(taken);
                let line = format!("    {word}  {:<widest$}  {number:<8} {at:<widest_place$}  ", taken.text);
                let room = self.width.saturating_sub(line.chars().count());
                let source = cut(taken.source.as_deref().unwrap_or_default(), room);
                let _ = writeln!(out, "{}", format!("{line}{source}").trim_end());
            }
        }
    }

    /// `State | Writers | Readers | Guard`
    pub(super) fn shared(&self, out: &mut String) {
        let shared = &self.explanation.shared;
        if shared.is_empty() {
            return;
        }
        let basis = self.explanation.basis;
        let note = format!("(guards as seen in {}, {} passing)", count(basis.executions, "execution"), basis.passing);
        self.heading(out, "Shared state", &note);
        let mut rows: Vec<[String; 4]> = vec![["state", "written by", "read by", "guard"].map(str::to_owned)];
        for state in shared {
            let cells = [state.state.clone(), named(&state.writers), named(&state.readers), state.guard.text.clone()];
            rows.push(cells);
        }
        let mut widths = [0; 4];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count()).min(WIDEST_CELL);
            }
        }
        for (i, row) in rows.iter().enumerate() {
            let cells: Vec<String> =
                row.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", cut(cell, width))).collect();
            let line = format!("  {}", cells.join("  "));
            let line = line.trim_end();
            let _ = match i {
                0 => writeln!(out, "{}", self.paint.ink(Ink::Dim, line)),
                _ => writeln!(out, "{line}"),
            };
        }
    }

    pub(super) fn checkpoints(&self, out: &mut String) {
        let points = &self.explanation.checkpoints;
        if points.is_empty() {
            return;
        }
        self.heading(out, "Checkpoints", "(where another task can run inside the window)");
        for point in points {
            let place = self.place(point.place.as_ref());
            let source = cut(point.source.as_deref().unwrap_or_default(), 60);
            let taken = if point.taken { ", and a switch happened here" } else { "" };
            let _ = writeln!(out, "  {place}  {source}  ← {}{taken}", point.mark);
        }
    }

    pub(super) fn classification(&self, out: &mut String) {
        let explanation = self.explanation;
        let Some(class) = explanation.class else { return };
        let subkind = explanation.subkind.as_ref().map(|kind| format!(" / {kind}")).unwrap_or_default();
        self.heading(out, "Classification", "");
        let evidence = &explanation.evidence;
        self.indented(out, 2, &format!("{}{subkind}: {}", class.title(), class.meaning()));
        if let Some(pattern) = &evidence.pattern {
            self.indented(out, 2, &format!("– {pattern}"));
        }
        // The headline of a data race has said what is missing.
        let said = matches!(self.record.finding.details, Details::DataRace { .. });
        for reason in evidence.reasons.iter().filter(|_| !said) {
            self.indented(out, 2, &format!("– {reason}"));
        }
        if let Some(counterfactual) = &evidence.counterfactual {
            self.indented(out, 2, &format!("– {counterfactual}"));
        }
    }

    pub(super) fn fixes(&self, out: &mut String) {
        if self.explanation.fixes.is_empty() {
            return;
        }
        self.heading(out, "Fixes", "");
        let mut said = "";
        for (number, fix) in (1..).zip(&self.explanation.fixes) {
            let closes = if fix.closes == said { "" } else { fix.closes.as_str() };
            said = &fix.closes;
            self.fix(out, number, fix, closes);
        }
    }

    fn fix(&self, out: &mut String, number: usize, fix: &Fix, closes: &str) {
        let verified = fix.verified.as_ref().map(|v| format!(" ({})", v.text)).unwrap_or_default();
        let _ = writeln!(out, "  {number}. {} [{}]{verified}", fix.title, fix.effort.word());
        for line in fix.sketch.lines() {
            let _ = writeln!(out, "{}", format!("       {}", self.paint.ink(Ink::Dim, line)).trim_end());
        }
        let closes = if closes.is_empty() { String::new() } else { format!("{closes}; ") };
        self.indented(out, 5, &format!("{closes}cost: {}; risk: {}", fix.tradeoff, fix.risk));
    }
}

/// Tasks by path and role; by path alone, if that would be too long.
fn named(accessors: &[Accessor]) -> String {
    let more = format!("{} more", accessors.len().saturating_sub(MOST_NAMED));
    let all = |name: &dyn Fn(&Accessor) -> String| {
        let mut names: Vec<String> = accessors.iter().take(MOST_NAMED).map(name).collect();
        names.extend((accessors.len() > MOST_NAMED).then(|| more.clone()));
        names.join(", ")
    };
    let full = all(&|a| a.task.clone());
    match full.chars().count() {
        0 => "–".to_owned(),
        length if length <= WIDEST_CELL => full,
        _ => all(&|a| a.task.split(' ').next().unwrap_or_default().to_owned()),
    }
}
