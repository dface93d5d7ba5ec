//! The explanation as one screen of text.

use std::fmt;

use super::{Explanation, Shown};
use crate::escape::escaped;

/// Texts of operations are cut to this many characters.
const LONGEST: usize = 48;

/// A text of a model, for a line: not too long, on one line, and nothing in it that a terminal would obey.
fn cut(text: &str) -> String {
    let text = escaped(text).replace('\n', "\\n");
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(culprit) = self.minimal.get(self.culprit) else {
            let Explanation { left, operations, steps, .. } = self;
            writeln!(f, "not linearizable: the explanation was given up after {steps} steps")?;
            return writeln!(f, "  {left} of {operations} operations cannot be explained: too many to show");
        };
        writeln!(f, "not linearizable: {} cannot be placed", cut(&culprit.text))?;
        let claim = if self.enough { "are enough to see it" } else { "cannot be explained on their own" };
        write!(f, "  {} of {} operations {claim}", self.minimal.len(), self.operations)?;
        if let Some(part) = &self.part {
            write!(f, ", all about {} ({} operations)", cut(&part.name), part.operations)?;
        }
        if self.given_up {
            write!(f, "\n  fewer may be enough: their reduction was given up after {} steps", self.steps)?;
        }
        if let Some(failed) = &self.failed {
            write!(f, "\n  it would fit if this had not failed: {}", cut(&failed.text))?;
        }
        writeln!(f, "\n")?;
        let shown: Vec<&Shown> = self.minimal.iter().chain(&self.failed).collect();
        lanes(f, &shown, self.culprit)?;
        for (number, attempt) in self.attempts.iter().enumerate() {
            write!(f, "\n  {}. ", number + 1)?;
            for (at, state) in attempt.order.iter().zip(&attempt.states) {
                write!(f, "{} ⟨{}⟩, ", cut(&self.minimal[*at].text), cut(state))?;
            }
            let before = if attempt.order.is_empty() { "at the beginning" } else { "then" };
            let blocked = &self.minimal[attempt.blocked];
            write!(f, "{before} not {}: {}", cut(&blocked.text), cut(&attempt.reason))?;
        }
        writeln!(f)
    }
}

/// One line for each process, one bar for each operation, to scale with the order of events only.
fn lanes(f: &mut fmt::Formatter<'_>, shown: &[&Shown], culprit: usize) -> fmt::Result {
    let events = shown.iter().flat_map(|o| [Some(o.call), o.end]).flatten().max().map_or(0, |last| last as usize + 1);
    let mut ends: Vec<Option<usize>> = vec![None; events];
    for (at, operation) in shown.iter().enumerate() {
        if let Some(end) = operation.end {
            ends[end as usize] = Some(at);
        }
    }
    // Columns: far enough apart for the text of each bar.
    let mut column = vec![0; events + 1];
    for event in 0..events {
        let after_last = if event == 0 { 0 } else { column[event - 1] + 2 };
        let after_text =
            ends[event].map_or(0, |at| column[shown[at].call as usize] + cut(&shown[at].text).chars().count() + 5);
        column[event] = after_last.max(after_text);
    }
    column[events] = column[..events].last().map_or(0, |last| last + 4);
    let mut processes: Vec<u64> = shown.iter().map(|operation| operation.process).collect();
    processes.sort_unstable();
    processes.dedup();
    let width = processes.iter().map(|process| process.to_string().len()).max().unwrap_or(1);
    for process in processes {
        write!(f, "  process {process:>width$}  ")?;
        let mut at = 0;
        for (number, operation) in shown.iter().enumerate().filter(|(_, operation)| operation.process == process) {
            let from = column[operation.call as usize];
            let text = cut(&operation.text);
            write!(f, "{}├ {text} ", " ".repeat(from.saturating_sub(at)))?;
            at = from + text.chars().count() + 3;
            match operation.end {
                Some(end) => {
                    let to = column[end as usize];
                    let fill = if number == culprit { "━" } else { "─" };
                    write!(f, "{}{}", fill.repeat(to.saturating_sub(at)), if number == culprit { "✗" } else { "┤" })?;
                    at = to + 1;
                }
                None => {
                    write!(f, "┄┄▷")?;
                    at += 3;
                }
            }
        }
        writeln!(f)?;
    }
    Ok(())
}
