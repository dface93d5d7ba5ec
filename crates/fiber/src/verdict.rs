//! What an execution came to in which a task was left: it did not come back, or could not go on.

use drawloom_engine::TaskId;
use drawloom_engine::finding::{Finding, FindingKind, Stuck};

use crate::executor::Executor;
use crate::panics::Fatal;
use crate::runtime::Handle;
use crate::watchdog::Left;

/// Something that happened to a task while it was unwound.
pub(crate) struct Misfortune {
    task: TaskId,
    kind: FindingKind,
    /// The same in a sentence, for when there is a finding already.
    sentence: String,
}

impl Executor {
    /// The running task was left: that is what the execution came to.
    #[cold]
    pub(crate) fn found_a_task_left(&mut self, handle: Handle) {
        let inner = handle.inner();
        let task = inner.running;
        inner.left = false;
        self.spent = true;
        let (kind, sentence) = self.why_left(handle, false);
        let engine = &mut handle.inner().engine;
        let is_first = engine.ending().is_done();
        if !is_first || matches!(kind, FindingKind::Panic(_)) {
            engine.mention(&sentence);
        }
        engine.fail(kind, task);
    }

    /// The running task was left while it was unwound.
    #[cold]
    pub(crate) fn note_in_teardown(&mut self, handle: Handle) {
        let inner = handle.inner();
        inner.left = false;
        let task = inner.running;
        // One that was left before is resumed again to no effect.
        if inner.panics.fatal.is_some() || self.watch.has_left() {
            self.spent = true;
            let (kind, sentence) = self.why_left(handle, true);
            self.in_teardown.push(Misfortune { task, kind, sentence });
        }
    }

    /// What happened while the execution was torn down, if nothing else has; else it is mentioned.
    pub(crate) fn found_in_teardown(&mut self, handle: Handle) -> Option<Finding> {
        let engine = &mut handle.inner().engine;
        let Misfortune { task, kind, sentence } = std::mem::take(&mut self.in_teardown).into_iter().next()?;
        if matches!(kind, FindingKind::Panic(_)) {
            engine.mention(&sentence);
        }
        Some(Finding { kind, task, step: engine.steps().len() as u64 })
    }

    /// Mentions what happened in teardown beside what was found before.
    pub(crate) fn mention_teardown(&mut self, handle: Handle) {
        for Misfortune { sentence, .. } in self.in_teardown.drain(..) {
            handle.inner().engine.mention(&sentence);
        }
    }

    fn why_left(&mut self, handle: Handle, in_teardown: bool) -> (FindingKind, String) {
        let inner = handle.inner();
        let task = inner.running;
        if let Some(Fatal { panic, sentence, .. }) = inner.panics.fatal.take() {
            return (FindingKind::Panic(Box::new(panic)), sentence);
        }
        let Left { stack, sleeps, still } = self.watch.take_left().pop().unwrap_or_default();
        let at = stack.first().map(|frame| format!(" at {}", frame.location)).unwrap_or_default();
        let when = if in_teardown { "When the execution was over, a destructor of" } else { "After that," };
        let who = inner.engine.path(task);
        let sentence = format!("{when} task {who} did not return from code that drawloom does not control{at}.");
        let holds = inner.engine.held_by(task);
        let others = if in_teardown { Vec::new() } else { inner.engine.standing_beside(task) };
        let stuck = Stuck { seconds: still.as_secs(), sleeps, stack, holds, others, in_teardown };
        (FindingKind::Stuck(Box::new(stuck)), sentence)
    }
}
