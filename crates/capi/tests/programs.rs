//! Programs of C against the library: what they are found to do.

mod support;

use std::process::Command;

use insta::assert_snapshot;

use support::{compile, here, installed, run, said};

const FIRST: &str = "lost update: failed: panic, 4 executions, exhausted
lost update, sampled: failed: panic, 1 executions
race: failed: data race, 1 executions
two locks: failed: deadlock, 3 executions, exhausted
pipeline: passed, 1 executions, exhausted
";

#[test]
fn a_program_of_c_is_explored_whoever_compiles_it() {
    for compiler in installed(&["gcc", "clang"]) {
        let program = compile(compiler, &here("tests/c/first.c"), &["-std=c99"], "first");
        assert_eq!(said(&run(&program, &[], &[])), FIRST, "{compiler}");
    }
    for compiler in installed(&["g++", "clang++"]) {
        let program = compile(compiler, &here("tests/c/first.c"), &["-std=c++17", "-x", "c++"], "first");
        assert_eq!(said(&run(&program, &[], &[])), FIRST, "{compiler}");
    }
}

#[test]
fn every_misuse_has_its_status_or_its_finding() {
    let mut first = None;
    let languages = [("-std=c99", &["gcc", "clang"][..], &[][..]), ("-std=c++17", &["g++", "clang++"], &["-x", "c++"])];
    for (standard, compilers, language) in languages {
        for compiler in installed(compilers) {
            let arguments = [&[standard], language].concat();
            let said = said(&run(&compile(compiler, &here("tests/c/misuse.c"), &arguments, "misuse"), &[], &[]));
            assert_eq!(said, *first.get_or_insert_with(|| said.clone()), "{compiler}");
        }
    }
    if let Some(said) = first {
        assert_snapshot!(said);
    }
}

const EXCEPTIONS: &str = "of a task: panic: out of range, 1, exhausted
of main: panic: an exception that is no std::exception, 1, exhausted
caught: passed, 1, exhausted
lost update: panic: an update was lost, 4, exhausted
an error of the configuration
";

#[test]
fn exceptions_of_cpp_are_findings() {
    for compiler in installed(&["g++", "clang++"]) {
        let program = compile(compiler, &here("tests/c/exceptions.cpp"), &["-std=c++17"], "exceptions");
        assert_eq!(said(&run(&program, &[], &[])), EXCEPTIONS, "{compiler}");
    }
}

/// The page for authors of languages shows this program, which fits on a screen.
#[test]
fn the_program_of_the_guide_is_explored() {
    let source = std::fs::read_to_string(here("examples/runtime.c")).expect("the program");
    let guide = std::fs::read_to_string(here("../../book/src/how-to/language-runtimes.md")).expect("the guide");
    assert!(guide.contains(&source) && source.lines().count() <= 60);
    for compiler in installed(&["gcc", "clang"]) {
        let output = run(&compile(compiler, &here("examples/runtime.c"), &["-std=c99"], "runtime"), &[], &[]);
        let report = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{report}");
        assert!(report.contains("explored 6 executions, 4 failing (exhausted)"), "{report}");
    }
}

#[test]
fn a_small_language_finds_mistakes_in_its_programs() {
    let mut first = None;
    let languages = [("-std=c99", &["gcc", "clang"][..], &[][..]), ("-std=c++17", &["g++", "clang++"], &["-x", "c++"])];
    for (standard, compilers, language) in languages {
        for compiler in installed(compilers) {
            let arguments = [&[standard], language].concat();
            let weft = compile(compiler, &here("examples/weft/weft.c"), &arguments, "weft");
            let mut command = Command::new(&weft);
            command
                .current_dir(here("examples/weft"))
                .arg("examples.weft")
                .env("DRAWLOOM_DIR", env!("CARGO_TARGET_TMPDIR"));
            let output = command.env("COLUMNS", "120").output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let heads = ["test ", "DEADLOCK", "FAILURE", "  Task ", "    expected"];
            let is_head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
            let said: String = said.lines().filter(is_head).map(|line| format!("{line}\n")).collect();
            assert_eq!(said, *first.get_or_insert_with(|| said.clone()), "{compiler}");
        }
    }
    if let Some(said) = first {
        assert_snapshot!(said);
    }
}

/// Runs a program under a tool, which says by its status that something is wrong.
fn under(tool: &[&str], program: &std::path::Path) {
    let mut command = Command::new(tool[0]);
    command.args(&tool[1..]).arg(program).env("DRAWLOOM_DIR", env!("CARGO_TARGET_TMPDIR"));
    let output = command.output().expect("the tool runs");
    assert!(output.status.success(), "{tool:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "minutes: cargo test -p drawloom-capi --test programs -- --ignored"]
fn checkers_of_memory_find_nothing() {
    for source in ["tests/c/first.c", "tests/c/misuse.c"] {
        let (file, source) = (here(source), source.trim_start_matches("tests/c/"));
        if installed(&["valgrind"]).is_empty() {
            continue;
        }
        let plain = compile("gcc", &file, &["-std=c99"], &format!("{source}-valgrind"));
        under(
            &["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"],
            &plain,
        );
        for compiler in installed(&["gcc", "clang"]) {
            let arguments = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
            under(
                &["env", "ASAN_OPTIONS=detect_stack_use_after_return=0"],
                &compile(compiler, &file, &arguments, &format!("{source}-asan")),
            );
        }
    }
}
