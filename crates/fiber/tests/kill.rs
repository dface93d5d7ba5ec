//! Tasks of a program that are killed: no destructor of theirs acts on what others see, and all are run in the end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use drawloom_engine::strategy::Random;
use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, outcome};
use drawloom_fiber::{Executor, Handle, Settings, current};

/// What `main` says in so many executions, none of which fails or leaks.
fn explored(main: impl Fn(Handle) -> u32 + Clone + 'static) -> BTreeSet<u32> {
    let settings = Settings { stack_size: 128 * 1024, ..Settings::default() };
    let mut executor = Executor::new(Box::new(Random::new()));
    let said = Rc::new(RefCell::new(BTreeSet::new()));
    for seed in 0..200 {
        executor.reserve_epoch();
        let (main, theirs) = (main.clone(), said.clone());
        let outcome = executor.run(&settings, seed, move || {
            let said = main(current().expect("an execution"));
            theirs.borrow_mut().insert(said);
        });
        assert!(outcome.ending.is_done(), "{:?}", outcome.ending);
        assert_eq!(outcome.leaked_tasks, 0);
    }
    said.take()
}

fn on(semaphore: ResourceId, kind: OpKind) -> Operation {
    Operation::new(kind, semaphore, Site::UNKNOWN).with_arg(1)
}

/// Gives a permit back when it is dropped.
struct Permit(Handle, ResourceId);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.step(on(self.1, OpKind::Release));
    }
}

#[test]
fn a_killed_task_gives_nothing_back() {
    let said = explored(|rt| {
        let semaphore = rt.create_resource(ResourceKind::Semaphore, State::Count(1), Site::UNKNOWN);
        let holder = rt.spawn(
            None,
            Site::UNKNOWN,
            Box::new(move || {
                rt.step(on(semaphore, OpKind::Acquire));
                let _permit = Permit(rt, semaphore);
                rt.step(Operation::new(OpKind::Yield, ResourceId::NONE, Site::UNKNOWN));
            }),
        );
        rt.kill(holder, Site::UNKNOWN);
        let before = rt.step(on(semaphore, OpKind::TryAcquire));
        // However long one waits: it is as it was when the task was killed.
        for _ in 0..3 {
            rt.step(Operation::new(OpKind::Now, ResourceId::NONE, Site::UNKNOWN));
        }
        let is_free = |came_to: u32| came_to == outcome::OK;
        let after = is_free(before) || is_free(rt.step(on(semaphore, OpKind::TryAcquire)));
        assert_eq!(is_free(before), after, "something was given back after the kill");
        before
    });
    assert_eq!(said, BTreeSet::from([outcome::OK, outcome::REFUSED]));
}

struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn what_killed_tasks_own_is_dropped_when_the_execution_is_over() {
    let dropped = Rc::new(Cell::new(0));
    let counts = dropped.clone();
    let said = explored(move |rt| {
        let before = counts.get();
        let nobody = rt.create_resource(ResourceKind::Semaphore, State::Count(0), Site::UNKNOWN);
        for _ in 0..3 {
            let counted = Counts(counts.clone());
            let member = rt.spawn(
                None,
                Site::UNKNOWN,
                Box::new(move || {
                    let _counted = counted;
                    rt.step(on(nobody, OpKind::Acquire));
                }),
            );
            rt.set_group(member, 1);
        }
        rt.kill_group(1, Site::UNKNOWN);
        counts.get() - before
    });
    assert_eq!(said, BTreeSet::from([0]), "nobody is unwound while others go on");
    assert_eq!(dropped.get(), 3 * 200);
}

#[test]
fn who_kills_his_own_group_makes_no_further_step() {
    let said = explored(|rt| {
        let semaphore = rt.create_resource(ResourceKind::Semaphore, State::Count(0), Site::UNKNOWN);
        let member = rt.spawn(
            None,
            Site::UNKNOWN,
            Box::new(move || {
                rt.kill_group(7, Site::UNKNOWN);
                rt.step(on(semaphore, OpKind::Release));
            }),
        );
        rt.set_group(member, 7);
        rt.step(Operation::new(OpKind::Yield, ResourceId::NONE, Site::UNKNOWN));
        rt.step(on(semaphore, OpKind::TryAcquire))
    });
    assert_eq!(said, BTreeSet::from([outcome::REFUSED]));
}
