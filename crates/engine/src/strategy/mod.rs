//! Strategies: what makes choices.
//!
//! A strategy sees, at every choice, the ready tasks with the operation that each is about to carry
//! out, and the dependence table. Its only randomness is one [`Tape`] of draws, so that replay,
//! shrinking and mutation work on all of them alike. Two rules hold around every strategy and live
//! in the engine: a task that yields is passed over until another one has made a step, and a task
//! that is passed over for too long is let run.

mod random;
mod replay;
mod round_robin;
mod sequential;
mod tape;

pub use random::Random;
pub use replay::Replay;
pub use round_robin::RoundRobin;
pub use sequential::Sequential;
pub(crate) use sequential::fill as sequential_fill;
pub use tape::Tape;

use crate::engine::Engine;
use crate::finding::{Divergence, Finding};
use crate::id::{TaskId, TaskPath};
use crate::operation::Operation;
use crate::resource::Resource;
use crate::task::Task;
use crate::trace::Step;

/// Makes the choices of executions.
///
/// ```
/// use drawloom_engine::{TaskId, finding::Divergence, strategy::{Strategy, View}};
///
/// /// Always lets the youngest task go.
/// struct Youngest;
///
/// impl Strategy for Youngest {
///     fn begin(&mut self, _seed: u64) {}
///     fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
///         Ok(view.ready().iter().copied().max().expect("never asked without a ready task"))
///     }
/// }
/// ```
pub trait Strategy {
    /// A new execution begins; `seed` is its own.
    fn begin(&mut self, seed: u64);

    /// The tape of the execution that begins, if every choice is to be a uniform draw from it: the
    /// engine then draws without asking, which is what makes the plain random walk cheap.
    fn uniform_tape(&mut self) -> Option<Tape> {
        None
    }

    /// `parent` has created `child`.
    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        let _ = (parent, child);
    }

    /// Which of the two or more ready tasks goes next. Only a replay can fail.
    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>>;

    /// Which of `outcomes` (two or more) the current task's operation has; less than `outcomes`.
    /// The first one, unless the strategy has a reason for another.
    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        let _ = (outcomes, view);
        Ok(0)
    }

    /// Every task has exited. Only a replay can object.
    fn finish(&mut self, view: &View<'_>) -> Result<(), Box<Divergence>> {
        let _ = view;
        Ok(())
    }

    /// The execution is over.
    fn end(&mut self, view: &View<'_>, finding: Option<&Finding>) {
        let _ = (view, finding);
    }
}

/// What a strategy sees of the execution.
pub struct View<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) ready: &'a [TaskId],
    pub(crate) current: TaskId,
}

impl<'a> View<'a> {
    /// The tasks to pick from, in no particular but a deterministic order.
    #[inline]
    pub fn ready(&self) -> &'a [TaskId] {
        self.ready
    }

    /// The task that made the last step; not necessarily ready.
    #[inline]
    pub fn current(&self) -> TaskId {
        self.current
    }

    /// What `task` is about to do.
    #[inline]
    pub fn pending(&self, task: TaskId) -> &'a Operation {
        &self.engine.task(task).pending
    }

    /// Whether `task` can be picked.
    #[inline]
    pub fn is_ready(&self, task: TaskId) -> bool {
        self.ready.contains(&task)
    }

    /// The steps so far.
    #[inline]
    pub fn steps(&self) -> &'a [Step] {
        self.engine.steps()
    }

    /// The resources of the execution, by id.
    pub fn resources(&self) -> &'a [Resource] {
        self.engine.resources()
    }

    /// A task of the execution.
    pub fn task(&self, task: TaskId) -> &'a Task {
        self.engine.task(task)
    }

    /// A task's name that is the same in every execution.
    pub fn path(&self, task: TaskId) -> TaskPath {
        self.engine.path(task)
    }
}
