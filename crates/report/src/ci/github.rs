//! GitHub Actions: annotations in the diff, and the summary of a step.

use std::fmt::Write;

use super::{Case, CaseStatus, plain};

/// GitHub takes a summary of a megabyte, and nothing of a larger one.
const LARGEST: usize = 1_000_000;

/// A line `::error …` for each finding, and for each test that failed without one.
pub fn annotations(cases: &[Case]) -> String {
    let mut out = String::new();
    for case in cases {
        let failed = matches!(case.status, CaseStatus::Failed | CaseStatus::Unfinished);
        if failed && case.problems.is_empty() {
            let why = if case.status == CaseStatus::Failed { "it failed" } else { "it did not end" };
            let text = case.output.as_deref().map_or(why, |output| output.trim());
            let _ = writeln!(out, "::error title={}::{}", property(&case.name), data(text));
        }
        for problem in &case.problems {
            let place = problem.place.as_ref();
            let place = place.map_or_else(String::new, |at| format!("file={},line={},", property(&at.file), at.line));
            let title = property(&format!("{} in {}", problem.kind, case.name));
            let mut text = problem.sentence();
            if let Some(replay) = &problem.replay {
                text += &format!("\nreplay: {replay}");
            }
            let _ = writeln!(out, "::error {place}title={title}::{}", data(&text));
        }
    }
    out
}

/// What a workflow command takes for its text.
fn data(text: &str) -> String {
    plain(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// And for a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The summary of a run, in Markdown: a table of tests, and the reports of what was found.
pub fn step_summary(cases: &[Case]) -> String {
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    let mut out = format!("## Drawloom: {} passed, {} failed", count(CaseStatus::Passed), count(CaseStatus::Failed));
    for (status, word) in [(CaseStatus::Ignored, "ignored"), (CaseStatus::Unfinished, "unfinished")] {
        let number = count(status);
        let _ = if number > 0 { write!(out, ", {number} {word}") } else { Ok(()) };
    }
    out.push_str("\n\n");
    if !cases.is_empty() {
        out.push_str("| test | | |\n|---|---|---|\n");
    }
    for case in cases {
        let sign = match case.status {
            CaseStatus::Passed => "✓ passed",
            CaseStatus::Failed => "✗ failed",
            CaseStatus::Ignored => "ignored",
            CaseStatus::Unfinished => "✗ did not end",
        };
        let why = case.problems.iter().map(|problem| format!("{}: {}", problem.kind, problem.sentence()));
        let why = why.collect::<Vec<_>>().join("; ");
        let said = if why.is_empty() { case.note.as_deref().unwrap_or_default() } else { &why };
        let line = format!("| `{}` | {sign} | {} |\n", code(&case.name), cell(said));
        if out.len() + line.len() > LARGEST / 2 {
            out.push_str("| … | | |\n");
            break;
        }
        out.push_str(&line);
    }
    for case in cases {
        for problem in &case.problems {
            let body = match (&problem.markdown, &problem.report) {
                (Some(markdown), _) => plain(markdown),
                (None, Some(report)) => fenced(&plain(report)),
                (None, None) => continue,
            };
            let title = crate::html_escaped(&plain(&format!("{} in {}", problem.kind, case.name)));
            let page = problem.page.as_deref().map_or_else(String::new, |page| format!("\n\nPage: `{}`", code(page)));
            let text = format!("\n<details><summary>{title}</summary>\n\n{body}{page}\n\n</details>\n");
            if out.len() + text.len() > LARGEST {
                out.push_str("\nFurther reports are in the log: the summary would be too large.\n");
                return out;
            }
            out.push_str(&text);
        }
    }
    out
}

/// Lines that mean nothing to Markdown.
fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

fn code(text: &str) -> String {
    plain(text).replace('`', "'").replace('\n', " ").replace('|', "\\|")
}

fn cell(text: &str) -> String {
    crate::html_escaped(&plain(text)).replace('|', "\\|").replace('\n', "<br>")
}
