//! The arguments of every command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use drawloom_engine::config::Config;

/// Deterministic concurrency testing: runs tests, and replays, minimises, explains and shows what they find.
#[derive(Parser, Debug)]
#[command(name = "drawloom", version, about, propagate_version = true, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 nothing was found, 1 something was found or a test failed, 2 it could not be done, \
130 it was interrupted before anything was found.";

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run the project's tests, and say what each of them came to
    Test(TestArguments),
    /// Run a command with files and sockets of C libraries under control, for Python
    #[command(name = "exec", alias = "run")]
    Run(RunArguments),
    /// Compile a C program with threads, locks, atomics and memory under control
    Cc(CcArguments),
    /// Run the tests of Pluto programs on the engine, by the compiler as it is
    Pluto(PlutoArguments),
    /// Repeat the execution of a finding
    Replay(ReplayArguments),
    /// Minimise the schedule of a finding, without a budget
    Shrink(ReplayArguments),
    /// Say what happened in a finding
    Explain(ExplainArguments),
    /// Show findings in the browser
    View(ViewArguments),
    /// Say where two executions part, and what came of it
    Diff(DiffArguments),
    /// Say whether a recorded history is what a correct store could have answered
    Check(CheckArguments),
    /// Find suspected concurrency bugs in Python and Rust source
    Analyze(AnalyzeArguments),
    /// List the findings that are kept
    #[command(name = "findings", alias = "list")]
    List(StoreArguments),
    /// Remove what is kept: traces, pages, results, unfinished searches
    Clean(CleanArguments),
    /// Serve coding agents by the Model Context Protocol, over stdin and stdout
    #[cfg(feature = "mcp")]
    Mcp,
    /// Serve editors by the Language Server Protocol, over stdin and stdout
    Lsp,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    Man {
        /// Of this command
        command: Option<String>,
    },
}

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// For programs: the book has the fields, under “The command line”
    Json,
}

/// How an answer is written.
#[derive(Args, Clone, Debug, Default)]
pub struct Output {
    /// How the answer is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// The same as `--format json`
    #[arg(long)]
    pub json: bool,
}

impl Output {
    /// The form that was asked for.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Which project, and how cargo builds it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Project")]
pub struct ProjectArguments {
    /// The manifest of the project
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Only tests of this package
    #[arg(long, short, value_name = "SPEC")]
    pub package: Vec<String>,
    /// Tests of all packages of the workspace
    #[arg(long)]
    pub workspace: bool,
    /// Features to build with
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Build with all features
    #[arg(long)]
    pub all_features: bool,
    /// Build without the default feature
    #[arg(long)]
    pub no_default_features: bool,
    /// Build with optimisations
    #[arg(long, short)]
    pub release: bool,
    /// Put the project's tokio under control, without an edit: tests that know nothing of drawloom explore
    #[arg(long)]
    pub tokio: bool,
    /// Which program runs the tests
    #[arg(long, value_enum, default_value_t)]
    pub runner: RunnerChoice,
    /// Further arguments for cargo
    #[arg(last = true, value_name = "CARGO")]
    pub cargo: Vec<String>,
}

/// Which program runs tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum RunnerChoice {
    /// `nextest` if it is installed, else `cargo`
    #[default]
    Auto,
    /// `cargo test`
    Cargo,
    /// `cargo nextest run`
    Nextest,
}

/// The arguments of `test`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_long_help = drawloom_engine::config::reference())]
pub struct TestArguments {
    /// Only tests whose path contains this text
    pub filter: Option<String>,
    /// Where randomised strategies begin to draw
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    /// Executions of each test, if its strategy is randomised
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// A strategy, or a whole configuration as in `#[drawloom::test(…)]`; `--help` lists them
    #[arg(long, value_name = "CONFIGURATION", value_parser = configuration)]
    pub strategy: Option<String>,
    /// Go on exploring for so long in all (`90s`, `10m`), the most promising tests first
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time: Option<Duration>,
    /// Tests that run at the same time
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// OS threads of each exploration; 0 for one per core
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// Run ignored tests too
    #[arg(long)]
    pub include_ignored: bool,
    /// What to do with stored schedules that no longer fit the program
    #[arg(long, value_enum, value_name = "WHAT")]
    pub stale: Option<Stale>,
    /// Leave out the reports of what was found
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub ci: CiArguments,
    #[command(flatten)]
    pub project: ProjectArguments,
}

/// What CI is told.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "CI")]
pub struct CiArguments {
    /// Write JUnit's XML to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write findings as SARIF 2.1.0 to this file
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Print annotations for GitHub, and write the summary of the step
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub github: OnGithub,
}

/// When GitHub is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum OnGithub {
    /// If `GITHUB_ACTIONS` is `true`
    #[default]
    Auto,
    Always,
    Never,
}

/// What becomes of stored schedules that no longer fit the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Stale {
    /// Store the schedule as it was followed in this run, which fits, in place of the old one
    Renew,
    /// Remove their lines
    Remove,
}

/// The arguments of `run`.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArguments {
    /// The command, such as `pytest tests/test_store.py`
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// The arguments of `cc`.
#[derive(Args, Clone, Debug, Default)]
pub struct CcArguments {
    /// What the compiler would be called with: `-O1 -o bank bank.c`. `CC` says which compiler
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// The arguments of `pluto`.
#[derive(Args, Clone, Debug)]
pub struct PlutoArguments {
    /// Programs with tests
    #[arg(required_unless_present = "cache_dir", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only the test of this name
    #[arg(long, value_name = "NAME")]
    pub test: Option<String>,
    /// The seed of random schedules
    #[arg(long)]
    pub seed: Option<String>,
    /// How many random schedules are made
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// How many schedules an exhaustive test may take
    #[arg(long, value_name = "N")]
    pub max_schedules: Option<u64>,
    /// Repeat this schedule
    #[arg(long, value_name = "TOKEN", requires = "test")]
    pub replay: Option<String>,
    /// Print what Pluto's own runtime would, and end with the first test that fails
    #[arg(long)]
    pub plain: bool,
    /// Print the cache for the compiler's `PLUTO_CACHE_DIR`, by which every `pluto test` uses the engine
    #[arg(long)]
    pub cache_dir: bool,
    /// The compiler
    #[arg(long, value_name = "PATH", default_value = "pluto")]
    pub compiler: PathBuf,
    /// The library that takes the place of Pluto's test runtime
    #[arg(long, value_name = "PATH")]
    pub runtime: Option<PathBuf>,
}

/// The arguments of `replay` and `shrink`.
#[derive(Args, Clone, Debug, Default)]
pub struct ReplayArguments {
    /// A token, a trace file, or the name of a test that has failed
    pub finding: String,
    /// End where the program no longer does what the schedule says, instead of following it as far as it goes
    #[arg(long)]
    pub strict: bool,
    /// What is done anyway, unless `--strict` is given
    #[arg(long, hide = true, conflicts_with = "strict")]
    pub lenient: bool,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub project: ProjectArguments,
}

/// Where findings are kept.
#[derive(Args, Clone, Debug, Default)]
pub struct Place {
    /// Where traces are kept, if not in `target/drawloom` or `DRAWLOOM_DIR`
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,
    /// The manifest of the project
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
}

/// How an explanation is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum ExplainFormat {
    /// For a terminal
    #[default]
    Human,
    /// For a pull request or an issue
    Markdown,
    /// For programs
    Json,
}

/// The arguments of `explain`.
#[derive(Args, Clone, Debug, Default)]
pub struct ExplainArguments {
    /// A trace file, or the token or the name of a test of a finding that is kept
    pub finding: String,
    /// How the explanation is written
    #[arg(long, value_enum, default_value_t)]
    pub format: ExplainFormat,
    /// The same as `--format json`
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: Place,
}

/// The arguments of `view`.
#[derive(Args, Clone, Debug, Default)]
pub struct ViewArguments {
    /// Trace files, or tokens or names of tests of findings that are kept
    #[arg(required = true)]
    pub findings: Vec<String>,
    /// Write the page to this file, and do not open it
    #[arg(long, short, value_name = "FILE")]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub place: Place,
}

/// The arguments of `diff`.
#[derive(Args, Clone, Debug, Default)]
pub struct DiffArguments {
    /// A trace file, a token, or the name of a test that has failed
    pub one: String,
    /// Another one
    pub other: String,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub place: Place,
}

/// The arguments of `check`.
#[derive(Args, Clone, Debug, Default)]
pub struct CheckArguments {
    /// The history; `-` for standard input
    pub file: PathBuf,
    /// What the clients used (`register`, `queue`, `list-append` …), if the file does not say; a wrong name lists all
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// What it should be (`linearizable`, `serializable` …), if not the strongest usual level of the model
    #[arg(long, value_name = "LEVEL")]
    pub consistency: Option<String>,
    /// How the history is written, if neither its first bytes nor its name tell
    #[arg(long, value_enum, value_name = "NOTATION")]
    pub input: Option<Notation>,
    /// Write a page of the whole history, for the browser, to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Give up a search after so many steps
    #[arg(long, value_name = "NUMBER")]
    pub steps: Option<u64>,
    /// Give up a search that would take more bytes of memory
    #[arg(long, value_name = "NUMBER")]
    pub bytes: Option<u64>,
    #[command(flatten)]
    pub output: Output,
}

/// How a history is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Notation {
    /// JSON lines
    Jsonl,
    /// Jepsen's EDN
    Edn,
}

/// How an analysis is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum AnalyzeFormat {
    /// For a terminal
    #[default]
    Term,
    /// For a pull request or an issue
    Md,
    /// For programs
    Json,
    /// For code scanning
    Sarif,
    /// For the browser
    Page,
}

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Level {
    Low,
    #[default]
    Medium,
    High,
    /// None is
    Never,
}

/// How tasks take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TurnsArgument {
    /// At checkpoints alone
    Tasks,
    /// Anywhere
    Threads,
}

/// The arguments of `analyze`.
#[derive(Args, Clone, Debug, Default)]
pub struct AnalyzeArguments {
    /// Files, folders, `path:10-20`, `path::function`, `path::Class.method` or `::function`; without one, what has changed
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// How the analysis is written
    #[arg(long, value_enum, default_value_t)]
    pub format: AnalyzeFormat,
    /// The library that runs tasks (asyncio, trio, anyio, threads, tokio), if not the one that is imported
    #[arg(long, value_name = "NAME")]
    pub framework: Option<String>,
    /// Where tasks can be left, if not where the library in use has it
    #[arg(long, value_enum, value_name = "MODEL")]
    pub model: Option<TurnsArgument>,
    /// Leave out findings that are less sure
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub min_confidence: Level,
    /// Exit with 1 if a finding is at least so sure
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub fail_on: Level,
    /// Leave out findings that this file knows
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write what is found to this file, for `--baseline`
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Run what is suspected, and say whether it happens
    #[arg(long)]
    pub confirm: bool,
    /// Write a test for each finding into this folder
    #[arg(long, value_name = "DIRECTORY")]
    pub scaffold: Option<PathBuf>,
    /// Show shared state and checkpoints, too
    #[arg(long)]
    pub all: bool,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Files that are analysed at the same time
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Leave out the line that says how far it has come
    #[arg(long, short)]
    pub quiet: bool,
}

/// The arguments of `clean`.
#[derive(Args, Clone, Debug, Default)]
pub struct CleanArguments {
    /// Only findings whose tests are known to pass now
    #[arg(long)]
    pub stale: bool,
    #[command(flatten)]
    pub store: StoreArguments,
}

/// The arguments of `list`.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreArguments {
    /// Only those of tests whose name contains this text
    pub filter: Option<String>,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub place: Place,
}

/// Parses the command line. `--help` and mistakes are clap's to answer.
pub fn parse(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(arguments)
}

fn configuration(text: &str) -> Result<String, String> {
    text.parse::<Config>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Written as everywhere else, decimal or hexadecimal.
fn seed(text: &str) -> Result<u64, String> {
    let config: Config = format!("seed = {text}").parse().map_err(|error| format!("{error}"))?;
    config.seed.ok_or_else(|| "it takes a whole number".to_owned())
}

fn time(text: &str) -> Result<Duration, String> {
    let config: Config = format!("timeout = {text}").parse().map_err(|error| format!("{error}"))?;
    config.timeout.ok_or_else(|| "it takes a time (`60s`)".to_owned())
}
