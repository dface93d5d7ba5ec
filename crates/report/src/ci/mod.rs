//! What CI shows: JUnit for whoever lists tests, SARIF for whoever lists problems, and GitHub's annotations and step summary.
//!
//! All of them are made from [`Case`]s, which are plain data: each front end that runs tests makes them of its own. What they say
//! is made printable here, whoever made them.

mod github;
mod junit;
mod sarif;

use std::path::{Path, PathBuf};

pub use github::{annotations, step_summary};
pub use junit::junit;
pub use sarif::sarif;

use crate::cause::cause;
use crate::json;
use crate::paste::replay_line;
use crate::record::{Place, Record};

/// A test, and what became of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// What it belongs to: a test binary, a module.
    pub group: String,
    /// What became of it.
    pub status: CaseStatus,
    /// How long it took, in milliseconds; none if nobody knows.
    pub milliseconds: Option<u64>,
    /// What was explored, in one line.
    pub note: Option<String>,
    /// What was found in it.
    pub problems: Vec<Problem>,
    /// What it printed, if it failed and nothing was found.
    pub output: Option<String>,
}

/// What became of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CaseStatus {
    /// Nothing was found.
    #[default]
    Passed,
    /// It failed.
    Failed,
    /// It was not run.
    Ignored,
    /// It did not end.
    Unfinished,
}

/// Something that was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problem {
    /// The word of its kind: `data race`, `deadlock` …
    pub kind: String,
    /// The panic's message, or one sentence.
    pub message: String,
    /// Why, in one sentence.
    pub why: Option<String>,
    /// Where it showed.
    pub place: Option<Spot>,
    /// Where else one has to look, with a word of what is there.
    pub related: Vec<(Spot, String)>,
    /// The line to paste that replays it.
    pub replay: Option<String>,
    /// The page to look at it.
    pub page: Option<String>,
    /// The same for every run that meets the same bug.
    pub cause: Option<String>,
    /// The whole report, as for a terminal without colours.
    pub report: Option<String>,
    /// The whole report, as Markdown.
    pub markdown: Option<String>,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spot {
    /// The file: relative to the repository, if it is in there.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl Case {
    /// Tests from JSON, of front ends in another language.
    pub fn read_all(text: &str) -> Result<Vec<Case>, String> {
        json::read(text).map_err(|fault| fault.to_string())
    }
}

impl Problem {
    /// What is to be said of a record, whose files are relative to `base`.
    pub fn of(record: &Record, base: &Path, sources: &dyn Fn(&str) -> Option<String>) -> Problem {
        let record = &record.printable();
        let root = repository(base);
        let spot = |place: &Place| Spot { file: in_repository(&place.file, base, &root), line: place.line };
        let place_of = |step: u32| record.place(record.steps.get(step as usize)?.place).filter(|at| at.is_the_users());
        let window = record.window;
        let shown = record.place(record.finding.place).filter(|at| at.is_the_users());
        let last = || (0..record.steps.len() as u32).rev().find_map(place_of);
        let place = shown.or_else(|| window.and_then(|window| place_of(window.to))).or_else(last).map(spot);
        let ends = window.map(|window| [(window.from, "the race window opens here"), (window.to, "it closes here")]);
        let related =
            ends.into_iter().flatten().filter_map(|(step, word)| Some((spot(place_of(step)?), word.to_owned())));
        Problem {
            kind: record.finding.kind.clone(),
            message: record.finding.message.clone(),
            why: record.explanation.as_ref().map(|explanation| explanation.sentence.clone()),
            place,
            related: related.collect(),
            replay: replay_line(record, None),
            page: None,
            cause: Some(cause(record)),
            report: Some(crate::render(record, &crate::RenderOptions { sources, ..crate::RenderOptions::default() })),
            markdown: crate::markdown(record, sources),
        }
    }

    /// As JSON, for front ends in another language.
    pub fn to_json(&self) -> String {
        json::text(self)
    }

    /// What happened, in one sentence or two.
    fn sentence(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        match &self.why {
            Some(why) if why != first && !first.is_empty() => format!("{first}: {why}"),
            Some(why) => why.clone(),
            None => first.to_owned(),
        }
    }
}

/// The folder that CI calls its workspace, or the nearest one around `base` that git knows, or `base`.
fn repository(base: &Path) -> PathBuf {
    let base = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
    let workspace = std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from).filter(|root| base.starts_with(root));
    let git = || base.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    workspace.or_else(git).unwrap_or(base)
}

/// The name of a file relative to the repository, with slashes, if it is in there.
fn in_repository(file: &str, base: &Path, root: &Path) -> String {
    let whole = std::path::absolute(base.join(file)).unwrap_or_else(|_| base.join(file));
    let inside = whole.strip_prefix(root).map_or(whole.clone(), Path::to_owned);
    inside.to_string_lossy().replace('\\', "/")
}

/// Text without what a terminal, a parser of XML or a log would obey; lines stay lines.
fn plain(text: &str) -> String {
    crate::printable_lines(text).into_owned()
}

crate::json::object! {
    Case { #[optional] name, #[optional] group, #[optional] status, #[optional] milliseconds, #[optional] note, #[optional] problems, #[optional] output }
    Problem { #[optional] kind, #[optional] message, #[optional] why, #[optional] place, #[optional] related, #[optional] replay, #[optional] page, #[optional] cause, #[optional] report, #[optional] markdown }
    Spot { file, line }
}

crate::json::words! {
    CaseStatus { Passed = "passed", Failed = "failed", Ignored = "ignored", Unfinished = "unfinished" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program may say to be taken for something else.
    const NASTY: &str = "a\u{1b}[31m\u{0}%\r\n::error::b]]></failure>\"&,:|`<!-- ";

    fn nasty() -> Case {
        let place = Some(Spot { file: "a b,c:d/é.rs".to_owned(), line: 7 });
        let problem = Problem {
            kind: NASTY.to_owned(),
            message: NASTY.to_owned(),
            report: Some(NASTY.to_owned()),
            place,
            page: Some(NASTY.to_owned()),
            ..Problem::default()
        };
        Case {
            name: NASTY.to_owned(),
            group: NASTY.to_owned(),
            status: CaseStatus::Failed,
            problems: vec![problem],
            ..Case::default()
        }
    }

    #[test]
    fn what_programs_say_cannot_pose_as_a_command_or_a_tag() {
        let annotations = annotations(&[nasty()]);
        assert_eq!(annotations.lines().count(), 1, "{annotations}");
        assert!(annotations.starts_with("::error file=a b%2Cc%3Ad/é.rs,line=7,title="), "{annotations}");
        let xml = junit(&[nasty()]);
        assert!(!xml.contains('\u{1b}') && !xml.contains('\u{0}'), "XML knows no control characters: {xml}");
        assert_eq!(xml.matches("</failure>").count(), 1, "{xml}");
        let summary = step_summary(&[nasty()]);
        assert!(!summary.lines().any(|line| line.starts_with("::error")) || summary.contains("```text"), "{summary}");
    }

    #[test]
    fn names_of_files_are_uris() {
        let log: serde_json::Value = serde_json::from_str(&sarif(&[nasty()], "1.0.0")).unwrap();
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b%2Cc%3Ad/%C3%A9.rs");
    }

    #[test]
    fn a_summary_is_never_too_large_for_github() {
        let mut case = nasty();
        case.problems[0].report = Some("x".repeat(400_000));
        let cases = vec![case; 5];
        assert!(step_summary(&cases).len() < 1 << 20);
        assert!(step_summary(&vec![Case { name: "n".repeat(1000), ..Case::default() }; 3000]).len() < 1 << 20);
    }
}
