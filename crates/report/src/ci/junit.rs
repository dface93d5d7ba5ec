//! JUnit's XML, as Jenkins, GitLab, CircleCI and others read it.
//!
//! There is no standard; this is the common part of what is read: `testsuites`, a `testsuite` for each group with its counts,
//! a `testcase` with `name`, `classname` and `time`, and in it `failure`, `error` or `skipped`.

use std::fmt::Write;

use super::{Case, CaseStatus, plain};
use crate::html_escaped;

/// Tests as JUnit's XML.
pub fn junit(cases: &[Case]) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for case in cases {
        if !groups.contains(&case.group.as_str()) {
            groups.push(&case.group);
        }
    }
    let all: Vec<&Case> = cases.iter().collect();
    let mut out =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"drawloom\"{}>\n", counts(&all));
    for group in groups {
        let members: Vec<&Case> = cases.iter().filter(|case| case.group == group).collect();
        let _ = writeln!(out, "  <testsuite name=\"{}\"{}>", escaped(group), counts(&members));
        members.iter().for_each(|case| self::case(&mut out, case));
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

fn counts(cases: &[&Case]) -> String {
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    let milliseconds: u64 = cases.iter().filter_map(|case| case.milliseconds).sum();
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
        cases.len(),
        count(CaseStatus::Failed),
        count(CaseStatus::Unfinished),
        count(CaseStatus::Ignored),
        seconds(milliseconds)
    )
}

fn case(out: &mut String, case: &Case) {
    let time = seconds(case.milliseconds.unwrap_or(0));
    let (group, name) = (escaped(&case.group), escaped(&case.name));
    let _ = write!(out, "    <testcase classname=\"{group}\" name=\"{name}\" time=\"{time}\"");
    // A place for readers that know one; others pass over it.
    if let Some(place) = case.problems.iter().find_map(|problem| problem.place.as_ref()) {
        let _ = write!(out, " file=\"{}\" line=\"{}\"", escaped(&place.file), place.line);
    }
    out.push_str(">\n");
    let printed = case.output.as_deref().unwrap_or_default();
    match case.status {
        CaseStatus::Passed => {}
        CaseStatus::Ignored => out.push_str("      <skipped/>\n"),
        CaseStatus::Unfinished => {
            let _ = writeln!(
                out,
                "      <error message=\"it did not end\" type=\"unfinished\">{}</error>",
                escaped(printed)
            );
        }
        // Most readers show one failure of a test.
        CaseStatus::Failed => {
            let first = case.problems.first();
            let message = first.map_or_else(|| first_line(printed), |problem| problem.sentence());
            let kind = first.map_or("failed", |problem| problem.kind.as_str());
            let texts: Vec<&str> = case.problems.iter().filter_map(|problem| problem.report.as_deref()).collect();
            let text = if texts.is_empty() { printed.to_owned() } else { texts.join("\n") };
            let (message, kind, text) = (escaped(&message), escaped(kind), escaped(&text));
            let _ = writeln!(out, "      <failure message=\"{message}\" type=\"{kind}\">{text}</failure>");
        }
    }
    if let Some(note) = &case.note {
        let _ = writeln!(out, "      <system-out>{}</system-out>", escaped(note));
    }
    out.push_str("    </testcase>\n");
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed").trim().to_owned()
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// Text as it can stand in XML 1.0: which knows no control characters, however they are written.
fn escaped(text: &str) -> String {
    html_escaped(&plain(text)).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
