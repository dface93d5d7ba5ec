//! Strategies: what makes choices.
//!
//! A strategy sees, at every choice, the ready tasks with the operation that each is about to carry
//! out, and the dependence table. Its only randomness is one [`Tape`] of draws, so that replay,
//! shrinking and mutation work on all of them alike. Two rules live in the engine: a task that yields is passed over
//! until another one has made a step, unless the strategy [says otherwise](Strategy::passes_over), and a task
//! that is passed over for too long is let run. Those that aim learn from earlier executions, by a
//! [`Profile`] that all of them share.

mod auto;
mod corpus;
mod delay_bounded;
mod guide;
mod kept;
mod lenient;
mod lookup;
mod pct;
mod pos;
mod profile;
mod race_directed;
mod random;
mod recipe;
mod remaining;
mod replay;
mod round_robin;
mod script;
mod sequential;
mod surw;
mod tape;
mod urw;
mod walk;
mod width;

pub use auto::Auto;
pub use corpus::Corpus;
pub use delay_bounded::DelayBounded;
pub(crate) use guide::Guided;
pub(crate) use guide::LONGEST_GUIDED;
pub use guide::{Fate, Guide};
pub use kept::{Drawn, Kept};
pub(crate) use lenient::last_runner;
pub use lenient::{Lenient, Preemptions};
pub use pct::Pct;
pub use pos::Pos;
pub use profile::Profile;
pub use race_directed::RaceDirected;
pub use random::Random;
pub use recipe::{NoRecipe, Recipe};
pub use replay::Replay;
pub use round_robin::RoundRobin;
pub(crate) use script::Wish;
pub use script::{Outcomes, Script, Stretch};
pub use sequential::Sequential;
pub(crate) use sequential::{fill as sequential_fill, fill_with as sequential_fill_with};
pub use surw::Surw;
pub use tape::Tape;
pub use urw::Urw;
pub use width::is_beyond;

use std::sync::Arc;

use crate::ending::Ending;
use crate::engine::Engine;
use crate::finding::Divergence;
use crate::id::{TaskId, TaskPath};
use crate::operation::Operation;
use crate::resource::Resource;
use crate::task::{NOT_READY, Task};
use crate::time::Started;
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
    /// The next execution is number `number` of the exploration, from 0, and `profile` is what earlier
    /// ones have shown: which ones follows from the number alone. Called before
    /// [`begin`](Self::begin); not for an execution that belongs to no exploration.
    fn prepare(&mut self, number: u64, profile: &Arc<Profile>) {
        let _ = (number, profile);
    }

    /// Whether it wants a profile: then executions are learned from.
    fn learns(&self) -> bool {
        false
    }

    /// The choices of the last execution at which two or more tasks were in question, if the strategy
    /// has counted them: there may be less of them than choices, if it has a way to tell.
    fn contested(&self) -> Option<u64> {
        None
    }

    /// How the last execution was drawn, if those that show something new are to be kept in the profile.
    fn drawn(&self) -> Option<Drawn> {
        None
    }

    /// A new execution begins; `seed` is its own.
    fn begin(&mut self, seed: u64);

    /// The tape of the execution that begins, if every choice is to be a uniform draw from it: the
    /// engine then draws without asking, which is what makes the plain random walk cheap.
    fn uniform_tape(&mut self) -> Option<Tape> {
        None
    }

    /// Whether the execution that begins is one of an exhaustive exploration, or repeats such a one: then what a task announces
    /// must not depend on steps that commute with its own.
    fn is_exhaustive(&self) -> bool {
        false
    }

    /// `parent` has created `child`.
    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        let _ = (parent, child);
    }

    /// The next child that `parent` creates has this number among its children, from 1: there may be none with the numbers before it.
    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        let _ = (parent, ordinal);
    }

    /// Which of the two or more ready tasks goes next. Only a replay can fail.
    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>>;

    /// The number of steps before which the task that was picked last goes on wherever it can, if nobody else was
    /// picked or has gone instead: the engine need not ask for that. Asked for after each [`pick`](Self::pick).
    fn goes_on_until(&self) -> usize {
        0
    }

    /// Which of `outcomes` (two or more) the current task's operation has; less than `outcomes`.
    /// The first one, unless the strategy has a reason for another.
    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        let _ = (outcomes, view);
        Ok(0)
    }

    /// `task` has yielded: whether it is passed over until another one has made a step. A yield is a hint, and may as well
    /// return at once; a strategy that heeds every one never sees what a loop does that gives up after some rounds.
    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        let _ = (task, view);
        true
    }

    /// Every task has exited. Only a replay can object.
    fn finish(&mut self, view: &View<'_>) -> Result<(), Box<Divergence>> {
        let _ = view;
        Ok(())
    }

    /// The execution is over.
    fn end(&mut self, view: &View<'_>, ending: &Ending) {
        let _ = (view, ending);
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

    /// Whether all that `task` would do now is to begin waiting for a mutex, a channel or an
    /// initialiser, without a timeout. While others can go on, nothing is lost by leaving it aside: its
    /// request commutes with whatever comes before the end of the wait. That does not hold where
    /// others can notice who waits, so it is never said of other primitives.
    #[inline]
    pub fn would_wait(&self, task: TaskId) -> bool {
        self.engine.would_wait(task)
    }

    /// Whether `task` can be picked.
    #[inline]
    pub fn is_ready(&self, task: TaskId) -> bool {
        self.engine.tasks().get(task.index()).is_some_and(|task| task.ready_at != NOT_READY)
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

    /// All timers of the execution, if every timer fires.
    pub(crate) fn timers(&self) -> &'a [Started] {
        self.engine.timers.all()
    }

    /// What those who await in vain would do, as steps that were refused.
    pub(crate) fn awaits_in_vain(&self) -> impl Iterator<Item = Step> + use<'a> {
        self.engine.awaits_in_vain()
    }

    /// A task of the execution.
    pub fn task(&self, task: TaskId) -> &'a Task {
        self.engine.task(task)
    }

    /// Whether `task` belongs to the environment: a timer, a message in flight.
    #[inline]
    pub fn is_environment(&self, task: TaskId) -> bool {
        self.engine.tasks().get(task.index()).is_some_and(|task| task.environment)
    }

    /// A task's name that is the same in every execution.
    pub fn path(&self, task: TaskId) -> TaskPath {
        self.engine.path(task)
    }

    /// Whether that is the [name](Self::path) of `task`.
    pub fn is_path_of(&self, task: TaskId, path: &TaskPath) -> bool {
        self.engine.is_path_of(task, path)
    }
}
