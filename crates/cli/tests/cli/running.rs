//! `drawloom run`: other programs, with a library preloaded.

use std::path::Path;

use crate::sample::Sample;

/// Runs `drawloom run` with `named` as the library.
fn run(named: &str, arguments: &[&str]) -> (i32, String, String) {
    let sample = Sample::unbuilt();
    let mut command = sample.command(&[&["run", "--"], arguments].concat());
    let answer = sample.answer(&command.env("DRAWLOOM_PRELOAD", named).output().expect("the binary is there"));
    (answer.code, answer.out, answer.err)
}

#[test]
fn a_command_is_run_with_the_library_before_all_others() {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_library.so");
    std::fs::write(&library, "").expect("a file");
    let library = library.canonicalize().expect("a file").display().to_string();
    // What the linker says of a file that is no library does not matter.
    let (code, out, _) = run(&library, &["sh", "-c", "echo $LD_PRELOAD; exit 7"]);
    let (_, named, _) = run(&library, &["sh", "-c", "echo $DRAWLOOM_PRELOAD"]);
    assert_eq!((code, out.lines().next()), (7, named.lines().next()));
    assert!(named.contains("no_library.so"), "{named}");
}

#[test]
fn what_is_missing_is_said() {
    let (code, out, err) = run("/missing/library.so", &["true"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        err,
        "error: the library to be preloaded is not found: DRAWLOOM_PRELOAD names /missing/library.so: \
         No such file or directory (os error 2)\n\
         help: build it by `cargo build --release -p drawloom-preload`, and set DRAWLOOM_PRELOAD to it\n"
    );
    let (code, _, err) = run("/", &["no-such-program"]);
    assert_eq!(code, 2);
    assert_eq!(err, "error: `no-such-program` cannot be run: No such file or directory (os error 2)\n");
}
