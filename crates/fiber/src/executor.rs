//! The executor: runs executions, one after another, on the calling thread.

use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom_engine::finding::{Finding, FindingKind, Panic};
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Ending, Engine, Next, Outcome, Settings, Site, TaskId};

use crate::fiber::Fiber;
use crate::foreign::Foreign;
use crate::overflow::install_handler;
use crate::panics::{TaskPanic, install_hook};
use crate::pool;
use crate::runtime::{Handle, NO_FIBER, Runtime, current, set_current};
use crate::verdict::Misfortune;
use crate::watchdog::{Watch, catch_aborts, watch};
use crate::weaker::Weaker;

/// Runs executions and keeps their memory: stacks, tables, traces.
pub struct Executor {
    runtime: Rc<Runtime>,
    pub(crate) leaked_fibers: usize,
    pub(crate) watch: Arc<Watch>,
    /// A task was left in the middle of something.
    pub(crate) spent: bool,
    /// What happened when the last execution was torn down.
    pub(crate) in_teardown: Vec<Misfortune>,
    /// Numbers for the executions that come next.
    epochs: Range<u64>,
}

/// Executions of the whole process are numbered, so that an object left from an earlier one is
/// recognised. No choice depends on the number.
static EPOCH: AtomicU64 = AtomicU64::new(EPOCHS);

/// So many numbers an executor reserves at a time: those of one block differ only in what is beyond a multiple.
pub const EPOCHS: u64 = 64;

impl Executor {
    /// An executor that makes its choices by `strategy`.
    pub fn new(strategy: Box<dyn Strategy>) -> Self {
        install_hook();
        install_handler();
        catch_aborts();
        let runtime = pool::take().unwrap_or_default();
        let handle = Handle::new(&runtime);
        let inner = handle.inner();
        inner.strategy = strategy;
        inner.set_epoch(0);
        inner.weaker = Weaker::default();
        (inner.foreign, inner.hears_switches) = (None, None);
        Executor { runtime, leaked_fibers: 0, watch: watch(), spent: false, in_teardown: Vec::new(), epochs: 0..0 }
    }

    /// As [`new`](Self::new), for tasks of another language. It shares no stacks with others.
    pub fn of_foreign_tasks(foreign: &'static dyn Foreign, strategy: Box<dyn Strategy>) -> Self {
        install_hook();
        install_handler();
        catch_aborts();
        let runtime = Rc::<Runtime>::default();
        let handle = Handle::new(&runtime);
        let inner = handle.inner();
        inner.strategy = strategy;
        inner.foreign = Some(foreign);
        Executor { runtime, leaked_fibers: 0, watch: watch(), spent: false, in_teardown: Vec::new(), epochs: 0..0 }
    }

    /// What tasks see of it, while one of its executions runs.
    pub fn handle(&self) -> Handle {
        Handle::new(&self.runtime)
    }

    /// Exchanges the strategy.
    pub fn set_strategy(&mut self, strategy: Box<dyn Strategy>) {
        self.replace_strategy(strategy);
    }

    /// Exchanges the strategy, and hands back the one before.
    pub fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        std::mem::replace(&mut Handle::new(&self.runtime).inner().strategy, strategy)
    }

    /// Calls `act` with the strategy.
    pub fn with_strategy<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        act(&mut *Handle::new(&self.runtime).inner().strategy)
    }

    /// The number that the next execution will have.
    pub fn reserve_epoch(&mut self) -> u64 {
        let epoch = self.epochs.next().unwrap_or_else(|| {
            let first = EPOCH.fetch_add(EPOCHS, Ordering::Relaxed);
            self.epochs = first + 1..first + EPOCHS;
            first
        });
        Handle::new(&self.runtime).inner().set_epoch(epoch);
        epoch
    }

    /// Runs one execution of `main`, with choices seeded by `seed`. The trace stays in
    /// [`engine`](Self::engine) until the next one.
    ///
    /// A panic of `main` is caught as close to it as can be: whatever it would have to clean up on its way costs as
    /// much as many steps.
    ///
    /// # Panics
    ///
    /// If called from within an execution.
    pub fn run(&mut self, settings: &Settings, seed: u64, main: impl Fn() + 'static) -> Outcome {
        assert!(current().is_none(), "an exploration cannot be started from within an exploration");
        let handle = Handle::new(&self.runtime);
        let inner = handle.inner();
        if inner.stack_size != settings.stack_size {
            handle.drop_fibers();
            inner.stack_size = settings.stack_size;
        }
        inner.engine.begin(&settings.limits, &mut *inner.strategy, seed);
        inner.panics.clear();
        inner.bodies.clear();
        inner.fiber_of.clear();
        inner.locals.clear();
        inner.memos.clear();
        inner.forced.clear();
        inner.owed_wakes.clear();
        inner.cell_accesses_in_teardown = 0;
        inner.addresses.clear();
        inner.hears_switches = inner.foreign.filter(|foreign| foreign.hears_switches());
        // Nothing is captured but `main`: one of another language takes no memory, which nobody would give back.
        let outlived = move || current().into_iter().for_each(|rt| rt.outlive(TaskId::MAIN, AssertUnwindSafe(&main)));
        inner.enlist(TaskId::MAIN, Box::new(outlived));
        set_current(Some(handle));
        self.watch.begin(settings);
        inner.resumes = match inner.engine.next(&mut *inner.strategy) {
            Next::Run(task) | Next::Settle(task) => task,
            Next::Stop => TaskId::NONE,
        };
        if inner.foreign.is_some() {
            self.run_foreign(handle);
        }
        // Nobody's number is beyond all tasks.
        while let Some(fiber) = handle.inner().fiber_of.get(handle.inner().resumes.index()) {
            self.resume_fiber(handle, handle.inner().resumes, *fiber);
        }
        if handle.inner().left {
            self.found_a_task_left(handle);
        }
        let cause = handle.unreceived_panic();
        let inner = handle.inner();
        inner.strategy.end(&inner.engine.view(), inner.engine.ending());
        let leaked_tasks = self.tear_down(handle, settings.leak);
        self.watch.end();
        set_current(None);
        let ending = self.judge(handle, cause);
        Outcome { ending, leaked_tasks }
    }

    /// The state that the last execution ended in.
    pub fn engine(&self) -> &Engine {
        self.runtime.engine()
    }

    /// The places at which tasks asked for a weaker ordering than `SeqCst`, each once, in all executions up to now.
    pub fn weaker_accesses(&self) -> &[Site] {
        self.runtime.weaker().all()
    }

    /// From now on they are counted anew.
    pub fn forget_weaker_accesses(&mut self) {
        Handle::new(&self.runtime).inner().weaker = Weaker::default();
    }

    /// Stacks that belong to leaked tasks and will not be used again.
    pub fn leaked_fibers(&self) -> usize {
        self.leaked_fibers
    }

    /// A panic that nobody has received is a finding, and the cause of a deadlock that followed it.
    fn judge(&mut self, handle: Handle, cause: Option<TaskPanic>) -> Ending {
        let engine = &handle.inner().engine;
        if engine.ending().is_done() && cause.is_none() && self.in_teardown.is_empty() {
            return Ending::Done;
        }
        let panicked = |cause: TaskPanic, waiting| {
            let kind = FindingKind::Panic(Box::new(Panic { waiting, ..cause.panic }));
            Ending::Failed(Finding { kind, task: cause.task, step: engine.steps().len() as u64 })
        };
        let ending = match (engine.ending().clone(), cause) {
            (Ending::Done, Some(cause)) => panicked(cause, None),
            (Ending::Failed(Finding { kind: FindingKind::Deadlock(waiting), .. }), Some(cause)) => {
                panicked(cause, Some(waiting))
            }
            (ending, _) => ending,
        };
        match ending {
            Ending::Done => self.found_in_teardown(handle).map_or(Ending::Done, Ending::Failed),
            ending => {
                self.mention_teardown(handle);
                ending
            }
        }
    }

    /// Whether a task was left in the middle of something, so that this OS thread must not run executions any more.
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    /// Lets `task` run until it suspends itself or ends.
    #[inline]
    pub(crate) fn resume(&mut self, handle: Handle, task: TaskId) {
        self.resume_fiber(handle, task, handle.inner().fiber_of[task.index()]);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn resume_fiber(&mut self, handle: Handle, task: TaskId, fiber: *mut Fiber) {
        let fiber = if fiber == NO_FIBER { self.find_fiber(handle, task) } else { fiber };
        if fiber == NO_FIBER {
            return;
        }
        let inner = handle.inner();
        inner.running = task;
        inner.running_fiber = fiber;
        // SAFETY: the fiber is boxed, so its place does not change when others are added while it
        // runs; and nobody else touches it before it suspends, but for its yielder, which its own
        // coroutine writes.
        unsafe {
            (*fiber).resume();
        }
    }

    /// A fiber for a task that begins.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn find_fiber(&mut self, handle: Handle, task: TaskId) -> *mut Fiber {
        let fiber = match handle.inner().idle.pop() {
            Some(idle) => idle,
            None => self.add_fiber(handle, task),
        };
        if fiber != NO_FIBER {
            handle.inner().fiber_of[task.index()] = fiber;
        }
        fiber
    }

    /// Runs an execution of tasks of another language, which may want to hear of each switch.
    #[cold]
    fn run_foreign(&mut self, handle: Handle) {
        while let Some(&fiber) = handle.inner().fiber_of.get(handle.inner().resumes.index()) {
            let task = handle.inner().resumes;
            let fiber = if fiber == NO_FIBER { self.find_fiber(handle, task) } else { fiber };
            if let Some(foreign) = handle.inner().hears_switches.filter(|_| fiber != NO_FIBER) {
                // SAFETY: the fiber is alive.
                foreign.switches_to(Some((task, unsafe { (*fiber).stack })));
            }
            self.resume_fiber(handle, task, fiber);
            if let Some(foreign) = handle.inner().hears_switches {
                foreign.switches_to(None);
            }
            let ended = std::mem::replace(&mut handle.inner().ended, NO_FIBER);
            if ended != NO_FIBER {
                self.use_again(handle, ended);
            }
        }
    }

    /// The task that ran on `fiber` is none any more.
    #[cold]
    pub(crate) fn use_again(&mut self, handle: Handle, fiber: *mut Fiber) {
        // SAFETY: the fiber is suspended, since we run, and alive; and what runs on it is code of another language, whose
        // stacks nobody expects to be unwound. Of our own frames there nothing has to be dropped.
        unsafe { (*fiber).reset(handle) };
        handle.inner().idle.push(fiber);
    }

    #[cold]
    fn add_fiber(&mut self, handle: Handle, task: TaskId) -> *mut Fiber {
        let inner = handle.inner();
        let mut fiber = match Fiber::new(inner.stack_size, handle) {
            Ok(fiber) => fiber,
            Err(error) => {
                inner.engine.fail(FindingKind::OutOfStacks(Box::new(error.told())), task);
                inner.resumes = TaskId::NONE;
                return NO_FIBER;
            }
        };
        if let Some(foreign) = inner.foreign {
            let (low, high) = fiber.usable();
            fiber.stack = foreign.stack_made(low, high);
        }
        let place: *mut Fiber = &mut *fiber;
        inner.fibers.push(fiber);
        place
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // The stacks of leaked tasks are nobody's any more; and what a panic has interrupted is in no known state.
        if Handle::new(&self.runtime).inner().foreign.is_some() {
            return;
        }
        if self.leaked_fibers == 0 && !std::thread::panicking() {
            pool::keep(&self.runtime);
        }
    }
}
