//! Ctrl-C.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sample::Sample;

#[test]
fn an_interrupted_run_says_what_is_known_and_keeps_it() {
    let sample = Sample::new("interrupted");
    let mut command = sample.command(&["test", "--runner", "cargo", "e", "--jobs", "1", "--strategy", "threads = 1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // The search that never ends is the last test, and leaves a log when it has taken a while.
    let log = sample.store.join("accounts--takes_for_ever.exhaustive.log");
    wait_for(&child, || log.is_file());
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let answer = sample.answer(&child.wait_with_output().expect("it ends"));

    assert_eq!(answer.code, 1, "two tests had failed by then: {}", answer.err);
    assert!(answer.out.contains("test accounts::takes_for_ever"), "{}", answer.out);
    assert!(answer.out.contains("NOT FINISHED"), "{}", answer.out);
    assert!(answer.out.contains("\ninterrupted; "), "{}", answer.out);
    assert!(answer.out.contains("FAILED (seed: 0x5eed, iteration: 1)"), "{}", answer.out);
    let resumes =
        "accounts::takes_for_ever was unfinished: `drawloom test takes_for_ever` resumes its search where it stopped\n";
    assert!(
        answer.out.contains("\nsaved in [store]: 6 results; `drawloom findings`") && answer.out.contains(resumes),
        "{}",
        answer.out
    );
    let results = std::fs::read_to_string(sample.store.join("results.jsonl")).expect("results are kept");
    assert!(results.contains("fails_when_a_deposit_comes_in_between"), "{results}");

    let again = sample.test(&["takes_for_ever", "--strategy", "timeout = 300ms", "--json"]);
    let remarks = again.json()[0]["exploration"]["remarks"].to_string();
    assert!(remarks.contains("resumed after"), "{remarks}");
}

#[test]
fn an_interruption_before_anything_was_found_is_130() {
    let sample = Sample::new("interrupted_early");
    let mut command = sample.command(&["test", "takes_for_ever", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let log = sample.store.join("accounts--takes_for_ever.exhaustive.log");
    wait_for(&child, || log.is_file());
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let answer = sample.answer(&child.wait_with_output().expect("it ends"));
    assert_eq!(answer.code, 130, "{}", answer.err);
    let lines = answer.json();
    assert_eq!(lines[0]["status"], "unfinished");
    assert_eq!(lines[1]["interrupted"], true);
}

fn wait_for(child: &Child, happened: impl Fn() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_secs(120), "process {} has not come so far", child.id());
        std::thread::sleep(Duration::from_millis(50));
    }
}
