//! A run for CI: files of JUnit and SARIF, annotations and a summary on GitHub.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use drawloom_report::ci::{Case, CaseStatus, Problem, Spot, annotations, junit, sarif, step_summary};
use drawloom_report::{FoundResult, TestResult};

use super::human::replay;
use super::report::{Status, TestReport};
use crate::args::{CiArguments, OnGithub};
use crate::error::Error;
use crate::store::{self, Store};

/// Says in each form that was asked for what became of the tests. Names of files in records begin at `root`.
pub(super) fn tell(arguments: &CiArguments, reports: &[TestReport], store: &Store, root: &Path) -> Result<(), Error> {
    let github = match arguments.github {
        OnGithub::Auto => std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
        OnGithub::Always => true,
        OnGithub::Never => false,
    };
    if !github && arguments.junit.is_none() && arguments.sarif.is_none() {
        return Ok(());
    }
    let cases: Vec<Case> = reports.iter().map(|report| case(report, store, root)).collect();
    if let Some(file) = &arguments.junit {
        store::write(file, &junit(&cases))?;
    }
    if let Some(file) = &arguments.sarif {
        store::write(file, &sarif(&cases, env!("CARGO_PKG_VERSION")))?;
    }
    if github {
        // GitHub reads both streams; stdout may be JSON.
        eprint!("{}", annotations(&cases));
        if let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) {
            let error = |error| Error::Unwritable { file: file.clone().into(), error };
            let mut summary = OpenOptions::new().append(true).create(true).open(&file).map_err(error)?;
            summary.write_all(step_summary(&cases).as_bytes()).map_err(error)?;
        }
    }
    Ok(())
}

fn case(report: &TestReport, store: &Store, root: &Path) -> Case {
    let result = report.exploration.as_ref();
    let findings: &[FoundResult] = match result {
        Some(result) if report.has_findings() => &result.findings,
        _ => &[],
    };
    Case {
        name: report.path.clone(),
        group: format!("{}::{}", report.package, report.target),
        status: match report.status {
            Status::Passed => CaseStatus::Passed,
            Status::Failed => CaseStatus::Failed,
            Status::Ignored => CaseStatus::Ignored,
            Status::Unfinished => CaseStatus::Unfinished,
        },
        milliseconds: result.map(|result| result.milliseconds),
        note: result.map(said),
        problems: findings.iter().map(|found| problem(found, store, root)).collect(),
        output: report.output.clone().or_else(|| result.and_then(|result| result.error.clone())),
    }
}

fn said(result: &TestResult) -> String {
    result.error.clone().unwrap_or_else(|| result.summary.clone())
}

/// A finding: all that its trace says, or what its result does where there is no trace.
fn problem(found: &FoundResult, store: &Store, root: &Path) -> Problem {
    let sources = |file: &str| store.source(file);
    let stored = found.trace.as_ref().and_then(|trace| store::read(trace.as_ref()).ok());
    let place = || {
        let (file, line) = found.place.as_ref()?.rsplit_once(':')?;
        Some(Spot { file: file.to_owned(), line: line.parse().ok()? })
    };
    let problem = match stored {
        Some(stored) => Problem::of(&stored.record, root, &sources),
        None => Problem {
            kind: found.kind.clone(),
            message: found.message.clone(),
            why: found.explanation.clone(),
            place: place(),
            ..Problem::default()
        },
    };
    let page = found.page.as_ref().map(|page| store::relative(page.as_ref()).display().to_string());
    Problem { replay: (!found.token.is_empty()).then(|| replay(found)), page, ..problem }
}
