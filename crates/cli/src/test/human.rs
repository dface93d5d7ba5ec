//! A run for people: a line for each test when it is over, then the reports of what was found.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::Duration;

use drawloom_engine::config::{Config, StrategySpec};
use drawloom_engine::schedule::Schedule;
use drawloom_report::{
    FoundResult, TestResult, assumed_of, fits_a_line, is_token, plain_name, printable, printable_lines,
    replay_by_command,
};

use super::Show;
use super::budget::NO_END;
use super::report::{Status, Summary, TestReport};
use super::stale;
use crate::answer;
use crate::explain;
use crate::store::{self, Store};

/// Stretches of a schedule that are shown.
const STRETCHES: usize = 12;
/// Columns for what follows a name.
const STRATEGY_COLUMNS: usize = 20;
/// Names beyond this do not push everybody else to the right.
const WIDEST: usize = 76;

/// Hands text over as it comes.
pub(crate) struct Human<P> {
    quiet: bool,
    colour: bool,
    column: usize,
    print: P,
}

impl<P: FnMut(&str)> Human<P> {
    pub(crate) fn new(quiet: bool, colour: bool, print: P) -> Human<P> {
        Human { quiet, colour, column: 44, print }
    }
}

impl<P: FnMut(&str)> Show for Human<P> {
    fn begins(&mut self, _: usize, longest: usize) {
        self.column = (longest + STRATEGY_COLUMNS).clamp(44, WIDEST);
    }

    fn turn(&mut self, report: &TestReport, left: Duration) {
        // For whoever waits; a log has no use for it.
        if std::io::stderr().is_terminal() {
            answer::complain(&format!("exploring {} ({} s left)", report.name, left.as_secs()));
        }
    }

    fn ended(&mut self, report: &TestReport) {
        (self.print)(&line(report, self.column, self.colour));
    }

    fn summary(&mut self, summary: &Summary, reports: &[TestReport], store: &Store) {
        if !self.quiet {
            (self.print)(&failures(reports, store, self.colour));
        }
        (self.print)(&stale::told_once(reports, store));
        (self.print)(&total(summary));
        if summary.interrupted {
            (self.print)(&kept(reports, store));
        }
    }
}

/// `test bank::transfer @exhaustive ......... ok (explored 847 schedules, exhausted)`, and what is to be said
/// beneath it.
fn line(report: &TestReport, column: usize, colour: bool) -> String {
    let name = printable(&report.name);
    let label = match report.config() {
        Some(config) => format!("test {name} @{}", strategy(&config)),
        None => format!("test {name}"),
    };
    let dots = column.saturating_sub(label.chars().count()).max(3);
    let verdict = verdict(report);
    let verdict = if colour { painted(report.status, &verdict) } else { verdict };
    let mut text = format!("{label} {} {verdict}\n", ".".repeat(dots));
    let Some(result) = &report.exploration else { return text };
    if report.has_findings() {
        result.findings.iter().for_each(|found| text.push_str(&beneath(found)));
    }
    if let Some(error) = result.error.as_ref().filter(|_| report.status == Status::Failed) {
        let _ = writeln!(text, "  {}", printable_lines(error));
    }
    result.remarks.iter().for_each(|remark| text.push_str(&format!("  note: {}\n", printable_lines(remark))));
    text
}

/// The first word in the colour that it has in every test run.
fn painted(status: Status, verdict: &str) -> String {
    let colour = match status {
        Status::Passed => 32,
        Status::Failed | Status::Unfinished => 31,
        Status::Ignored => 33,
    };
    let (first, rest) = verdict.split_at(verdict.find(" (").unwrap_or(verdict.len()));
    format!("\x1b[{colour}m{first}\x1b[0m{rest}")
}

/// `random(1000)`, `exhaustive`.
fn strategy(config: &Config) -> String {
    match config.strategy.is_randomised() && config.iterations != NO_END {
        true => format!("{}({})", config.strategy.name(), config.iterations),
        false => config.strategy.name().to_owned(),
    }
}

fn verdict(report: &TestReport) -> String {
    match (report.status, &report.exploration) {
        (Status::Ignored, _) => "ignored".to_owned(),
        (Status::Unfinished, _) => "NOT FINISHED".to_owned(),
        (Status::Passed, None) => "ok".to_owned(),
        (Status::Failed, None) => "FAILED".to_owned(),
        (Status::Passed, Some(result)) => match result.findings.first() {
            Some(found) => {
                format!("ok (fails as it should: {} in iteration {})", printable(&found.kind), found.iteration)
            }
            None => format!("ok ({})", explored(result)),
        },
        (Status::Failed, Some(result)) => match result.findings.first() {
            Some(found) => {
                let seed = result.seed.as_ref().map(|seed| format!("seed: {}, ", printable(seed))).unwrap_or_default();
                format!("FAILED ({seed}iteration: {})", found.iteration)
            }
            // Something else than what was explored.
            None => "FAILED".to_owned(),
        },
    }
}

/// What was done, and what was not.
fn explored(result: &TestResult) -> String {
    let config: Option<Config> = result.configuration.parse().ok();
    let strategy = config.map(|config| config.strategy).unwrap_or_default();
    let exhaustive = matches!(strategy, StrategySpec::Exhaustive { .. });
    let schedules = counted(result.executions, "schedule");
    let assumed = assumed_of(result.weaker_accesses).map(|assumed| format!(", {assumed}")).unwrap_or_default();
    if result.exhausted {
        return format!("explored {schedules}, exhausted{assumed}");
    }
    if let Some(rounds) = result.cut_spin_rounds.filter(|_| exhaustive) {
        let rounds = counted(rounds.into(), "round");
        return format!("explored {schedules}, exhausted, spin loops cut after {rounds}{assumed}");
    }
    if exhaustive {
        let why = if result.timed_out { ": out of time" } else { "" };
        let estimate = result.estimate.map(|estimate| format!(", about {} in all", about(estimate)));
        return format!("explored {schedules}, not exhausted{why}{}", estimate.unwrap_or_default());
    }
    if !strategy.is_randomised() {
        return schedules;
    }
    let iterations = match result.timed_out {
        true => format!("{} of {}, out of time", result.executions, counted(result.planned, "iteration")),
        false => counted(result.executions, "iteration"),
    };
    match result.behaviours {
        0 => iterations,
        n => format!("{iterations}, {}", counted(n, "behaviour")),
    }
}

/// What stands beneath the line of a test that failed.
fn beneath(found: &FoundResult) -> String {
    let at = found.place.as_ref().map(|place| format!(" at {}", printable(place))).unwrap_or_default();
    let message = printable_lines(&found.message);
    let mut message = message.lines();
    let first = message.next().unwrap_or_default();
    let mut text = format!("  {}: task {}{at}: {first}\n", printable(&found.kind), printable(&found.task));
    message.for_each(|line| text.push_str(&format!("    {}\n", line.trim_end())));
    found.explanation.iter().for_each(|why| text.push_str(&format!("  why: {}\n", printable(why))));
    if let Ok(schedule) = Schedule::decode(&found.token) {
        let _ = writeln!(text, "  schedule: {}", stretches(&schedule));
        let _ = writeln!(text, "  replay: {}", replay(found));
    }
    text
}

/// The line to paste that replays a finding.
pub(crate) fn replay(found: &FoundResult) -> String {
    replay_by_command(found.replay_with.as_deref(), &found.token, found.trace.as_deref())
}

/// `[0 ×3, 0.1 ×5, 0]`: who ran, and how many steps in a row.
pub(crate) fn stretches(schedule: &Schedule) -> String {
    let shown = schedule.segments.iter().take(STRETCHES).map(|segment| {
        let task = path(&segment.task.0);
        if segment.count == 1 { task } else { format!("{task} ×{}", segment.count) }
    });
    let more = (schedule.segments.len() > STRETCHES).then(|| "…".to_owned());
    format!("[{}]", shown.chain(more).collect::<Vec<_>>().join(", "))
}

/// `0.1.2`; the clock has no parts.
pub(crate) fn path(parts: &[u32]) -> String {
    match parts {
        [] => "clock".to_owned(),
        parts => parts.iter().map(ToString::to_string).collect::<Vec<_>>().join("."),
    }
}

/// The reports of everything that was found, and what other tests that failed have printed.
fn failures(reports: &[TestReport], store: &Store, colour: bool) -> String {
    let mut text = String::new();
    for report in reports.iter().filter(|report| matches!(report.status, Status::Failed | Status::Unfinished)) {
        let findings = report.exploration.iter().flat_map(|result| &result.findings);
        let traces = findings.filter_map(|found| found.trace.as_ref().map(|trace| (found, trace)));
        let mut explained = false;
        for (found, trace) in traces {
            let Ok(stored) = store::read(trace.as_ref()) else { continue };
            let _ = write!(text, "\n──── {} ────\n\n{}", report.name, explain::terminal(&stored, store, colour));
            if is_token(&found.token) {
                let finding = if fits_a_line(&found.token) { &found.token } else { &report.name };
                let _ = writeln!(text, "more: drawloom view {}", printable(finding));
            }
            explained = true;
        }
        if let Some(output) = report.output.as_ref().filter(|output| !explained && !output.trim().is_empty()) {
            let _ = write!(text, "\n──── {} ────\n\n{}\n", report.name, output.trim_end());
        }
    }
    text
}

/// Whether colours are of any use.
pub(crate) fn coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal()
}

/// `5 tests: 4 passed, 1 failed (1.2 s)`
fn total(summary: &Summary) -> String {
    let mut parts = vec![format!("{} passed", summary.passed), format!("{} failed", summary.failed)];
    let further = [(summary.ignored, "ignored"), (summary.unfinished, "not finished")];
    parts.extend(further.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    let interrupted = if summary.interrupted { "interrupted; " } else { "" };
    let seconds = summary.milliseconds as f64 / 1000.0;
    let tests = counted(summary.tests as u64, "test");
    let mut text = format!("\n{interrupted}{tests}: {} ({seconds:.1} s)\n", parts.join(", "));
    if let Some(settled) = &summary.stale {
        text.push_str(&settled.text());
    }
    if let Some(trouble) = &summary.trouble {
        let _ = writeln!(text, "{trouble}");
    }
    text
}

/// After Ctrl-C: what is kept, and how each test that was not over goes on.
fn kept(reports: &[TestReport], store: &Store) -> String {
    let over = reports.iter().filter(|report| !matches!(report.status, Status::Unfinished | Status::Ignored)).count();
    let directory = store.directory.display().to_string();
    let directory = printable(&directory);
    let mut text = match counted(over as u64, "result") {
        _ if over == 0 => format!("results are in {directory}\n"),
        results => format!("saved in {directory}: {results}; `drawloom findings` lists the findings\n"),
    };
    let searches = store.searches();
    for report in reports.iter().filter(|report| report.status == Status::Unfinished) {
        let resumes = searches.iter().any(|search| search.test == plain_name(&report.name));
        let how = if resumes { "resumes its search where it stopped" } else { "starts again" };
        let (name, path) = (printable(&report.name), printable(&report.path));
        let _ = writeln!(text, "{name} was unfinished: `drawloom test {path}` {how}");
    }
    text
}

/// `1 schedule`, `2 schedules`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// An estimate, without digits that mean nothing.
fn about(estimate: u64) -> u64 {
    let unit = 10u64.pow(estimate.max(1).ilog10().saturating_sub(1));
    estimate / unit * unit
}
