//! Running a command with the library preloaded that tells explorations what C code does to files and sockets.
//!
//! The linker gets one text with all libraries that it is to load first. It splits that text at blanks and colons and fills
//! in what follows a `$`; of a path that it cannot read so it says nothing that a program would hear, and goes on without
//! the library. So a library in such a place is given to it by a link in another one.

mod elf;

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
    let loaded = match loadable(&library) {
        Ok(loaded) => loaded,
        Err(error) => return error,
    };
    let mut command = Command::new(program);
    command.args(rest).env("LD_PRELOAD", preloaded(&loaded, &first_of_all(program))).env(LIBRARY, &library);
    command.env("ASAN_OPTIONS", asan_options());
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

/// The library goes before what is preloaded anyway, but for what must be `first`.
fn preloaded(library: &Path, first: &[String]) -> OsString {
    let given = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let given = given.to_string_lossy();
    let given: Vec<&str> = given.split([' ', ':']).filter(|name| !name.is_empty()).collect();
    let (sanitizers, others): (Vec<&str>, Vec<&str>) = given.into_iter().partition(|name| is_sanitizer(name));
    let first = first.iter().map(String::as_str).filter(|name| !sanitizers.iter().any(|given| given.ends_with(name)));
    let mut all = OsString::new();
    for name in sanitizers.iter().copied().chain(first).map(OsStr::new).chain([library.as_os_str()]) {
        all.push(name);
        all.push(":");
    }
    others.iter().for_each(|name| all.push(format!("{name}:")));
    let text = all.to_string_lossy();
    text.trim_end_matches(':').into()
}

/// A program that the command runs may be built with a sanitizer too: there ours comes first, which works, but the
/// sanitizer would end the program for it. What the user says counts more.
fn asan_options() -> OsString {
    let mut options = OsString::from("verify_asan_link_order=0");
    if let Some(given) = std::env::var_os("ASAN_OPTIONS").filter(|given| !given.is_empty()) {
        options.push(":");
        options.push(given);
    }
    options
}

/// Whether it is a runtime that refuses to work unless it comes before all other libraries.
fn is_sanitizer(library: &str) -> bool {
    let name = Path::new(library).file_name().and_then(OsStr::to_str).unwrap_or(library);
    ["libasan.so", "libhwasan.so", "libclang_rt.asan", "libclang_rt.hwasan"].iter().any(|begin| name.starts_with(begin))
}

/// What the program, or the interpreter of a script, was built with that must come first.
fn first_of_all(program: &OsStr) -> Vec<String> {
    let Some(file) = found(program) else { return Vec::new() };
    let interpreter = words_of_first_line(&file).into_iter().find(|word| !word.ends_with("/env"));
    let file = interpreter.and_then(|interpreter| found(interpreter.as_ref())).unwrap_or(file);
    let mut needed = elf::needed(&file);
    needed.retain(|name| is_sanitizer(name));
    needed
}

/// The library by a path that the linker reads as one: its own, or that of a link to it.
fn loadable(library: &Path) -> Result<PathBuf, Error> {
    let one_word = |path: &Path| {
        path.to_str().is_some_and(|path| !path.contains([':', ';', '$']) && !path.contains(char::is_whitespace))
    };
    if one_word(library) {
        return Ok(library.to_owned());
    }
    let places = [std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/dev/shm")];
    let mut why = "no place for a link to it has a path without blanks and colons".to_owned();
    for place in places.iter().filter(|place| one_word(place)) {
        match linked(library, place) {
            Ok(link) => return Ok(link),
            Err(error) => why = format!("no link to it can be made in {}: {error}", place.display()),
        }
    }
    let library = library.display();
    Err(Error::NoPreload(format!("the linker cannot load {library}, whose path has a blank, colon or `$`, and {why}")))
}

/// A link to the library in a folder of our own below `place`: the same for every run, so that nothing piles up.
#[cfg(unix)]
fn linked(library: &Path, place: &Path) -> std::io::Result<PathBuf> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
    let own = std::fs::metadata("/proc/self")?.uid();
    let mut hasher = DefaultHasher::new();
    library.hash(&mut hasher);
    let folder = place.join(format!("drawloom-{own}-{:016x}", hasher.finish()));
    match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    // Whoever could write there could have the program load something else.
    let there = std::fs::symlink_metadata(&folder)?;
    if !there.is_dir() || there.uid() != own || there.mode() & 0o022 != 0 {
        return Err(std::io::Error::other(format!("{} is not ours alone", folder.display())));
    }
    let link = folder.join(BUILT);
    if std::fs::read_link(&link).is_ok_and(|leads| leads == library) {
        return Ok(link);
    }
    // Made beside and renamed: another run may be looking at it.
    let draft = folder.join(format!("{}.tmp", std::process::id()));
    let _ = std::fs::remove_file(&draft);
    symlink(library, &draft)?;
    std::fs::rename(&draft, &link)?;
    Ok(link)
}

#[cfg(not(unix))]
fn linked(_: &Path, _: &Path) -> std::io::Result<PathBuf> {
    Err(std::io::ErrorKind::Unsupported.into())
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
    let words = found(program).map(|script| words_of_first_line(&script)).unwrap_or_default();
    let interpreter = words.into_iter().find(|word| word.contains("python"));
    interpreter.unwrap_or_else(|| "python3".to_owned()).into()
}

/// What the first line of a script says of who runs it; nothing if it is none.
fn words_of_first_line(script: &Path) -> Vec<String> {
    use std::io::Read as _;
    let mut beginning = Vec::new();
    if std::fs::metadata(script).is_ok_and(|metadata| metadata.is_file()) {
        let _ = std::fs::File::open(script).and_then(|file| file.take(4096).read_to_end(&mut beginning));
    }
    let first = beginning.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"#!"));
    let line = first.map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
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
