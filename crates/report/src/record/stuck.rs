//! A task that does not come back, as it is kept.

/// A task that blocks or spins in code that is not under control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StuckRecord {
    /// For how many seconds it had not made a step.
    pub seconds: u64,
    /// Whether its OS thread slept, rather than being busy.
    pub sleeps: bool,
    /// Whether it was in a destructor, when the execution was over.
    pub in_teardown: bool,
    /// The user's functions that it was in, the innermost first.
    pub stack: Vec<FrameRecord>,
    /// What it held.
    pub holds: Vec<HeldRecord>,
    /// Where the other tasks stood.
    pub others: Vec<StandingRecord>,
}

/// A function on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameRecord {
    /// Its name.
    pub function: String,
    /// The line that was being executed.
    pub place: Option<u32>,
}

/// Something that a task held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldRecord {
    /// What.
    pub resource: u32,
    /// Where the task took it.
    pub place: Option<u32>,
}

/// A task that stood before an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingRecord {
    /// Who.
    pub task: u32,
    /// What it was about to do, or waited in.
    pub operation: String,
    /// On what.
    pub resource: Option<u32>,
    /// Where.
    pub place: Option<u32>,
}

crate::json::object! {
    StuckRecord { seconds, sleeps, in_teardown, stack, holds, others }
    FrameRecord { function, place }
    HeldRecord { resource, place }
    StandingRecord { task, operation, resource, place }
}
