//! An analysis as Markdown, under the headings of a structured concurrency analysis; an executed finding has the same.

use std::fmt::Write as _;

use drawloom_report::sections::{self, block, prose};

use crate::finding::{Analysis, Confirmation, Finding};

/// Analyses as Markdown, one after the other.
pub fn markdown(analyses: &[Analysis]) -> String {
    analyses.iter().map(one).collect::<Vec<_>>().join("\n")
}

// Writing to a string cannot fail, here and below.
fn one(analysis: &Analysis) -> String {
    let mut out = String::new();
    let target = &analysis.target;
    let lines = match target.lines {
        Some((from, to)) if from == to => format!(":{from}"),
        Some((from, to)) => format!(":{from}-{to}"),
        None => String::new(),
    };
    let _ = writeln!(out, "## Concurrency analysis: `{}{lines}`", target.path.replace('`', "'"));
    for problem in &analysis.problems {
        let _ = writeln!(out, "\nL{} cannot be parsed: {}", problem.place.line, prose(&problem.message));
    }
    let _ = writeln!(out, "\n### Shared state\n");
    sections::shared_table(&mut out, &analysis.shared_state);
    let _ = writeln!(out, "\n### Checkpoints\n");
    sections::checkpoint_lines(&mut out, &analysis.checkpoints);
    if !analysis.notes.is_empty() {
        out.push('\n');
        for note in &analysis.notes {
            let _ = writeln!(out, "- {} L{}: {}.", note.rule, note.place.line, prose(&note.text));
        }
    }
    let findings: Vec<(usize, &Finding)> = (1..).zip(&analysis.findings).collect();
    let _ = writeln!(out, "\n### Race trace\n");
    if findings.is_empty() {
        let _ = writeln!(out, "No unserialisable interleaving found.");
    }
    for (number, finding) in &findings {
        heading(&mut out, *number, finding);
        trace(&mut out, finding);
    }
    let _ = writeln!(out, "\n### Classification\n");
    if findings.is_empty() {
        let _ = writeln!(out, "None");
    }
    for (number, finding) in &findings {
        heading(&mut out, *number, finding);
        let class = finding.class;
        let _ = writeln!(out, "**{}** ({}): {}.\n", class.title(), finding.subkind, prose(&finding.sentence));
        let _ = writeln!(out, "- {} ({})", finding.title, finding.rule);
        let _ = writeln!(
            out,
            "- {} confidence ({}). {}",
            finding.evidence.confidence.word(),
            finding.evidence.score,
            prose(&finding.because())
        );
        if let Some(confirmation) = &finding.confirmation {
            let _ = writeln!(out, "- {}", confirmed(confirmation));
        }
    }
    let _ = writeln!(out, "\n### Fixes");
    if findings.is_empty() {
        sections::fixes(&mut out, &[]);
    }
    for (number, finding) in &findings {
        out.push('\n');
        let _ = writeln!(out, "#### F{number} {}", finding.title);
        sections::fixes(&mut out, &finding.fixes);
    }
    out
}

fn heading(out: &mut String, number: usize, finding: &Finding) {
    let start = if out.ends_with("\n\n") { "" } else { "\n" };
    let _ = writeln!(out, "{start}#### F{number} {}: `{}`\n", finding.title, finding.state);
}

fn trace(out: &mut String, finding: &Finding) {
    let mut lines = String::new();
    for step in &finding.evidence.trace {
        let crash = if step.effect == drawloom_report::explain::Effect::Crash { "💥 " } else { "" };
        let source =
            if step.source.is_empty() { String::new() } else { format!("   (L{}: {})", step.place.line, step.source) };
        let _ = writeln!(lines, "[{}] {}. {crash}{}{source}", step.task, step.n, step.text);
    }
    block(out, "", &lines);
    let window = &finding.evidence.window;
    let _ =
        writeln!(out, "\n**Race window:** steps {}–{} ({})", window.from_step, window.to_step, prose(&window.reason));
}

/// What running it has shown, in a sentence.
pub(super) fn confirmed(confirmation: &Confirmation) -> String {
    match confirmation {
        Confirmation::Confirmed { message, replay, .. } => {
            format!("Confirmed by a run: {}. Replay: `{replay}`", prose(message))
        }
        Confirmation::NotReproduced { schedules } => format!("Not reproduced in {schedules} schedules."),
        Confirmation::NotTried { reason } => format!("Not tried: {}.", prose(reason)),
    }
}
