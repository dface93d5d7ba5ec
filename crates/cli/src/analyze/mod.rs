//! `drawloom analyze`: what is suspected of source files, and whether it happens when they run.

mod confirm;
pub(crate) mod lsp;
mod scaffold;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use drawloom_analyze::project::{self, Baseline};
use drawloom_analyze::render::{self, terminal::Look};
use drawloom_analyze::target::{self, Candidate, Target};
use drawloom_analyze::{Analysis, Confidence, Framework, Options, Turns};

use crate::answer;
use crate::args::{AnalyzeArguments, AnalyzeFormat, Level};
use crate::error::Error;
use crate::test::human::coloured;

/// What an analysis came to.
pub(crate) struct Outcome {
    pub(crate) analyses: Vec<Analysis>,
    /// Findings that are not as sure as was asked for.
    unsure: usize,
    /// Findings that the baseline knows.
    known: usize,
    fail_on: Option<Confidence>,
}

/// Analyses, and says what was found.
pub(crate) fn analyze(arguments: &AnalyzeArguments) -> Result<u8, Error> {
    let (outcome, written) = carried_out(arguments, &progress(arguments))?;
    for file in written {
        answer::complain(&format!("wrote {}", file.display()));
    }
    let text = match arguments.format {
        AnalyzeFormat::Term => outcome.text(coloured() && arguments.output.is_none(), arguments.all),
        AnalyzeFormat::Md => render::markdown::markdown(&outcome.analyses),
        AnalyzeFormat::Json => render::json(&outcome.analyses),
        AnalyzeFormat::Sarif => render::sarif::sarif(&outcome.analyses, env!("CARGO_PKG_VERSION")),
        AnalyzeFormat::Page => render::page::page(&outcome.analyses),
    };
    match &arguments.output {
        Some(file) => write(file, &text)?,
        None if arguments.format == AnalyzeFormat::Term => answer::say(&text),
        None => answer::print(&text),
    }
    // A file that was named and cannot be read is a mistake of the caller's; one in a folder is not.
    let unreadable =
        outcome.analyses.len() == 1 && outcome.analyses[0].lines == 0 && !outcome.analyses[0].problems.is_empty();
    Ok(if unreadable { answer::IMPOSSIBLE } else { outcome.code() })
}

/// The same for an agent: the text, and the JSON.
#[cfg(feature = "mcp")]
pub(crate) fn both(arguments: &AnalyzeArguments) -> Result<(String, serde_json::Value), Error> {
    let (outcome, written) = carried_out(arguments, &|_, _| {})?;
    let value = serde_json::from_str(&render::json(&outcome.analyses)).unwrap_or_default();
    let mut text = outcome.text(false, arguments.all);
    for file in written.iter().chain(&arguments.output) {
        text += &format!("wrote {}\n", file.display());
    }
    if let Some(file) = &arguments.output {
        write(file, &render::json(&outcome.analyses))?;
    }
    Ok((text, value))
}

/// Everything but the answer; the tests that were written.
fn carried_out(
    arguments: &AnalyzeArguments,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(Outcome, Vec<PathBuf>), Error> {
    let mut outcome = outcome(arguments, progress)?;
    if let Some(file) = &arguments.write_baseline {
        let baseline = serde_json::to_string_pretty(&Baseline::of(&outcome.analyses)).unwrap_or_default() + "\n";
        write(file, &baseline)?;
    }
    if arguments.confirm {
        confirm::confirm(&mut outcome.analyses);
    }
    let written = match &arguments.scaffold {
        Some(folder) => scaffold::scaffold(&outcome.analyses, folder)?,
        None => Vec::new(),
    };
    Ok((outcome, written))
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(file, text).map_err(|error| Error::Unwritable { file: file.to_owned(), error })
}

/// A line on the terminal that says how far it has come; nothing where nobody looks.
fn progress(arguments: &AnalyzeArguments) -> impl Fn(usize, usize) + Sync + use<> {
    let shown = std::io::stderr().is_terminal() && !arguments.quiet;
    move |done, of| {
        if shown && of > 20 && (done.is_multiple_of(25) || done == of) {
            let end = if done == of { "\r\x1b[K" } else { "" };
            eprint!("\ranalysing {done}/{of} files{end}");
        }
    }
}

fn outcome(arguments: &AnalyzeArguments, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Outcome, Error> {
    let framework = match &arguments.framework {
        Some(word) => Some(Framework::named(word).ok_or_else(|| {
            Error::Refused(format!("there is no framework `{word}`: asyncio, trio, anyio, threads and tokio are known"))
        })?),
        None => None,
    };
    let model = match arguments.model {
        None => Turns::Auto,
        Some(crate::args::TurnsArgument::Tasks) => Turns::Tasks,
        Some(crate::args::TurnsArgument::Threads) => Turns::Threads,
    };
    let options = Options { framework, model };
    let wanted = wanted(&arguments.targets)?;
    let files: Vec<PathBuf> = wanted.iter().map(|(file, _)| file.clone()).collect();
    let jobs = arguments
        .jobs
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), |jobs| jobs as usize);
    let mut analyses = project::analyse_all(&files, options, jobs, &|done| progress(done, files.len()));
    for (analysis, (_, ranges)) in analyses.iter_mut().zip(&wanted) {
        if let Some(ranges) = ranges {
            target::limit(analysis, ranges);
        }
    }
    let known = match &arguments.baseline {
        Some(file) => {
            let text =
                std::fs::read_to_string(file).map_err(|error| Error::Unreadable { file: file.clone(), error })?;
            let baseline: Baseline = serde_json::from_str(&text)
                .map_err(|error| Error::Refused(format!("{} is not a baseline: {error}", file.display())))?;
            baseline.apply(&mut analyses)
        }
        None => 0,
    };
    let unsure = project::keep_from(&mut analyses, level(arguments.min_confidence).unwrap_or(Confidence::Low));
    Ok(Outcome { analyses, unsure, known, fail_on: level(arguments.fail_on) })
}

fn level(level: Level) -> Option<Confidence> {
    match level {
        Level::Low => Some(Confidence::Low),
        Level::Medium => Some(Confidence::Medium),
        Level::High => Some(Confidence::High),
        Level::Never => None,
    }
}

type Wanted = Vec<(PathBuf, Option<Vec<(u32, u32)>>)>;

/// Files, and which lines of each.
fn wanted(targets: &[String]) -> Result<Wanted, Error> {
    if targets.is_empty() {
        return changed();
    }
    let mut all: Wanted = Vec::new();
    let list = |path: &Path| project::files(path).map_err(|error| Error::Unreadable { file: path.to_owned(), error });
    for text in targets {
        match Target::parse(text).map_err(Error::Refused)? {
            Target::Path(path) => {
                let found = list(&path)?;
                if path.is_file() && drawloom_syntax_of(&path).is_none() {
                    return Err(Error::Refused(format!("{} is neither Python nor Rust", path.display())));
                }
                all.extend(found.into_iter().map(|file| (file, None)));
            }
            Target::Lines(path, from, to) => all.push((path, Some(vec![(from, to)]))),
            Target::Function(path, name) => all.extend(one(text, search(&list(&path)?, &name))?),
            Target::Named(name) => all.extend(one(text, search(&list(Path::new("."))?, &name))?),
        }
    }
    Ok(all)
}

fn drawloom_syntax_of(path: &Path) -> Option<()> {
    drawloom_analyze::target::is_source(path).then_some(())
}

fn search(files: &[PathBuf], name: &str) -> Vec<Candidate> {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    let mut found = Vec::new();
    for file in files {
        // Most files do not even have the word.
        if let Ok(source) = std::fs::read_to_string(file)
            && source.contains(last)
        {
            found.extend(target::candidates(file, &source, name));
        }
    }
    found
}

fn one(text: &str, found: Vec<Candidate>) -> Result<Wanted, Error> {
    match found.as_slice() {
        [] => Err(Error::Refused(format!("no function is called `{text}`"))),
        [only] => Ok(vec![(only.file.clone(), Some(vec![only.lines]))]),
        several => Err(Error::Ambiguous {
            text: text.to_owned(),
            candidates: several.iter().map(|it| format!("{}::{}", project::shown(&it.file), it.qualified)).collect(),
        }),
    }
}

/// The functions that the working tree has changed.
fn changed() -> Result<Wanted, Error> {
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").args(arguments).output();
        let output = output.map_err(|error| Error::NotRun { program: "git".to_owned(), error })?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::Refused(format!(
                "without a target, the changed files are analysed, but git says: {why}"
            )));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let diff = git(&["diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", "HEAD"])?;
    let mut all: Wanted = Vec::new();
    for (file, ranges) in target::changed(&diff) {
        let source = std::fs::read_to_string(&file).unwrap_or_default();
        let around = target::functions_around(&file, &source, &ranges);
        all.push((file, Some(around)));
    }
    // A file that git does not know yet is new as a whole.
    for line in git(&["ls-files", "--others", "--exclude-standard"])?.lines() {
        let file = PathBuf::from(line);
        if drawloom_analyze::target::is_source(&file) {
            all.push((file, None));
        }
    }
    Ok(all)
}

impl Outcome {
    fn text(&self, coloured: bool, full: bool) -> String {
        let source = |file: &str| std::fs::read_to_string(file).ok();
        let ascii = std::env::var_os("DRAWLOOM_ASCII").is_some();
        let mut text = render::terminal::terminal(&self.analyses, &source, Look { coloured, ascii, full });
        let findings: usize = self.analyses.iter().map(|analysis| analysis.findings.len()).sum();
        let lines: usize = self.analyses.iter().map(|analysis| analysis.lines).sum();
        let ignored: usize = self.analyses.iter().map(|analysis| analysis.ignored).sum();
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        text += &format!(
            "{} in {}, {}",
            count(findings, "finding"),
            count(self.analyses.len(), "file"),
            count(lines, "line")
        );
        for (number, what) in [
            (self.unsure, "of low confidence left out"),
            (self.known, "in the baseline"),
            (ignored, "ignored by comments"),
        ] {
            if number > 0 {
                text += &format!("; {number} {what}");
            }
        }
        text + "\n"
    }

    fn code(&self) -> u8 {
        let Some(least) = self.fail_on else { return answer::CLEAN };
        let found = self.analyses.iter().flat_map(|analysis| &analysis.findings);
        if found.into_iter().any(|finding| finding.evidence.confidence >= least) {
            answer::FOUND
        } else {
            answer::CLEAN
        }
    }
}
