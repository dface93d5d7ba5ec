//! C and C++: calls instead of methods, statuses instead of exceptions, no command that everybody builds with.

mod names;
mod sketches;
mod statement;

use drawloom_engine::config::ENV_REPLAY;

use super::{Facts, Replay, Syntax, Table, Words};
use crate::record::Place;
use crate::source::Sources;
use crate::source::statement::{Statement, is_assertion, is_condition};

pub(super) static TABLE: Table = Table {
    name: "c",
    comment: "//",
    words: Words {
        failure: ("FAILURE", "failed"),
        kind_of_failure: Some("failure"),
        panicked: "failed",
        panics: "fails",
        panics_how: "fails:",
        panicked_how: "failed:",
        panicked_with: "failed with",
        decides: "an address that is compared or hashed,\n\
                  uninitialised memory, real time, real randomness, or a global that keeps its value from one execution to the next.",
        no_choice: "So the test shows no more than an ordinary one. Most likely it calls `pthread_create` and the like without\n\
                    `#include <drawloom/pthread.h>`, or shares nothing that is under control.",
        received: "a message",
        kinds: &[("once", "once")],
        verbs: &[("call_once", "enter once"), ("initialised", "finish once"), ("get", "look at once")],
    },
    facts: Facts {
        columns: false,
        has_atomics: true,
        uses_are_acts: false,
        tells_waits: false,
        assertion: None,
        made_of_locks: &[],
        asks_for_items: &[],
        connections: &[],
        event_loop: None,
    },
    syntax: &C,
    replay: Replay {
        takes_files: true,
        command: |_| None,
        line: |_, quoted| format!("{ENV_REPLAY}={quoted}   # in the environment of the program"),
    },
    sketch: sketches::sketch,
    encapsulate: sketches::encapsulate,
};

struct C;

impl Syntax for C {
    fn declares(&self) -> &'static str {
        ""
    }

    /// A line is a statement.
    fn statement(&'static self, sources: &Sources<'_>, place: &Place) -> Option<Statement> {
        let line = sources.raw(&place.file, place.line)?;
        Some(Statement { syntax: self, before: String::new(), after: line.trim().to_owned(), end: ' ' })
    }

    fn name_at(&self, sources: &Sources<'_>, place: &Place) -> Option<String> {
        names::used_in(&sources.raw(&place.file, place.line)?)
    }

    fn task_at(&self, sources: &Sources<'_>, place: &Place) -> Option<String> {
        names::entry_in(&sources.raw(&place.file, place.line)?)
    }

    fn is_condition(&self, statement: &Statement) -> bool {
        is_condition(&statement.after)
    }

    fn is_loop(&self, statement: &Statement) -> bool {
        statement.after.starts_with("for ") || statement.after.starts_with("for(")
    }

    fn is_assertion(&self, statement: &Statement) -> bool {
        is_assertion(&statement.after) || statement.after.starts_with("drawloom_assert")
    }

    fn bound(&self, statement: &Statement) -> Vec<String> {
        statement::bound(statement)
    }

    fn is_returned(&self, statement: &Statement) -> bool {
        statement.after.starts_with("return")
    }

    fn is_blind(&self, statement: &Statement) -> bool {
        statement::is_blind(statement)
    }

    fn assigns(&self, statement: &Statement) -> bool {
        statement::assigned(&statement.after).is_some()
    }

    fn calls(&self, statement: &Statement) -> bool {
        statement::assigned(&statement.after).is_none() && statement.after.contains('(')
    }
}
