//! Failing schedules that are kept in a file which users commit, and replayed first the next time.
//!
//! One file for each crate or test binary, in `drawloom-regressions/` beside the crate's manifest; one line
//! for each finding: the token, then a comment that says which test it is of and what was found. A token
//! knows its test, so the comment is for people only. Lines are added and never taken away: what passes now
//! may fail again, and what no longer fits the program is for a person to judge, who can have the command line renew or
//! remove it.

use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use drawloom_engine::config::{Config, ENV_REGRESSIONS, StrategySpec};
use drawloom_engine::finding::{Finding, FindingKind};
use drawloom_engine::schedule::{Schedule, TokenError};
use drawloom_engine::strategy::{Lenient, Replay, Strategy};
use drawloom_report::{Departure, OutdatedSchedule, kept, printable};

use super::exploration::{Exploration, Failure};
use super::following::departure;
use super::plan::Plan;
use super::program::Program;
use super::spread::empty;
use super::standing::Passed;
use super::worker::{Found, Worker};
use super::{output, pipeline};

const DIRECTORY: &str = "drawloom-regressions";
/// A larger file is not read.
const MOST_BYTES: u64 = 16 << 20;
/// Lines that cannot be read, of which each is named.
const MOST_NAMED: usize = 8;
/// A token that is longer is no line to commit.
const LONGEST_TOKEN: usize = 4096;
const HEADER: &str = "\
# Failing schedules that drawloom has found. They are replayed first when their tests are run.
# Commit this file. Remove a line when its test is gone, or when it no longer fits the program (`drawloom test --stale renew`).
";

/// Where failing schedules of one test are kept.
pub(super) struct Store {
    file: PathBuf,
    test: String,
    /// Not in CI, whose files nobody keeps, unless asked for.
    writes: bool,
    /// Whether somebody has said where: then it may not be among the sources.
    elsewhere: bool,
}

/// A stored schedule.
struct Entry {
    /// Of the file, from 1.
    line: usize,
    token: String,
    schedule: Schedule,
}

/// What replaying the stored schedules of a test came to.
#[derive(Default)]
pub(super) struct Replayed {
    /// The exploration, if it ends there: something failed, or could not be read.
    pub(super) found: Option<Exploration>,
    /// Those under which the test passes.
    pub(super) passed: Vec<Passed>,
    /// Those that no longer fit the program.
    pub(super) outdated: Vec<OutdatedSchedule>,
}

/// Says which stored schedules no longer fit the program; none if all of them do.
pub(super) fn tell_outdated(outdated: &[OutdatedSchedule]) -> Option<String> {
    let (count, verb, which) = match outdated.len() {
        0 => return None,
        1 => ("1 stored schedule".to_owned(), "fits", "it"),
        n => (format!("{n} stored schedules"), "fit", "them"),
    };
    let each = outdated.iter().map(|OutdatedSchedule { file, line, departure, .. }| {
        format!("{}:{line} {departure}", output::shown_in_workspace(Path::new(file)))
    });
    let each = each.collect::<Vec<_>>().join("; ");
    Some(format!(
        "{count} no longer {verb} the program: {each} (followed as far as possible; `drawloom test --stale renew` renews \
         {which}, `--stale remove` removes {which})"
    ))
}

impl Store {
    /// The store of the test `test`, whose crate has its manifest in `manifest`; `None` if it has none.
    pub(super) fn of(test: &str, manifest: &'static str, config: &Config) -> Option<Store> {
        let given = std::env::var_os(ENV_REGRESSIONS).filter(|text| !text.is_empty());
        let is_replay = matches!(config.strategy, StrategySpec::Replay { .. });
        if !config.regressions || is_replay || given.as_ref().is_some_and(|text| text == "off") {
            return None;
        }
        let in_ci = std::env::var("CI").is_ok_and(|ci| !matches!(ci.as_str(), "" | "false" | "0"));
        let elsewhere = given.is_some();
        let writes = elsewhere || !in_ci;
        let directory = match given {
            Some(directory) => directory.into(),
            // A test binary may have been brought here from where it was built.
            None => [Some(manifest.into()), std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)]
                .into_iter()
                .flatten()
                .find(|manifest: &PathBuf| manifest.is_dir())?
                .join(DIRECTORY),
        };
        let name = test.split("::").next().unwrap_or(test);
        let plain: String = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
        Some(Store { file: directory.join(format!("{plain}.txt")), test: test.to_owned(), writes, elsewhere })
    }

    /// Replays what is stored. What fails is the whole exploration; else `remarks` says what came of it. If something
    /// stored cannot be read, and nothing fails, that is an error: a test that passes shows its remarks to nobody.
    pub(super) fn replay<P: Program>(&self, config: &Config, program: &P, remarks: &mut Vec<String>) -> Replayed {
        let (entries, damage) = self.entries(remarks);
        let refused = |damage: Vec<String>| Exploration { error: Some(self.refusal(&damage)), ..empty(0) };
        let mut replayed = Replayed::default();
        let Some(plan) = Plan::of::<P>(config).ok().filter(|_| !entries.is_empty()) else {
            replayed.found = (!damage.is_empty()).then(|| refused(damage));
            return replayed;
        };
        let mut worker = Worker::new(&plan, program);
        let mut fits = 0;
        for (made, entry) in (1..).zip(&entries) {
            let (found, departure) = again(&mut worker, &plan, &entry.schedule);
            let strict = departure.is_none();
            let finding = match found {
                Ok(None) => {
                    let followed = || Schedule::of(worker.engine(), &plan.name, P::line_of).token();
                    let outdated = departure.map(|departure| self.outdated(entry, departure, true, followed()));
                    let how = match &outdated {
                        Some(OutdatedSchedule { departure, .. }) => {
                            format!("its stored schedule no longer fits {departure}; followed as far as it goes")
                        }
                        None => "its stored schedule was followed".to_owned(),
                    };
                    fits += usize::from(strict);
                    replayed.passed.push(Passed { token: entry.token.clone(), how });
                    replayed.outdated.extend(outdated);
                    continue;
                }
                Ok(Some(finding)) => finding,
                Err(stop) => {
                    let place = format!("{}:{}", self.shown(), entry.line);
                    remarks.push(format!("the stored schedule {place} was not followed to its end: {}", stop.word()));
                    continue;
                }
            };
            let mut failure = worker.describe(finding, made - 1);
            if strict {
                remarks.push(format!("this is the stored schedule {}:{}", self.shown(), entry.line));
                pipeline::explain(&mut worker, std::slice::from_mut(&mut failure));
            } else {
                pipeline::work_out(&mut worker, std::slice::from_mut(&mut failure));
            }
            let meta = failure.record.meta_mut();
            (meta.strategy, meta.seed) = ("the stored schedules".to_owned(), None);
            let simpler = failure.token().to_owned();
            replayed.outdated.extend(departure.map(|departure| self.outdated(entry, departure, false, simpler)));
            remarks.extend(damage);
            let (planned, steps) = (entries.len() as u64, failure.record().steps.len() as u64);
            let found = Exploration { executions: made, steps, failing: 1, had_choice: true, ..empty(planned) };
            replayed.found = Some(Exploration { failures: vec![failure], ..found });
            return replayed;
        }
        match fits {
            0 => {}
            1 => remarks.push(format!("1 stored schedule passes ({})", self.shown())),
            n => remarks.push(format!("{n} stored schedules pass ({})", self.shown())),
        }
        replayed.found = (!damage.is_empty()).then(|| refused(damage));
        replayed
    }

    fn outdated(&self, entry: &Entry, departure: Departure, passes: bool, renewed: String) -> OutdatedSchedule {
        let file = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone()).display().to_string();
        // What is too long to be stored renews nothing.
        let renewed = Some(renewed).filter(|token| !token.is_empty() && token.len() <= LONGEST_TOKEN);
        OutdatedSchedule { file, line: entry.line, token: entry.token.clone(), departure, passes, renewed }
    }

    /// Why nothing is explored.
    fn refusal(&self, damage: &[String]) -> String {
        let more = match damage.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let named = damage.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
        format!("stored schedules cannot be replayed: {named}{more}: repair the file, or remove the damaged lines")
    }

    /// The schedules of this test, and what in the file cannot be read.
    fn entries(&self, remarks: &mut Vec<String>) -> (Vec<Entry>, Vec<String>) {
        let text = match kept::read(&self.file, MOST_BYTES) {
            Ok(text) => text,
            Err(error) => {
                let damage = match error.kind() {
                    ErrorKind::NotFound => Vec::new(),
                    ErrorKind::InvalidData | ErrorKind::FileTooLarge => vec![format!("{}: {error}", self.shown())],
                    _ => {
                        remarks.push(format!("the stored schedules in {} cannot be read: {error}", self.shown()));
                        Vec::new()
                    }
                };
                return (Vec::new(), damage);
            }
        };
        if text.is_empty() {
            remarks.push(format!("{} is empty: no schedule is stored there", self.shown()));
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut damage = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let token = text.split('#').next().unwrap_or_default().trim();
            if token.is_empty() {
                continue;
            }
            match Schedule::from_token(token, &self.test) {
                Ok(schedule) if entries.iter().any(|known| known.schedule == schedule) => {}
                Ok(schedule) => entries.push(Entry { line, token: token.to_owned(), schedule }),
                Err(TokenError::Foreign(_)) => {}
                Err(error) => damage.push(format!("{}:{line}: {error}", self.shown())),
            }
        }
        (entries, damage)
    }

    /// Keeps what was found, unless it is there already.
    pub(super) fn keep(&self, failures: &[Failure], remarks: &mut Vec<String>) {
        // What cannot be read is not written to either.
        let (stored, unreadable) = match kept::read(&self.file, MOST_BYTES) {
            Ok(stored) => (stored, None),
            Err(error) if error.kind() == ErrorKind::NotFound => (String::new(), None),
            Err(error) => (String::new(), Some(error.to_string())),
        };
        let is_new = |f: &&Failure| !f.token().is_empty() && !stored.contains(f.token());
        for failure in failures.iter().filter(is_new) {
            if failure.token().len() > LONGEST_TOKEN {
                remarks.push(format!("a schedule of {} steps is too long to be stored", failure.record().steps.len()));
                continue;
            }
            let what = failure.cause().replace(['\n', '\r'], " ");
            let line = format!("{} # {}: {}", failure.token(), printable(&self.test), printable(&what));
            let by_hand = format!("to have it replayed first, add this line to {}:\n{line}", self.shown());
            if !self.writes {
                remarks.push(by_hand);
                continue;
            }
            let added = match &unreadable {
                None => add(&self.file, &line).map_err(|error| error.to_string()),
                Some(error) => Err(error.clone()),
            };
            match added {
                Ok(()) => {
                    let commit = if self.elsewhere { "" } else { ": commit it" };
                    remarks.push(format!("stored in {}, and replayed first from now on{commit}", self.shown()))
                }
                Err(error) => remarks.push(format!("it could not be stored ({error}); {by_hand}")),
            }
        }
    }

    fn shown(&self) -> String {
        if self.elsewhere { output::shown(&self.file) } else { output::shown_in_workspace(&self.file) }
    }
}

/// What a stored schedule comes to, and where the program leaves its path, if it does.
fn again<P: Program>(worker: &mut Worker<'_, P>, plan: &Plan, schedule: &Schedule) -> (Found, Option<Departure>) {
    let settings = plan.replay_settings(schedule.spin_rounds);
    let mut run = |strategy: &dyn Fn() -> Box<dyn Strategy>| {
        let found = worker.replay(strategy(), &settings, true);
        match found {
            // What seems to be leaked may be a static that was met for the first time.
            Ok(Some(Finding { kind: FindingKind::Leak(_), .. })) => worker.replay(strategy(), &settings, true),
            found => found,
        }
    };
    match run(&|| Box::new(Replay::new(schedule.clone(), P::line_of))) {
        Ok(Some(Finding { kind: FindingKind::Divergence(divergence), .. })) => {
            (run(&|| Box::new(Lenient::of(schedule))), departure(&divergence, schedule))
        }
        found => (found, None),
    }
}

/// Adds a line to a file: wholly or not at all.
fn add(file: &Path, line: &str) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut opened = kept::append(file)?;
    let length = opened.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        opened.seek(SeekFrom::Start(length - 1))?;
        opened.read_exact(&mut last)?;
    }
    let begin = match (length, last) {
        (0, _) => HEADER,
        (_, [b'\n']) => "",
        // Somebody's editor may have left the last line without an end.
        _ => "\n",
    };
    // One write, since other tests may add theirs at the same time.
    opened.write_all(format!("{begin}{line}\n").as_bytes()).inspect_err(|_| drop(opened.set_len(length)))
}
