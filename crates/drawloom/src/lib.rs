//! Deterministic concurrency testing: std's threads and locks under a scheduler that you control.
//!
//! # The problem
//!
//! A test of concurrent code runs one interleaving of the many there are: the one that the machine
//! happens to choose that day. A bug that needs another one is not found by the test; it is found
//! later, by somebody else, once, and cannot be reproduced.
//!
//! Drawloom runs the test many times and decides, before each operation that another thread could
//! notice, which thread runs next. An interleaving becomes a value: it is chosen, recorded, printed with source
//! lines when something goes wrong, and replayed by pasting one line.
//!
//! # An example
//!
//! Take the names from `drawloom` instead of `std`, and write a test:
//!
//! ```
//! use drawloom::sync::{Arc, Mutex};
//! use drawloom::thread;
//!
//! fn deposit(account: &Mutex<u32>, amount: u32) {
//!     let balance = *account.lock().unwrap();
//!     *account.lock().unwrap() = balance + amount; // another deposit may have come in between
//! }
//!
//! // In a test module this function is a test of its own: #[drawloom::test] fn both_arrive() { … }
//! fn both_arrive() {
//!     let account = Arc::new(Mutex::new(100));
//!     let theirs = account.clone();
//!     let other = thread::spawn(move || deposit(&theirs, 20));
//!     deposit(&account, 10);
//!     other.join().unwrap();
//!     assert_eq!(*account.lock().unwrap(), 130, "a deposit was lost");
//! }
//!
//! let exploration = drawloom::explore(drawloom::Config::new(), both_arrive);
//! let found = &exploration.findings()[0];
//! assert_eq!(found.kind(), "panic");
//! assert!(found.message().contains("a deposit was lost"));
//! println!("{}", found.report()); // the interleaving, and the line that replays it
//! ```
//!
//! With the fix, `*account.lock().unwrap() += amount`, nothing is found:
//!
//! ```
//! # use drawloom::{sync::{Arc, Mutex}, thread};
//! drawloom::check(|| {
//!     let account = Arc::new(Mutex::new(100));
//!     let theirs = account.clone();
//!     let other = thread::spawn(move || *theirs.lock().unwrap() += 20);
//!     *account.lock().unwrap() += 10;
//!     other.join().unwrap();
//!     assert_eq!(*account.lock().unwrap(), 130);
//! });
//! ```
//!
//! # Two faces
//!
//! The cargo feature `controlled` decides what the names of this crate are. Without it
//! `drawloom::sync::Mutex` *is* [`std::sync::Mutex`]: a re-export, without a dependency, a branch or a
//! byte; [`task`] and [`channel`], which std has not, run on its threads. With it the types can be put under control, and still behave as std's outside an exploration,
//! so that ordinary `#[test]`s keep working. A crate turns it on for its tests alone:
//!
//! ```toml
//! [dependencies]
//! drawloom = "0.1"
//!
//! [dev-dependencies]
//! drawloom = { version = "0.1", features = ["controlled"] }
//! ```
//!
//! # How it works
//!
//! In an execution every thread is a *task*: a coroutine with a stack of its own, and all of them run
//! on one OS thread. A task stops before each operation on something shared, having announced what it
//! is about to do. A *strategy* picks one of the tasks that can continue; that one carries out its
//! operation and runs up to the next. So exactly one task runs at a time, and nothing is left to
//! chance: the choices are the whole difference between two executions.
//!
//! Blocking is modelled, not done: a task that waits for a lock is not picked until the lock is
//! granted. When nobody can continue, or when waits close to a circle although others still could, that
//! is a deadlock, and the report names each wait, the holder and the line that took the lock.
//!
//! An *exploration* is many executions, spread over the cores of the machine, with the same result as
//! on one. It ends at the first finding, unless told to [keep going](Config::keep_going).
//!
//! # What is found
//!
//! | finding | what it is |
//! |---|---|
//! | panic | a panic, a failed assertion included, that no `join` has received |
//! | deadlock | tasks that wait for each other, even while other tasks could continue |
//! | starvation | tasks waiting for an event that no running task can produce |
//! | data race | two accesses to an [`UnsafeCell`](cell::UnsafeCell) or [`Cell`](cell::Cell), at least one a write, that nothing orders |
//! | livelock | tasks that only yield to each other ([`progress_bound`](Config::progress_bound)) |
//! | step limit, task limit | an execution that was cut ([`max_steps`](Config::max_steps), [`max_tasks`](Config::max_tasks)) |
//! | out of time | the first execution was not over when [`timeout`](Config::timeout) was |
//! | stuck task | a task that blocks or spins in code that is not under control: no step for 10 s, or for [`timeout`](Config::timeout) |
//! | leak | locks, atomics, channels and cells that are never dropped, in a cycle of `Arc`s for instance ([`leaks`](Config::leaks)) |
//! | unjoined task | a task whose handle was dropped without a `join`, where that is asked for ([`unjoined`](Config::unjoined)) |
//! | divergence | replaying the same schedule gave a different result: the test depends on time, randomness, hash order or leftover global state |
//! | nothing explored | no execution ever had a choice: the shared state is not under control |
//!
//! # What is explored, and what is not
//!
//! - **Sequential consistency only.** All orderings of atomics are accepted, and treated as `SeqCst`.
//!   A bug that needs the reorderings of `Relaxed`, `Acquire` or `Release` is not found, and fences
//!   order nothing that is not ordered already.
//! - **Samples, unless there are few or you ask for all.** The strategies but `exhaustive` draw schedules, and
//!   `auto`, the default, goes through all of them where that takes little; an exploration
//!   that finds nothing says how many executions that were, and whether they were all there are.
//! - **What is imported from `std` is not seen.** A `std::sync::Mutex` in the program, or in a library
//!   that it uses, is no scheduling point. If one task holds it over a step and another one wants it, the second
//!   is stuck, and the report says where both are. A test in which nobody ever had a choice fails as "nothing explored".
//! - **[`Arc`](sync::Arc) is std's own.** Clones, drops and `strong_count` are no scheduling points.
//! - **Plain memory is no scheduling point**, except through [`cell::UnsafeCell`] and [`cell::Cell`].
//!   Data races are found among these. Every atomic operation counts as one that synchronises, a
//!   `Relaxed` one too; what is not under control, the counts of an `Arc` included, orders nothing.
//! - **Statics keep their values** from one execution to the next, as the process does; so does what
//!   the body captures. Only [`sync::OnceLock`], [`sync::LazyLock`], [`sync::Once`] and
//!   [`thread_local!`] start again in each. Executions that share a static run one after the other.
//! - **Real I/O, real time and real randomness are not controlled.** Clocks of [`time`] and draws of
//!   [`random`] are; a hash map with random state that decides what is done next is a divergence.
//! - What std *may* do and rarely does is explored as far as its budget allows: condition variables
//!   that wake spuriously ([`spurious_wakeups`](Config::spurious_wakeups)), weak compare-exchanges
//!   that fail ([`weak_failures`](Config::weak_failures)), timeouts that fire before anything else
//!   happens ([`clock`](Config::clock)).
//!
//! # Limits
//!
//! Everything has one, each with a default that suits a unit test: 1,000 executions, 1,000,000 steps
//! and 100,000 tasks in each, 256 KiB of stack for a task (overflowing it is fatal, and says which
//! task did). [`Config`] has them all. The body runs many times, on whichever thread explores, so it
//! must be `Fn() + Send + Sync + 'static`; and an exploration cannot be started within another.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "actors")]
#[cfg_attr(not(feature = "controlled"), expect(dead_code, reason = "a backend for production is on its way"))]
pub mod actor;
#[cfg(feature = "controlled")]
pub mod cell;
mod chance;
pub mod channel;
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(all(feature = "controlled", feature = "crossbeam"))]
pub mod crossbeam;
#[cfg(feature = "controlled")]
pub mod explore;
#[cfg(feature = "controlled")]
pub mod future;
#[cfg(feature = "controlled")]
pub mod guard;
#[cfg(feature = "controlled")]
pub mod hint;
#[cfg(feature = "check")]
pub mod history;
#[cfg(feature = "controlled")]
mod label;
mod latch;
#[cfg(all(feature = "controlled", feature = "lazy_static"))]
pub mod lazy_static;
#[cfg(feature = "controlled")]
pub mod object;
#[cfg(all(feature = "controlled", feature = "once_cell"))]
pub mod once_cell;
#[cfg(all(feature = "controlled", feature = "parking_lot"))]
pub mod parking_lot;
mod prefer;
#[cfg(feature = "controlled")]
pub mod random;
mod received;
#[cfg(feature = "controlled")]
mod rt;
#[cfg(feature = "controlled")]
pub mod strategy;
#[cfg(feature = "controlled")]
pub mod sync;
pub mod task;
#[cfg(feature = "controlled")]
pub mod thread;
#[cfg(feature = "controlled")]
pub mod time;
mod until;
mod wait;

#[cfg(feature = "controlled")]
pub use drawloom_engine::config::{Clock, Config, ConfigError, Memory, Shrink, StrategySpec, Teardown, Until};
#[cfg(feature = "controlled")]
pub use drawloom_macros::test;
#[cfg(feature = "controlled")]
pub use drawloom_report::explain::Verification;
#[cfg(feature = "controlled")]
pub use explore::{Exploration, Failure, check, check_with, explore, explore_with, try_fix};
#[cfg(feature = "controlled")]
pub use label::{choose, label, name_task, yield_now};
pub use prefer::{Prefer, prefer};

/// How an exploration goes: what `#[drawloom::test(…)]` takes as arguments, as values.
///
/// ```
/// use drawloom::config::{Config, StrategySpec};
///
/// let config = Config::new().strategy(StrategySpec::Random).iterations(1_000);
/// assert_eq!(config, "random(iterations = 1000)".parse()?);
/// # Ok::<(), drawloom::config::ConfigError>(())
/// ```
#[cfg(feature = "controlled")]
pub mod config {
    pub use drawloom_engine::config::{Clock, Config, ConfigError, Memory, Shrink, StrategySpec, Teardown, Until};
}

/// What drawloom adds to std's modules. Everything else in [`sync`], [`thread`], [`cell`], [`hint`] and [`time`] has std's name and
/// meaning.
///
/// ```
/// use drawloom::ext::Latch;
/// use drawloom::sync::Arc;
/// use drawloom::thread;
///
/// drawloom::check(|| {
///     let started = Arc::new(Latch::new(2));
///     let theirs = started.clone();
///     let worker = thread::spawn(move || theirs.count_down());
///     started.count_down();
///     started.wait(); // until both have counted down
///     worker.join().unwrap();
/// });
/// ```
pub mod ext {
    #[doc(inline)]
    pub use crate::cell::UnsafeCellExt;
    #[doc(inline)]
    pub use crate::hint::{Atomic, spin_until};
    #[doc(inline)]
    pub use crate::latch::Latch;
}

/// What the expansion of `#[drawloom::test]` calls.
#[cfg(feature = "controlled")]
#[doc(hidden)]
pub mod __private {
    pub use crate::__this_crate as this_crate;
    pub use crate::explore::{Outcome, run_foreign_test, run_test};
    pub use drawloom_explore::{Crate, Target};
}

/// The crate that is being compiled, as cargo describes it to the compiler: a binary has a name of its own, and integration
/// tests have a folder for their files.
#[cfg(feature = "controlled")]
#[doc(hidden)]
#[macro_export]
macro_rules! __this_crate {
    () => {
        ::core::option_env!("CARGO_MANIFEST_DIR").map(|manifest| $crate::__private::Crate {
            manifest,
            package: ::core::option_env!("CARGO_PKG_NAME"),
            target: match (::core::option_env!("CARGO_TARGET_TMPDIR"), ::core::option_env!("CARGO_BIN_NAME")) {
                (Some(_), _) => $crate::__private::Target::Test,
                (None, Some(_)) => $crate::__private::Target::Other,
                (None, None) => $crate::__private::Target::Lib,
            },
        })
    };
}

#[cfg(not(feature = "controlled"))]
#[path = "cell/access.rs"]
mod access;
#[cfg(not(feature = "controlled"))]
#[path = "production/object.rs"]
mod object;
#[cfg(not(feature = "controlled"))]
mod production;
#[cfg(not(feature = "controlled"))]
#[path = "production/rt.rs"]
mod rt;
#[cfg(not(feature = "controlled"))]
pub use production::*;
