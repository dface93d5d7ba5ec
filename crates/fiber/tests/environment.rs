//! Fibers beside tasks of the environment, which have none.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use drawloom_engine::strategy::Random;
use drawloom_engine::{Budget, Budgets, Limits, OpKind, Operation, ResourceKind, Site, State, outcome};
use drawloom_fiber::{Executor, Handle, Settings, current};

/// What `main` says in so many executions, with so many faults in each; none of them fails.
fn explored(faults: u32, main: impl Fn(Handle) -> u32 + Clone + 'static) -> BTreeSet<u32> {
    let limits = Limits { budgets: Budgets::NONE.with(Budget::Faults, faults), ..Limits::default() };
    let settings = Settings { limits, stack_size: 128 * 1024, ..Settings::default() };
    let mut executor = Executor::new(Box::new(Random::new()));
    let said = Rc::new(RefCell::new(BTreeSet::new()));
    for seed in 0..100 {
        executor.reserve_epoch();
        let (main, theirs) = (main.clone(), said.clone());
        let outcome = executor.run(&settings, seed, move || {
            let said = main(current().expect("an execution"));
            theirs.borrow_mut().insert(said);
        });
        assert!(outcome.ending.is_done(), "{:?}", outcome.ending);
        assert_eq!(outcome.leaked_tasks, 0);
        assert!(executor.engine().tasks().iter().any(|task| task.environment));
    }
    said.take()
}

#[test]
fn a_message_in_flight_ends_a_wait() {
    let said = explored(0, |rt| {
        let semaphore = rt.create_resource(ResourceKind::Semaphore, State::Count(0), Site::UNKNOWN);
        let arrival = Operation::new(OpKind::Release, semaphore, Site::UNKNOWN).with_arg(1);
        rt.leave_to_environment(&[arrival], None, Some("a message"), Site::UNKNOWN);
        rt.step(Operation::new(OpKind::Acquire, semaphore, Site::UNKNOWN).with_arg(1))
    });
    assert_eq!(said, BTreeSet::from([outcome::OK]));
}

#[test]
fn a_fault_strikes_before_a_step_or_after_it_or_not_at_all() {
    let crowd = |rt: Handle| {
        let semaphore = rt.create_resource(ResourceKind::Semaphore, State::Count(1), Site::UNKNOWN);
        let take = Operation::new(OpKind::TryAcquire, semaphore, Site::UNKNOWN).with_arg(1);
        for name in ["a fault", "another one"] {
            rt.leave_to_environment(&[take], Some(Budget::Faults), Some(name), Site::UNKNOWN);
        }
        rt.spawn(None, Site::UNKNOWN, Box::new(|| ()));
        rt.step(take)
    };
    assert_eq!(explored(1, crowd), BTreeSet::from([outcome::OK, outcome::REFUSED]));
    assert_eq!(explored(0, crowd), BTreeSet::from([outcome::OK]));
}
