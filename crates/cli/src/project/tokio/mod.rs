//! `--tokio`: a project that knows nothing of drawloom is put under control as it is.
//!
//! Cargo is told, by its patch configuration, to take a package *named* tokio in the place of tokio: drawloom-tokio.
//! So third-party crates are controlled as well. No file of the project is touched: cargo works on a [mirror] of it,
//! with a lock file of its own.

mod lock;
mod mirror;
mod package;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::{Project, cargo};
use crate::error::Error;
use lock::{Locked, locked};
use mirror::Mirror;
use package::Package;

/// The version of the package that takes the place of tokio: later than every real one, and compatible with all 1.x.
const VERSION: &str = "1.999.0";

/// A project whose tokio is replaced.
#[derive(Clone, Debug)]
pub(super) struct Controlled {
    /// The manifest to give to cargo.
    manifest: PathBuf,
    /// For `--config`.
    patch: String,
    /// Where failing schedules are kept: not among the files of the project.
    pub(super) regressions: PathBuf,
}

impl Controlled {
    pub(super) fn of(project: &Project) -> Result<Controlled, Error> {
        let directory = project.target.join("drawloom").join("tokio");
        let place = directory.join("package");
        let package = Package::here()?;
        write(&place.join("Cargo.toml"), &package.manifest)?;
        let mirror = Mirror { base: directory.join("mirror") };
        let roots = other_roots(project)?;
        let of_mirror = |error| Error::Unwritable { file: mirror.base.clone(), error };
        mirror.refresh(&project.root, &roots, &project.target).map_err(of_mirror)?;
        // A text of JSON is one of TOML.
        let quoted = serde_json::to_string(&place).unwrap_or_default();
        let controlled = Controlled {
            manifest: mirror.of(&selected(project)?),
            patch: format!("patch.crates-io.tokio.path={quoted}"),
            regressions: directory.join("regressions"),
        };
        controlled.lock(project, &mirror, &directory.join("Cargo.lock.of_the_project"), &package)?;
        Ok(controlled)
    }

    /// The arguments that make cargo work on the mirror.
    pub(super) fn selection(&self, project: &Project) -> Vec<String> {
        let mut all = vec!["--manifest-path".to_owned(), self.manifest.display().to_string()];
        all.extend(["--config".to_owned(), self.patch.clone()]);
        if super::target_dir(&project.arguments.cargo).is_none() {
            all.extend(["--target-dir".to_owned(), project.target.display().to_string()]);
        }
        all
    }

    /// Sees to it that the mirror has a lock file with the package in it, made from the project's own, whose text
    /// `seen` keeps: as long as that is the same, so are all versions.
    fn lock(&self, project: &Project, mirror: &Mirror, seen: &Path, package: &Package) -> Result<(), Error> {
        let own = std::fs::read_to_string(project.root.join("Cargo.lock")).unwrap_or_default();
        let file = mirror.of(&project.root).join("Cargo.lock");
        let kept = |file: &Path| std::fs::read_to_string(file).unwrap_or_default();
        if kept(seen) == own && is_controlled(&locked(&kept(&file))) {
            return served(&locked(&kept(&file)));
        }
        let offline = project.arguments.cargo.iter().any(|argument| argument == "--offline" || argument == "--frozen");
        let offline = if offline { &["--offline"][..] } else { &[] };
        if own.is_empty() {
            let _ = std::fs::remove_file(&file);
            self.resolve(&["generate-lockfile"], offline)?;
        } else {
            let all = locked(&own);
            let mut real = all.iter().filter(|locked| locked.name == "tokio" && locked.version.starts_with("1."));
            let Some(tokio) = real.next() else { return Err(not_served(&all)) };
            // What is older than drawloom needs it keeps cargo from taking the package: then it is brought up to date, too.
            let older = || all.iter().filter(|locked| package.needs_later_than(locked));
            for brought in [vec![tokio], older().chain([tokio]).collect()] {
                write(&file, &own)?;
                let specs: Vec<String> = brought.iter().map(|locked| locked.spec()).collect();
                let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
                self.resolve(&[&["update"], &specs[..]].concat(), offline)?;
                if served(&locked(&kept(&file))).is_ok() {
                    return write(seen, &own);
                }
            }
            // Why it does not take it, cargo says if it has to.
            let left = locked(&kept(&file));
            if let Some(tokio) = left.iter().find(|locked| locked.name == "tokio" && locked.version.starts_with("1.")) {
                self.resolve(&["update", &tokio.spec(), "--precise", VERSION], offline)?;
            }
        }
        served(&locked(&kept(&file)))?;
        write(seen, &own)
    }

    fn resolve(&self, arguments: &[&str], offline: &[&str]) -> Result<(), Error> {
        let mut command = cargo();
        command.args(arguments).args(offline).arg("--manifest-path").arg(&self.manifest);
        command.args(["--config", &self.patch]).stdin(Stdio::null());
        let output = command.output().map_err(Error::NoCargo)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(Error::Tokio(said(&output.stderr))),
        }
    }
}

fn is_controlled(packages: &[Locked]) -> bool {
    packages.iter().any(|package| package.name == "tokio" && package.version == VERSION)
}

/// Whether every tokio of a build is the one that is under control.
fn served(packages: &[Locked]) -> Result<(), Error> {
    let real = packages.iter().any(|package| package.name == "tokio" && package.from_elsewhere);
    match is_controlled(packages) && !real {
        true => Ok(()),
        false => Err(not_served(packages)),
    }
}

/// Who asks for a tokio that cannot be had.
fn not_served(packages: &[Locked]) -> Error {
    let real: Vec<&Locked> =
        packages.iter().filter(|package| package.name == "tokio" && package.from_elsewhere).collect();
    let Some(tokio) = real.first() else { return Error::Tokio("the project does not depend on it".to_owned()) };
    let who: Vec<String> = packages
        .iter()
        .filter(|package| package.needs(tokio))
        .map(|package| format!("{} {}", package.name, package.version))
        .collect();
    Error::Tokio(format!("{} takes no later 1.x than tokio {}", who.join(" or "), tokio.version))
}

/// The manifest that cargo would take.
fn selected(project: &Project) -> Result<PathBuf, Error> {
    let mut command = cargo();
    command.args(["locate-project", "--message-format", "plain"]);
    if let Some(manifest) = &project.arguments.manifest_path {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = output_of(&mut command)?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output).trim()))
}

/// Workspaces that the project's own depends on by path, and that lie outside of it.
fn other_roots(project: &Project) -> Result<Vec<PathBuf>, Error> {
    #[derive(Deserialize)]
    struct Metadata {
        workspace_root: PathBuf,
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        dependencies: Vec<Dependency>,
    }
    #[derive(Deserialize)]
    struct Dependency {
        path: Option<PathBuf>,
    }
    let mut roots = BTreeSet::new();
    let mut left = vec![project.root.clone()];
    let mut seen = BTreeSet::new();
    while let Some(package) = left.pop() {
        if !seen.insert(package.clone()) {
            continue;
        }
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]);
        let metadata: Metadata = json(&output_of(command.arg(package.join("Cargo.toml")))?)?;
        let dependencies = metadata.packages.into_iter().flat_map(|package| package.dependencies);
        left.extend(dependencies.filter_map(|dependency| dependency.path));
        if !metadata.workspace_root.starts_with(&project.root) {
            roots.insert(metadata.workspace_root);
        }
    }
    Ok(roots.into_iter().collect())
}

fn output_of(command: &mut Command) -> Result<Vec<u8>, Error> {
    let output = command.stdin(Stdio::null()).output().map_err(Error::NoCargo)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Error::Tokio(said(&output.stderr))),
    }
}

fn json<T: for<'a> Deserialize<'a>>(text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(|error| Error::Tokio(error.to_string()))
}

/// What cargo says is wrong, without its first word and what came before.
fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let wrong = text.split_once("error: ").map_or(&*text, |(_, wrong)| wrong);
    wrong.trim().to_owned()
}

/// Writes a file unless it is there already: what is not touched is not built again.
fn write(file: &Path, text: &str) -> Result<(), Error> {
    if std::fs::read_to_string(file).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let written = file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(file, text));
    written.map_err(|error| Error::Unwritable { file: file.to_path_buf(), error })
}
