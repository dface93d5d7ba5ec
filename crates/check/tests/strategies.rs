//! What proptest draws: right histories are right, and wrong ones shrink to what is wrong about them.

use drawloom_check::model::{ContainerOp, ContainerRet, FifoQueue, Register, RegisterOp, RegisterRet, Spec};
use drawloom_check::{History, Outcome, linearizable, strategies};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

/// A counter that tells what it came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Steps(u32);

impl Spec for Steps {
    type Op = u32;
    type Ret = u32;

    fn apply(&mut self, by: &u32) -> u32 {
        self.0 += by;
        self.0
    }
}

/// The smallest value that does not have the property.
fn smallest<T: Clone + std::fmt::Debug>(values: impl Strategy<Value = T>, holds: impl Fn(&T) -> bool) -> T {
    let config = Config { failure_persistence: None, cases: 2_000, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()));
    match runner.run(&values, |value| if holds(&value) { Ok(()) } else { Err(TestCaseError::fail("")) }) {
        Err(TestError::Fail(_, value)) => value,
        other => panic!("nothing was found: {other:?}"),
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn right_histories_are_linearizable(
        history in strategies::right_histories(Steps::default(), strategies::scenarios(0..3u32, 1..4, 0..4)),
    ) {
        prop_assert!(linearizable::check(&Steps::default(), &history).is_ok());
    }
}

#[test]
fn right_histories_overlap_and_may_be_cut() {
    let histories = || strategies::right_histories(Steps::default(), strategies::scenarios(0..3u32, 2, 2));
    let overlaps = |history: &History<u32, u32>| {
        let operations = history.operations();
        let apart =
            |a: usize, b: usize| operations[a].precedes(&operations[b]) || operations[b].precedes(&operations[a]);
        (0..history.len()).all(|a| (0..a).all(|b| apart(a, b)))
    };
    assert_eq!(smallest(histories(), overlaps).len(), 4, "all processes of the smallest have their operations");
    let pending = smallest(histories(), |history| history.operations().iter().all(|o| o.outcome.ret().is_some()));
    assert!(pending.operations().iter().any(|o| o.outcome == Outcome::Pending));
}

/// A value that nobody has written: one operation.
#[test]
fn a_wrong_register_shrinks_to_one_read() {
    let operation = prop_oneof![Just(RegisterOp::Read), (0..4u32).prop_map(RegisterOp::Write)];
    let answered = operation.prop_flat_map(|operation| {
        let ret = match operation {
            RegisterOp::Read => (0..4u32).prop_map(RegisterRet::Value).boxed(),
            _ => Just(RegisterRet::Written).boxed(),
        };
        (Just(operation), strategies::outcome(ret))
    });
    let histories = strategies::histories(strategies::scenarios(answered, 1..4, 0..5));
    let wrong = smallest(histories, |history| linearizable::check(&Register::new(0), history).is_ok());
    let [only] = wrong.operations() else { panic!("{wrong:?}") };
    assert_eq!((&only.op, &only.outcome), (&RegisterOp::Read, &Outcome::Ok(RegisterRet::Value(1))));
}

/// An item that is there, and is not found: one insert that is over, one remove.
#[test]
fn a_queue_that_says_empty_shrinks_to_two_operations() {
    let answered = prop_oneof![
        (1..4u32).prop_map(|item| (ContainerOp::Insert(item), Outcome::Ok(ContainerRet::Inserted))),
        Just((ContainerOp::Remove, Outcome::Ok(ContainerRet::Empty))),
    ];
    let histories = strategies::histories(strategies::scenarios(answered, 1..4, 0..5));
    let wrong = smallest(histories, |history| linearizable::check(&FifoQueue::new(), history).is_ok());
    let [insert, remove] = wrong.operations() else { panic!("{wrong:?}") };
    assert_eq!((&insert.op, &remove.op), (&ContainerOp::Insert(1), &ContainerOp::Remove));
    assert!(insert.precedes(remove));
}
