//! Parity with std: every body here is compiled twice, once with std's names and once with ours, and
//! must come to the same: under real std, with our types outside an exploration, and in every
//! execution under control.
//!
//! `covers` names the public items that a body exercises; the table in `book/src/reference/std-parity.md` is made
//! from these lists and checked by `table.rs`.

/// Compiles each body against std and against drawloom, and compares what they come to.
macro_rules! parity {
    ($($(#[$meta:meta])* $name:ident covers [$($item:literal),* $(,)?] $body:block)*) => {
        mod under_std {
            #[allow(unused_imports)]
            use std::{self as face, cell, hint, sync, thread, time};
            $(pub(super) fn $name() -> String $body)*
        }
        mod under_control {
            #[allow(unused_imports)]
            use drawloom::{self as face, cell, hint, sync, thread, time};
            $(pub(super) fn $name() -> String $body)*
        }
        $(
            #[test]
            $(#[$meta])*
            fn $name() {
                crate::compare(stringify!($name), under_std::$name, under_control::$name);
            }
        )*
        /// The items that each test of this file exercises.
        pub(crate) const COVERS: &[(&str, &[&str])] = &[$((stringify!($name), &[$($item),*])),*];
    };
}

/// The files of bodies. The table knows of those that are listed here, and of no others.
macro_rules! files {
    ($($name:ident)*) => {
        $(mod $name;)*
        const FILES: &[(&str, &[(&str, &[&str])])] = &[$((stringify!($name), $name::COVERS)),*];
    };
}

files! {
    arc
    atomic
    barrier
    cell
    condvar
    hint
    impls
    lazy_lock
    mpsc
    mutex
    newer
    once
    once_lock
    rwlock
    scope
    thread
    thread_local
    time
}

mod table;

/// Executions under control for each body.
const EXECUTIONS: u64 = 50;

fn compare(name: &'static str, under_std: fn() -> String, under_control: fn() -> String) {
    let expected = under_std();
    assert_eq!(under_control(), expected, "{name}: outside an exploration it must be std");
    let config = format!(
        "random(iterations = {EXECUTIONS}), threads = 1, leaks = false, \
         spurious_wakeups = 0, weak_failures = 0"
    );
    let exploration = drawloom::explore(config.parse().expect("a valid configuration"), move || {
        let found = under_control();
        assert_eq!(found, expected, "{name}: under control it must come to what std comes to");
    });
    nothing_wrong(name, &exploration);
}

/// Fails on any finding but that a body had no choice: most have only one task.
fn nothing_wrong(name: &str, exploration: &drawloom::Exploration) {
    let wrong = exploration.findings().iter().find(|failure| failure.finding.kind.word() != "nothing explored");
    if let Some(failure) = wrong {
        panic!("{name}: {:?}", failure.finding);
    }
}
