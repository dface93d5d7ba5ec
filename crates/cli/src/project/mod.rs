//! The project: where cargo says that it is, what it builds, and which tests there are.

mod listing;
mod tokio;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drawloom_engine::config::ENV_REGRESSIONS;
use drawloom_report::{ENV_REPLAY_WITH, SourceFiles, replay_command};
use serde::Deserialize;

pub(crate) use listing::Listed;

use crate::answer;
use crate::args::ProjectArguments;
use crate::error::Error;
use crate::run::child::{self, End, Outputs, Stream};

/// A project that cargo knows.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    arguments: ProjectArguments,
    /// Where names of source files begin.
    pub(crate) root: PathBuf,
    /// The directories of its packages.
    pub(crate) packages: Vec<PathBuf>,
    /// Folders outside of it that its packages name as dependencies.
    dependencies: Vec<PathBuf>,
    target: PathBuf,
    /// How its tokio is put under control, if it is.
    tokio: Option<tokio::Controlled>,
}

/// A test binary that cargo has built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) package: String,
    pub(crate) kind: TargetKind,
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
}

/// What a test binary is made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetKind {
    Library,
    Binary,
    Test,
    Example,
    Bench,
}

impl TargetKind {
    fn of(kinds: &[String]) -> TargetKind {
        match kinds.first().map(String::as_str) {
            Some("bin") => TargetKind::Binary,
            Some("test") => TargetKind::Test,
            Some("example") => TargetKind::Example,
            Some("bench") => TargetKind::Bench,
            _ => TargetKind::Library,
        }
    }
}

impl Target {
    /// What paths of tests begin with in here.
    pub(crate) fn krate(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The arguments by which cargo takes this kind of target, if possible this one alone.
    pub(crate) fn cargo_arguments(&self) -> Vec<String> {
        match self.kind {
            TargetKind::Library => vec!["--lib".to_owned()],
            TargetKind::Binary => vec!["--bin".to_owned(), self.name.clone()],
            TargetKind::Test => vec!["--test".to_owned(), self.name.clone()],
            TargetKind::Example => vec!["--example".to_owned(), self.name.clone()],
            TargetKind::Bench => vec!["--bench".to_owned(), self.name.clone()],
        }
    }

    /// Whether `path` is its executable, wherever the path begins.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.executable.file_name() == path.file_name()
    }
}

impl Project {
    /// The project that `arguments` name, or that the current directory lies in.
    pub(crate) fn find(arguments: &ProjectArguments) -> Result<Project, Error> {
        #[derive(Deserialize)]
        struct Metadata {
            workspace_root: PathBuf,
            target_directory: PathBuf,
            packages: Vec<Package>,
        }
        #[derive(Deserialize)]
        struct Package {
            manifest_path: PathBuf,
            dependencies: Vec<Dependency>,
        }
        #[derive(Deserialize)]
        struct Dependency {
            #[serde(default)]
            path: Option<PathBuf>,
        }
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if let Some(manifest) = &arguments.manifest_path {
            command.arg("--manifest-path").arg(manifest);
        }
        let output = command.stdin(Stdio::null()).output().map_err(Error::NoCargo)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Error::NoProject(said.trim().trim_start_matches("error: ").to_owned()));
        }
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).map_err(|error| Error::NoProject(error.to_string()))?;
        let target = match target_dir(&arguments.cargo) {
            Some(directory) => directory,
            None => metadata.target_directory,
        };
        let directory_of = |package: &Package| package.manifest_path.parent().map(Path::to_path_buf);
        let packages = metadata.packages.iter().filter_map(directory_of).collect();
        let dependencies = metadata.packages.into_iter().flat_map(|package| package.dependencies);
        let dependencies = dependencies.filter_map(|dependency| dependency.path).collect();
        let (arguments, root) = (arguments.clone(), metadata.workspace_root);
        let mut project = Project { arguments, root, packages, dependencies, target, tokio: None };
        if project.arguments.tokio {
            project.tokio = Some(tokio::Controlled::of(&project)?);
        }
        Ok(project)
    }

    /// What tests are told about how they are run.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let Some(controlled) = &self.tokio else { return Vec::new() };
        let mut environment = vec![(ENV_REPLAY_WITH, replay_command(Some("drawloom replay --tokio")).to_owned())];
        if std::env::var_os(ENV_REGRESSIONS).is_none_or(|given| given.is_empty()) {
            environment.push((ENV_REGRESSIONS, controlled.regressions.display().to_string()));
        }
        environment
    }

    /// Where traces, pages, logs and results are kept.
    pub(crate) fn store(&self) -> PathBuf {
        match std::env::var_os("DRAWLOOM_DIR").filter(|directory| !directory.is_empty()) {
            Some(directory) => std::path::absolute(&directory).unwrap_or_else(|_| directory.into()),
            None => self.target.join("drawloom"),
        }
    }

    /// Which source files may be shown: those of the project, those that it names as dependencies, generated ones, and
    /// those that cargo has fetched.
    pub(crate) fn sources(&self) -> SourceFiles {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let fetched = home.into_iter().flat_map(|home| [home.join("registry/src"), home.join("git/checkouts")]);
        let others = self.packages.iter().chain(&self.dependencies).chain([&self.target]).cloned();
        SourceFiles::below([&self.root], others.chain(fetched))
    }

    /// The arguments that say which project, which packages and how to build: the same for every command, so
    /// that nothing is built twice.
    pub(crate) fn selection(&self) -> Vec<String> {
        let given = &self.arguments;
        let mut all = Vec::new();
        if let Some(controlled) = &self.tokio {
            all.extend(controlled.selection(self));
        } else if let Some(manifest) = &given.manifest_path {
            all.extend(["--manifest-path".to_owned(), manifest.display().to_string()]);
        }
        given.package.iter().for_each(|package| all.extend(["--package".to_owned(), package.clone()]));
        given.features.iter().for_each(|features| all.extend(["--features".to_owned(), features.clone()]));
        let flags = [
            (given.workspace, "--workspace"),
            (given.all_features, "--all-features"),
            (given.no_default_features, "--no-default-features"),
            (given.release, "--release"),
        ];
        all.extend(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| (*flag).to_owned()));
        all.extend(given.cargo.iter().cloned());
        all
    }

    pub(crate) fn arguments(&self) -> &ProjectArguments {
        &self.arguments
    }

    /// Builds the tests. What cargo says goes to stderr, as it comes.
    pub(crate) fn build(&self, quiet: bool) -> Result<Vec<Target>, Error> {
        let mut command = cargo();
        command.args(["test", "--tests", "--no-run", "--message-format", "json-render-diagnostics"]);
        command.args(self.selection());
        let mut targets = Vec::new();
        let mut said = String::new();
        let end = child::run(command, Outputs::Apart, None, |stream, line| match stream {
            Stream::Out | Stream::Merged => targets.extend(executable(line)),
            Stream::Err => {
                said.push_str(line);
                said.push('\n');
                // Where each executable is, nobody wants to know.
                if !quiet && !line.trim_start().starts_with("Executable ") {
                    answer::complain(line);
                }
            }
        })?;
        match end {
            End::Interrupted | End::Late => Err(Error::Interrupted),
            End::Exited(status) if status.success() => Ok(targets),
            End::Exited(_) => Err(Error::DoesNotCompile(said)),
        }
    }
}

/// The test binary that a message of cargo is about, if it is about one.
fn executable(line: &str) -> Option<Target> {
    #[derive(Deserialize)]
    struct Message {
        package_id: String,
        manifest_path: PathBuf,
        target: MessageTarget,
        profile: MessageProfile,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct MessageTarget {
        kind: Vec<String>,
        name: String,
    }
    #[derive(Deserialize)]
    struct MessageProfile {
        test: bool,
    }
    let message: Message = serde_json::from_str(line).ok().filter(|message: &Message| message.profile.test)?;
    Some(Target {
        package: package_name(&message.package_id, &message.manifest_path),
        kind: TargetKind::of(&message.target.kind),
        name: message.target.name,
        executable: message.executable?,
    })
}

/// `path+file:///…/bank#0.1.0` and `path+file:///…/directory#bank@0.1.0` both mean `bank`.
fn package_name(id: &str, manifest: &Path) -> String {
    let after = id.rsplit_once('#').map_or(id, |(_, after)| after);
    match after.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => manifest
            .parent()
            .and_then(Path::file_name)
            .map_or_else(|| after.to_owned(), |name| name.to_string_lossy().into_owned()),
    }
}

fn target_dir(cargo: &[String]) -> Option<PathBuf> {
    let given = cargo.iter().position(|argument| argument == "--target-dir").and_then(|at| cargo.get(at + 1));
    let joined = cargo.iter().find_map(|argument| argument.strip_prefix("--target-dir=")).map(str::to_owned);
    std::path::absolute(given.cloned().or(joined)?).ok()
}

/// The cargo that called us, if it did.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_package_is_taken_from_both_forms_of_its_id() {
        let name = |id| package_name(id, Path::new("/home/me/bank/Cargo.toml"));
        assert_eq!(name("path+file:///home/me/bank#0.1.0"), "bank");
        assert_eq!(name("path+file:///home/me/bank#money@0.1.0"), "money");
    }

    #[test]
    fn the_target_directory_may_be_among_the_arguments_for_cargo() {
        let given = |arguments: &[&str]| target_dir(&arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(given(&["--offline"]), None);
        assert_eq!(given(&["--target-dir", "/somewhere"]), Some("/somewhere".into()));
        assert_eq!(given(&["--target-dir=/somewhere"]), Some("/somewhere".into()));
    }
}
