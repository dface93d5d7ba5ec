//! `drawloom list` and `drawloom clean`: what is kept.

use std::fmt::Write as _;
use std::path::PathBuf;

use drawloom_report::{FoundResult, is_token, printable};
use serde::Serialize;

use crate::answer::Answer;
use crate::args::StoreArguments;
use crate::error::Error;
use crate::regressions::{Committed, committed};
use crate::store::{Store, Stored};
use crate::test::human;

/// Everything that is kept.
#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    r#type: &'static str,
    directory: PathBuf,
    findings: Vec<Entry>,
    /// Searches that the next run goes on with.
    searches: Vec<SearchEntry>,
    /// Failing schedules that users commit.
    regressions: Vec<Committed>,
    /// What in their files cannot be read.
    damaged: Vec<String>,
}

/// A finding that is kept.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    test: String,
    strategy: String,
    seed: Option<String>,
    #[serde(flatten)]
    found: FoundResult,
}

impl Entry {
    pub(crate) fn of(stored: &Stored) -> Entry {
        let meta = &stored.record.meta;
        Entry {
            test: meta.test.clone(),
            strategy: meta.strategy.clone(),
            seed: meta.seed.map(|seed| format!("{seed:#x}")),
            found: FoundResult {
                occurrences: 1,
                preemptions: meta.minimised.as_ref().map_or(0, |minimised| minimised.after.preemptions),
                trace: Some(stored.file.display().to_string()),
                page: stored.page().map(|page| page.display().to_string()),
                ..FoundResult::of(&stored.record)
            },
        }
    }
}

#[derive(Debug, Serialize)]
struct SearchEntry {
    test: String,
    log: PathBuf,
}

/// Lists what is kept.
pub(crate) fn list(arguments: &StoreArguments) -> Result<Listing, Error> {
    let store = Store::at(&arguments.place)?;
    let wanted = |test: &str| arguments.filter.as_ref().is_none_or(|filter| test.contains(filter.as_str()));
    let findings = store.findings().iter().filter(|stored| wanted(&stored.record.meta.test)).map(Entry::of).collect();
    let searches = store.searches().into_iter().filter(|search| wanted(&search.test));
    let searches = searches.map(|search| SearchEntry { test: search.test, log: search.file }).collect();
    let (regressions, damaged) = committed(&store.packages);
    let regressions = regressions.into_iter().filter(|schedule| wanted(&schedule.comment)).collect();
    Ok(Listing { r#type: "list", directory: store.directory, findings, searches, regressions, damaged })
}

impl Answer for Listing {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.findings.is_empty() && self.searches.is_empty() && self.regressions.is_empty() {
            text = format!("nothing is kept in {}\n", self.directory.display());
        }
        for Entry { test, found, .. } in &self.findings {
            let message = printable(found.message.lines().next().unwrap_or_default());
            let _ = writeln!(text, "{}: {}: {message}", printable(test), printable(&found.kind));
            found.explanation.iter().for_each(|why| text.push_str(&format!("  why: {}\n", printable(why))));
            if is_token(&found.token) {
                let _ = writeln!(text, "  replay: {}", human::replay(found));
            }
            for (what, file) in [("trace", &found.trace), ("page", &found.page)] {
                file.iter().for_each(|file| text.push_str(&format!("  {what}: {}\n", printable(file))));
            }
        }
        for search in &self.searches {
            let _ = writeln!(text, "{}: an exhaustive search to go on with", printable(&search.test));
            let _ = writeln!(text, "  log: {}", printable(&search.log.display().to_string()));
        }
        for Committed { file, line, token, comment } in &self.regressions {
            let file = file.display().to_string();
            let _ = writeln!(text, "{}, replayed first ({}:{line})", printable(comment), printable(&file));
            let _ = writeln!(text, "  replay: drawloom replay {token}");
        }
        for damage in &self.damaged {
            let _ = writeln!(text, "stored schedules cannot be replayed: {}", printable(damage));
        }
        text
    }
}

/// What was removed.
#[derive(Debug, Serialize)]
pub(crate) struct Cleaned {
    r#type: &'static str,
    directory: PathBuf,
    removed: Vec<PathBuf>,
}

/// Removes what is kept.
pub(crate) fn clean(arguments: &StoreArguments) -> Result<Cleaned, Error> {
    let store = Store::at(&arguments.place)?;
    let removed = store.everything(arguments.filter.as_deref());
    for file in &removed {
        std::fs::remove_file(file).map_err(|error| Error::Unwritable { file: file.clone(), error })?;
    }
    Ok(Cleaned { r#type: "clean", directory: store.directory, removed })
}

impl Answer for Cleaned {
    fn text(&self) -> String {
        match self.removed.len() {
            0 => format!("nothing was kept in {}\n", self.directory.display()),
            1 => format!("removed 1 file from {}\n", self.directory.display()),
            n => format!("removed {n} files from {}\n", self.directory.display()),
        }
    }
}
