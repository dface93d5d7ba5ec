//! A run for programs: a line of JSON for each test when it is over, and a last one for all of them.

use serde::Serialize;

use super::Show;
use super::report::{Summary, TestReport};
use crate::answer;
use crate::store::Store;

/// Writes lines of JSON to stdout.
pub(crate) struct Lines;

/// A test, for programs.
#[derive(Serialize)]
pub(crate) struct TestLine<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    report: &'a TestReport,
}

/// All tests, for programs.
#[derive(Serialize)]
pub(crate) struct SummaryLine<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    summary: &'a Summary,
}

impl<'a> TestLine<'a> {
    pub(crate) fn of(report: &'a TestReport) -> TestLine<'a> {
        TestLine { r#type: "test", report }
    }
}

impl<'a> SummaryLine<'a> {
    pub(crate) fn of(summary: &'a Summary) -> SummaryLine<'a> {
        SummaryLine { r#type: "summary", summary }
    }
}

impl Show for Lines {
    fn ended(&mut self, report: &TestReport) {
        answer::print(&(answer::json(&TestLine::of(report)) + "\n"));
    }

    fn summary(&mut self, summary: &Summary, _: &[TestReport], _: &Store) {
        answer::print(&(answer::json(&SummaryLine::of(summary)) + "\n"));
    }
}
