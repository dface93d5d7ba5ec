//! Budgets: what runs out is said, and never a verdict that is not one. And: memory is kept, threads change nothing.

use drawloom_check::linearizable::{self, Checker};
use drawloom_check::model::{
    ContainerOp, ContainerRet, FifoQueue, KeyValue, KeyValueOp, KeyValueRet, Register, RegisterOp, RegisterRet,
};
use drawloom_check::{Budget, History, Reason, Verdict, sequential};

/// A queue with a bound, for which there is nothing but the search: everything overlaps, the values are not distinct, and the
/// last one is wrong.
fn queue() -> FifoQueue<u32> {
    FifoQueue::bounded(100)
}

fn hard() -> History<ContainerOp<u32>, ContainerRet<u32>> {
    let mut history = History::builder();
    for process in 0..14 {
        history = history.invoke(process, ContainerOp::Insert(process as u32 / 2));
    }
    for process in 0..14 {
        history = history.ok(process, ContainerRet::Inserted);
    }
    for process in 0..12 {
        history = history.invoke(process, ContainerOp::Remove);
    }
    for process in 0..12 {
        history = history.ok(process, ContainerRet::Removed(process as u32 / 2));
    }
    history.call(0, ContainerOp::Remove, ContainerRet::Empty).build().unwrap()
}

#[test]
fn steps_that_run_out_are_told_with_how_far_it_got() {
    let Verdict::Unknown(unknown) = linearizable::check_within(&queue(), &hard(), Budget::default().steps(2_000))
    else {
        panic!("two thousand steps cannot suffice");
    };
    assert_eq!(unknown.reason, Reason::Steps(2_000));
    assert!((14..27).contains(&unknown.placed) && unknown.of == 27, "{unknown}");
    assert!(unknown.to_string().starts_with("the budget of 2000 steps ran out after 2000 steps; at most "));
}

#[test]
fn bytes_that_run_out_are_told() {
    let verdict = linearizable::check_within(&queue(), &hard(), Budget::default().bytes(100_000));
    let Verdict::Unknown(unknown) = verdict else { panic!("a hundred kilobytes cannot suffice") };
    assert_eq!(unknown.reason, Reason::Bytes(100_000));
    let verdict = sequential::check_within(&queue(), &hard(), Budget::default().bytes(1_000));
    assert!(verdict.is_unknown());
}

#[test]
fn a_checker_can_be_used_again_after_running_out() {
    let mut checker = Checker::new();
    let model = queue();
    assert!(checker.check(&model, &hard(), Budget::default().steps(500)).is_unknown());
    let fine = History::builder()
        .call(0, ContainerOp::Insert(1), ContainerRet::Inserted)
        .call(1, ContainerOp::Remove, ContainerRet::Removed(1))
        .build()
        .unwrap();
    assert!(checker.check(&model, &fine, Budget::default()).is_ok());
    assert_eq!(checker.order().iter().map(|id| id.0).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn threads_do_not_change_the_verdict() {
    let mut history = History::builder();
    for round in 0..40u64 {
        for key in 0..10u64 {
            history = history.call(key % 3, KeyValueOp::Put(key, round), KeyValueRet::Done);
            let read = if (round, key) == (30, 7) || (round, key) == (20, 4) { 0 } else { round };
            history = history.call(3, KeyValueOp::Get(key), KeyValueRet::Value(read));
        }
    }
    let history = history.build().unwrap();
    let verdicts =
        [1, 2, 8].map(|threads| linearizable::check_parallel(&KeyValue::new(0), &history, Budget::default(), threads));
    assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "{verdicts:?}");
    let Verdict::Illegal(violation) = &verdicts[0] else { panic!("two keys are wrong") };
    assert_eq!(history.operations()[violation.part.index()].op.key(), &4);
}

#[test]
fn an_order_that_is_returned_explains_the_history() {
    let history = History::builder()
        .invoke(0, RegisterOp::Write(1))
        .invoke(1, RegisterOp::Write(2))
        .call(2, RegisterOp::Read, RegisterRet::Value(2))
        .call(2, RegisterOp::Read, RegisterRet::Value(1))
        .ok(0, RegisterRet::Written)
        .ok(1, RegisterRet::Written)
        .build()
        .unwrap();
    let Verdict::Ok(linearization) = linearizable::check(&Register::new(0), &history) else { panic!("it is fine") };
    assert_eq!(linearization.order.iter().map(|id| id.0).collect::<Vec<_>>(), [1, 2, 0, 3]);
}

#[test]
fn a_long_search_tells_how_far_it_has_come() {
    let (told, heard) = std::sync::mpsc::channel();
    let mut checker = Checker::new().telling(move |standing| told.send(standing).expect("somebody listens"));
    let budget = Budget::default().steps(200_000);
    assert!(checker.check(&queue(), &hard(), budget).is_unknown());
    let heard: Vec<_> = heard.try_iter().collect();
    assert!(heard.len() >= 2, "{heard:?}");
    assert!(heard.is_sorted_by_key(|standing| standing.steps) && heard.iter().all(|standing| standing.parts == 1));
    assert!(heard.iter().all(|standing| 0 < standing.placed && standing.placed < standing.of), "{heard:?}");
}
