//! Every default and bound of the configuration, named once, so that code, docs and errors agree.

/// Executions that a randomised strategy tries: enough for most small bugs, well under a second.
pub const DEFAULT_ITERATIONS: u64 = 1_000;

/// The seed when none is given. It is fixed, not drawn, so that a plain `cargo test` does the same
/// thing on every machine and on every day; to try other schedules, pass a seed.
pub const DEFAULT_SEED: u64 = 0x5EED;

/// Steps of one execution before it counts as a step-limit finding.
pub const DEFAULT_MAX_STEPS: u64 = 1_000_000;

/// Yields without progress before an execution counts as a livelock.
pub const DEFAULT_PROGRESS_BOUND_YIELDS: u64 = 10_000;

/// Times that a task may repeat a round of a spin loop before exhaustive exploration holds it: enough for loops that give
/// up after three tries, and each further one multiplies what there is to explore.
pub const DEFAULT_SPIN_ROUNDS: u32 = 3;

/// Stack of each task. Unit tests rarely need more, and a hundred tasks still fit in a small machine.
pub const DEFAULT_STACK_SIZE_BYTES: usize = 256 * 1024;

/// The smallest stack on which formatting a panic message still works.
pub const MIN_STACK_SIZE_BYTES: usize = 16 * 1024;

/// Tasks of one execution, dead ones included.
pub const DEFAULT_MAX_TASKS: u32 = 100_000;

/// Timers that may fire early in one execution when the clock is explored.
pub const DEFAULT_EARLY_FIRES: u32 = 3;

/// Schedules that each fix of a finding is tried with.
pub const DEFAULT_FIXES: u64 = 500;

/// `sticky` stays with the current task with probability 1 - 2^-3, that is seven times in eight.
pub const DEFAULT_STICKINESS: u32 = 3;

/// Beyond this the chance of a switch is smaller than one draw of 64 bits can tell from none.
pub const MAX_STICKINESS: u32 = 63;

/// Waits on a condition variable, or parks, that may end spuriously, per execution. std allows any
/// number; one is enough to show that a condition is not checked again.
pub const DEFAULT_SPURIOUS_WAKEUPS: u32 = 1;

/// Weak compare-exchanges that may fail spuriously, per execution.
pub const DEFAULT_WEAK_FAILURES: u32 = 1;

/// Executions after which an exhaustive exploration gives up.
pub const DEFAULT_MAX_SCHEDULES: u64 = 10_000;

/// Bytes that the tree of what an exhaustive exploration has left may take: about twenty million steps.
pub const DEFAULT_MEMORY_BUDGET_BYTES: usize = 1 << 30;

/// The depth of PCT: most bugs need three ordering constraints or fewer.
pub const DEFAULT_DEPTH: u32 = 3;

/// The depths that idPCT takes in turn.
pub const DEFAULT_SHALLOWEST: u32 = 2;
/// The depths that idPCT takes in turn.
pub const DEFAULT_DEEPEST: u32 = 6;

/// Pairs of places that one race-directed execution is about, at most.
pub const DEFAULT_CONSTRAINTS: u32 = 3;

/// Delays in one execution of delay bounding, at most.
pub const DEFAULT_DELAYS: u32 = 3;
