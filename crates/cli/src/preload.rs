//! Running a command with the library preloaded that tells explorations what C code does to files and sockets.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::RunArguments;
use crate::error::Error;

/// Says where the library is, if it is not found by itself; and to whoever is run, which one is preloaded.
const LIBRARY: &str = "DRAWLOOM_PRELOAD";

/// What cargo calls it.
const BUILT: &str = "libdrawloom_preload.so";

/// What it is called in the Python package.
const PACKAGED: &str = "_preload.so";

/// Where the Python package is, without importing it.
const WHERE: &str = "import importlib.util as u; s = u.find_spec('drawloom'); print(s.submodule_search_locations[0])";

/// Becomes the command; comes back only if that cannot be.
pub fn run(arguments: &RunArguments) -> Error {
    let (program, rest) = match arguments.command.split_first() {
        Some(command) => command,
        None => return Error::NoCommand(String::new()),
    };
    let library = match library(program) {
        Ok(library) => library,
        Err(error) => return error,
    };
    let mut command = Command::new(program);
    command.args(rest).env("LD_PRELOAD", preloaded(&library)).env(LIBRARY, &library);
    Error::NotRun { program: program.to_string_lossy().into_owned(), error: become_it(&mut command) }
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn become_it(_: &mut Command) -> std::io::Error {
    std::io::ErrorKind::Unsupported.into()
}

/// The library goes before what is preloaded anyway.
fn preloaded(library: &Path) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// The library: the one that is named, beside this program, or in the package of the Python that is to be run.
fn library(program: &OsStr) -> Result<PathBuf, Error> {
    if !cfg!(target_os = "linux") {
        return Err(Error::NoPreload("only Linux can preload it".to_owned()));
    }
    if let Some(named) = std::env::var_os(LIBRARY).map(PathBuf::from) {
        let absolute = named.canonicalize();
        return absolute.map_err(|error| Error::NoPreload(format!("{LIBRARY} names {}: {error}", named.display())));
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(BUILT)));
    let python = python_of(program);
    let found = beside.into_iter().find(|place| place.exists());
    found.or_else(|| package(&python).map(|package| package.join(PACKAGED)).filter(|place| place.exists())).ok_or_else(
        || {
            let python = python.to_string_lossy();
            Error::NoPreload(format!("it is neither beside this program nor in the package `drawloom` of `{python}`"))
        },
    )
}

/// The interpreter that runs a program: itself, or the one that its first line names.
fn python_of(program: &OsStr) -> OsString {
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
    if name.starts_with("python") {
        return program.to_owned();
    }
    let script = found(program).and_then(|script| std::fs::read(script).ok()).unwrap_or_default();
    let first = script.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"#!"));
    let words = first.map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default();
    let interpreter = words.split_whitespace().find(|word| word.contains("python"));
    interpreter.unwrap_or("python3").into()
}

/// Where a program is, by itself or on the path.
fn found(program: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = Path::new(program);
    match named.components().count() {
        1 => std::env::split_paths(&path).map(|directory| directory.join(named)).find(|file| file.is_file()),
        _ => Some(named.to_owned()),
    }
}

fn package(python: &OsStr) -> Option<PathBuf> {
    let said = Command::new(python).args(["-c", WHERE]).output().ok().filter(|output| output.status.success())?;
    Some(PathBuf::from(String::from_utf8(said.stdout).ok()?.trim_end()))
}
