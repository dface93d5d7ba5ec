//! An explanation as Markdown, under the headings of a structured concurrency analysis.

use std::fmt::Write as _;

use crate::explain::{Accessor, Explanation, Fix, Item, Line, Mark};
use crate::names::{Names, count};
use crate::record::{Place, Record};
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
    checkpoints(&mut out, explanation);
    race_trace(&mut out, &names, explanation);
    classification(&mut out, explanation);
    fixes(&mut out, explanation);
    if let Some(line) = crate::paste::replay_line(record, None) {
        let _ = writeln!(out, "\nReplay: `{line}`");
    }
    Some(out)
}

// Writing to a string cannot fail, here and below.
fn shared_state(out: &mut String, explanation: &Explanation) {
    let _ = writeln!(out, "\n### Shared state\n");
    if explanation.shared.is_empty() {
        let _ = writeln!(out, "None");
        return;
    }
    let _ = writeln!(out, "| State | Writers | Readers | Guard |");
    let _ = writeln!(out, "|---|---|---|---|");
    for state in &explanation.shared {
        let (writers, readers) = (all(&state.writers), all(&state.readers));
        let _ = writeln!(out, "| {} | {writers} | {readers} | {} |", cell(&state.state), cell(&state.guard.text));
    }
    let basis = explanation.basis;
    let executions = count(basis.executions, "execution");
    let _ = writeln!(out, "\nGuards as seen in {executions}, {} of them passing.", basis.passing);
}

fn all(accessors: &[Accessor]) -> String {
    let names: Vec<String> = accessors.iter().map(|a| cell(&a.task)).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

/// Text as it can stand in a table.
fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}

/// Text as it can stand in a paragraph: what is in code spans stays there, and nothing outside of them is a link, an
/// image or HTML.
fn prose(text: &str) -> String {
    let spans = text.matches('`').count() % 2 == 0;
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' if spans => {
                inside = !inside;
                out.push(c);
            }
            '<' if !inside => out.push_str("&lt;"),
            '`' | '[' if !inside => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A block of text as it is, after `indent`: whatever backticks are in it, the block ends where we end it.
fn block(out: &mut String, indent: &str, text: &str) {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let _ = writeln!(out, "{indent}{fence}text");
    for line in text.lines() {
        let _ = writeln!(out, "{indent}{line}");
    }
    let _ = writeln!(out, "{indent}{fence}");
}

fn checkpoints(out: &mut String, explanation: &Explanation) {
    let _ = writeln!(out, "\n### Checkpoints\n");
    if explanation.checkpoints.is_empty() {
        let _ = writeln!(out, "None");
        return;
    }
    let mut lines = String::new();
    for point in &explanation.checkpoints {
        let line = point.place.as_ref().map_or(0, |place| place.line);
        let source = point.source.as_deref().unwrap_or_default();
        let taken = if point.taken { " (a switch was made here)" } else { "" };
        let _ = writeln!(lines, "L{line}: {source}   ← {}{taken}", point.mark);
    }
    block(out, "", &lines);
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

fn classification(out: &mut String, explanation: &Explanation) {
    let _ = writeln!(out, "\n### Classification\n");
    let Some(class) = explanation.class else {
        let _ = writeln!(out, "None");
        return;
    };
    let subkind = explanation.subkind.as_ref().map(|kind| format!(" ({})", prose(kind))).unwrap_or_default();
    let _ = writeln!(out, "**{}**{subkind}: {}.", class.title(), class.meaning());
    let evidence = &explanation.evidence;
    let said = evidence.pattern.iter().chain(&evidence.reasons).chain(&evidence.counterfactual);
    let said: Vec<&String> = said.collect();
    if !said.is_empty() {
        out.push('\n');
    }
    for reason in said {
        let _ = writeln!(out, "- {}", prose(reason));
    }
}

fn fixes(out: &mut String, explanation: &Explanation) {
    let _ = writeln!(out, "\n### Fixes");
    if explanation.fixes.is_empty() {
        let _ = writeln!(out, "\nNone needed");
        return;
    }
    for (number, fix) in (1..).zip(&explanation.fixes) {
        one(out, number, fix);
    }
}

fn one(out: &mut String, number: usize, fix: &Fix) {
    let _ = writeln!(out, "\n#### {number}. {} [{}]\n", prose(&fix.title), fix.effort.word());
    let _ = writeln!(out, "- **Sketch**:\n");
    block(out, "  ", &fix.sketch);
    let verified = fix.verified.as_ref().map(|v| format!(" ({})", prose(&v.text))).unwrap_or_default();
    let _ = writeln!(out, "\n- **How it closes the window**: {}{verified}", prose(&fix.closes));
    let _ = writeln!(out, "- **Tradeoffs**: {}", prose(&fix.tradeoff));
    let _ = writeln!(out, "- **Risk**: {}", prose(&fix.risk));
}
