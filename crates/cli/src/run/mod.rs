//! Running tests: through nextest where it is installed, else through `cargo test`.

pub(crate) mod child;
pub(crate) mod libtest;
mod nextest;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use child::{End, Outputs, Stream};

use crate::args::RunnerChoice;
use crate::error::Error;
use crate::project::{Project, Target, TargetKind, cargo};

/// Lines of output that are kept, to say why something did not work.
const LINES_KEPT: usize = 20;

/// What became of a test, as its harness says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    Ignored,
}

/// What happens in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A test is over.
    Ended { target: usize, path: String, verdict: Verdict, output: Option<String> },
    /// What a failed test has printed.
    Output { target: usize, path: String, output: String },
}

/// Which tests are run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selection<'a> {
    /// Those whose path contains this, if anything.
    All(Option<&'a str>),
    /// One test of one target.
    One { target: usize, path: &'a str },
}

/// How tests are run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Tests at the same time.
    pub(crate) jobs: Option<u32>,
    pub(crate) include_ignored: bool,
    /// For the tests.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Variables that the tests shall not see.
    pub(crate) without: Vec<&'static str>,
    /// When it is ended, ready or not.
    pub(crate) deadline: Option<Instant>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// The last lines that were no events.
    pub(crate) said: String,
    /// What cargo says of test binaries that were ended by a signal.
    crashes: Vec<String>,
}

impl Ended {
    /// Whether a test binary has crashed.
    pub(crate) fn crashed(&self) -> bool {
        !self.crashes.is_empty()
    }

    /// Why tests of `target` did not end, as far as is known.
    pub(crate) fn why_unfinished(&self, target: &Target) -> String {
        let name = target.executable.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let crash = self.crashes.iter().find(|line| line.contains(name)).map(|line| line.trim());
        match self.end {
            End::Exited(_) => crash.unwrap_or(&self.said).to_owned(),
            End::Interrupted => String::new(),
            End::Late => "it was still running when the time was up".to_owned(),
        }
    }
}

/// Whoever runs the tests of a project.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    project: Project,
    pub(crate) targets: Vec<Target>,
    nextest: bool,
}

impl Runner {
    pub(crate) fn new(project: Project, targets: Vec<Target>) -> Runner {
        let nextest = match project.arguments().runner {
            RunnerChoice::Auto => has_nextest(),
            RunnerChoice::Cargo => false,
            RunnerChoice::Nextest => true,
        };
        Runner { project, targets, nextest }
    }

    /// Whether it may leave out tests that are listed.
    pub(crate) fn leaves_out(&self) -> bool {
        self.nextest
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.nextest { "nextest" } else { "cargo test" }
    }

    /// Runs tests, and tells what happens.
    pub(crate) fn run(
        &self,
        selection: Selection<'_>,
        settings: &Settings,
        mut happened: impl FnMut(Event),
    ) -> Result<Ended, Error> {
        let mut command =
            if self.nextest { self.nextest(selection, settings) } else { self.cargo(selection, settings) };
        command.envs(self.project.environment()).envs(settings.environment.iter().map(|(name, value)| (name, value)));
        command.env("CARGO_TERM_QUIET", "false");
        for name in &settings.without {
            command.env_remove(name);
        }
        let outputs = if self.nextest { Outputs::Apart } else { Outputs::Merged };
        let mut reader = libtest::Reader::new(&self.targets);
        let (mut said, mut crashes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let end = child::run(command, outputs, settings.deadline, |stream, line| {
            let event = match stream {
                Stream::Out => nextest::line(&self.targets, line),
                Stream::Merged => reader.line(line),
                Stream::Err => None,
            };
            match event {
                Some(event) => happened(event),
                None if stream == Stream::Out || line.trim().is_empty() => {}
                None => {
                    if line.contains("process didn't exit successfully") {
                        crashes.push(line.to_owned());
                    }
                    said.push(line.to_owned());
                    if said.len() > LINES_KEPT {
                        said.remove(0);
                    }
                }
            }
        })?;
        Ok(Ended { end, said: said.join("\n"), crashes })
    }

    fn cargo(&self, selection: Selection<'_>, settings: &Settings) -> Command {
        let mut command = cargo();
        command.args(["test", "--no-fail-fast", "--color", "never"]).args(self.project.selection());
        match selection {
            Selection::All(_) => command.arg("--tests"),
            Selection::One { target, .. } => command.args(self.targets[target].cargo_arguments()),
        };
        command.args(["--", "--color", "never"]);
        if let Some(jobs) = settings.jobs {
            command.args(["--test-threads", &jobs.to_string()]);
        }
        if settings.include_ignored {
            command.arg("--include-ignored");
        }
        match selection {
            Selection::All(filter) => command.args(filter),
            Selection::One { path, .. } => command.args(["--exact", path]),
        };
        command
    }

    fn nextest(&self, selection: Selection<'_>, settings: &Settings) -> Command {
        let mut command = cargo();
        command.args(["nextest", "run", "--no-fail-fast", "--color", "never", "--no-tests", "pass"]);
        command.args(["--message-format", "libtest-json"]).env(nextest::CONSENT.0, nextest::CONSENT.1);
        command.args(["--cargo-quiet"]).args(self.project.selection());
        if let Some(jobs) = settings.jobs {
            command.args(["--test-threads", &jobs.to_string()]);
        }
        if settings.include_ignored {
            command.args(["--run-ignored", "all"]);
        }
        match selection {
            Selection::All(filter) => command.arg("--tests").args(filter),
            Selection::One { target, path } => {
                let target = &self.targets[target];
                let (package, name) = (&target.package, &target.name);
                let kind = match target.kind {
                    TargetKind::Library => "(kind(lib) | kind(proc-macro))",
                    TargetKind::Binary => "kind(bin)",
                    TargetKind::Test => "kind(test)",
                    TargetKind::Example => "kind(example)",
                    TargetKind::Bench => "kind(bench)",
                };
                let set = format!("package(={package}) & {kind} & binary(={name}) & test(={path})");
                command.arg("--tests").args(["--filterset", &set])
            }
        };
        command
    }

    /// The target of a test binary.
    pub(crate) fn target_of(&self, binary: &str) -> Option<usize> {
        let binary = PathBuf::from(binary);
        self.targets.iter().position(|target| target.is_at(&binary))
    }
}

fn has_nextest() -> bool {
    let mut command = cargo();
    command.args(["nextest", "--version"]).stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}
