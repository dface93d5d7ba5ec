//! Programs of the literature with the numbers of their classes, on which independent tools agree.
//!
//! Also what `bench/` explores beside other libraries.

/// A program with its number of classes, and of those that end with tasks blocked.
pub struct Row {
    pub name: &'static str,
    pub text: &'static str,
    pub classes: u64,
    pub blocked: u64,
}

macro_rules! rows {
    ($($name:literal $classes:literal $blocked:literal)*) => {
        &[$(Row {
            name: $name,
            text: include_str!(concat!("../../../engine/tests/programs/", $name, ".txt")),
            classes: $classes,
            blocked: $blocked,
        }),*]
    };
}

/// Programs for a debug build.
pub const SMALL: &[Row] = rows! {
    "sb" 3 0
    "mp" 3 0
    "iriw" 15 0
    "readers-8" 256 0
    "floatread-3" 24 0
    "lastwrite-4" 24 0
    "co22w-3" 90 0
    "lastzero-5" 64 0
    "indexer-11" 1 0
    "indexer-12" 8 0
    "filesystem-14" 2 0
    "filesystem-16" 8 0
    "sigma-3" 15 0
    "casrot-4" 14 0
    "casrot-6" 144 0
    "faa-3-2" 90 0
    "ninc-2-1" 4 0
    "ninc-2-2" 34 0
    "ninc-2-3" 328 0
    "ninc-3-1" 36 0
    "ninclock-3-2" 90 0
    "mutex-3-2" 90 0
    "fib-2" 19 0
    "fib-3" 141 0
    "ctrlflow-1" 5 0
    "ctrlflow-2" 18 0
    "ctrlflow-3" 90 0
    "ssb-4" 8 0
    "ssb-8" 16 0
    "peterson-1" 14 0
    "dekker-1" 10 0
    "szymanski-1" 103 0
    "lamport" 32 16
    "philo-2" 3 1
    "philo-3" 7 1
    "philo-4" 15 1
    "philo-5" 31 1
    "philook-5" 30 0
    "stack-3" 20 0
    "rw-3-2" 54 0
    "prodcons-2-2-1" 6 0
    "prodcons-3-1-1" 6 0
    "prodcons-3-2-2" 90 0
    "tryrecv-2-2" 8 0
    "cvbuf-1" 2 0
    "cvbuf-3" 32 0
    "choose-3" 48 0
};

/// Programs that take a good part of a second each, or more, in a debug build.
pub const LARGE: &[Row] = rows! {
    "readers-13" 8192 0
    "floatread-5" 720 0
    "floatread-7" 40320 0
    "lastwrite-6" 720 0
    "co22w-4" 2520 0
    "redco-3" 560 0
    "redco-5" 16632 0
    "lastzero-10" 3328 0
    "indexer-13" 64 0
    "filesystem-18" 32 0
    "sigma-5" 945 0
    "casw-4" 1200 0
    "binc-4" 576 0
    "faa-6-1" 720 0
    "ninc-3-2" 7134 0
    "ninc-4-1" 576 0
    "ninclock-4-2" 2520 0
    "account-3" 576 0
    "fib-4" 1107 0
    "fibmain-3" 1698 0
    "expbug-1" 1955 0
    "expbug-2" 9326 0
    "ssb-12" 24 0
    "peterson-2" 2420 0
    "dekker-2" 1599 0
    "szymanski-2" 22945 0
    "stack-6" 924 0
};
