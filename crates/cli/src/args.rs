//! The arguments of every command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use drawloom_engine::config::Config;

/// Deterministic concurrency testing: runs tests, and replays, minimises, explains and shows what they find.
#[derive(Parser, Debug)]
#[command(name = "drawloom", version, about, propagate_version = true, after_help = EXAMPLES_AND_EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  drawloom test                    Explore every test of the project
  drawloom test --time 10m queue   Explore the tests whose path contains `queue` for ten minutes
  drawloom explain both_arrive     Explain what a test has found
  drawloom replay both_arrive      Repeat it: does the fix work?

Exit codes: 0 no finding, 1 a finding or a failed test, 2 the command could not run, \
130 interrupted before any finding.";

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run the project's tests, and report each result
    Test(TestArguments),
    /// Run a Python command with the files and sockets of C libraries under control
    #[command(name = "exec", alias = "run")]
    Run(RunArguments),
    /// Compile a C program for exploration: threads, locks, atomics and memory
    Cc(CcArguments),
    /// Run the tests of Pluto programs, with an unmodified compiler
    Pluto(PlutoArguments),
    /// Repeat the execution of a finding, for example after a fix
    Replay(ReplayArguments),
    /// Minimise the schedule of a finding, without a time budget
    Shrink(ReplayArguments),
    /// Explain a finding: interleaving, shared state, cause, fixes
    Explain(ExplainArguments),
    /// Show findings in the browser
    View(ViewArguments),
    /// Show where two executions diverge
    Diff(DiffArguments),
    /// Check whether a recorded history is linearizable, serializable …
    Check(CheckArguments),
    /// Find suspected concurrency bugs in Python and Rust source
    Analyze(AnalyzeArguments),
    /// List saved findings and unfinished searches
    #[command(name = "findings", alias = "list")]
    List(StoreArguments),
    /// Remove saved traces, pages, results and unfinished searches
    Clean(CleanArguments),
    /// Serve coding agents (Model Context Protocol on stdin and stdout)
    #[cfg(feature = "mcp")]
    Mcp,
    /// Serve editors (Language Server Protocol on stdin and stdout)
    Lsp,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    Man {
        /// The command; without one, the page of drawloom itself
        command: Option<String>,
    },
}

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// For programs; the book lists the fields, under “Command line”
    Json,
}

/// How an answer is written.
#[derive(Args, Clone, Debug, Default)]
pub struct Output {
    /// Output format
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
    /// Replace the project's tokio by the controlled one, so that unmodified tests explore
    #[arg(long)]
    pub tokio: bool,
    /// The test runner
    #[arg(long, value_enum, default_value_t)]
    pub runner: RunnerChoice,
    /// Further arguments for cargo
    #[arg(last = true, value_name = "CARGO")]
    pub cargo: Vec<String>,
}

/// The test runner.
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
    /// Seed of randomised strategies
    #[arg(long, help_heading = "Exploration", value_parser = seed)]
    pub seed: Option<u64>,
    /// Executions of each test with a randomised strategy
    #[arg(long, help_heading = "Exploration", value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// A strategy, or a whole configuration as in `#[drawloom::test(…)]`; `--help` lists them
    #[arg(long, help_heading = "Exploration", value_name = "CONFIGURATION", value_parser = configuration)]
    pub strategy: Option<String>,
    /// Explore for this long in total (`90s`, `10m`), the most promising tests first
    #[arg(long, help_heading = "Exploration", value_name = "TIME", value_parser = time)]
    pub time: Option<Duration>,
    /// Number of tests that run at the same time
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// OS threads per exploration; 0 means one per core
    #[arg(long, help_heading = "Exploration", value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// Run ignored tests too
    #[arg(long)]
    pub include_ignored: bool,
    /// How to treat stored schedules that no longer fit the program
    #[arg(long, value_enum, value_name = "WHAT")]
    pub stale: Option<Stale>,
    /// Print no reports of findings
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
    /// Print GitHub annotations, and write the step summary
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
    /// Replace each by the schedule of this run
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
    /// Arguments of the compiler, such as `-O1 -o bank bank.c`; the variable `CC` names the compiler
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// The arguments of `pluto`.
#[derive(Args, Clone, Debug)]
pub struct PlutoArguments {
    /// Pluto programs with tests
    #[arg(required_unless_present = "cache_dir", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only the test of this name
    #[arg(long, value_name = "NAME")]
    pub test: Option<String>,
    /// The seed of random schedules
    #[arg(long)]
    pub seed: Option<String>,
    /// Number of random schedules
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Maximum schedules of an exhaustive test
    #[arg(long, value_name = "N")]
    pub max_schedules: Option<u64>,
    /// Repeat this schedule
    #[arg(long, value_name = "TOKEN", requires = "test")]
    pub replay: Option<String>,
    /// Print the same lines as Pluto's own runtime, and stop at the first failing test
    #[arg(long)]
    pub plain: bool,
    /// Print the folder to set as `PLUTO_CACHE_DIR`, so that every `pluto test` uses the engine
    #[arg(long)]
    pub cache_dir: bool,
    /// The Pluto compiler
    #[arg(long, value_name = "PATH", default_value = "pluto")]
    pub compiler: PathBuf,
    /// The library that replaces Pluto's test runtime
    #[arg(long, value_name = "PATH")]
    pub runtime: Option<PathBuf>,
}

/// The arguments of `replay` and `shrink`.
#[derive(Args, Clone, Debug, Default)]
pub struct ReplayArguments {
    /// A token, a trace file, or the name of a test that has failed
    pub finding: String,
    /// Stop at the first step where the program no longer follows the schedule
    #[arg(long)]
    pub strict: bool,
    /// The default: follow the schedule as far as it fits
    #[arg(long, hide = true, conflicts_with = "strict")]
    pub lenient: bool,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub project: ProjectArguments,
}

/// Where findings are saved.
#[derive(Args, Clone, Debug, Default)]
pub struct Place {
    /// Folder of the traces, instead of `target/drawloom` or `DRAWLOOM_DIR`
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
    /// A trace file, or the token or test name of a saved finding
    pub finding: String,
    /// Output format
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
    /// Trace files, or tokens or test names of saved findings
    #[arg(required = true)]
    pub findings: Vec<String>,
    /// Write the page to this file instead of opening it
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
    /// The other one: a trace file, a token, or the name of a test
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
    /// The model (`register`, `queue`, `list-append` …), if the file does not name it; a wrong name lists all
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The level to check (`linearizable`, `serializable` …); by default the strongest usual one of the model
    #[arg(long, value_name = "LEVEL")]
    pub consistency: Option<String>,
    /// Input format, if neither the file's name nor its first bytes show it
    #[arg(long, value_enum, value_name = "NOTATION")]
    pub input: Option<Notation>,
    /// Write an HTML page of the whole history to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Stop a search after this many steps
    #[arg(long, value_name = "NUMBER")]
    pub steps: Option<u64>,
    /// Stop a search that needs more bytes of memory
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
    /// Never
    Never,
}

/// How tasks take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TurnsArgument {
    /// Only at checkpoints
    Tasks,
    /// Anywhere
    Threads,
}

/// The arguments of `analyze`.
#[derive(Args, Clone, Debug, Default)]
pub struct AnalyzeArguments {
    /// Files, folders, `path:10-20`, `path::function`, `path::Class.method` or `::function`; by default the files changed in git
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: AnalyzeFormat,
    /// The concurrency library (asyncio, trio, anyio, threads, tokio); by default the imported one
    #[arg(long, value_name = "NAME")]
    pub framework: Option<String>,
    /// Where another task can run; by default as the library in use has it
    #[arg(long, value_enum, value_name = "MODEL")]
    pub model: Option<TurnsArgument>,
    /// Hide findings of lower confidence
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub min_confidence: Level,
    /// Exit with 1 if a finding has at least this confidence
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub fail_on: Level,
    /// Hide the findings listed in this file
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the findings to this file, for `--baseline`
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Run the suspected code, and report whether the bug happens
    #[arg(long)]
    pub confirm: bool,
    /// Write a test for each finding into this folder
    #[arg(long, value_name = "DIRECTORY")]
    pub scaffold: Option<PathBuf>,
    /// Also show shared state and checkpoints
    #[arg(long)]
    pub all: bool,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Number of files analysed at the same time
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Print no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// The arguments of `clean`.
#[derive(Args, Clone, Debug, Default)]
pub struct CleanArguments {
    /// Only findings whose tests pass now
    #[arg(long)]
    pub stale: bool,
    #[command(flatten)]
    pub store: StoreArguments,
}

/// The arguments of `list`.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreArguments {
    /// Only findings of tests whose name contains this text
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
