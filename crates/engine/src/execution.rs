//! What an executor is asked for, and what it answers: the same for all of them.

use std::time::{Duration, Instant};

use crate::Limits;
use crate::ending::Ending;

/// What an execution is run with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine's limits.
    pub limits: Limits,
    /// Bytes of stack for each task.
    pub stack_size: usize,
    /// Leave left-over tasks alone instead of unwinding them.
    pub leak: bool,
    /// For how long a task may go without a step before it counts as stuck.
    pub patience: Duration,
    /// When the time of the exploration is over, and the execution is to be cut.
    pub deadline: Option<Instant>,
}

impl Settings {
    /// The patience, if nobody says otherwise.
    pub const PATIENCE: Duration = Duration::from_secs(10);
}

impl Default for Settings {
    fn default() -> Self {
        Settings { limits: Limits::default(), stack_size: 0, leak: false, patience: Settings::PATIENCE, deadline: None }
    }
}

/// What is left of an execution.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it came to.
    pub ending: Ending,
    /// Tasks that could not be unwound.
    pub leaked_tasks: usize,
}
