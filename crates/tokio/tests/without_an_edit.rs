//! A project that knows nothing of drawloom is put under control as docs/async.md says.

use std::path::Path;
use std::process::{Command, Output};

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// `cargo test -p drawloom-tokio --test without_an_edit -- --ignored`
#[test]
#[ignore = "builds a project and its dependencies, which takes minutes"]
fn its_tests_explore() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = here.join("tests/zero_edit");
    let prepared = run(Command::new(here.join("named/prepare.sh")).arg(&project));
    let flags = String::from_utf8(prepared.stdout).expect("it prints text");
    let (config, patch) = flags.trim().split_once(' ').expect("it prints a flag and its value");
    let tests = ["test", "--test", "crates", config, patch, "--", "--nocapture", "--test-threads=1"];
    let tested = run(Command::new(env!("CARGO")).args(tests).current_dir(&project));
    let tested = String::from_utf8_lossy(&tested.stdout);
    assert_eq!(tested.matches("drawloom: explored").count(), 9, "{tested}");
}
