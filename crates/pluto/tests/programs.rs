//! Programs written as Pluto's compiler generates code, with a small runtime of our own for the half that stays.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use insta::assert_snapshot;

/// The static library, beside the test that runs: cargo adds a hash to its name, and the newest is that of this build.
fn library() -> PathBuf {
    let own = std::env::current_exe().expect("a test is a program");
    let files = std::fs::read_dir(own.parent().expect("a folder")).expect("a folder").flatten();
    let is_it = |name: &str| name.starts_with("libdrawloom_pluto") && name.ends_with(".a");
    let found = files.filter(|file| file.file_name().to_str().is_some_and(is_it));
    let newest = found.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok());
    newest.expect("cargo has built the library").path()
}

/// A program, which the first test that needs it builds: others may run it already. None if there is no compiler, which is said.
fn build(name: &'static str) -> Option<PathBuf> {
    static BUILT: Mutex<BTreeMap<&str, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(name).or_insert_with(|| build_now(name)).clone()
}

fn build_now(name: &str) -> Option<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let library = library();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(name);
    let mut command = Command::new("cc");
    // As the compiler's own runtime is: without optimisation.
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O0"]);
    command.args([tests.join(format!("{name}.c")), tests.join("half.c"), library]);
    command.arg("-o").arg(&program).args(["-lm", "-lpthread", "-ldl"]);
    let Ok(output) = command.output() else {
        println!("skipped: there is no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Runs a program, which must end: one that hangs is a failure, and no reason to wait.
fn run(program: &Path, variables: &[(&str, &str)]) -> Output {
    run_with(program, &[], variables)
}

fn run_with(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program).args(arguments);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DRAWLOOM_") || name.starts_with("PLUTO_")) {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a program prints as a report, and its status. Addresses of code are another in each build.
fn report(name: &'static str, variables: &[(&str, &str)]) -> Option<String> {
    let program = build(name)?;
    let variables = [&[("DRAWLOOM_PLUTO", "report")], variables].concat();
    let output = run(&program, &variables);
    assert_eq!(text(&output.stderr), "");
    let status = output.status.code();
    Some(format!("{}status {status:?}\n", without_tokens(&text(&output.stdout))))
}

fn without_tokens(text: &str) -> String {
    let line = |line: &str| match line.split_once("--replay ") {
        Some((before, _)) => format!("{before}--replay TOKEN\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn what_the_compiler_relies_on_holds_in_every_schedule() {
    if let Some(report) = report("semantics", &[]) {
        assert_snapshot!(report);
    }
}

#[test]
fn what_a_scheduler_misses_that_looks_only_where_tasks_wait_is_found() {
    if let Some(report) = report("weaknesses", &[("PLUTO_PROGRESS_BOUND", "300")]) {
        assert_snapshot!(report);
        too_many_tasks_are_a_finding(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("weaknesses"));
    }
}

/// In the same test as what else that program shows: two would build it at once.
fn too_many_tasks_are_a_finding(program: &Path) {
    let variables = [("DRAWLOOM_PLUTO", "report"), ("DRAWLOOM_SHRINK", "false"), ("DRAWLOOM_FIXES", "0")];
    let said = text(&run_with(program, &["crowd"], &variables).stdout);
    assert!(said.contains("too many tasks at a time: the collector knows of 253"), "{said}");
}

#[test]
fn results_come_in_one_block() {
    if let Some(report) = report("block", &[]) {
        assert_snapshot!(report);
    }
}

#[test]
fn one_test_alone_and_another_seed() {
    if let Some(report) = report("block", &[("DRAWLOOM_PLUTO_TEST", "ordering bug"), ("PLUTO_TEST_SEED", "0xDEADBEEF")])
    {
        assert_snapshot!(report);
    }
}

#[test]
fn a_schedule_is_repeated_by_its_token() {
    let Some(program) = build("block") else { return };
    let variables = [("DRAWLOOM_PLUTO", "report"), ("DRAWLOOM_PLUTO_TEST", "ordering bug")];
    let first = text(&run(&program, &variables).stdout);
    let (_, token) = first.split_once("--replay ").expect("a token");
    let token = token.lines().next().expect("a line");
    let again = text(&run(&program, &[&variables[..], &[("DRAWLOOM_REPLAY", token)]].concat()).stdout);
    let schedule = |said: &str| said.lines().find(|line| line.contains("Schedule:")).map(str::to_owned);
    assert_eq!(schedule(&first), schedule(&again), "{first}\n{again}");
    assert!(again.contains("got 0") || again.contains("expected 0"), "{again}");
}

#[test]
fn without_a_report_it_says_what_pluto_says() {
    let Some(program) = build("block") else { return };
    let output = run(&program, &[]);
    assert_snapshot!(format!(
        "{}----\n{}status {:?}\n",
        text(&output.stdout),
        text(&output.stderr),
        output.status.code()
    ));
}
