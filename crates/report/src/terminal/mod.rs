//! A record as the text that a failing test prints: what went wrong, how it came to that, and how to
//! get there again.

mod blocked;
mod explained;
pub(crate) mod fold;
mod headline;
mod lanes;
pub(crate) mod operation;
mod paint;
mod processes;
pub(crate) mod race;
pub(crate) mod reason;
mod stuck;
mod trace;

use std::fmt::Write as _;

use crate::names::{Names, count};
use crate::paste::replay_line;
use crate::printable::printable;
use crate::record::{Minimised, Record};
use crate::source::Sources;
pub(crate) use headline::headline;
use paint::{Ink, Paint};

/// Tasks that a report lists one by one.
const MOST_LISTED: usize = 32;

/// How to render.
#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    /// Columns to keep trace lines within; 0 for no limit. Messages and the line to paste are never cut.
    pub width: usize,
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// Reads a source file, by the name that places give it.
    pub sources: &'a dyn Fn(&str) -> Option<String>,
    /// Lines of trace to show at most: a quarter from its beginning, the others from its end.
    pub max_steps: usize,
    /// Where the trace file was written, if it was.
    pub trace_file: Option<&'a str>,
    /// Where the trace was written as a page to look at ([`page`](crate::page)), if it was.
    pub page: Option<&'a str>,
}

impl Default for RenderOptions<'_> {
    /// 120 columns, no colour, no sources, 80 steps, no files.
    fn default() -> Self {
        RenderOptions { width: 120, colour: false, sources: &|_| None, max_steps: 80, trace_file: None, page: None }
    }
}

/// The text that a failing test prints of `record`. It ends with a line break.
///
/// ```
/// # use drawloom_engine::{Engine, TaskId, finding::{Finding, FindingKind}};
/// use drawloom_report::{Meta, Record, RenderOptions, render};
///
/// # let engine = Engine::new();
/// # let finding = Finding { kind: FindingKind::NothingExplored, task: TaskId::MAIN, step: 0 };
/// let meta = Meta { test: "bank::transfer".into(), ..Meta::default() };
/// let record = Record::of(&engine, &finding, meta, &|_site| None);
/// let sources = |file: &str| std::fs::read_to_string(file).ok();
/// let text = render(&record, &RenderOptions { sources: &sources, ..RenderOptions::default() });
/// assert!(text.starts_with("NOTHING EXPLORED in test \"bank::transfer\":"));
/// ```
pub fn render(record: &Record, options: &RenderOptions<'_>) -> String {
    let record = &record.printable();
    let sources = Sources::of(record, options.sources);
    let names = Names::of(record, &sources);
    let paint = Paint(options.colour);
    let mut out = headline(record, &names, options);
    if let Some(explanation) = &record.explanation {
        out.push('\n');
        out.push_str(&explained::explained(record, &names, explanation, options));
    } else if !record.steps.is_empty() && record.finding.kind != "nothing explored" {
        out.push('\n');
        out.push_str(&trace::trace(record, &names, options));
        out.push_str(&processes::processes(record, &names, options));
    }
    out.push('\n');
    footer(&mut out, record, options, paint);
    out
}

// Writing to a string cannot fail, here and below.
fn footer(out: &mut String, record: &Record, options: &RenderOptions<'_>, paint: Paint) {
    let meta = &record.meta;
    let strategy = meta.strategy.split(['(', ',']).next().unwrap_or_default().trim();
    if record.finding.kind == "nothing explored" {
        let _ = writeln!(out, "{} of {strategy}", count(meta.executions, "execution"));
        return;
    }
    let seed = meta.seed.map(|seed| format!("seed {seed:#x}, ")).unwrap_or_default();
    let steps = count(record.steps.len() as u64, "step");
    let _ = writeln!(out, "{seed}iteration {} of {strategy}, {steps}", meta.iteration);
    if let Some(minimised) = &meta.minimised {
        let _ = writeln!(out, "{}", minimising(minimised));
    }
    if let Some(line) = replay_line(record, options.trace_file) {
        let _ = writeln!(out, "replay: {}", paint.ink(Ink::Strong, &line));
    }
    let trace = options.trace_file.map(|file| format!("trace: {}", printable(file)));
    let page = options.page.map(|file| format!("page: {}", printable(file)));
    let files: Vec<_> = trace.into_iter().chain(page).collect();
    if !files.is_empty() {
        let _ = writeln!(out, "{}", files.join("  "));
    }
}

/// `minimised 41 → 1 preemptions in 71 replays`: what has become less, and first of it what matters most.
fn minimising(minimised: &Minimised) -> String {
    let Minimised { before, after, replays, complete, .. } = minimised;
    let replays = count(*replays, "replay");
    let rest = if *complete { "" } else { "; the time was up: `shrink = full` continues" };
    let changes = [
        (before.preemptions, after.preemptions, "preemptions"),
        (before.faults, after.faults, "faults"),
        (before.switches, after.switches, "switches"),
        (before.data, after.data, "as the sum of choices"),
        (before.steps, after.steps, "steps"),
    ];
    match changes.into_iter().find(|(before, after, _)| before != after) {
        Some((before, after, what)) => format!("minimised {before} → {after} {what} in {replays}{rest}"),
        None => {
            let faults = Some(after.faults).filter(|faults| *faults > 0);
            let faults = faults.map(|faults| format!(", {}", count(faults, "fault"))).unwrap_or_default();
            // Who has not tried everything has not seen that there is nothing.
            let what = if *complete { "no simpler schedule in" } else { "no simpler schedule in the first" };
            format!("{what} {replays} ({}{faults}){rest}", count(after.preemptions, "preemption"))
        }
    }
}
