//! With the feature off drawloom is not there: no dependency, no symbol.
//!
//! Builds the program in `fixtures/production`, which uses drawloom's names without the feature.

use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/production")
}

/// Where the fixture is built; kept between runs, so that only the first one takes its time.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("production")
}

fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(fixture()).args(arguments).arg("--offline");
    command.env("CARGO_TARGET_DIR", target());
    // Settings of the surrounding run (instrumentation, wrappers) are not the fixture's.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        command.env_remove(name);
    }
    run(&mut command)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn in_production_drawloom_has_no_dependency() {
    let tree = cargo(&["tree", "--edges", "normal", "--prefix", "depth", "--format", " {p}"]);
    let packages: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(packages, ["plain_app", "drawloom"], "{tree}");
}

#[test]
fn in_production_drawloom_leaves_no_symbol_in_a_program() {
    cargo(&["build", "--release", "--quiet"]);
    let program = target().join("release").join(format!("plain_app{}", std::env::consts::EXE_SUFFIX));
    assert_eq!(run(&mut Command::new(&program)).trim(), "8 words");

    if Command::new("nm").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no `nm` here, so the symbols of the program were not looked at");
        return;
    }
    let symbols = run(Command::new("nm").arg(&program));
    assert!(symbols.contains("plain_app"), "the program's own symbols should be there to be seen");
    let ours: Vec<&str> = symbols.lines().filter(|symbol| symbol.contains("drawloom")).collect();
    assert!(ours.is_empty(), "{ours:#?}");
}

#[test]
fn in_production_tasks_and_channels_are_threads() {
    assert_eq!(cargo(&["run", "--release", "--quiet", "--bin", "structured"]).trim(), "5050 the task was cancelled");
}

#[test]
fn in_production_actors_are_threads() {
    let manifest = fixture().with_file_name("actors").join("Cargo.toml");
    let out = cargo(&["test", "--quiet", "--manifest-path", manifest.to_str().expect("paths are text")]);
    assert!(out.contains("test result: ok"), "{out}");
}
