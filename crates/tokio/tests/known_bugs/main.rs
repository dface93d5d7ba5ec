//! Bugs that others have had in public, as small as they can be, each with its fix beside it.
//!
//! Each is found by `auto` within its 1,000 executions; the fix is explored exhaustively.

mod explored;
mod fair_semaphore;
mod memoizer;
mod pool;
mod recursive_read;
mod two_waits_of_one_task;
mod wait_group;
