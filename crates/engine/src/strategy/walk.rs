//! What the strategies that aim have in common: who is in question, and who has been passed over.

use std::sync::Arc;

use super::tape::Draws;
use super::{Profile, View};
use crate::id::TaskId;
use crate::operation::OpKind;
use crate::resource::Traits;
use crate::trace::Step;

/// Steps for which a task is passed over before all priorities are drawn anew, at least. Twice the
/// length of the longest execution, if that is more: then nobody was passed over for ever.
const PATIENCE: u64 = 64;

/// The logarithm of the most yields in a row that are not heeded: locks that spin before they wait do so for up to some hundred
/// rounds.
const LOG_LONGEST_STRETCH: u64 = 8;
/// Steps that a task has to itself after such a yield: enough for a round of most loops.
const STEPS_OF_A_ROUND: usize = 8;

/// Operations whose tasks may be out of question: those that may commute with everything, and those that
/// [may only wait](View::would_wait).
const NOT_ALWAYS_IN_QUESTION: Traits = Traits::SILENT.with(Traits::QUEUES_UNNOTICED);

/// The state of one execution that strategies share.
///
/// Not every ready task is in question. One whose next step commutes with everything (a join that
/// need not wait, an exit that nobody looks at) makes it at once, without a choice; and one that would
/// only begin to wait, for a mutex or a channel, is left aside while anybody else can go on: its request
/// commutes with all that happens until the wait could end, so nothing is lost by it, and an operation
/// counts as what the papers mean by enabled.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) tape: Draws,
    /// None between executions: then it can be added to without a copy.
    profile: Option<Arc<Profile>>,
    /// The tasks in question, and room for more.
    listed: Vec<TaskId>,
    in_question: usize,
    /// Whether an exit commutes with everything, as far as is known.
    silent_exits: bool,
    /// Steps that the strategy knows of.
    seen: usize,
    /// Choices with two or more tasks in question.
    contested: u64,
    window_began: u64,
    /// The length of a window.
    patience: u64,
    /// The most yields in a row that are not heeded; drawn when somebody yields.
    longest_stretch: Option<u64>,
    /// By task: its yields in a row that were not heeded.
    insisted: Vec<u64>,
    /// Who goes on regardless, before which step.
    insists: (TaskId, usize),
    /// Faults that may strike a cluster, by task and operand, each with the number of steps at which it does.
    moments: Vec<(TaskId, u64, usize)>,
}

impl Walk {
    pub(super) fn new() -> Self {
        Walk {
            tape: Draws::new(0),
            profile: None,
            listed: Vec::new(),
            in_question: 0,
            silent_exits: false,
            seen: 0,
            contested: 0,
            window_began: 0,
            patience: PATIENCE,
            longest_stretch: None,
            insisted: Vec::new(),
            insists: (TaskId::NONE, 0),
            moments: Vec::new(),
        }
    }

    pub(super) fn prepare(&mut self, profile: &Arc<Profile>) {
        self.profile = Some(Arc::clone(profile));
    }

    /// The execution is over: the profile is let go.
    pub(super) fn end(&mut self) {
        self.profile = None;
    }

    /// What earlier executions have shown.
    pub(super) fn profile(&self) -> &Profile {
        known(&self.profile)
    }

    /// The same, to look at it while the walk changes; none if there is nothing.
    pub(super) fn shared_profile(&self) -> Option<Arc<Profile>> {
        self.profile.clone()
    }

    /// The same beside the tape.
    pub(super) fn tape_and_profile(&mut self) -> (&mut Draws, &Profile) {
        (&mut self.tape, known(&self.profile))
    }

    pub(super) fn begin(&mut self, seed: u64) {
        let profile = known(&self.profile);
        self.silent_exits = profile.executions() > 0 && !profile.observes_exits();
        self.patience = PATIENCE.max(2 * profile.steps());
        self.tape = Draws::new(seed);
        self.seen = 0;
        self.contested = 0;
        self.window_began = 0;
        self.longest_stretch = None;
        self.insisted.clear();
        self.insists = (TaskId::NONE, 0);
        self.moments.clear();
    }

    /// When a fault strikes: at any moment of an execution as long as the longest one so far, each as likely as the others. A fault is there from the
    /// beginning on, so that what picks among the tasks that are ready would have it strike soon. None where that is not drawn: in
    /// every other execution, at least, it is as likely to come as any message.
    fn moment(&mut self, task: TaskId, view: &View<'_>) -> Option<usize> {
        let (fault, made) = (view.pending(task).arg, view.steps().len());
        if let Some((.., moment)) = self.moments.iter().find(|(of, what, _)| (*of, *what) == (task, fault)) {
            return (*moment != usize::MAX).then_some(*moment);
        }
        let longest = known(&self.profile).steps().saturating_sub(made as u64);
        let is_drawn = longest > 0 && self.tape.below(2) == 0;
        let moment = if is_drawn { made + self.tape.below(longest + 1) as usize } else { usize::MAX };
        self.moments.push((task, fault, moment));
        is_drawn.then_some(moment)
    }

    /// `task` has yielded: whether that is heeded. In every other execution all yields are. In the others a task may insist for a
    /// stretch of yields: it goes on as if everybody else had been suspended. So what a loop does after many rounds in
    /// vain comes up, such as a lock that waits after it has spun for a while.
    pub(super) fn heed(&mut self, task: TaskId, view: &View<'_>) -> bool {
        let tape = &mut self.tape;
        let longest = *self.longest_stretch.get_or_insert_with(|| match tape.below(2) {
            0 => 0,
            _ => 1 << tape.below(LOG_LONGEST_STRETCH + 1),
        });
        let insisted = at(&mut self.insisted, task);
        let insists = *insisted < longest && (*insisted > 0 || tape.below(2) == 0);
        *insisted = if insists { *insisted + 1 } else { 0 };
        self.insists = if insists { (task, view.steps().len() + STEPS_OF_A_ROUND) } else { (TaskId::NONE, 0) };
        !insists
    }

    /// Whether the last yield of `task` was heeded.
    pub(super) fn heeded(&self, task: TaskId) -> bool {
        self.insisted.get(task.index()).is_none_or(|insisted| *insisted == 0)
    }

    /// Choices of this execution with two or more tasks in question.
    pub(super) fn contested(&self) -> u64 {
        self.contested
    }

    /// The tasks in question, as the last [survey](Self::survey) has found them.
    #[inline]
    pub(super) fn candidates(&self) -> &[TaskId] {
        &self.listed[..self.in_question]
    }

    /// One of the tasks in question, each with the probability that its `weight` has in their sum.
    pub(super) fn weighted(&mut self, weight: impl Fn(TaskId) -> u64) -> TaskId {
        self.tape.weighted(&self.listed[..self.in_question], weight)
    }

    /// Finds the tasks in question; or the one that goes next without question.
    pub(super) fn survey(&mut self, view: &View<'_>) -> Option<TaskId> {
        let ready = view.ready();
        if self.insists.1 > view.steps().len() && view.is_ready(self.insists.0) {
            return Some(self.insists.0);
        }
        if self.listed.len() < ready.len() {
            self.listed.resize(ready.len(), TaskId::NONE);
        }
        let mut found = 0;
        for &task in ready {
            let kind = view.pending(task).kind;
            if kind.is(NOT_ALWAYS_IN_QUESTION) {
                match kind {
                    _ if kind.joins() => return Some(task),
                    _ if kind.ends_task() && self.silent_exits => return Some(task),
                    _ if view.would_wait(task) => continue,
                    _ => {}
                }
            } else if kind == OpKind::Strike {
                match self.moment(task, view) {
                    Some(moment) if view.steps().len() < moment => continue,
                    Some(_) => return Some(task),
                    None => {}
                }
            }
            debug_assert!(!view.would_wait(task), "{kind:?} is missing among those that may only wait");
            self.listed[found] = task;
            found += 1;
        }
        if found == 0 {
            self.listed[..ready.len()].copy_from_slice(ready);
            found = ready.len();
        }
        self.in_question = found;
        if found == 1 {
            return Some(self.listed[0]);
        }
        self.contested += 1;
        None
    }

    /// The steps made since the last call: most of them by choice, the others had no alternative.
    #[inline]
    pub(super) fn new_steps<'v>(&mut self, view: &View<'v>) -> &'v [Step] {
        let steps = &view.steps()[self.seen..];
        self.seen += steps.len();
        steps
    }

    /// Whether some task has been passed over for too long. Asked once per window of steps.
    #[inline]
    pub(super) fn starves_somebody(&mut self, view: &View<'_>) -> bool {
        let now = view.steps().len() as u64;
        now - self.window_began >= self.patience && self.passes_somebody_over(view)
    }

    #[cold]
    fn passes_somebody_over(&mut self, view: &View<'_>) -> bool {
        let now = view.steps().len() as u64;
        let began = std::mem::replace(&mut self.window_began, now);
        let mut passed_over = false;
        for &task in view.ready() {
            let goes_on = || view.steps()[began as usize..].iter().any(|step| step.task == task);
            let waited = u64::from(view.task(task).ready_since) <= began && !goes_on();
            passed_over |= waited && !view.would_wait(task);
        }
        passed_over
    }
}

fn known(profile: &Option<Arc<Profile>>) -> &Profile {
    static NOTHING: Profile = Profile::nothing();
    profile.as_deref().unwrap_or(&NOTHING)
}

/// The entry of `task` in a list that grows as tasks are met.
#[inline]
pub(super) fn at<T: Clone + Default>(list: &mut Vec<T>, task: TaskId) -> &mut T {
    if list.len() <= task.index() {
        list.resize(task.index() + 1, T::default());
    }
    &mut list[task.index()]
}

/// What a strategy with a `walk` and nothing besides does to learn: methods of its `impl Strategy`.
macro_rules! learning {
    () => {
        fn prepare(&mut self, _number: u64, profile: &std::sync::Arc<$crate::strategy::Profile>) {
            self.walk.prepare(profile);
        }

        fn learns(&self) -> bool {
            true
        }

        fn contested(&self) -> Option<u64> {
            Some(self.walk.contested())
        }

        fn passes_over(&mut self, task: $crate::id::TaskId, view: &$crate::strategy::View<'_>) -> bool {
            self.walk.heed(task, view)
        }
    };
}

pub(super) use learning;
