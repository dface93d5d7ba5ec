//! The programs that are measured, each written once.
//!
//! A comparison is worth nothing if the sides run different programs. So the bodies live in
//! one macro over the API that all libraries share, std's, and a side is one line of
//! `programs!`. A program added to the macro and to [`Workload`] is added for everyone.

use std::fmt;
use std::str::FromStr;

/// What every task of a program does in its loop; one turn of the loop is one *op*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Lock one shared mutex, add one, unlock.
    Lock,
    /// `fetch_add` on one shared atomic.
    Atomic,
}

impl fmt::Display for Workload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Workload::Lock => "lock",
            Workload::Atomic => "atomic",
        })
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Workload::Lock, Workload::Atomic]
            .into_iter()
            .find(|workload| workload.to_string() == text)
            .ok_or_else(|| format!("no workload `{text}`; there are lock and atomic"))
    }
}

/// A workload with its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// What each task does.
    pub workload: Workload,
    /// Tasks besides the one that spawns and joins them.
    pub tasks: usize,
    /// Ops of each task.
    pub ops_per_task: usize,
}

impl Program {
    /// The smallest test anybody writes. What it costs is what an execution costs before
    /// the program has done anything: spawning, joining, resetting, choosing.
    pub const SMALLEST: Program = Program::new(Workload::Lock, 2, 2);

    /// Every workload with few and with many tasks. Long enough that what an execution costs by
    /// itself vanishes in what its ops cost, and far from any default limit on steps.
    pub const LOOPS: [Program; 4] = [
        Program::new(Workload::Lock, 2, 1_000),
        Program::new(Workload::Lock, 8, 250),
        Program::new(Workload::Atomic, 2, 1_000),
        Program::new(Workload::Atomic, 8, 250),
    ];

    /// A program of `tasks` tasks that do `ops_per_task` ops each.
    pub const fn new(workload: Workload, tasks: usize, ops_per_task: usize) -> Self {
        Program { workload, tasks, ops_per_task }
    }

    /// Ops of one execution.
    pub fn ops(&self) -> u64 {
        (self.tasks * self.ops_per_task) as u64
    }
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {} tasks × {}", self.workload, self.tasks, self.ops_per_task)
    }
}

macro_rules! programs {
    ($($(#[$attribute:meta])* mod $side:ident uses $library:ident;)+) => {$(
        $(#[$attribute])*
        #[doc = concat!("The programs over `", stringify!($library), "`.")]
        pub mod $side {
            use super::{Program, Workload};
            use $library::sync::atomic::{AtomicU64, Ordering};
            use $library::sync::{Arc, Mutex};
            use $library::thread;

            /// Runs the program once; inside an exploration this is one execution.
            pub fn run(program: Program) {
                match program.workload {
                    Workload::Lock => lock(program),
                    Workload::Atomic => atomic(program),
                }
            }

            fn lock(Program { tasks, ops_per_task, .. }: Program) {
                let counter = Arc::new(Mutex::new(0u64));
                spawn_and_join(tasks, move || {
                    for _ in 0..ops_per_task {
                        *counter.lock().unwrap() += 1;
                    }
                });
            }

            fn atomic(Program { tasks, ops_per_task, .. }: Program) {
                let counter = Arc::new(AtomicU64::new(0));
                spawn_and_join(tasks, move || {
                    for _ in 0..ops_per_task {
                        counter.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }

            fn spawn_and_join(tasks: usize, body: impl Fn() + Clone + Send + 'static) {
                let handles: Vec<_> = (0..tasks).map(|_| thread::spawn(body.clone())).collect();
                for handle in handles {
                    handle.join().unwrap();
                }
            }
        }
    )+};
}

programs! {
    #[cfg(feature = "drawloom-side")]
    mod drawloom_side uses drawloom;
    mod shuttle_side uses shuttle;
    mod loom_side uses loom;
}
