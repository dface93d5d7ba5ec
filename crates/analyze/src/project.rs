//! Whole projects: which files, many at once, and what is known and accepted already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use drawloom_report::Place;
use drawloom_syntax::parser_of;
use serde::{Deserialize, Serialize};

use crate::analysis::{Options, analyse};
use crate::finding::{Analysis, Confidence, Target, Unread};

/// Folders that hold nobody's own source.
const LEFT_OUT: [&str; 10] =
    ["target", "node_modules", "__pycache__", "venv", "env", "site-packages", "build", "dist", "vendor", "third_party"];
/// Files that are larger are data, or made by a program.
const LARGEST: u64 = 4 << 20;
/// The walk over a tree recurses as deep as the source nests.
pub(crate) const STACK: usize = 256 << 20;

/// The source files in a file or folder, in order.
pub fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if std::fs::metadata(path)?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    walk(path, &mut found, 0)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>, depth: usize) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() {
            // One that cannot be read is not ours to complain of.
            if !name.starts_with('.') && !LEFT_OUT.contains(&name.as_ref()) && depth < 60 {
                let _ = walk(&path, found, depth + 1);
            }
        } else if kind.is_file() && parser_of(&path).is_some() {
            found.push(path);
        }
    }
    Ok(())
}

/// Analyses files, `jobs` at a time, in their order. `progress` is told how many are done.
pub fn analyse_all(
    files: &[PathBuf],
    options: Options,
    jobs: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Vec<Analysis> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Analysis)>> = Mutex::new(Vec::with_capacity(files.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, files.len().max(1)) {
            let work = || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(at) else { return };
                    let analysis = one(file, options);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, analysis));
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            };
            // Without a thread of its own, this one does the work.
            if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).is_err() {
                work();
            }
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, analysis)| analysis).collect()
}

/// How a path is written in what is said: with slashes, and without `./`.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").unwrap_or(&text).to_owned()
}

fn one(file: &Path, options: Options) -> Analysis {
    let path = shown(file);
    let source = match read(file) {
        Ok(source) => source,
        Err(message) => return unread(&path, message),
    };
    let Some(parser) = parser_of(file) else { return unread(&path, "its language is unknown".to_owned()) };
    // Whatever a file does to us, the others are analysed.
    let analysed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| analyse(parser, &source, &path, options)));
    analysed.unwrap_or_else(|_| unread(&path, "the analysis failed here, which is a bug in Drawloom".to_owned()))
}

fn read(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > LARGEST {
        return Err(format!("larger than {} MB", LARGEST >> 20));
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The analysis of a file that could not be read.
fn unread(path: &str, message: String) -> Analysis {
    Analysis {
        target: Target {
            path: path.to_owned(),
            language: if path.ends_with(".rs") { "rust" } else { "python" },
            frameworks: Vec::new(),
            model: "auto",
            lines: None,
            functions: 0,
            hash: String::new(),
        },
        shared_state: Vec::new(),
        checkpoints: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        problems: vec![Unread { place: Place { file: path.to_owned(), line: 1, column: 0 }, message }],
        ignored: 0,
        lines: 0,
    }
}

/// Findings that are known, and accepted for now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Baseline {
    /// Always `drawloom.baseline/1`.
    pub schema: String,
    /// Their fingerprints, each with what it is for people.
    pub findings: Vec<Known>,
}

/// A finding that is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Known {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Rule, file and state.
    pub what: String,
}

impl Baseline {
    /// All findings of these analyses.
    pub fn of(analyses: &[Analysis]) -> Baseline {
        let all: BTreeSet<Known> = analyses
            .iter()
            .flat_map(|analysis| analysis.findings.iter().map(move |finding| (analysis, finding)))
            .map(|(analysis, finding)| Known {
                fingerprint: finding.fingerprint.clone(),
                what: format!("{} {} {}", finding.rule, analysis.target.path, finding.state),
            })
            .collect();
        Baseline { schema: "drawloom.baseline/1".to_owned(), findings: all.into_iter().collect() }
    }

    /// Takes out what is known; how much that was.
    pub fn apply(&self, analyses: &mut [Analysis]) -> usize {
        let known: BTreeSet<&str> = self.findings.iter().map(|known| known.fingerprint.as_str()).collect();
        let mut taken = 0;
        for analysis in analyses {
            let before = analysis.findings.len();
            analysis.findings.retain(|finding| !known.contains(finding.fingerprint.as_str()));
            taken += before - analysis.findings.len();
        }
        taken
    }
}

/// Takes out findings that are not as sure as that; how many they were.
pub fn keep_from(analyses: &mut [Analysis], least: Confidence) -> usize {
    let mut taken = 0;
    for analysis in analyses {
        let before = analysis.findings.len();
        analysis.findings.retain(|finding| finding.evidence.confidence >= least);
        taken += before - analysis.findings.len();
    }
    taken
}
