//! What an executor is asked for, and what it answers: the same for all of them.

use crate::Limits;
use crate::finding::Finding;

/// What an execution is run with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine's limits.
    pub limits: Limits,
    /// Bytes of stack for each task.
    pub stack_size: usize,
    /// Waits that may end without a reason, per execution.
    pub spurious_wakeups: u32,
    /// Weak compare-exchanges that may fail without a reason, per execution.
    pub weak_failures: u32,
    /// Leave left-over tasks alone instead of unwinding them.
    pub leak: bool,
}

/// How an execution ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What went wrong, if anything.
    pub finding: Option<Finding>,
    /// Tasks that could not be unwound.
    pub leaked_tasks: usize,
}
