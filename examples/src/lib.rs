//! Small programs with one concurrency bug each, beside the version without it.
//!
//! Every module is a program; the test of the same name in `tests/` explores both versions, and
//! asserts that the bug is found in one and that nothing is found in the other.
//!
//! | program | bug | found as |
//! |---|---|---|
//! | [`bank`] | an update is lost between two locks | panic of an assertion |
//! | [`philosophers`] | locks are taken in a circle | deadlock of three tasks |
//! | [`bounded_queue`] | `if` instead of `while` around a wait | panic in a consumer |
//! | [`spinner`] | two locks in two orders, while a third task spins | deadlock of two tasks of four |
//! | [`lazy_settings`] | the flag is raised before the value is there | panic of an assertion |
//! | [`pipeline`] | a forgotten sender keeps a receiver waiting | starvation |
//! | [`replication`] | a follower answers with what the leader has overwritten | not linearizable |
//! | [`quorum`] | a reader keeps to itself what only a minority knows yet | not linearizable |
//! | [`counter`] | the sum is read and written in two steps | not linearizable |
//! | [`slots`] | a queue that is not empty says that it is | not linearizable |

pub mod bank;
pub mod bounded_queue;
pub mod counter;
pub mod lazy_settings;
pub mod philosophers;
pub mod pipeline;
pub mod quorum;
pub mod replication;
pub mod slots;
pub mod spinner;

/// The code in the README and in the book compiles. Tests in it are run by `tests/pages.rs`.
#[cfg(doctest)]
pub mod documents {
    #[doc = include_str!("../../README.md")]
    pub mod readme {}
    #[doc = include_str!("../../book/src/tutorials/first-bug.md")]
    pub mod first_bug {}
    #[doc = include_str!("../../book/src/tutorials/clusters.md")]
    pub mod clusters {}
    #[doc = include_str!("../../book/src/tutorials/actors.md")]
    pub mod actors {}
    #[doc = include_str!("../../book/src/how-to/writing-tests.md")]
    pub mod writing_tests {}
    #[doc = include_str!("../../book/src/how-to/agents.md")]
    pub mod agents {}
    #[doc = include_str!("../../book/src/how-to/own-strategy.md")]
    pub mod own_strategy {}
    #[doc = include_str!("../../book/src/how-to/from-elixir.md")]
    pub mod from_elixir {}
    #[doc = include_str!("../../book/src/how-to/from-loom.md")]
    pub mod from_loom {}
    #[doc = include_str!("../../book/src/how-to/from-shuttle.md")]
    pub mod from_shuttle {}
    #[doc = include_str!("../../book/src/how-to/from-turmoil-and-madsim.md")]
    pub mod from_turmoil_and_madsim {}
}
