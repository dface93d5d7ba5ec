//! Why something cannot be done, and what to do about it.

use std::path::{Path, PathBuf};

use drawloom_report::printable;

/// A path as it is printed.
fn shown(file: &Path) -> String {
    printable(&file.display().to_string()).into_owned()
}

/// Why a command could not be carried out. Each ends the program with exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no project here.
    #[error("there is no cargo project here: {0}")]
    NoProject(String),
    /// Cargo itself is missing.
    #[error("cargo cannot be run: {0}")]
    NoCargo(std::io::Error),
    /// The project does not compile.
    #[error("the tests do not compile")]
    DoesNotCompile(String),
    /// The project's tokio cannot be replaced.
    #[error("tokio cannot be put under control: {0}")]
    Tokio(String),
    /// No test is called so.
    #[error("no test {}", .0.as_ref().map_or("was found".to_owned(), |filter| format!("matches `{}`", printable(filter))))]
    NoTest(Option<String>),
    /// Whoever runs the tests gave up.
    #[error("{runner} failed before any test was run: {output}")]
    Runner {
        /// Which program.
        runner: &'static str,
        /// The end of what it said.
        output: String,
    },
    /// A file that cannot be read.
    #[error("{} cannot be read: {error}", shown(file))]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("{} cannot be written: {error}", shown(file))]
    Unwritable {
        /// Which file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A trace file that cannot be used.
    #[error("{}: {error}", shown(file))]
    Trace {
        /// Which file.
        file: PathBuf,
        /// Why.
        error: drawloom_report::ReadError,
    },
    /// A history that cannot be checked.
    #[error(transparent)]
    History(#[from] crate::check::CheckError),
    /// A token that cannot be used.
    #[error(transparent)]
    Token(#[from] drawloom_engine::schedule::TokenError),
    /// A schedule with too many steps.
    #[error("this schedule has {steps} steps: executions of up to {most} steps can be compared by their tokens alone")]
    TooLong {
        /// How many it has.
        steps: u64,
        /// How many it may have.
        most: u64,
    },
    /// A token of no test of this project.
    #[error("this replay token belongs to no test of this project")]
    Foreign,
    /// A finding of a test that cargo does not run.
    #[error("the finding is of a test that cargo does not run; replay it by\n  {}", printable(.0))]
    NotCargos(String),
    /// Nothing that is kept is called so.
    #[error("`{}` is not a trace file, a replay token, or a test with a saved finding", printable(.0))]
    NoFinding(String),
    /// Too much that is kept is called so.
    #[error("`{}` means several tests: {}", printable(text), .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// A finding that has no schedule.
    #[error("this finding cannot be replayed: it has no schedule ({})", printable(.0))]
    NoSchedule(String),
    /// A schedule that shows nothing.
    #[error("there is nothing to minimise: `{}` passes under this schedule", printable(.0))]
    Passes(String),
    /// A test that could not be begun.
    #[error("{0}")]
    Refused(String),
    /// A test that left no result.
    #[error("the test `{}` left no result{}", printable(test), if output.is_empty() { String::new() } else { format!(": {output}") })]
    NoResult {
        /// Which test.
        test: String,
        /// The end of what was printed.
        output: String,
    },
    /// The library to be preloaded is not there.
    #[error("the library to be preloaded is not found: {0}")]
    NoPreload(String),
    /// A library or header that programs of other languages need is not there.
    #[error("a library or header is not found: {0}")]
    NoRuntime(String),
    /// Pluto's tests cannot be put under control.
    #[error("Pluto's tests cannot be put under control: {}", drawloom_report::printable_lines(.0))]
    Pluto(String),
    /// A program that cannot be run.
    #[error("`{}` cannot be run: {error}", printable(program))]
    NotRun {
        /// Which program.
        program: String,
        /// Why.
        error: std::io::Error,
    },
    /// A command that does not exist.
    #[error("there is no command `{}`", printable(.0))]
    NoCommand(String),
    /// The user has had enough.
    #[error("interrupted")]
    Interrupted,
    /// The server for agents has failed.
    #[cfg(feature = "mcp")]
    #[error("the server failed: {0}")]
    Server(String),
}

impl Error {
    /// What to do about it, in one sentence.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Error::NoProject(_) => "change to a directory with a Cargo.toml, or pass `--manifest-path`",
            Error::NoCargo(_) => {
                "a Rust project needs cargo (install it, or set `CARGO` to its path); findings of pytest are \
             saved in `.drawloom`, and there is no such folder"
            }
            Error::DoesNotCompile(_) => "see the compiler's messages above",
            Error::Tokio(_) => "see “Test async code” in the book",
            Error::NoTest(Some(_)) => "`drawloom test` without a filter runs all of them",
            Error::NoTest(None) => "write one: `#[drawloom::test] fn name() { … }`",
            Error::Runner { .. } => "`--runner cargo` runs tests without nextest",
            Error::TooLong { .. } => "name the trace file of the finding instead of its token",
            Error::Foreign => "change to the project that printed it; if the test was renamed since, run it again",
            Error::NotCargos(_) => "`drawloom explain` and `drawloom view` show it without a run",
            Error::NoFinding(_) => "`drawloom findings` lists the saved findings",
            Error::Ambiguous { .. } => "name one of them in full, or by its token or trace file",
            Error::NoCommand(_) => "`drawloom help` lists them",
            Error::Passes(_) => "has it been fixed? `drawloom replay` says how far the schedule still fits",
            Error::NoPreload(_) => {
                "build it by `cargo build --release -p drawloom-preload`, and set DRAWLOOM_PRELOAD to it"
            }
            Error::NoRuntime(_) => {
                "build the libraries by `cargo build --release -p drawloom-pluto -p drawloom-posix`; DRAWLOOM_PLUTO_RUNTIME and DRAWLOOM_POSIX name them"
            }
            Error::Pluto(_) => "see “Test Pluto programs” in the book",
            Error::NoSchedule(_) => "run the test again",
            Error::NoResult { .. } => "is it one of drawloom's, in a build with the feature `controlled`?",
            Error::Trace { .. } | Error::Unreadable { .. } | Error::Unwritable { .. } | Error::NotRun { .. } => {
                return None;
            }
            Error::History(_) | Error::Token(_) | Error::Refused(_) | Error::Interrupted => return None,
            #[cfg(feature = "mcp")]
            Error::Server(_) => return None,
        })
    }

    /// The word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NoProject(_) => "no_project",
            Error::NoCargo(_) => "no_cargo",
            Error::DoesNotCompile(_) => "does_not_compile",
            Error::Tokio(_) => "no_tokio",
            Error::NoTest(_) => "no_test",
            Error::Runner { .. } => "runner_failed",
            Error::Unreadable { .. } => "unreadable",
            Error::Unwritable { .. } => "unwritable",
            Error::Trace { .. } => "bad_trace",
            Error::History(_) => "bad_history",
            Error::Token(_) => "bad_token",
            Error::TooLong { .. } => "too_long",
            Error::Foreign => "foreign_token",
            Error::NotCargos(_) => "not_cargos",
            Error::NoFinding(_) => "no_finding",
            Error::Ambiguous { .. } => "ambiguous",
            Error::NoCommand(_) => "no_command",
            Error::Passes(_) => "passes",
            Error::NoSchedule(_) => "no_schedule",
            Error::NoPreload(_) => "no_preload",
            Error::NoRuntime(_) => "no_runtime",
            Error::Pluto(_) => "no_pluto",
            Error::NotRun { .. } => "not_run",
            Error::Refused(_) => "refused",
            Error::NoResult { .. } => "no_result",
            Error::Interrupted => "interrupted",
            #[cfg(feature = "mcp")]
            Error::Server(_) => "server_failed",
        }
    }

    /// What else a program may want to read: the compiler's messages.
    pub fn output(&self) -> Option<&str> {
        match self {
            Error::DoesNotCompile(output) => Some(output),
            _ => None,
        }
    }
}
