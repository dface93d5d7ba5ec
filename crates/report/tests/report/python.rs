//! Records of Python programs: the same report, in the words of Python.

use drawloom_report::Record;
use drawloom_report::language::{PYTHON, RUST};

use crate::screens::{panic, screen};

/// The record of a panic as an exception, raised by `task`.
fn raised(task: u32, message: &str) -> Record {
    let mut record = panic();
    record.meta.language = PYTHON;
    record.finding.message = message.to_owned();
    record.finding.task = task;
    record
}

#[test]
fn an_exception_is_no_panic() {
    let task = panic().finding.task;
    let record = raised(task, "ValueError: nothing to withdraw");
    let text = screen(&record);
    let headline =
        "EXCEPTION in test \"bank::tests::transfer\": task 0.2 raised at src/x.rs:13:\n    ValueError: nothing";
    assert!(text.starts_with(headline), "{text}");
    assert!(!text.contains("panic") && !text.contains("mutex") && !text.contains("cargo"), "{text}");
    assert!(text.contains("\nreplay: drawloom.explore(…, replay=\"dl1AbC-d_9\")\n"), "{text}");
}

#[test]
fn an_assertion_of_main_after_all_others_is_the_invariant() {
    let record = raised(0, "AssertionError: the sum is 3");
    assert!(screen(&record).starts_with("BROKEN INVARIANT in test \"bank::tests::transfer\":\n    the sum is 3\n"));
    let bare = raised(0, "AssertionError");
    assert!(screen(&bare).contains(":\n    the invariant does not hold\n"));
    let mut setup = raised(0, "AssertionError: no server");
    setup.tasks.truncate(2);
    setup.steps.clear();
    assert!(screen(&setup).starts_with("EXCEPTION"));
}

#[test]
fn the_command_that_ran_it_replays_it() {
    let mut record = raised(0, "AssertionError");
    record.meta.command = Some("python -m pytest tests/test_bank.py::test_sum".to_owned());
    let line = "\nreplay: DRAWLOOM_REPLAY='dl1AbC-d_9' python -m pytest tests/test_bank.py::test_sum\n";
    assert!(screen(&record).contains(line));
    assert_eq!(Record::read(&record.write()).expect("it was written just now"), record);
}

#[test]
fn a_record_that_says_nothing_of_its_language_is_of_rust() {
    let written = panic().write();
    assert!(!written.contains("language") && !written.contains("command"));
    assert_eq!(Record::read(&written).expect("it was written just now").meta.language, RUST);
}
