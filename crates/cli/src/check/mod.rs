//! `drawloom check`: reads a history file, checks it, and says what came of it.
//!
//! The checkers themselves are a crate of their own; here are the names of models and levels, the notations of files, and
//! the answer for people, for programs and for the browser. Exit codes are 0 if the history has the level that was asked for, 1 if it has not, and 2 if that cannot be said:
//! the file cannot be read, a name is not known, or a budget ran out.

pub(crate) mod command;
mod format;
mod lanes;
mod operations;
mod page;
mod transactional;

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use drawloom_check::format::{Edn, Entry, JsonLines, Log, LogErrors};
use drawloom_check::history::Value;
use drawloom_check::linearizable::Standing;
use drawloom_check::transactions::Finding;
use drawloom_check::{Budget, escaped};

pub use self::format::Format;
pub use self::lanes::{Lanes, page as page_of};

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The history file.
    pub file: PathBuf,
    /// What the file holds, where that is known already: of standard input, which can be read but once.
    pub content: Option<Vec<u8>>,
    /// The model; what the file says of itself if there is none.
    pub model: Option<String>,
    /// The level; the strongest usual one of the model if there is none.
    pub consistency: Option<String>,
    /// How the file is written; what its first bytes or else its name tell if there is none.
    pub format: Option<Format>,
    /// Where to write a page that can be opened in a browser.
    pub html: Option<PathBuf>,
    /// What searches may cost.
    pub budget: Budget,
    /// Who is told how far a search has come.
    pub progress: Option<fn(Standing)>,
}

/// Shows how far a search has come, in one line of stderr that goes away again; nothing if that is no terminal.
pub fn progress_on_terminal() -> Option<fn(Standing)> {
    let show = |Standing { steps, parts, placed, of }: Standing| {
        let others = if parts > 1 { format!(", {parts} parts are open") } else { String::new() };
        eprint!("\r{steps} steps: {placed} of {of} operations placed{others}\x1b[K\r");
    };
    io::stderr().is_terminal().then_some(show as fn(Standing))
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// For people. Ends with a line break.
    pub text: String,
    /// For programs.
    pub json: serde_json::Value,
    /// The exit code.
    pub code: u8,
    shown: Shown,
}

/// What the page shows beside the text.
#[derive(Clone, Debug, PartialEq)]
enum Shown {
    Nothing,
    /// Operations on a time line, and why they cannot be put in order.
    Operations(Box<Lanes>),
    /// Cycles of transactions.
    Cycles(Vec<Finding>),
}

/// Why a file was not checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The file is not there, or cannot be read or written.
    #[error("{}: {error}", shown(.path))]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Lines of the file cannot be read.
    #[error("{}:\n{errors}{hint}", shown(.path))]
    Content {
        /// Which file.
        path: PathBuf,
        /// Which lines, and why.
        errors: LogErrors,
        /// What may be the reason of all of them, or nothing.
        hint: String,
    },
    /// The history cannot be judged.
    #[error("{}: {error}", shown(.path))]
    Unfit {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// A name is not known.
    #[error("{what} {name:?} is unknown; known are {}", .known.join(", "))]
    Name {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
        /// Names that would do.
        known: Vec<&'static str>,
    },
    /// Nobody says which model to check against.
    #[error("the file does not name its model; known are {}", .0.join(", "))]
    NoModel(Vec<&'static str>),
}

fn shown(path: &Path) -> String {
    escaped(&path.display().to_string()).into_owned()
}

/// All models.
pub fn models() -> Vec<&'static str> {
    operations::MODELS.iter().copied().chain(transactional::MODELS).collect()
}

/// All levels, of whatever model.
pub fn levels() -> Vec<&'static str> {
    operations::levels().into_iter().chain(transactional::levels()).collect()
}

/// Checks a file, and writes the page if one is asked for.
pub fn check(options: &Options) -> Result<Answer, CheckError> {
    let model = match &options.model {
        Some(name) => name.clone(),
        None => model_of_file(options)?,
    };
    if options.model.is_none() && !known(&model) {
        // The name is not repeated: the file may be none of a history, and somebody's.
        return Err(options.unfit(format!("it names an unknown model; known are {}", models().join(", "))));
    }
    let answer = match transactional::canonical(&model) {
        Some(kind) => transactional::check(options, kind)?,
        None => operations::check(options, &model)?,
    };
    if let Some(path) = &options.html {
        let page = page::page(&options.file, &answer);
        std::fs::write(path, page).map_err(|error| CheckError::File { path: path.clone(), error })?;
    }
    Ok(answer)
}

impl Options {
    fn format(&self) -> Result<Format, CheckError> {
        match self.format {
            Some(format) => Ok(format),
            None => Ok(self.looks_like()?.unwrap_or_else(|| Format::of(&self.file))),
        }
    }

    fn looks_like(&self) -> Result<Option<Format>, CheckError> {
        Format::of_content(self.open()?).map_err(|error| CheckError::File { path: self.file.clone(), error })
    }

    fn open(&self) -> Result<BufReader<Box<dyn Read + '_>>, CheckError> {
        let error = |error| CheckError::File { path: self.file.clone(), error };
        let source: Box<dyn Read> = match &self.content {
            Some(content) => Box::new(content.as_slice()),
            None => Box::new(File::open(&self.file).map_err(error)?),
        };
        Ok(BufReader::with_capacity(1 << 16, source))
    }

    fn content(&self, errors: LogErrors) -> CheckError {
        let hint = match (self.format, self.looks_like()) {
            (Some(asked), Ok(Some(found))) if asked != found => {
                format!("\nthe file looks like {}, but `--input` says {}", found.title(), asked.title())
            }
            _ => String::new(),
        };
        CheckError::Content { path: self.file.clone(), errors, hint }
    }

    /// There is nothing in the file that could be right or wrong.
    fn empty(&self) -> CheckError {
        self.unfit("it holds no operations, so there is nothing to check")
    }

    fn unfit(&self, error: impl ToString) -> CheckError {
        CheckError::Unfit { path: self.file.clone(), error: error.to_string() }
    }

    fn log(&self) -> Result<Log, CheckError> {
        let source = self.open()?;
        match self.format()? {
            Format::Jsonl => Log::read(JsonLines::new(source)),
            Format::Edn => Log::read(Edn::new(source)),
        }
        .map_err(|errors| self.content(errors))
    }
}

/// What the first line of a file says.
fn model_of_file(options: &Options) -> Result<String, CheckError> {
    let source = options.open()?;
    let first = match options.format()? {
        Format::Jsonl => JsonLines::new(source).next(),
        Format::Edn => Edn::new(source).next(),
    };
    let meta = match first {
        Some(Ok(Entry::Meta(meta))) => meta,
        None => return Err(options.empty()),
        Some(_) => Value::Nil,
    };
    let said = meta.get("model").or(meta.get("kind")).and_then(Value::as_text);
    said.map(str::to_owned).ok_or_else(|| CheckError::NoModel(models()))
}

fn known(model: &str) -> bool {
    transactional::canonical(model).is_some() || operations::is_known(model)
}

fn code(word: &str) -> u8 {
    match word {
        "ok" => 0,
        "illegal" => 1,
        _ => 2,
    }
}
