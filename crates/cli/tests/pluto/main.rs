//! `drawloom pluto`, with a compiler that is a script.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use insta::assert_snapshot;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The static library, beside the test that runs: cargo adds a hash to its name, and the newest is that of this build.
fn library() -> PathBuf {
    let own = std::env::current_exe().expect("a test is a program");
    let files = std::fs::read_dir(own.parent().expect("a folder")).expect("a folder").flatten();
    let is_it = |name: &str| name.starts_with("libdrawloom_pluto") && name.ends_with(".a");
    let found = files.filter(|file| file.file_name().to_str().is_some_and(is_it));
    let newest = found.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok());
    newest.expect("cargo has built the library").path()
}

/// Runs `drawloom pluto` in a folder of its own, on a program that is there.
fn drawloom(folder: &str, arguments: &[&str]) -> Option<Output> {
    if ["cc", "ld", "nm", "objcopy"].iter().any(|tool| Command::new(tool).arg("--version").output().is_err()) {
        println!("skipped: a C compiler and binutils are needed");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pluto").join(folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(here("../pluto/tests/c/block.c"), folder.join("bank.pluto")).expect("a program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_drawloom"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DRAWLOOM_") || name.starts_with("PLUTO_")) {
        command.env_remove(name);
    }
    command.current_dir(&folder).env("HALF", here("../pluto/tests/c")).arg("pluto").args(arguments);
    command.arg("--compiler").arg(here("tests/pluto/compiler.sh")).arg("--runtime").arg(library());
    Some(command.output().expect("it runs"))
}

fn said(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| match line.split_once("--replay dl1") {
        Some((before, _)) => format!("{before}--replay TOKEN\n"),
        None => format!("{line}\n"),
    };
    let lines: String = out.lines().chain(err.lines()).map(line).collect();
    format!("{lines}exit code {:?}\n", output.status.code())
}

#[test]
fn results_come_in_one_block_and_schedules_are_repeated() {
    let Some(all) = drawloom("all", &["bank.pluto"]) else { return };
    assert_snapshot!("all", said(&all));
    let arguments = ["bank.pluto", "--test", "ordering bug", "--seed", "0xDEADBEEF"];
    let Some(one) = drawloom("all", &arguments) else { return };
    assert_snapshot!("one", said(&one));
    let out = String::from_utf8_lossy(&one.stdout).into_owned();
    let token = out.split_once("--replay ").and_then(|(_, rest)| rest.lines().next()).expect("a token").to_owned();
    let Some(again) = drawloom("all", &["bank.pluto", "--test", "ordering bug", "--replay", &token]) else { return };
    let schedule = |text: &str| text.lines().find(|line| line.contains("Schedule:")).map(str::to_owned);
    assert_eq!(schedule(&out), schedule(&String::from_utf8_lossy(&again.stdout)));
    let Some(plain) = drawloom("all", &["bank.pluto", "--plain", "--test", "no deadlock"]) else { return };
    assert_snapshot!("plain", said(&plain));
}

#[test]
fn what_is_missing_is_said() {
    let Some(output) = drawloom("missing", &["nowhere.pluto"]) else { return };
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("nowhere.pluto cannot be read"), "{err}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_drawloom"));
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).args(["pluto", "x.pluto", "--runtime", "/nowhere/lib.a"]);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("a library or header is not found: /nowhere/lib.a"), "{err}");
    assert!(err.contains("cargo build --release -p drawloom-pluto"), "{err}");
}
