//! Stored schedules that no longer fit the program: told once, and renewed or removed if the user says so.
//!
//! Tests only replay them. The files are the users' to commit, and tests of one crate share a file while they run side by
//! side; so a line is changed here, when all tests are over, and never unasked.

use std::fmt::Write as _;
use std::path::Path;

use drawloom_engine::schedule::Schedule;
use drawloom_report::{Departure, OutdatedSchedule, kept, printable};
use serde::Serialize;

use super::report::TestReport;
use crate::args::Stale;
use crate::error::Error;
use crate::regressions::MOST_BYTES;
use crate::store::{self, Store};

/// What was done about them.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Settled {
    /// Lines that have another schedule now, as `file:line`.
    renewed: Vec<String>,
    /// Lines that were removed, as `file:line` of before.
    removed: Vec<String>,
}

/// Says which stored schedules no longer fit, but for those of which that was said before, and notes that it was.
pub(super) fn told_once(reports: &[TestReport], store: &Store) -> String {
    let mut text = String::new();
    for (test, outdated) in all(reports) {
        let mut standings = store.standings(test);
        if standings.was_told(&outdated.token) || !is_there(outdated) {
            continue;
        }
        let Departure { step, expected, found } = &outdated.departure;
        let step = step.saturating_sub(1);
        let came_to = if outdated.passes { "passes" } else { "fails" };
        let file = store::relative(Path::new(&outdated.file));
        let [test, file, expected, found] =
            [test, &file.display().to_string(), expected, found].map(|text| printable(text).into_owned());
        let _ = writeln!(
            text,
            "  {test}: {file}:{} fits up to step {step}; the test {came_to}\n    expected: {expected}\n    \
             found:    {found}",
            outdated.line
        );
        let standing = standings.entry(&outdated.token);
        standing.told = true;
        if outdated.passes && standing.passes.is_none() {
            standing.passes = Some(format!("its stored schedule no longer fits {}", outdated.departure));
        }
        // Where that cannot be noted, it is said again.
        let _ = store.note(&standings);
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "\nstored schedules that no longer fit the program, followed as far as they fit:\n{text}\
             `drawloom test --stale renew` replaces them by the schedules that were followed now, `--stale remove` \
             removes their lines.\nThis is said once: a schedule may stay, and fits again if the bug comes back.\n"
        ),
    }
}

/// Renews or removes the lines of all stored schedules that no longer fit.
pub(super) fn settle(what: Stale, reports: &[TestReport]) -> Result<Settled, Error> {
    let mut settled = Settled::default();
    for (_, outdated) in all(reports) {
        let file = Path::new(&outdated.file);
        let unreadable = |error| Error::Unreadable { file: file.to_owned(), error };
        let text = kept::read(file, MOST_BYTES).map_err(unreadable)?;
        let renewed = outdated.renewed.as_ref().filter(|_| what == Stale::Renew);
        // A schedule that is stored already need not be stored twice.
        let renewed = renewed.filter(|renewed| !text.contains(renewed.as_str()));
        let changed: String = text.split_inclusive('\n').filter_map(|line| replaced(line, outdated, renewed)).collect();
        if changed == text {
            continue;
        }
        store::write(file, &changed)?;
        let place = format!("{}:{}", store::relative(file).display(), outdated.line);
        let list = if renewed.is_some() { &mut settled.renewed } else { &mut settled.removed };
        list.push(place);
    }
    Ok(settled)
}

/// A line of a file, after the schedule was renewed or removed.
fn replaced(line: &str, outdated: &OutdatedSchedule, renewed: Option<&String>) -> Option<String> {
    match line.split('#').next().unwrap_or_default().trim() == outdated.token {
        false => Some(line.to_owned()),
        true => renewed.map(|renewed| line.replacen(&outdated.token, renewed, 1)),
    }
}

/// Those of all tests, with the names of the tests.
fn all(reports: &[TestReport]) -> impl Iterator<Item = (&str, &OutdatedSchedule)> {
    let results = reports.iter().filter_map(|report| report.exploration.as_ref());
    results.flat_map(|result| result.outdated.iter().map(|outdated| (result.test.as_str(), outdated)))
}

/// Whether the line is still in the file: it may have been renewed or removed meanwhile.
fn is_there(outdated: &OutdatedSchedule) -> bool {
    let is_token = Schedule::decode(&outdated.token).is_ok();
    is_token && kept::read(Path::new(&outdated.file), MOST_BYTES).is_ok_and(|text| text.contains(&outdated.token))
}

impl Settled {
    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (what, places) in [("renewed", &self.renewed), ("removed", &self.removed)] {
            places
                .iter()
                .for_each(|place| text.push_str(&format!("{what} the stored schedule {}\n", printable(place))));
        }
        if text.is_empty() {
            text.push_str("all stored schedules fit the program\n");
        }
        text
    }
}
