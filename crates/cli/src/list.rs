//! `drawloom findings` and `drawloom clean`: what is kept.

use std::fmt::Write as _;
use std::path::PathBuf;

use drawloom_report::{FoundResult, cause, is_token, printable};
use serde::Serialize;

use crate::answer::Answer;
use crate::args::{CleanArguments, StoreArguments};
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
    /// Why it is known that the test passes under this schedule now, if it is.
    passes_now: Option<String>,
    /// What was found, as reports call it.
    #[serde(skip)]
    words: String,
    /// Where failing schedules of the same bug are stored, as `file:line`.
    stored: Vec<String>,
    #[serde(flatten)]
    found: FoundResult,
}

impl Entry {
    fn of(stored: &Stored, store: &Store, regressions: &[Committed]) -> Entry {
        let meta = &stored.record.meta;
        let comment =
            format!("{}: {}", printable(&meta.test), printable(&cause(&stored.record).replace(['\n', '\r'], " ")));
        let same_bug = |committed: &&Committed| committed.token == meta.token || committed.comment == comment;
        Entry {
            test: meta.test.clone(),
            words: stored.record.kind_in_words().to_owned(),
            passes_now: store.standings(&meta.test).passes(&meta.token).map(str::to_owned),
            stored: regressions.iter().filter(same_bug).map(Committed::place).collect(),
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
    let (mut regressions, damaged) = committed(&store.packages);
    regressions.retain(|schedule| wanted(&schedule.comment));
    for committed in &mut regressions {
        committed.passes_now = store.standings(committed.test()).passes(&committed.token).map(str::to_owned);
    }
    let findings = store.findings();
    let findings = findings.iter().filter(|stored| wanted(&stored.record.meta.test));
    let findings = findings.map(|stored| Entry::of(stored, &store, &regressions)).collect();
    let searches = store.searches().into_iter().filter(|search| wanted(&search.test));
    let searches = searches.map(|search| SearchEntry { test: search.test, log: search.file }).collect();
    Ok(Listing { r#type: "list", directory: store.directory, findings, searches, regressions, damaged })
}

impl Answer for Listing {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.findings.is_empty() && self.searches.is_empty() && self.regressions.is_empty() {
            text = format!("no findings are saved in {}\n", self.directory.display());
        }
        for Entry { test, words, found, passes_now, stored, .. } in &self.findings {
            let message = printable(found.message.lines().next().unwrap_or_default());
            let _ = writeln!(text, "{}: {}: {message}", printable(test), printable(words));
            passes_now.iter().for_each(|how| text.push_str(&format!("  passes now: {}\n", printable(how))));
            found.explanation.iter().for_each(|why| text.push_str(&format!("  why: {}\n", printable(why))));
            if is_token(&found.token) {
                let _ = writeln!(text, "  replay: {}", human::replay(found));
            }
            for (what, file) in [("trace", &found.trace), ("page", &found.page)] {
                file.iter().for_each(|file| text.push_str(&format!("  {what}: {}\n", printable(file))));
            }
            stored.iter().for_each(|place| text.push_str(&format!("  stored: {}, replayed first\n", printable(place))));
        }
        for search in &self.searches {
            let _ =
                writeln!(text, "{}: an unfinished exhaustive search; the next run resumes it", printable(&search.test));
            let _ = writeln!(text, "  log: {}", printable(&search.log.display().to_string()));
        }
        // Those of findings that are listed stand there.
        let listed: Vec<&String> = self.findings.iter().flat_map(|entry| &entry.stored).collect();
        for committed in self.regressions.iter().filter(|committed| !listed.contains(&&committed.place())) {
            let Committed { token, comment, passes_now, .. } = committed;
            let _ = writeln!(text, "{}, replayed first ({})", printable(comment), printable(&committed.place()));
            passes_now.iter().for_each(|how| text.push_str(&format!("  passes now: {}\n", printable(how))));
            let _ = writeln!(text, "  replay: drawloom replay {token}");
        }
        match self.findings.iter().filter(|entry| entry.passes_now.is_some()).count() {
            0 => {}
            1 => text.push_str("1 finding passes now: `drawloom clean --stale` removes it\n"),
            n => text.push_str(&format!("{n} findings pass now: `drawloom clean --stale` removes them\n")),
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
pub(crate) fn clean(CleanArguments { stale, store: arguments }: &CleanArguments) -> Result<Cleaned, Error> {
    let store = Store::at(&arguments.place)?;
    let filter = arguments.filter.as_deref();
    let removed = if *stale { store.forget_stale(filter)? } else { store.everything(filter) };
    for file in &removed {
        std::fs::remove_file(file).map_err(|error| Error::Unwritable { file: file.clone(), error })?;
    }
    Ok(Cleaned { r#type: "clean", directory: store.directory, removed })
}

impl Answer for Cleaned {
    fn text(&self) -> String {
        match self.removed.len() {
            0 => format!("no findings were saved in {}\n", self.directory.display()),
            1 => format!("removed 1 file from {}\n", self.directory.display()),
            n => format!("removed {n} files from {}\n", self.directory.display()),
        }
    }
}
