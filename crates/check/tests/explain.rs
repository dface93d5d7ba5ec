//! Explanations as users see them.

use drawloom_check::model::{
    ContainerOp::*, ContainerRet::*, Counter, CounterOp::AddAndGet, CounterRet::Sum, FifoQueue, KeyValue, KeyValueOp,
    KeyValueRet, Register, RegisterOp::*, RegisterRet,
};
use drawloom_check::{Budget, History, explain};

/// A read that is stale, among many operations that are not.
fn stale_register() -> History<drawloom_check::model::RegisterOp<i32>, RegisterRet<i32>> {
    let mut history = History::builder();
    for value in 1..20 {
        history =
            history.call(value as u64 % 2, Write(value), RegisterRet::Written).call(2, Read, RegisterRet::Value(value));
    }
    history
        .invoke(0, Write(20))
        .call(2, Read, RegisterRet::Value(20))
        .call(1, Read, RegisterRet::Value(19))
        .ok(0, RegisterRet::Written)
        .call(1, Read, RegisterRet::Value(20))
        .build()
        .unwrap()
}

#[test]
fn a_stale_read_is_explained_in_few_operations() {
    let why = explain::linearizability(&Register::new(0), &stale_register(), Budget::default()).unwrap();
    insta::assert_snapshot!(why, @r#"
    not linearizable: read → 19 cannot be placed
      4 of 42 operations are enough to see it

      process 0                 ├ write 20 → ? ┄┄▷
      process 1  ├ write 19 ──┤                   ├ read → 19 ━━✗
      process 2                   ├ read → 20 ──┤

      1. write 19 ⟨19⟩, write 20 → ? ⟨20⟩, read → 20 ⟨20⟩, then not read → 19: the value is 20
    "#);
}

/// Each of the two fits alone, whichever is first.
#[test]
fn an_order_in_which_the_culprit_fits_says_what_does_not() {
    let both = History::builder().invoke(0, AddAndGet(1)).invoke(1, AddAndGet(1)).ok(1, Sum(1)).ok(0, Sum(1));
    let history = both.build().unwrap();
    let why = explain::linearizability(&Counter::default(), &history, Budget::default()).unwrap();
    insta::assert_snapshot!(why, @r#"
    not linearizable: add-and-get 1 → 1 cannot be placed
      2 of 2 operations are enough to see it

      process 0  ├ add-and-get 1 → 1 ━━━━━━✗
      process 1    ├ add-and-get 1 → 1 ──┤

      1. add-and-get 1 → 1 ⟨1⟩, then not add-and-get 1 → 1: the sum is 1, so it would have returned 2
      2. add-and-get 1 → 1 ⟨1⟩, then not add-and-get 1 → 1: the sum is 1, so it would have returned 2
    "#);
}

#[test]
fn a_queue_out_of_order_is_explained() {
    let history = History::builder()
        .call(0, Insert(1), Inserted)
        .call(1, Insert(2), Inserted)
        .invoke(2, Insert(3))
        .call(0, Remove, Removed(2))
        .ok(2, Inserted)
        .call(1, Remove, Removed(1))
        .build()
        .unwrap();
    let why = explain::linearizability(&FifoQueue::new(), &history, Budget::default()).unwrap();
    insta::assert_snapshot!(why, @r#"
    not linearizable: dequeue → 2 cannot be placed
      3 of 5 operations are enough to see it

      process 0  ├ enqueue 1 ──┤                 ├ dequeue → 2 ━━✗
      process 1                  ├ enqueue 2 ──┤

      1. enqueue 1 ⟨[1]⟩, enqueue 2 ⟨[1, 2]⟩, then not dequeue → 2: 1 is next, it holds [1, 2]
    "#);
}

#[test]
fn only_the_key_that_is_wrong_is_shown() {
    let done = || KeyValueRet::Done;
    let history = History::builder()
        .call(0, KeyValueOp::Put("x", 1), done())
        .call(0, KeyValueOp::Put("y", 1), done())
        .invoke(1, KeyValueOp::Put("y", 2))
        .info(1)
        .call(0, KeyValueOp::Get("y"), KeyValueRet::Value(2))
        .call(0, KeyValueOp::Get("y"), KeyValueRet::Value(1))
        .build()
        .unwrap();
    let why = explain::linearizability(&KeyValue::new(0), &history, Budget::default()).unwrap();
    insta::assert_snapshot!(why, @r#"
    not linearizable: get "y" → 1 cannot be placed
      4 of 5 operations are enough to see it, all about "y" (4 operations)

      process 0  ├ put "y" 1 ──┤     ├ get "y" → 2 ──┤ ├ get "y" → 1 ━━✗
      process 1                  ├ put "y" 2 → ? ┄┄▷

      1. put "y" 1 ⟨{"y": 1}⟩, put "y" 2 → ? ⟨{"y": 2}⟩, get "y" → 2 ⟨{"y": 2}⟩, then not get "y" → 1: "y" holds 2
    "#);
}

/// A read of what somebody could not write, for all that is known.
#[test]
fn an_operation_that_failed_is_shown_as_what_it_is() {
    let history = History::builder()
        .call(0, Write(1), RegisterRet::Written)
        .invoke(1, Write(2))
        .call(2, Read, RegisterRet::Value(1))
        .call(2, Read, RegisterRet::Value(2))
        .fail(1)
        .build()
        .unwrap();
    let why = explain::linearizability(&Register::new(0), &history, Budget::default()).unwrap();
    insta::assert_snapshot!(why, @r#"
    not linearizable: read → 2 cannot be placed
      1 of 4 operations are enough to see it
      it would fit if this had not failed: write 2 → failed

      process 1  ├ write 2 → failed ──┤
      process 2    ├ read → 2 ━━✗

      1. at the beginning not read → 2: the value is 0
    "#);
}

/// The verdict takes no steps at all, and the budget leaves few for its explanation.
#[test]
fn an_explanation_that_is_given_up_says_so() {
    let explained = |steps| {
        let budget = Budget::default().steps(steps);
        explain::linearizability(&Register::new(0), &stale_register(), budget).unwrap()
    };
    let why = explained(400);
    assert!(why.given_up && why.steps <= 400);
    insta::assert_snapshot!(why.to_string().lines().take(3).collect::<Vec<_>>().join("\n"), @r#"
    not linearizable: read → 19 cannot be placed
      41 of 42 operations are enough to see it
      fewer may be enough: their reduction was given up after 400 steps
    "#);
    let mut long = History::builder();
    for value in 1..300 {
        long = long.call(0, Write(value), RegisterRet::Written);
    }
    let long = long.call(1, Read, RegisterRet::Value(3)).build().unwrap();
    let why = explain::linearizability(&Register::new(0), &long, Budget::default().steps(500)).unwrap();
    insta::assert_snapshot!(why, @r#"
    not linearizable: the explanation was given up after 500 steps
      300 of 300 operations cannot be explained: too many to show
    "#);
}

#[test]
fn explanations_are_the_same_every_time_and_as_json() {
    let explained = || explain::linearizability(&Register::new(0), &stale_register(), Budget::default()).unwrap();
    assert_eq!(explained().to_json(), explained().to_json());
    let json: serde_json::Value = serde_json::from_str(&explained().to_json()).unwrap();
    assert_eq!(json["minimal"][json["culprit"].as_u64().unwrap() as usize]["text"], "read → 19");
}

#[test]
fn what_is_linearizable_needs_no_explanation() {
    let fine = History::builder().call(0, Write(1), RegisterRet::Written).build().unwrap();
    assert_eq!(explain::linearizability(&Register::new(0), &fine, Budget::default()), None);
}
