//! The finding in one sentence, and what is to be said under it.

use drawloom_engine::finding::Backtrace;
use drawloom_engine::sorted::sort;

use crate::explain::Explanation;
use crate::names::Names;
use crate::record::{Details, Record};
use crate::terminal::{RenderOptions, headline};

/// What a person reads first.
pub(super) fn sentence(record: &Record, names: &Names<'_>) -> String {
    let finding = &record.finding;
    let message = finding.message.lines().next().unwrap_or_default();
    match &finding.details {
        Details::Panic { .. } if record.is_broken_invariant() => upper(&record.invariant().replace('\n', "; ")),
        Details::Panic { .. } => {
            format!("Task {} {} {message}", names.tag(finding.task), record.meta.language.words.panicked_how)
        }
        Details::Deadlock { blocked, cycle, .. } => {
            let mut who = if cycle.is_empty() { blocked.iter().map(|b| b.task).collect() } else { cycle.clone() };
            sort(&mut who);
            let verb = match (who.len(), cycle.is_empty()) {
                (1, true) => "waits for an event that no running task can produce",
                (1, false) => "waits for itself",
                (_, true) => "wait for events that no running task can produce",
                (_, false) => "wait for each other",
            };
            format!("{} {verb}", all_of(&who, names))
        }
        Details::DataRace { resource, earlier, later } => {
            let cell = names.resource(Some(*resource)).unwrap_or("a cell");
            let (a, b) = (names.tag(earlier.task), names.tag(later.task));
            format!("Nothing orders the accesses of task {a} and task {b} to {cell}")
        }
        Details::Unjoined { tasks } => format!("{} never joined", all_of(tasks, names)),
        Details::Stuck(_) => {
            format!("{} blocks or spins in code that is not under control", all_of(&[finding.task], names))
        }
        // The message is a sentence.
        _ => upper(message),
    }
}

/// What is to be read after the sentence: of a panic that is explained its message, and then the backtrace; else the lines of
/// the terminal report's headline that the sentence does not say already.
pub(super) fn details(record: &Record, names: &Names<'_>, sources: &dyn Fn(&str) -> Option<String>) -> String {
    if record.finding.kind == crate::record::PASSED {
        return String::new();
    }
    if let (Details::Panic { backtrace, .. }, Some(_)) = (&record.finding.details, &record.explanation) {
        let message: Vec<&str> = record.finding.message.lines().skip(1).collect();
        let mut parts = vec![sentence(record, names)];
        parts.extend(message.into_iter().map(str::to_owned));
        let text = backtrace.as_ref().map(Backtrace::text).filter(|text| !text.is_empty());
        parts.extend(text.map(|text| format!("\nBacktrace:\n{text}")));
        return parts.join("\n");
    }
    let options = RenderOptions { sources, ..RenderOptions::default() };
    let text = headline(record, names, &options);
    let said = if matches!(record.finding.details, Details::Panic { .. }) { 2 } else { 1 };
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let lines: Vec<&str> = text.lines().skip(said).map(|line| &line[indent(line).min(2 * said)..]).collect();
    lines.join("\n").trim_end().to_owned()
}

/// The class and the window of an explanation, a line each.
pub(super) fn why(explanation: &Explanation) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(class) = explanation.class {
        let pattern = explanation.evidence.pattern.as_ref().map(|p| format!(" – {p}")).unwrap_or_default();
        lines.push(format!("{}: {}{pattern}", class.title(), class.meaning()));
    }
    if let Some(window) = &explanation.window {
        let to = window.to.map_or_else(|| "the failure".to_owned(), |to| format!("step {}", to + 1));
        lines.push(format!("Race window: step {} to {to}: {}", window.from + 1, window.reason));
    }
    lines
}

/// `Tasks 0.1 and 0.2`, `Tasks 0.1, 0.2 and 3 more`.
fn all_of(tasks: &[u32], names: &Names<'_>) -> String {
    const MOST: usize = 4;
    let mut tags: Vec<String> = tasks.iter().take(MOST).map(|task| names.tag(*task)).collect();
    if tasks.len() > MOST {
        tags.push(format!("{} more", tasks.len() - MOST));
    }
    let last = tags.pop().unwrap_or_default();
    if tags.is_empty() { format!("Task {last}") } else { format!("Tasks {} and {last}", tags.join(", ")) }
}

fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
