//! Compiles programs of C and C++ against the library that is tested, and runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of this crate.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The static library, beside the test that runs.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    test.parent().expect("a folder").join("libdrawloom_capi.a")
}

/// Compilers that are installed, of those that are asked for. Which are not is said.
pub fn installed(compilers: &[&'static str]) -> Vec<&'static str> {
    let runs = |compiler: &&&str| Command::new(compiler).arg("--version").output().is_ok_and(|o| o.status.success());
    let (there, missing): (Vec<_>, Vec<_>) = compilers.iter().partition(runs);
    for compiler in missing {
        println!("NOT CHECKED with {compiler}: it is not installed");
    }
    there
}

/// What every program is compiled with.
pub const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-g", "-O1"];

/// Compiles `source` with these arguments; the program.
pub fn compile(compiler: &str, source: &Path, arguments: &[&str], name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c");
    std::fs::create_dir_all(&folder).expect("a folder for programs");
    let program = folder.join(format!("{name}-{compiler}"));
    let mut command = Command::new(compiler);
    command.args(STRICT).args(arguments).arg("-I").arg(here("include")).arg(source).args(["-x", "none"]).arg(library());
    command.args(["-o".as_ref(), program.as_os_str()]).args(["-lpthread", "-ldl", "-lm"]);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {}:\n{said}", source.display());
    program
}

/// Runs a program, in a folder of its own for what it writes.
pub fn run(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings");
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DRAWLOOM_")) {
        command.env_remove(name);
    }
    command.args(arguments).env("DRAWLOOM_DIR", folder).envs(environment.iter().copied());
    command.output().expect("the program runs")
}

/// What a program printed, which must have ended well.
pub fn said(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}
