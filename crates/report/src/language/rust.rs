//! Rust: panics, guards that are dropped, cargo.

mod names;
mod replay;
mod sketches;
mod statement;

use super::{EventLoop, Facts, Syntax, Table, Words};
use crate::record::{Place, TURN};
use crate::source::Sources;
use crate::source::statement::{Statement, is_assertion};

pub(super) static TABLE: Table = Table {
    name: "rust",
    comment: "//",
    words: Words {
        failure: ("PANIC", "panicked"),
        kind_of_failure: None,
        panicked: "panicked",
        panics: "panics",
        panics_how: "panics:",
        panicked_how: "panicked:",
        panicked_with: "panicked with",
        decides: "the order of a hash map with random state, real\n\
                  time, real randomness, or a static that keeps its value from one execution to the next.",
        no_choice: "So the test shows no more than an ordinary one. Most likely it spawns with `std::thread` or locks\n\
                    with `std::sync`: use `drawloom::thread` and `drawloom::sync` in the test and in what it tests.",
        received: "a message",
        kinds: &[],
        verbs: &[],
    },
    facts: Facts {
        columns: true,
        has_atomics: true,
        uses_are_acts: true,
        tells_waits: false,
        assertion: None,
        made_of_locks: &[],
        asks_for_items: &[".is_empty()", ".len()"],
        connections: &[],
        event_loop: Some(EventLoop {
            name: TURN,
            called: "the runtime's thread",
            instead_of_blocking: "lock.lock().await   // tokio::sync::Mutex; or tokio::task::spawn_blocking(…).await",
        }),
    },
    syntax: &Rust,
    replay: replay::REPLAY,
    sketch: sketches::sketch,
    encapsulate: sketches::encapsulate,
};

struct Rust;

impl Syntax for Rust {
    fn declares(&self) -> &'static str {
        "fn"
    }

    fn statement(&'static self, sources: &Sources<'_>, place: &Place) -> Option<Statement> {
        statement::around(self, sources, place)
    }

    fn name_at(&self, sources: &Sources<'_>, place: &Place) -> Option<String> {
        names::name_at(sources, place)
    }

    fn receiver_at(&self, sources: &Sources<'_>, place: &Place) -> Option<(String, bool)> {
        names::receiver_at(sources, place)
    }

    fn task_at(&self, sources: &Sources<'_>, place: &Place) -> Option<String> {
        names::task_at(sources, place)
    }

    fn is_condition(&self, statement: &Statement) -> bool {
        statement::is_condition(statement)
    }

    fn is_loop(&self, statement: &Statement) -> bool {
        statement.before.starts_with("for ")
    }

    fn is_assertion(&self, statement: &Statement) -> bool {
        is_assertion(&statement.before)
    }

    fn bound(&self, statement: &Statement) -> Vec<String> {
        statement::bound(statement)
    }

    fn is_returned(&self, statement: &Statement) -> bool {
        statement::is_returned(statement)
    }

    fn is_blind(&self, statement: &Statement) -> bool {
        statement::is_blind(statement)
    }

    fn uses_guarded(&self, statement: &Statement) -> bool {
        statement::uses_guarded(statement)
    }

    fn only_reads(&self, statement: &Statement) -> Option<bool> {
        statement::only_reads(statement)
    }
}
