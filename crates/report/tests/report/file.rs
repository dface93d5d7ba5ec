//! The trace file: round trips, equal bytes, and errors that say what is wrong.

use drawloom_engine::finding::Finding;
use drawloom_engine::{OpKind, ResourceKind, State};
use drawloom_report::{ReadError, Record};
use insta::assert_snapshot;

use crate::screens::{data_race, livelock, lost_wakeup, panic, producer_consumer, two_locks};
use crate::script::*;

#[test]
fn what_was_written_can_be_read() {
    for record in [panic(), producer_consumer(), two_locks(0), lost_wakeup(), livelock(), data_race(vec![], vec![])] {
        assert_eq!(Record::read(&record.write()).unwrap(), record);
    }
}

#[test]
fn equal_executions_give_equal_bytes() {
    assert_eq!(panic().write(), panic().write());
}

#[test]
fn the_file_is_what_its_documentation_says() {
    assert_snapshot!(panic().write());
}

#[test]
fn large_values_survive_readers_that_round() {
    let main = vec![
        op(OpKind::Load, 0, 3).value(u64::MAX),
        op(OpKind::Load, 0, 3).value(0),
        op(OpKind::Lock, 1, 4),
        op(OpKind::Lock, 1, 4),
    ];
    let resources = [(ResourceKind::Atomic, State::Plain, 1, None), (ResourceKind::Mutex, State::Plain, 2, None)];
    let record = Script::with(&resources).record("x", main);
    let text = record.write();
    assert!(text.contains("\"18446744073709551615\""));
    assert_eq!(Record::read(&text).unwrap().steps[0].value, Some(u64::MAX));
    assert_eq!(Record::read(&text).unwrap().steps[1].value, Some(0));
}

#[test]
fn a_million_steps_take_a_few_bytes_each() {
    let main: Vec<_> = (0..1000).map(|i| op(OpKind::Load, 0, 3 + i % 9).value(i as u64)).collect();
    let engine = Script::with(&[(ResourceKind::Atomic, State::Plain, 1, None)]).run(main);
    let kind = drawloom_engine::finding::FindingKind::StepLimit;
    let finding = Finding { kind, task: drawloom_engine::TaskId::MAIN, step: 1000 };
    let record = record(&engine, &finding, "x");
    assert_eq!(record.steps.len(), 1000);
    assert_eq!(record.places.len(), 10, "a place is stored once");
    assert!(record.write().len() < 1000 * 32, "{}", record.write().len());
}

#[test]
fn steps_of_the_teardown_are_left_out() {
    let engine = Script::with(&[(ResourceKind::Atomic, State::Plain, 1, None)]).run(vec![
        op(OpKind::Load, 0, 3),
        op(OpKind::Load, 0, 4),
        op(OpKind::Load, 0, 5),
    ]);
    let kind = drawloom_engine::finding::FindingKind::StepLimit;
    let finding = Finding { kind, task: drawloom_engine::TaskId::MAIN, step: 2 };
    let record = record(&engine, &finding, "x");
    assert_eq!(record.steps.len(), 2);
    assert_eq!(record.tasks[0].steps, 2);
    assert!(!record.tasks[0].finished, "it exited after the finding");
}

#[test]
fn another_version_is_refused_by_name() {
    let text = panic().write().replacen("\"version\":1", "\"version\":9", 1);
    let error = Record::read(&text).unwrap_err();
    assert!(matches!(error, ReadError::Version { found: 9 }), "{error}");
    assert_snapshot!(error, @"this trace file has version 9, and this drawloom reads version 1: use the drawloom that wrote it, or run the test again");
}

#[test]
fn a_damaged_file_is_told_from_another_file() {
    let text = panic().write();
    let cut = Record::read(&text[..text.len() / 2]).unwrap_err();
    assert!(matches!(cut, ReadError::Damaged(_)), "{cut}");
    let gone = Record::read(&text.replace("\"resources\":[{", "\"resources\":[],\"old\":[{")).unwrap_err();
    assert_snapshot!(gone, @"this trace file is damaged (step 2 refers to something that is not there): run the test again to write a new one");
    for other in ["", "hello", "[]", "{}", "{\"version\":\"one\"}"] {
        assert!(matches!(Record::read(other), Err(ReadError::NotATrace)), "{other}");
    }
}
