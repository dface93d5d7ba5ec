//! Programs of the literature with the numbers of their classes. Independent tools agree on these numbers, or they are closed
//! forms.
//!
//! The one list for the tests of the engine, for those of the public API, and for the benchmarks beside other libraries.

/// A program, and what is known of it.
pub struct Row {
    pub name: &'static str,
    /// In the language of the engine's tests.
    pub text: &'static str,
    pub classes: usize,
    /// Classes that end with blocked tasks.
    pub blocked: usize,
    /// All interleavings; 0 if there are too many to run each of them.
    pub interleavings: u64,
    pub cost: Cost,
}

/// How long a debug build takes to explore a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    Small,
    /// Little on the engine alone, a good part of a second on the public API.
    Medium,
    Large,
    /// Little; but the public API has no such program.
    Engine,
}

macro_rules! rows {
    ($($name:literal $classes:literal $blocked:literal $interleavings:literal $cost:ident)*) => {
        &[$(Row {
            name: $name,
            text: include_str!(concat!($name, ".txt")),
            classes: $classes,
            blocked: $blocked,
            interleavings: $interleavings,
            cost: Cost::$cost,
        }),*]
    };
}

/// The programs of these costs.
pub fn rows(costs: &'static [Cost]) -> impl Iterator<Item = &'static Row> + Clone {
    ALL.iter().filter(|row| costs.contains(&row.cost))
}

const ALL: &[Row] = rows! {
    "sb" 3 0 6 Small
    "mp" 3 0 6 Small
    "iriw" 15 0 180 Small
    "readers-8" 256 0 0 Small
    "floatread-3" 24 0 24 Small
    "floatread-5" 720 0 720 Medium
    "lastwrite-4" 24 0 24 Small
    "lastwrite-6" 720 0 720 Medium
    "co22w-3" 90 0 90 Small
    "redco-3" 560 0 560 Medium
    "lastzero-5" 64 0 0 Small
    "indexer-11" 1 0 0 Small
    "indexer-12" 8 0 0 Small
    "filesystem-14" 2 0 0 Small
    "sigma-3" 15 0 1386 Small
    "casrot-4" 14 0 24 Small
    "casrot-6" 144 0 720 Small
    "binc-4" 576 0 2520 Medium
    "faa-3-2" 90 0 90 Small
    "faa-6-1" 720 0 720 Medium
    "ninc-2-1" 4 0 6 Small
    "ninc-2-2" 34 0 70 Small
    "ninc-2-3" 328 0 924 Small
    "ninc-3-1" 36 0 90 Small
    "ninc-4-1" 576 0 2520 Medium
    "ninclock-3-2" 90 0 102204 Small
    "mutex-3-2" 90 0 2898 Small
    "account-3" 576 0 2520 Medium
    "fib-2" 19 0 924 Small
    "fib-3" 141 0 48620 Small
    "ctrlflow-1" 5 0 69 Small
    "ctrlflow-2" 18 0 2676 Small
    "ctrlflow-3" 90 0 178416 Small
    "ssb-4" 8 0 30240 Small
    "ssb-8" 16 0 0 Small
    "peterson-1" 14 0 362 Small
    "dekker-1" 10 0 204 Small
    "szymanski-1" 103 0 652 Small
    "lamport" 32 16 14329 Small
    "philo-2" 3 1 14 Small
    "philo-3" 7 1 1239 Small
    "philo-4" 15 1 0 Small
    "philo-5" 31 1 0 Small
    "philook-5" 30 0 0 Small
    "stack-3" 20 0 7288 Small
    "rw-3-2" 54 0 460884 Small
    "sleepers-3" 2 0 0 Engine
    "prodcons-2-2-1" 6 0 230 Small
    "prodcons-3-1-1" 6 0 84 Small
    "prodcons-3-2-2" 90 0 36756 Small
    "prodcons2-4-2" 144 0 7728 Engine
    "tryrecv-2-2" 8 0 12 Small
    "cvbuf-1" 2 0 11 Small
    "cvbuf-3" 32 0 23627 Small
    "choose-3" 48 0 720 Small
    "history-2-1" 3 0 6 Engine
    "history-2-2" 19 0 70 Engine
    "history-2-3" 141 0 924 Engine
    "history-3-1" 19 0 90 Engine
    "history-4-1" 207 0 2520 Engine
    "readers-13" 8192 0 0 Large
    "floatread-7" 40320 0 40320 Large
    "co22w-4" 2520 0 2520 Large
    "redco-5" 16632 0 16632 Large
    "lastzero-10" 3328 0 0 Large
    "indexer-13" 64 0 0 Large
    "filesystem-16" 8 0 0 Small
    "filesystem-18" 32 0 0 Large
    "sigma-5" 945 0 0 Large
    "casw-4" 1200 0 2520 Large
    "ninc-3-2" 7134 0 34650 Large
    "ninclock-4-2" 2520 0 0 Large
    "fib-4" 1107 0 0 Large
    "fibmain-3" 1698 0 0 Large
    "expbug-1" 1955 0 0 Large
    "expbug-2" 9326 0 0 Large
    "ssb-12" 24 0 0 Large
    "peterson-2" 2420 0 0 Large
    "dekker-2" 1599 0 0 Large
    "szymanski-2" 22945 0 0 Large
    "stack-6" 924 0 0 Large
};
