//! The runtime that tests are linked with: the compiler's own object, joined with our library.
//!
//! A small test makes the compiler put its object into a cache of its own. In a copy, the functions that are in our library are
//! weak, so that ours are taken; and its `exit` and its standard error have other names, by which our library gets them. The result goes
//! into a second cache, under the same name. It is made again when the compiler or our library is another one.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::installed;

/// What cargo calls our library.
const LIBRARY: &str = "libdrawloom_pluto.a";
/// Says where it is, if it is not found by itself.
const VARIABLE: &str = "DRAWLOOM_PLUTO_RUNTIME";

/// Names that the object has, and those by which our library has them.
const RENAMED: [(&str, &str); 2] = [("exit", "drawloom_pluto_exit"), ("stderr", "drawloom_pluto_stderr")];

const SMALL: &str = "test \"nothing\" {\n    expect(true).to_be_true()\n}\n";

/// The cache that the compiler is to use.
pub fn prepare(compiler: &Path, named: Option<&Path>, folder: &Path) -> Result<PathBuf, Error> {
    let library = installed::library(LIBRARY, VARIABLE, named)?;
    let cache = folder.join("cache");
    let stamp = folder.join("stamp");
    let now = format!("{}\n{}\n", known(&found(compiler)), known(&library));
    if std::fs::read_to_string(&stamp).is_ok_and(|before| before == now) && object_in(&cache).is_some() {
        return Ok(cache);
    }
    let _ = std::fs::remove_file(&stamp);
    let own = folder.join("own");
    for stale in [&own, &cache] {
        let _ = std::fs::remove_dir_all(stale);
    }
    make_own(compiler, &own, folder)?;
    let object = object_in(&own).ok_or_else(|| {
        Error::Pluto(format!("`{}` has put no runtime into the cache that PLUTO_CACHE_DIR names", compiler.display()))
    })?;
    let joined = cache.join("runtime").join(object.file_name().unwrap_or_default());
    std::fs::create_dir_all(cache.join("runtime")).map_err(|error| unwritable(&cache, error))?;
    join(&object, &library, &joined, folder)?;
    share_the_rest(&cache);
    std::fs::write(&stamp, now).map_err(|error| unwritable(&stamp, error))?;
    Ok(cache)
}

fn unwritable(file: &Path, error: std::io::Error) -> Error {
    Error::Unwritable { file: file.to_owned(), error }
}

/// What tells a file from a later one of the same name.
fn known(file: &Path) -> String {
    let changed = std::fs::metadata(file).and_then(|metadata| Ok((metadata.len(), metadata.modified()?)));
    format!("{} {changed:?}", file.display())
}

/// Where a program is, by itself or on the path.
fn found(program: &Path) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = || std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
    match program.components().count() {
        1 => on_path().unwrap_or_else(|| program.to_owned()),
        _ => program.to_owned(),
    }
}

/// Has the compiler make its runtime.
fn make_own(compiler: &Path, own: &Path, folder: &Path) -> Result<(), Error> {
    let small = folder.join("small.pluto");
    std::fs::write(&small, SMALL).map_err(|error| unwritable(&small, error))?;
    let mut command = Command::new(compiler);
    command.args(["test", "--no-cache"]).arg(&small).current_dir(folder);
    command.env("PLUTO_CACHE_DIR", own).env("TMPDIR", folder.join("tmp"));
    said(&mut command).map(drop)
}

/// The object of the runtime in a cache.
fn object_in(cache: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(cache.join("runtime")).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|file| file.extension().is_some_and(|extension| extension == "o")).max()
}

fn join(object: &Path, library: &Path, joined: &Path, folder: &Path) -> Result<(), Error> {
    let names = names_of(library)?;
    let weak = folder.join("weak.o");
    let mut command = Command::new("objcopy");
    command.args(names.iter().map(|name| format!("--weaken-symbol={name}")));
    command.args(RENAMED.iter().map(|(theirs, ours)| format!("--redefine-sym={theirs}={ours}")));
    said(command.arg(object).arg(&weak))?;
    let mut command = Command::new("ld");
    command.args(["-r", "--strip-debug"]);
    // A function that is there, weak or not, takes nothing out of a library: each name is asked for, and the library comes first.
    let asked = names.iter().map(String::as_str).chain(RENAMED.iter().map(|(_, ours)| *ours));
    command.args(asked.flat_map(|name| ["-u", name]));
    said(command.arg(library).arg(&weak).arg("-o").arg(joined))?;
    let _ = std::fs::remove_file(weak);
    Ok(())
}

/// The functions of Pluto's that are in our library.
fn names_of(library: &Path) -> Result<Vec<String>, Error> {
    let listed = said(Command::new("nm").args(["--extern-only", "--defined-only", "--format=posix"]).arg(library))?;
    let mut names: Vec<String> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| name.starts_with("__pluto_"))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    match names.is_empty() {
        true => Err(Error::NoRuntime(format!("{} has none of Pluto's functions", library.display()))),
        false => Ok(names),
    }
}

/// What a program prints that must succeed.
fn said(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Error::NotRun { program: program.clone(), error })?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Pluto(format!("`{program}` has failed: {}", why.trim_end())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What else the user's cache has, dependencies for one, the compiler finds in ours.
fn share_the_rest(cache: &Path) {
    let named = std::env::var_os("PLUTO_CACHE_DIR").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pluto/cache"));
    let entries = named.or_else(usual).and_then(|folder| std::fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten().filter(|entry| entry.file_name() != "runtime") {
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink(entry.path(), cache.join(entry.file_name()));
        #[cfg(not(unix))]
        let _ = (&entry, cache);
    }
}
