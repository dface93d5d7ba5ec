//! What is kept between runs: trace files and pages, logs of unfinished searches, and the last result of each
//! test.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use drawloom_engine::schedule::Schedule;
use drawloom_report::{PASSED, Record, STANDINGS, SourceFiles, Standings, TestResult, kept, plain_name, printable};

use crate::args::{Place, ProjectArguments};
use crate::error::Error;
use crate::project::Project;

const RESULTS: &str = "results.jsonl";
const TRACE: &str = "json";
const PAGE: &str = "html";
const SEARCH: &str = ".exhaustive.log";

/// What a folder has in it that a project begins in.
const MARKERS: [&str; 6] = ["Cargo.toml", "pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", ".git"];

/// A larger trace file is not read.
const MOST_TRACE_BYTES: u64 = 256 << 20;
/// Nor are results, of all tests together.
const MOST_RESULTS_BYTES: u64 = 256 << 20;

/// The directory in which things are kept.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) directory: PathBuf,
    /// Which source files may be shown.
    sources: SourceFiles,
    /// The packages whose findings are kept here, as far as is known.
    pub(crate) packages: Vec<PathBuf>,
    /// Where pytest keeps findings around here, if it does.
    pytest: Option<PathBuf>,
}

/// A finding that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) file: PathBuf,
    pub(crate) record: Record,
}

impl Stored {
    /// When its file was written, where that is known.
    fn written(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.file).and_then(|metadata| metadata.modified()).ok()
    }

    /// The page beside the trace, if it is there.
    pub(crate) fn page(&self) -> Option<PathBuf> {
        Some(self.file.with_extension(PAGE)).filter(|page| page.is_file())
    }
}

/// An exhaustive search that was not finished.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) file: PathBuf,
    /// The name of the test, as it is written in names of files.
    pub(crate) test: String,
}

impl Store {
    /// The store of a project.
    pub(crate) fn of(project: &Project) -> Store {
        let (directory, sources) = (project.store(), project.sources());
        let pytest = kept_by_pytest().filter(|kept| *kept != directory);
        Store { directory, sources, packages: project.packages.clone(), pytest }
    }

    fn in_directory(directory: PathBuf) -> Store {
        Store { directory, sources: sources_from_here(), packages: Vec::new(), pytest: None }
    }

    /// The store at the place that was named: a directory needs no project around it.
    pub(crate) fn at(place: &Place) -> Result<Store, Error> {
        match &place.dir {
            Some(directory) => Ok(Store::in_directory(directory.clone())),
            None => {
                let manifest_path = place.manifest_path.clone();
                match Project::find(&ProjectArguments { manifest_path, ..ProjectArguments::default() }) {
                    Ok(project) => Ok(Store::of(&project)),
                    // A project of Python needs no cargo.
                    Err(error) if place.manifest_path.is_none() => {
                        kept_by_pytest().map(Store::in_directory).ok_or(error)
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// The store that `text` is looked up in: a file needs none, but sources are found by way of the project.
    pub(crate) fn for_finding(text: &str, place: &Place) -> Result<Store, Error> {
        match Store::at(place) {
            Err(_) if looks_like_a_file(text) => Ok(Store::in_directory(PathBuf::new())),
            store => store,
        }
    }

    /// The findings that are kept, by test and kind.
    pub(crate) fn findings(&self) -> Vec<Stored> {
        let mut records = self.records();
        records.retain(|stored| stored.record.finding.kind != PASSED);
        records
    }

    /// Every execution that is kept. A file that cannot be read is left out.
    fn records(&self) -> Vec<Stored> {
        let is_trace = |name: &str| name.ends_with(".json");
        let of_pytest = self.pytest.iter().flat_map(|directory| files(directory, is_trace));
        let traces = self.files(is_trace).into_iter().chain(of_pytest);
        let mut stored: Vec<Stored> = traces.filter_map(|file| read(&file).ok()).collect();
        stored.sort_by(|a, b| {
            let key = |s: &Stored| (s.record.meta.test.clone(), s.record.finding.kind.clone());
            key(a).cmp(&key(b))
        });
        stored
    }

    /// Searches that the next run goes on with.
    pub(crate) fn searches(&self) -> Vec<Search> {
        let logs = self.files(|name| name.ends_with(SEARCH));
        let mut searches: Vec<Search> = logs.into_iter().filter_map(search).collect();
        searches.sort_by(|a, b| a.test.cmp(&b.test));
        searches
    }

    /// Everything that is kept, of tests whose name contains `filter`.
    pub(crate) fn everything(&self, filter: Option<&str>) -> Vec<PathBuf> {
        // Names of files are those of tests with other separators.
        let plain = filter.filter(|filter| !filter.is_empty()).map(plain_name);
        let wanted = |name: &str| match &plain {
            Some(plain) => name.contains(plain) && !name.starts_with("results."),
            None => true,
        };
        let mut files = self.files(wanted);
        // The directory may be any, and hold other people's files.
        files.retain(|file| is_ours(file));
        files.sort();
        files
    }

    /// The files of findings whose tests are known to pass now, of tests whose name contains `filter`; they count as forgotten.
    pub(crate) fn forget_stale(&self, filter: Option<&str>) -> Result<Vec<PathBuf>, Error> {
        let mut records = self.records();
        records.retain(|stored| filter.is_none_or(|filter| stored.record.meta.test.contains(filter)));
        let mut files = Vec::new();
        for of_test in records.chunk_by(|one, other| one.record.meta.test == other.record.meta.test) {
            let mut standings = self.standings(&of_test[0].record.meta.test);
            let is_finding = |stored: &&Stored| stored.record.finding.kind != PASSED;
            let is_stale = |stored: &&Stored| standings.passes(&stored.record.meta.token).is_some();
            let stale: Vec<&Stored> = of_test.iter().filter(is_finding).filter(is_stale).collect();
            let all = stale.len() == of_test.iter().filter(is_finding).count();
            // What passes is kept to be compared with what fails.
            let passed = of_test.iter().filter(|stored| all && !is_finding(stored));
            for stored in stale.into_iter().chain(passed) {
                files.extend(stored.page());
                files.push(stored.file.clone());
            }
            // Who was told that a stored schedule no longer fits need not be told again.
            standings.retain(|standing| standing.passes.is_none() || standing.told);
            self.note(&standings)?;
        }
        files.sort();
        Ok(files)
    }

    fn files(&self, ours: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        files(&self.directory, ours)
    }

    /// The finding that `text` means: a trace file, a token, or the name of a test.
    pub(crate) fn find(&self, text: &str) -> Result<Stored, Error> {
        if looks_like_a_file(text) {
            return read(Path::new(text));
        }
        if text.starts_with("dl1") {
            Schedule::decode(text)?;
            let mut all = self.records();
            all.retain(|stored| stored.record.meta.token == text);
            return all.pop().ok_or_else(|| Error::NoFinding(text.to_owned()));
        }
        let all = self.findings();
        let exact = |stored: &&Stored| {
            let test = &stored.record.meta.test;
            test == text || test.split_once("::").is_some_and(|(_, path)| path == text)
        };
        let mut meant: Vec<Stored> = all.iter().filter(exact).cloned().collect();
        if meant.is_empty() {
            meant = all.into_iter().filter(|stored| stored.record.meta.test.contains(text)).collect();
        }
        let mut tests: Vec<String> =
            meant.iter().map(|stored| printable(&stored.record.meta.test).into_owned()).collect();
        tests.dedup();
        if tests.len() > 1 {
            return Err(Error::Ambiguous { text: text.to_owned(), candidates: tests });
        }
        // Of one test the newest finding is meant, and one that can be replayed if there is any.
        meant.sort_by_key(|stored| (!stored.record.meta.token.is_empty(), stored.written()));
        meant.pop().ok_or_else(|| Error::NoFinding(text.to_owned()))
    }

    /// What is known of the schedules of a test.
    pub(crate) fn standings(&self, test: &str) -> Standings {
        Standings::of(&self.directory, test)
    }

    /// Writes down what is known of the schedules of a test.
    pub(crate) fn note(&self, standings: &Standings) -> Result<(), Error> {
        let error = |error| Error::Unwritable { file: self.directory.clone(), error };
        standings.write(&std::process::id().to_string()).map_err(error)
    }

    /// A source file, by the name that a record gives it.
    pub(crate) fn source(&self, file: &str) -> Option<String> {
        self.sources.read(file)
    }
}

/// The results of tests.
impl Store {
    /// The file for the results of one run: another run may be under way.
    pub(crate) fn results_of_this_run(&self) -> PathBuf {
        self.directory.join(format!("results.{}.jsonl", std::process::id()))
    }

    /// The last result of each test.
    pub(crate) fn results(&self) -> Vec<TestResult> {
        TestResult::read_all(&kept::read(&self.directory.join(RESULTS), MOST_RESULTS_BYTES).unwrap_or_default())
    }

    /// Adds the results of a run to those that are kept, in place of older ones.
    pub(crate) fn keep(&self, run: &Path) -> Result<(), Error> {
        let new = TestResult::read_all(&kept::read(run, MOST_RESULTS_BYTES).unwrap_or_default());
        let _ = std::fs::remove_file(run);
        if new.is_empty() {
            return Ok(());
        }
        let all = self.results().into_iter().chain(new);
        let latest: BTreeMap<(String, Option<String>), TestResult> =
            all.map(|result| ((result.test.clone(), result.path.clone()), result)).collect();
        let lines = latest.values().map(TestResult::line);
        let text: String = lines.map(|line| line + "\n").collect();
        write(&self.directory.join(RESULTS), &text)
    }
}

/// Reads a trace file.
pub(crate) fn read(file: &Path) -> Result<Stored, Error> {
    let text =
        kept::read(file, MOST_TRACE_BYTES).map_err(|error| Error::Unreadable { file: file.to_owned(), error })?;
    let record = Record::read(&text).map_err(|error| Error::Trace { file: file.to_owned(), error })?;
    Ok(Stored { file: file.to_owned(), record })
}

/// Writes a file, beside and then renamed, so that a kill leaves no half a file.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), Error> {
    let draft = file.with_extension(format!("{}.tmp", std::process::id()));
    let written = kept::replace(file, &draft, text.as_bytes()).map(drop);
    written.map_err(|error| Error::Unwritable { file: file.to_owned(), error })
}

/// A file as it is shown: from the folder one is in, if it lies below.
pub(crate) fn relative(file: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).to_owned()
}

/// Whether somebody who writes this means a file, be it there or not.
pub(crate) fn looks_like_a_file(text: &str) -> bool {
    let path = Path::new(text);
    path.extension().is_some_and(|extension| extension == TRACE) || text.contains(['/', '\\']) || path.is_file()
}

/// Whether drawloom has written a file, by its name and its first bytes.
fn is_ours(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let begins_with = |what: &str| {
        let mut beginning = vec![0; 4096];
        let read = std::fs::File::open(file).and_then(|mut file| file.read(&mut beginning)).unwrap_or_default();
        String::from_utf8_lossy(&beginning[..read]).contains(what)
    };
    let is_draft = name.strip_suffix(".tmp").is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
    match file.extension().and_then(|extension| extension.to_str()) {
        Some(TRACE) => begins_with("{\"version\":"),
        Some(PAGE) => begins_with(" · drawloom</title>"),
        Some("jsonl") => name.starts_with("results.") || name.ends_with(STANDINGS),
        _ => name.ends_with(SEARCH) || name.ends_with(".exhaustive.log.old") || is_draft,
    }
}

fn search(file: PathBuf) -> Option<Search> {
    let test = file.file_name()?.to_str()?.strip_suffix(SEARCH)?.to_owned();
    Some(Search { file, test })
}

/// The files of a directory whose names are `ours`.
fn files(directory: &Path, ours: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path());
    names.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&ours)).collect()
}

/// Where the plugin of pytest keeps findings, as `DRAWLOOM_DIR` says or in the nearest project around.
fn kept_by_pytest() -> Option<PathBuf> {
    const PYTEST: &str = ".drawloom";
    let here = std::env::current_dir().unwrap_or_default();
    let named = std::env::var_os("DRAWLOOM_DIR").map(PathBuf::from);
    let around = || here.ancestors().map(|folder| folder.join(PYTEST)).find(|folder| folder.is_dir());
    named.or_else(around).filter(|folder| folder.is_dir())
}

/// Without a project that cargo knows: sources below the folder one is in, or below those around it up to where the
/// project begins, by what lies there.
fn sources_from_here() -> SourceFiles {
    let here = std::env::current_dir().unwrap_or_default();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    // A home is no project, whatever lies there.
    let around: Vec<&Path> = here.ancestors().take_while(|folder| Some(*folder) != home.as_deref()).collect();
    let begins = |folder: &&Path| MARKERS.iter().any(|marker| folder.join(marker).exists());
    let outermost = around.iter().rposition(begins).unwrap_or(0);
    SourceFiles::below(around.iter().take(outermost + 1).copied(), [])
}
