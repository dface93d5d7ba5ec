//! The package named tokio that takes the place of tokio, and what it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::lock::{Locked, locked};
use super::{Error, cargo, json, output_of};

/// Where drawloom's sources are, if not where this program was built.
const ENV_SOURCE: &str = "DRAWLOOM_SOURCE";

/// The package named tokio.
pub(super) struct Package {
    pub(super) manifest: String,
    /// What drawloom is built from, in the versions that it was tested with.
    needs: Vec<Locked>,
}

/// What cargo says of drawloom's workspace.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    source: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    optional: bool,
}

impl Package {
    /// The one for this machine: the traits of `tokio::io` are tokio's own, and cargo allows one tokio 1.x of the registry in a
    /// build, so the real one has to come from a path.
    pub(super) fn here() -> Result<Package, Error> {
        let built_from = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let source =
            std::env::var_os(ENV_SOURCE).filter(|path| !path.is_empty()).map_or_else(built_from, PathBuf::from);
        let missing = || {
            let what =
                format!("drawloom's sources are not in {}; set {ENV_SOURCE} to where they are", source.display());
            Error::Tokio(what)
        };
        let manifest = source.join("crates/tokio/Cargo.toml");
        let drawloom = source.canonicalize().ok().filter(|_| manifest.is_file()).ok_or_else(missing)?;
        let mut command = cargo();
        // What other platforms need was not downloaded to build drawloom, and there may be no network now.
        command.args(["metadata", "--format-version", "1", "--filter-platform", &host()?, "--manifest-path"]);
        let metadata: Metadata = json(&output_of(command.arg(&manifest))?)?;
        let real = metadata.packages.iter().find(|package| package.name == "tokio" && package.source.is_some());
        let real = real.and_then(|package| package.manifest_path.parent()).ok_or_else(missing)?;
        let template = include_str!("Cargo.toml.in");
        let text = template.replace("@DRAWLOOM@", &drawloom.display().to_string());
        // Without it cargo's own choice is all there is.
        let lock = std::fs::read_to_string(drawloom.join("Cargo.lock")).unwrap_or_default();
        Ok(Package {
            manifest: text.replace("@TOKIO@", &real.display().to_string()),
            needs: needs(&locked(&lock), &metadata),
        })
    }

    /// Whether drawloom is built from a later release of `other` that is compatible with it.
    pub(super) fn needs_later_than(&self, other: &Locked) -> bool {
        other.from_elsewhere && self.needs.iter().any(|ours| ours.name == other.name && ours.updates(other))
    }
}

/// All that drawloom-tokio is built from, on any platform; not what only its tests need.
fn needs(packages: &[Locked], metadata: &Metadata) -> Vec<Locked> {
    let of_the_workspace = metadata.packages.iter().filter(|package| package.source.is_none());
    let declared: BTreeMap<&str, BTreeSet<&str>> = of_the_workspace
        .map(|package| {
            let always = |dependency: &&Dependency| {
                dependency.kind.as_deref() != Some("dev")
                    && (!dependency.optional || dependency.name.starts_with("drawloom"))
            };
            let names = package.dependencies.iter().filter(always).map(|dependency| dependency.name.as_str());
            (package.name.as_str(), names.collect())
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut left: Vec<&Locked> = packages.iter().filter(|package| package.name == "drawloom-tokio").collect();
    while let Some(package) = left.pop() {
        if !found.insert(package) {
            continue;
        }
        let of_ours = declared.get(package.name.as_str()).filter(|_| !package.from_elsewhere);
        let needed = packages.iter().filter(|other| package.needs(other));
        left.extend(needed.filter(|other| of_ours.is_none_or(|names| names.contains(other.name.as_str()))));
    }
    // The real tokio comes by its path, whatever its version.
    found.into_iter().filter(|package| package.from_elsewhere && package.name != "tokio").cloned().collect()
}

/// The platform of this machine, as cargo names it.
fn host() -> Result<String, Error> {
    let version = output_of(cargo().arg("-vV"))?;
    let version = String::from_utf8_lossy(&version);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Error::Tokio("cargo does not say on which platform it runs".to_owned()))
}
