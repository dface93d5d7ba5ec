//! Spin loops under exhaustive exploration: a task that yields waits for a change.
//!
//! A loop that looks again and again multiplies behaviours by the number of times it looks. So a task
//! that yields is not let run again before something that it read since its last yield has changed:
//! until then it would only do the same once more. The step that made the change is what ended its
//! wait. Where nobody else can go on, it runs regardless, after a step of the clock that comes after
//! everything: a loop that gives up after so many rounds ends that way, and one that does not is found
//! to be a livelock. Where there are timers it does so once: if it then reads the same again, it waits
//! for time to pass.

use super::Engine;
use crate::dependence::{Label, Relation, relation};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::OpKind;
use crate::task::Status;
use crate::trace::Step;

/// A task that waits for a change of what it has read.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Spinner {
    pub(super) task: TaskId,
    /// Where it has yielded.
    site: Site,
    read: Vec<Label>,
}

impl Engine {
    /// `task` has yielded, by the last step.
    pub(super) fn spin(&mut self, task: TaskId) {
        let made = self.steps.len() - 1;
        let own = |s: &&Step| s.task == task;
        let rounds = self.steps[..made].iter().rposition(|s| s.task == task && s.kind == OpKind::Yield);
        let round = rounds.map_or(0, |last| last + 1);
        let read: Vec<Label> = self.steps[round..made].iter().filter(own).map(Step::label).collect();
        if !read.iter().any(looks) {
            return;
        }
        // A change that came before the yield counts like one that comes after it.
        let change = (round..made).find(|i| {
            let earlier = self.steps[round..*i].iter().filter(own).map(Step::label);
            self.steps[*i].task != task && changes(&self.steps[*i], earlier)
        });
        match change {
            Some(change) => self.changed_for(task, change),
            None => {
                self.remove_ready(task);
                self.spinning.push(Spinner { task, site: self.steps[made].site, read });
                self.spinners_know = self.steps.len();
                self.may_need_care = true;
                self.attend();
            }
        }
    }

    pub(super) fn is_spinning(&self, task: TaskId) -> bool {
        self.spinning.iter().any(|spinner| spinner.task == task)
    }

    /// Lets those go on for whom the steps since the last call have changed something.
    pub(super) fn wake_spinners(&mut self) {
        for i in self.spinners_know..self.steps.len() {
            let step = self.steps[i];
            let awake = |s: &Spinner| s.task != step.task && changes(&step, s.read.iter().copied());
            while let Some(at) = self.spinning.iter().position(awake) {
                let task = self.spinning.remove(at).task;
                self.changed_for(task, i);
                self.let_go_on(task);
            }
        }
        self.spinners_know = self.steps.len();
    }

    /// Nobody else can go on: lets them look once more, unless they have and time can pass instead.
    pub(super) fn release_spinners(&mut self) {
        if self.spinning.is_empty() {
            return;
        }
        let has_timers = self.timers.pending();
        for spinner in std::mem::take(&mut self.spinning) {
            let awaits = self.tasks[spinner.task.index()].status == Status::Disabled;
            if awaits || has_timers && self.looked.contains(&spinner) {
                self.spinning.push(spinner);
                continue;
            }
            self.steps.push(Step {
                site: self.tasks[spinner.task.index()].pending.site,
                arg: u64::from(spinner.task.0),
                value: self.timers.now(),
                resource: ResourceId::NONE,
                task: TaskId::CLOCK,
                after: 0,
                outcome: 0,
                kind: OpKind::TimerFire,
                was_choice: false,
            });
            self.leave_trail();
            self.current = TaskId::CLOCK;
            self.let_go_on(spinner.task);
            self.looked.push(spinner);
        }
    }

    /// `task` spins no more. What it has announced may still have to be awaited.
    fn let_go_on(&mut self, task: TaskId) {
        if self.tasks[task.index()].status == Status::Ready {
            self.make_ready(task);
        }
    }

    fn changed_for(&mut self, task: TaskId, step: usize) {
        let granted_by = &mut self.tasks[task.index()].granted_by;
        *granted_by = (*granted_by).max(step as u32 + 1);
    }
}

/// Whether a step looks at something that others can change.
fn looks(label: &Label) -> bool {
    label.resource != ResourceId::NONE || label.kind == OpKind::IsFinished
}

fn changes(step: &Step, mut read: impl Iterator<Item = Label>) -> bool {
    let label = step.label();
    read.any(|read| relation(&read, &label) == Relation::Dependent)
}
