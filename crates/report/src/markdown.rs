//! An explanation as Markdown, under the headings of a structured concurrency analysis.

use std::fmt::Write as _;

use crate::explain::{Explanation, Item, Line, Mark};
use crate::names::{Names, count};
use crate::record::{Place, Record};
use crate::sections::{self, block, prose};
use crate::source::Sources;

/// The explanation of `record` as Markdown; none if it has none.
///
/// The headings are always there, in this order: `## Concurrency analysis`, `### Shared state`, `### Checkpoints`,
/// `### Race trace`, `### Classification`, `### Fixes`. Steps have the numbers that they have everywhere else.
pub fn markdown(record: &Record, sources: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    record.explanation.as_ref()?;
    let record = &record.printable();
    let explanation = record.explanation.as_deref()?;
    let names = Names::of(record, &Sources::of(record, sources));
    let mut out = String::new();
    let _ = writeln!(out, "## Concurrency analysis: `{}`\n", explanation.target.replace('`', "'"));
    let _ = writeln!(out, "{}.", prose(&explanation.sentence));
    shared_state(&mut out, explanation);
    let _ = writeln!(out, "\n### Checkpoints\n");
    sections::checkpoint_lines(&mut out, &explanation.checkpoints);
    race_trace(&mut out, &names, explanation);
    let _ = writeln!(out, "\n### Classification\n");
    sections::classification(&mut out, explanation);
    let _ = writeln!(out, "\n### Fixes");
    sections::fixes(&mut out, &explanation.fixes);
    if let Some(line) = crate::paste::replay_line(record, None) {
        let _ = writeln!(out, "\nReplay: `{line}`");
    }
    Some(out)
}

// Writing to a string cannot fail, here and below.
fn shared_state(out: &mut String, explanation: &Explanation) {
    let _ = writeln!(out, "\n### Shared state\n");
    sections::shared_table(out, &explanation.shared);
    if !explanation.shared.is_empty() {
        let basis = explanation.basis;
        let executions = count(basis.executions, "execution");
        let _ = writeln!(out, "\nGuards as seen in {executions}, {} of them passing.", basis.passing);
    }
}

fn race_trace(out: &mut String, names: &Names<'_>, explanation: &Explanation) {
    let _ = writeln!(out, "\n### Race trace\n");
    let mut lines = String::new();
    let tags: Vec<String> = explanation.lines().map(|line| format!("[{}]", names.tag(line.task))).collect();
    let width = tags.iter().map(|tag| tag.chars().count()).max().unwrap_or(0);
    // What failed, and what was not reached, comes after the last step before it.
    let mut number = 0;
    for item in &explanation.trace {
        match item {
            Item::Line(line) => {
                number = line.step.map_or(number + 1, |step| step + 1);
                let tag = format!("[{}]", names.tag(line.task));
                let _ = writeln!(lines, "{tag:<width$} {}", numbered(number, line));
                number = line.last.map_or(number, |last| last + 1);
            }
            Item::Folded { steps } => {
                let _ = writeln!(lines, "{:width$} … {}", "", count(*steps, "step"));
            }
            Item::Again { lines: before, times } => {
                let (before, times) = (count(*before as u64, "line"), count(*times, "time"));
                let _ = writeln!(lines, "{:width$} … the last {before} again, {times}", "");
            }
        }
    }
    block(out, "", &lines);
    if let Some(window) = &explanation.window {
        // One that the failure has left open lasts until the last step before it.
        let last = explanation.evidence.steps.iter().max().copied().unwrap_or(window.from);
        let to = window.to.unwrap_or(last) + 1;
        let _ = writeln!(out, "\n**Race window:** steps {}–{to} ({})", window.from + 1, prose(&window.reason));
    }
    for stack in &explanation.stacks {
        let _ = writeln!(out, "\n\\[{}]\n", prose(&names.tag(stack.task)));
        for (word, taken) in stack.held.iter().map(|held| ("holds", held)).chain([("wants", &stack.wanted)]) {
            let at = taken.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
            let source = taken.source.as_ref().map(|source| format!(": `{}`", source.replace('`', "'")));
            let _ = writeln!(out, "- {word}: {}{}", prose(&format!("{}{at}", taken.text)), source.unwrap_or_default());
        }
    }
}

/// `3. reads `balance`: 100 (src/bank.rs:9: let balance = …)`
fn numbered(number: u32, line: &Line) -> String {
    let mark = match line.mark {
        Some(Mark::Fails) => "💥 ",
        Some(Mark::Opens | Mark::Intrudes | Mark::Closes) | None => "",
    };
    let at = line.place.as_ref().map(Place::to_string);
    let source = line.source.clone();
    let place = match [at, source].into_iter().flatten().collect::<Vec<_>>().join(": ") {
        text if text.is_empty() => String::new(),
        text => format!("   ({text})"),
    };
    let switch = line.switch.as_ref().map(|why| format!(" → {why}")).unwrap_or_default();
    format!("{number:>3}. {mark}{}{switch}{place}", line.text)
}
