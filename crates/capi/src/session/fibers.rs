//! A program of another language, whose tasks are fibers.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Engine, Outcome, Settings, Site};
use drawloom_explore::{Executor, Program};
use drawloom_report::{Language, Place};

use crate::control::Control;
use crate::execution::{Execution, set_running};
use crate::hooks::{Hooks, Told};
use crate::place;
use crate::task::run_task;

/// What every execution runs.
pub(super) struct Fibers {
    pub(super) body: extern "C" fn(*mut c_void),
    pub(super) arg: *mut c_void,
    pub(super) hooks: Hooks,
    /// Something was learnt in an exploration before.
    pub(super) made_again: bool,
    /// Places that were seen to ask for weaker orders.
    pub(super) weaker: AtomicU64,
}

// SAFETY: executions run on the thread that began the session, and nowhere else.
unsafe impl Sync for Fibers {}

static TOLD: Told = Told;

thread_local! {
    /// Executors that wait for the next session on this thread. They keep their stacks, of which a runtime may know.
    static WAITING: RefCell<Vec<drawloom_fiber::Executor>> = const { RefCell::new(Vec::new()) };
}

/// An executor, which is used again.
pub(super) struct Pooled {
    fibers: Option<drawloom_fiber::Executor>,
    execution: Box<Execution>,
}

impl Pooled {
    fn fibers(&self) -> &drawloom_fiber::Executor {
        self.fibers.as_ref().expect("it is there until it is dropped")
    }

    fn fibers_mut(&mut self) -> &mut drawloom_fiber::Executor {
        self.fibers.as_mut().expect("it is there until it is dropped")
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let fibers = self.fibers.take().filter(|fibers| !fibers.is_spent());
        let _ = WAITING.try_with(|waiting| waiting.borrow_mut().extend(fibers));
    }
}

impl Program for Fibers {
    type Executor = Pooled;

    /// What is global in C is shared by all executions.
    const SPREADS: bool = false;
    const LANGUAGE: Language = drawloom_report::language::C;

    fn executor(&self, strategy: Box<dyn Strategy>) -> Pooled {
        let mut fibers = match WAITING.with_borrow_mut(Vec::pop) {
            Some(fibers) => fibers,
            None => drawloom_fiber::Executor::of_foreign_tasks(&TOLD, Box::new(drawloom_engine::strategy::Sequential)),
        };
        fibers.set_strategy(strategy);
        fibers.forget_weaker_accesses();
        let control = Control::of_fibers(fibers.handle());
        let execution = Box::new(Execution::new(control, self.body, self.arg, self.hooks));
        Pooled { fibers: Some(fibers), execution }
    }

    fn run(&self, executor: &mut Pooled, settings: &Settings, seed: u64) -> Outcome {
        let control = Control::of_fibers(executor.fibers().handle());
        executor.execution.begin(control);
        executor.execution.made_again = self.made_again;
        let before = set_running(&raw mut *executor.execution);
        self.hooks.execution_begin();
        let outcome = executor.fibers_mut().run(settings, seed, run_task);
        self.hooks.execution_end();
        if std::mem::take(&mut executor.execution.asked_again) {
            super::run::note_asked_again();
        }
        set_running(before);
        self.weaker.fetch_max(executor.fibers().weaker_accesses().len() as u64, Ordering::Relaxed);
        outcome
    }

    fn weaker_accesses(&self) -> u64 {
        self.weaker.load(Ordering::Relaxed)
    }

    fn place(site: Site) -> Option<Place> {
        place::place(site)
    }

    fn line_of(site: Site) -> u32 {
        place::line_of(site)
    }
}

impl Executor for Pooled {
    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        self.fibers_mut().replace_strategy(strategy)
    }

    fn with_strategy<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        self.fibers_mut().with_strategy(act)
    }

    fn engine(&self) -> &Engine {
        self.fibers().engine()
    }

    fn has_leaked(&self) -> bool {
        self.fibers().leaked_fibers() > 0
    }

    fn is_spent(&self) -> bool {
        self.fibers().is_spent()
    }
}
