//! Long traces, and traces of time.

use drawloom_engine::finding::{FindingKind, Panic};
use drawloom_engine::{ChannelState, OpKind, ResourceKind, State};
use drawloom_report::{RenderOptions, render};
use insta::assert_snapshot;

use crate::script::*;

fn fail() -> Act {
    Act::Fail(FindingKind::Panic(Box::new(Panic { message: "too late".into(), ..Panic::default() })))
}

#[test]
fn a_long_trace_shows_its_beginning_and_its_end() {
    let mut main: Vec<_> = (0..500).map(|i| op(OpKind::Rmw, 0, 5 + i % 7).value(i as u64).arg(i as u64 + 1)).collect();
    main.push(fail());
    let record = Script::with(&[(ResourceKind::Atomic, State::Plain, 2, None)]).record("x::long", main);
    let options = RenderOptions { max_steps: 8, trace_file: Some("trace.json"), ..RenderOptions::default() };
    assert_snapshot!(render(&record, &options));
}

#[test]
fn waits_and_what_ended_them_can_be_read_from_the_trace() {
    let channel = State::Channel(ChannelState::new(1));
    let sleeper = vec![bare(OpKind::Sleep, 1_500_000, 10), op(OpKind::Recv, 0, 11), op(OpKind::Recv, 0, 12)];
    let main = vec![
        spawn(9, Some("sleeper"), sleeper),
        op(OpKind::Send, 0, 14),
        op(OpKind::TrySend, 0, 15),
        op(OpKind::Send, 0, 16),
        bare(OpKind::Choose, 3, 17),
        join(FIRST, 18),
        fail(),
    ];
    let record = Script::with(&[(ResourceKind::Channel, channel, 3, Some("jobs"))]).record("x::time", main);
    assert_snapshot!(render(&record, &RenderOptions::default()));
}

#[test]
fn a_narrow_terminal_cuts_sources_and_nothing_else() {
    let main = vec![op(OpKind::Load, 0, 2).value(1), fail()];
    let record = Script::with(&[(ResourceKind::Atomic, State::Plain, 2, None)]).record("x::narrow", main);
    let source = |_: &str| Some("first\n    let value = a_function_with_a_long_name(and, arguments);\n".to_owned());
    let options = RenderOptions { width: 70, sources: &source, ..RenderOptions::default() };
    let text = render(&record, &options);
    let line = text.lines().find(|line| line.contains("reads 1")).unwrap();
    assert_eq!(line.chars().count(), 70);
    assert!(line.ends_with('…'), "{line}");
}

#[test]
fn a_hundred_stuck_tasks_are_not_listed_one_by_one() {
    let mut main: Vec<_> = (0..100).map(|_| spawn(4, None, vec![op(OpKind::Recv, 0, 5)])).collect();
    main.push(join(FIRST, 6));
    let channel = State::Channel(ChannelState::new(1));
    let record = Script::with(&[(ResourceKind::Channel, channel, 3, None)]).record("x::many", main);
    let text = render(&record, &RenderOptions::default());
    assert!(text.contains("\n  … and 69 more tasks\n"), "{text}");
}

#[test]
fn a_join_that_ended_is_not_taken_for_the_one_that_never_does() {
    let channel = State::Channel(ChannelState::new(1));
    let main =
        vec![spawn(4, None, vec![]), spawn(5, None, vec![op(OpKind::Recv, 0, 6)]), join(FIRST, 7), join(SECOND, 8)];
    let record = Script::with(&[(ResourceKind::Channel, channel, 3, None)]).record("x::joins", main);
    let join = record.steps.iter().find(|step| record.operation(step) == "join").unwrap();
    assert_eq!(record.outcome(join), "ok");
}
