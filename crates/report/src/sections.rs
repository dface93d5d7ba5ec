//! The parts of an analysis as Markdown, the same whether it was read from source or seen in an execution: what is claimed has one
//! form, and only the evidence for it differs.

use std::fmt::Write as _;

use crate::explain::{Accessor, Checkpoint, Explanation, Fix, SharedState};

// Writing to a string cannot fail, here and below.
/// The table of shared state.
pub fn shared_table(out: &mut String, shared: &[SharedState]) {
    if shared.is_empty() {
        let _ = writeln!(out, "None");
        return;
    }
    let _ = writeln!(out, "| State | Writers | Readers | Guard |");
    let _ = writeln!(out, "|---|---|---|---|");
    for state in shared {
        let (writers, readers) = (all(&state.writers), all(&state.readers));
        let _ = writeln!(out, "| {} | {writers} | {readers} | {} |", cell(&state.state), cell(&state.guard.text));
    }
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
pub fn prose(text: &str) -> String {
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
pub fn block(out: &mut String, indent: &str, text: &str) {
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

/// One line for each checkpoint, with its mark.
pub fn checkpoint_lines(out: &mut String, checkpoints: &[Checkpoint]) {
    if checkpoints.is_empty() {
        let _ = writeln!(out, "None");
        return;
    }
    let mut lines = String::new();
    for point in checkpoints {
        let line = point.place.as_ref().map_or(0, |place| place.line);
        let source = point.source.as_deref().unwrap_or_default();
        let taken = if point.taken { " (a switch happened here)" } else { "" };
        let _ = writeln!(lines, "L{line}: {source}   ← {}{taken}", point.mark);
    }
    block(out, "", &lines);
}

/// The class, and what it rests on.
pub fn classification(out: &mut String, explanation: &Explanation) {
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

/// What could be done, each with its sketch, cost and risk.
pub fn fixes(out: &mut String, fixes: &[Fix]) {
    if fixes.is_empty() {
        let _ = writeln!(out, "\nNone needed");
        return;
    }
    for (number, fix) in (1..).zip(fixes) {
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
