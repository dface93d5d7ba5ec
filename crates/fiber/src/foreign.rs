//! What a front end is told whose tasks are written in another language: its runtime may have to know on which stack
//! each of them runs.
//!
//! Such stacks are never unwound. A task that is left over when an execution ends is forgotten, and its stack is used
//! again: code of another language has no destructors that we could run, and may have no tables to unwind it by.

use drawloom_engine::TaskId;

/// The other language's part. Nothing here may make a step.
pub trait Foreign {
    /// A stack was made, between these addresses; the answer is the number by which it is spoken of.
    fn stack_made(&self, low: usize, high: usize) -> usize;

    /// A stack is about to be given back to the system.
    fn stack_gone(&self, stack: usize);

    /// Whether the calls below are wanted.
    fn hears_switches(&self) -> bool;

    /// The executor is about to let `task` run on `stack`; or, without a task, runs itself.
    fn switches_to(&self, task: Option<(TaskId, usize)>);

    /// `task` stops: `leave` lets others run, and returns when it goes on. Called on the task's own stack.
    fn stops(&self, task: TaskId, leave: &mut dyn FnMut());

    /// `task` is left over, and is about to be forgotten.
    fn abandons(&self, task: TaskId);
}
