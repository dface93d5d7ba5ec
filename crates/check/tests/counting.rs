//! Containers with equal values: what counting refutes is refuted, however long and parallel the history is.

use drawloom_check::linearizable::Checker;
use drawloom_check::model::{ContainerOp, ContainerRet, RegisterOp, RegisterRet};
use drawloom_check::model::{ContainerOp::*, ContainerRet::*, FifoQueue, LifoStack, Model, PriorityQueue, Register};
use drawloom_check::{Budget, History};

type Contained = History<ContainerOp<u32>, ContainerRet<u32>>;

/// All of these inserts at once, then all of these removes at once.
fn at_once(inserts: &[u32], removes: &[ContainerRet<u32>]) -> Contained {
    let mut history = History::builder();
    for (process, value) in inserts.iter().enumerate() {
        history = history.invoke(process as u64, Insert(*value));
    }
    for process in 0..inserts.len() {
        history = history.ok(process as u64, Inserted);
    }
    for process in 0..removes.len() {
        history = history.invoke(process as u64, Remove);
    }
    for (process, ret) in removes.iter().enumerate() {
        history = history.ok(process as u64, ret.clone());
    }
    history.build().unwrap()
}

/// Whether a history is refuted within a thousand steps for each operation.
fn is_refuted<M: Model<Op = ContainerOp<u32>, Ret = ContainerRet<u32>>>(model: &M, history: &Contained) -> bool {
    let budget = Budget::default().steps(1_000 * history.len() as u64);
    Checker::new().check(model, history, budget).is_illegal()
}

fn all_refute(history: &Contained) {
    assert!(is_refuted(&FifoQueue::new(), history), "queue: {history:?}");
    assert!(is_refuted(&LifoStack::new(), history), "stack: {history:?}");
    assert!(is_refuted(&PriorityQueue::new(), history), "priority queue: {history:?}");
}

#[test]
fn a_value_that_is_removed_too_often_is_refuted() {
    for count in [10, 30, 100, 1_000] {
        let inserts: Vec<u32> = (0..count).map(|at| at % 3).collect();
        let mut removes: Vec<_> = inserts.iter().map(|value| Removed(*value)).collect();
        removes[1] = Removed(0);
        all_refute(&at_once(&inserts, &removes));
        let mut more = removes.clone();
        more[1] = Removed(1);
        more.push(Removed(1));
        all_refute(&at_once(&inserts, &more));
    }
}

#[test]
fn empty_is_refuted_while_something_is_left() {
    for count in [10, 30, 100, 1_000] {
        let inserts: Vec<u32> = (0..count).map(|at| at % 3).collect();
        let mut removes: Vec<_> = inserts.iter().skip(1).map(|value| Removed(*value)).collect();
        removes.push(Empty);
        all_refute(&at_once(&inserts, &removes));
    }
}

#[test]
fn a_queue_whose_equal_values_are_overtaken_is_refuted() {
    for count in [10, 30, 100] {
        // All of the first value, and then all of the second; one of the second comes out too early.
        let mut history = History::builder();
        for value in [1, 2] {
            (0..count).for_each(|process| history = std::mem::take(&mut history).invoke(process, Insert(value)));
            (0..count).for_each(|process| history = std::mem::take(&mut history).ok(process, Inserted));
        }
        let open = 3;
        (0..open).for_each(|process| history = std::mem::take(&mut history).invoke(process, Remove));
        (0..open).for_each(|process| history = std::mem::take(&mut history).info(process));
        // So many unknown removes may have taken the first value, and one more is missing.
        for process in 0..count - open - 1 {
            history = history.call(process, Remove, Removed(1));
        }
        let fine = history.clone().call(0, Remove, Removed(1)).call(0, Remove, Removed(2)).build().unwrap();
        let history = history.call(0, Remove, Removed(2)).build().unwrap();
        assert!(is_refuted(&FifoQueue::new(), &history), "{count}");
        let verdict = Checker::new().check(&FifoQueue::new(), &fine, Budget::default());
        assert!(verdict.is_ok(), "{count}: {verdict:?}");
    }
}

#[test]
fn two_hundred_thousand_open_operations_take_one_look_each() {
    let mut history = History::new();
    for process in 0..200_000 {
        history.invoke(drawloom_check::Process(process), RegisterOp::Write(process)).unwrap();
    }
    let mut checker = Checker::new();
    assert!(checker.check(&Register::new(0), &history, Budget::default()).is_ok());
    // The general search as well, and one whose operations are all the same.
    assert!(checker.search(&Register::new(0), &history, Budget::default()).is_ok());
    let mut same: History<RegisterOp<u64>, RegisterRet<u64>> = History::new();
    for process in 0..200_000 {
        same.invoke(drawloom_check::Process(process), RegisterOp::Cas(1, 2)).unwrap();
    }
    assert!(checker.check(&Register::new(0), &same, Budget::default()).is_ok());
    assert!(checker.steps() < 1_000);
}
