//! Ordinary programs of C: explored as their ports are, and on threads of the system as ever.
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
    let is_it = |name: &str| name.starts_with("libdrawloom_posix") && name.ends_with(".a");
    let found = files.filter(|file| file.file_name().to_str().is_some_and(is_it));
    let newest = found.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok());
    newest.expect("cargo has built the library").path()
}

/// Compiles with the accesses to memory announced, and links without the sanitizer. None if the compiler is not there, which is said.
fn build(compiler: &str, name: &str, compiled: &[&str], linked: &[String]) -> Option<PathBuf> {
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{compiler}", name.rsplit('/').next().unwrap_or(name)));
    let object = program.with_extension("o");
    let mut compile = Command::new(compiler);
    compile.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-O1"]).args(compiled);
    compile.arg("-I").arg(here("include")).arg("-I").arg(here("../capi/include"));
    compile.arg("-c").arg(here("tests/c").join(format!("{name}.c"))).arg("-o").arg(&object);
    let Ok(output) = compile.output() else {
        println!("skipped: {compiler} is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut link = Command::new(compiler);
    link.arg(&object).args(linked).arg(library()).arg("-o").arg(&program).args(["-lpthread", "-ldl", "-lm"]);
    let output = link.output().expect("it was there a moment ago");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("100").arg(program).args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DRAWLOOM_")) {
        command.env_remove(name);
    }
    command.output().expect("the program runs")
}

fn said(program: &Path, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}

const ANNOUNCED: [&str; 1] = ["-fsanitize=thread"];

/// As `crates/suite/src/catalogue.txt` has them: name, classes, failing classes.
const TABLE: [(&str, u64, u64); 12] = [
    ("account", 6, 2),
    ("bluetooth", 10, 1),
    ("deadlock01", 3, 1),
    ("lazy01", 6, 2),
    ("reorder_3", 56, 12),
    ("twostage", 3, 1),
    ("stringbuffer", 6, 1),
    ("lost_update", 4, 2),
    ("cve_2009_3547", 2, 1),
    ("cve_2015_7550", 3, 1),
    ("cve_2016_7911", 3, 1),
    ("cve_2016_9806", 6, 4),
];

#[test]
fn programs_of_the_suite_have_the_classes_of_the_table() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = build(compiler, "suite", &ANNOUNCED, &[]) else { continue };
        let exhausted = said(&program, &["exhaustive"]);
        for ((name, classes, failing), line) in TABLE.iter().zip(exhausted.lines()) {
            let kind = if *name == "deadlock01" { "deadlock" } else { "panic" };
            let expected = format!("{name}: {kind}, {classes} executions, {failing} failing, exhausted");
            assert_eq!(line, expected, "{compiler}");
        }
        let sampled = said(&program, &["auto"]);
        assert_eq!(sampled.lines().count(), TABLE.len(), "{sampled}");
        assert!(sampled.lines().all(|line| line.ends_with(", 1 failing")), "{compiler}: {sampled}");
        let fixed = said(&program, &["exhaustive", "fixed"]);
        let holds = |line: &str| line.contains(": passed, ") && line.ends_with(", 0 failing, exhausted");
        assert!(fixed.lines().count() == TABLE.len() && fixed.lines().all(holds), "{compiler}: {fixed}");
        assert_eq!(said(&program, &[]).lines().count(), TABLE.len() - 1);
    }
}

#[test]
fn classic_mistakes_are_found_and_their_twins_exhausted() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = build(compiler, "classics", &ANNOUNCED, &[]) else { continue };
        assert_snapshot!("classics", said(&program, &["exhaustive"]), compiler);
        // Sampling may meet another of a program's failures first, and passes what passes.
        let passes = |text: &str| -> Vec<bool> { text.lines().map(|line| line.contains(": passed")).collect() };
        assert_eq!(passes(&said(&program, &["auto"])), passes(&said(&program, &["exhaustive"])), "{compiler}");
        assert_eq!(said(&program, &[]).lines().count(), 8, "{compiler}");
    }
}

/// What leads calls to the library that the compiler knows nothing of.
fn wrap() -> String {
    format!("-Wl,@{}", here("include/drawloom/wrap.rsp").display())
}

#[test]
fn programs_of_textbooks_are_explored_as_they_are() {
    let folder = format!("{}/", here("tests/c").display());
    for compiler in ["gcc", "clang"] {
        let Some(program) = build(compiler, "textbook", &ANNOUNCED, &[wrap()]) else { continue };
        assert_snapshot!("textbook", said(&program, &["broken"]).replace(&folder, ""), compiler);
        // Loops that spin are cut, so not all are exhausted.
        let fixed = said(&program, &["fixed"]);
        assert!(fixed.lines().count() == 8 && fixed.lines().all(|line| line.contains(": passed, ")), "{fixed}");
        assert_eq!(said(&program, &[]), "", "natively they run as ever");
    }
}

#[test]
fn the_linker_leads_code_that_knows_nothing_of_it() {
    let wrap = wrap();
    let Some(program) = build("gcc", "wrapped", &[], &[wrap]) else { return };
    let output = run(&program, &[]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "deadlock\n", "{report}");
    // Places are found by the addresses of the calls.
    for line in [10, 11, 22, 23] {
        assert!(report.contains(&format!("wrapped.c:{line}")), "line {line}: {report}");
    }
}

/// The tutorial shows this program.
#[test]
fn the_program_of_the_tutorial_loses_a_deposit() {
    let source = std::fs::read_to_string(here("examples/bank.c")).expect("the program");
    let tutorial = std::fs::read_to_string(here("../../book/src/tutorials/c.md")).expect("the tutorial");
    assert!(tutorial.contains(&source));
    let arguments = ["-fsanitize=thread", "-include", "drawloom/pthread.h"];
    let Some(program) = build("gcc", "../../examples/bank", &arguments, &[]) else { return };
    let output = run(&program, &[]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(report.contains("Lost update: tasks `0` (main) and `0.1` (deposit) both read"), "{report}");
    assert!(report.contains("(verified: all 2 schedules, none fails)"), "{report}");
}

/// The header, the response file and the sources name the same functions.
#[test]
fn nothing_is_forgotten_in_the_header() {
    let read = |path: &str| std::fs::read_to_string(here(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let sources: String = [
        "threads",
        "keys",
        "mutexes",
        "condvars",
        "rwlocks",
        "barriers",
        "semaphores",
        "clocks",
        "c11",
        "cancel",
        "ends",
        "heap",
    ]
    .iter()
    .map(|file| read(&format!("src/{file}.rs")))
    .collect();
    let is_definition = |line: &&str| line.starts_with("    ") && line.contains(") -> ") && line.contains('/');
    let defined = sources.lines().filter(is_definition).filter_map(|line| line.trim().split_once('/'));
    let mut defined: Vec<&str> = defined.map(|(name, _)| name).filter(|name| !name.contains([' ', '('])).collect();
    let wrap = read("include/drawloom/wrap.rsp");
    let mut wrapped: Vec<&str> = wrap.lines().filter_map(|line| line.strip_prefix("--wrap=")).collect();
    let headers = read("include/drawloom/pthread.h") + &read("include/drawloom/threads.h");
    let macros = headers.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once('('));
    let mut macros: Vec<&str> = macros.map(|(name, _)| name).collect();
    for names in [&mut defined, &mut wrapped, &mut macros] {
        names.sort_unstable();
    }
    // C++'s have other names inside.
    wrapped.retain(|name| !name.starts_with("__cxa"));
    assert_eq!(defined, wrapped);
    // Macros would change what is called so beside the C library's.
    defined.retain(|name| !name.starts_with("__") && !["abort", "exit", "_exit", "quick_exit"].contains(name));
    assert_eq!(defined, macros);
}
