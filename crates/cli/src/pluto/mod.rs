//! Running the tests of Pluto programs on the engine, with the compiler as it is.
//!
//! Pluto's compiler links tests with a runtime of its own, one object, which it keeps in a cache and takes from there without looking at
//! it. So it is given a cache of ours, in which the functions that matter are in our library ([`runtime`]).

mod runtime;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::answer::{CLEAN, FOUND, print};
use crate::args::PlutoArguments;
use crate::error::Error;

/// Tests the files that are named, one after the other; the exit code.
pub fn test(arguments: &PlutoArguments) -> Result<u8, Error> {
    let folder = folder()?;
    let cache = runtime::prepare(&arguments.compiler, arguments.runtime.as_deref(), &folder)?;
    if arguments.cache_dir {
        print(&format!("{}\n", cache.display()));
        return Ok(CLEAN);
    }
    let mut code = CLEAN;
    for file in &arguments.files {
        std::fs::metadata(file).map_err(|error| Error::Unreadable { file: file.clone(), error })?;
        if !test_file(arguments, file, &cache, &folder)? {
            code = FOUND;
        }
    }
    Ok(code)
}

/// Where everything of ours is: below the directory of findings.
fn folder() -> Result<PathBuf, Error> {
    let findings = std::env::var_os("DRAWLOOM_DIR").map_or_else(|| PathBuf::from("target/drawloom"), PathBuf::from);
    let folder = findings.join("pluto");
    let unwritable = |error| Error::Unwritable { file: folder.clone(), error };
    // The compiler makes its program in the directory for temporary files, under one name for all.
    std::fs::create_dir_all(folder.join("tmp")).map_err(unwritable)?;
    folder.canonicalize().map_err(unwritable)
}

/// Whether all of its tests have passed.
fn test_file(arguments: &PlutoArguments, file: &Path, cache: &Path, folder: &Path) -> Result<bool, Error> {
    let mut command = Command::new(&arguments.compiler);
    command.args(["test", "--no-cache"]).arg(file);
    command.env("PLUTO_CACHE_DIR", cache).env("TMPDIR", folder.join("tmp")).env("DRAWLOOM_PLUTO_FILE", file);
    if std::env::var_os("DRAWLOOM_DIR").is_none() {
        command.env("DRAWLOOM_DIR", folder.parent().unwrap_or(folder));
    }
    if !arguments.plain {
        command.env("DRAWLOOM_PLUTO", "report");
    }
    let asked = [
        ("DRAWLOOM_PLUTO_TEST", arguments.test.clone()),
        ("DRAWLOOM_REPLAY", arguments.replay.clone()),
        ("PLUTO_TEST_SEED", arguments.seed.clone()),
        ("PLUTO_TEST_ITERATIONS", arguments.iterations.map(|number| number.to_string())),
        ("PLUTO_MAX_SCHEDULES", arguments.max_schedules.map(|number| number.to_string())),
    ];
    command.envs(asked.into_iter().filter_map(|(variable, value)| Some((variable, value?))));
    let program = arguments.compiler.display().to_string();
    let status = command.status().map_err(|error| Error::NotRun { program, error })?;
    Ok(status.success())
}
