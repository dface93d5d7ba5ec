//! Python: exceptions instead of panics, `with` instead of guards, pytest instead of cargo.

mod containers;
mod names;
mod pieces;
mod replay;
mod sketches;
mod statement;

use super::{EventLoop, Facts, Syntax, Table, Words};
use crate::record::Place;
use crate::source::Sources;
use crate::source::statement::{Statement, is_assertion, is_condition};

pub(super) static TABLE: Table = Table {
    name: "python",
    comment: "#",
    words: Words {
        failure: ("EXCEPTION", "raised"),
        kind_of_failure: Some("exception"),
        panicked: "raised an exception",
        panics: "raises",
        panics_how: "raises",
        panicked_how: "raised",
        panicked_with: "raised",
        decides: "the order of a set, which is that of\n\
                  addresses where objects have no hash of their own, and differs between processes for strings;\n\
                  `id()`; real time, real randomness, or a global that keeps its value from one execution to the next.",
        no_choice: "So the test shows no more than an ordinary one: the workers share nothing that one of them changes.",
        received: "an item",
        kinds: &[("mutex", "lock"), ("condvar", "condition"), ("cell", "variable")],
        verbs: &[
            ("lock", "acquire"),
            ("try_lock", "try to acquire"),
            ("unlock", "release"),
            ("read cell", "read"),
            ("read parts", "read"),
            ("read several", "read"),
            ("write cell", "write"),
            ("write parts", "write"),
            ("write several", "write"),
        ],
    },
    facts: Facts {
        columns: false,
        has_atomics: false,
        uses_are_acts: false,
        tells_waits: true,
        assertion: Some("AssertionError"),
        made_of_locks: &[
            ("Event", "event"),
            ("Semaphore", "semaphore"),
            ("BoundedSemaphore", "semaphore"),
            ("Barrier", "barrier"),
            ("Queue", "queue"),
            ("LifoQueue", "queue"),
            ("PriorityQueue", "queue"),
            ("SimpleQueue", "queue"),
        ],
        asks_for_items: &[".empty()", ".qsize()"],
        connections: &["socket pair ", "connection ", "address ", "pipe "],
        event_loop: Some(EventLoop {
            name: "event loop",
            called: "the event loop",
            instead_of_blocking: "await asyncio.to_thread(…)   # or what asyncio has for it: asyncio.Queue, asyncio.Event",
        }),
    },
    syntax: &Python,
    replay: replay::REPLAY,
    sketch: sketches::sketch,
    encapsulate: sketches::encapsulate,
};

struct Python;

impl Syntax for Python {
    fn declares(&self) -> &'static str {
        "def"
    }

    /// A line is a statement.
    fn statement(&'static self, sources: &Sources<'_>, place: &Place) -> Option<Statement> {
        let line = sources.raw(&place.file, place.line)?;
        Some(Statement { syntax: self, before: String::new(), after: line.trim().to_owned(), end: ' ' })
    }

    fn name_at(&self, sources: &Sources<'_>, place: &Place) -> Option<String> {
        names::used_in(&sources.line(place)?)
    }

    fn container(&self, name: &str, lines: &mut dyn Iterator<Item = String>) -> Option<String> {
        containers::called(name, lines)
    }

    fn variable<'n>(&self, name: &'n str) -> &'n str {
        let whole = name.split('[').next().unwrap_or_default();
        whole.rsplit('.').next().unwrap_or_default()
    }

    fn begins_piece(&self, sources: &Sources<'_>, place: &Place) -> bool {
        pieces::begins_piece(&sources.line(place).unwrap_or_default())
    }

    fn first_of_piece(&self, sources: &Sources<'_>, place: &Place) -> Option<Place> {
        pieces::first_of_piece(sources, place)
    }

    fn in_piece(&self, sources: &Sources<'_>, place: &Place, names: &[String]) -> Option<Place> {
        pieces::in_piece(sources, place, names)
    }

    fn is_condition(&self, statement: &Statement) -> bool {
        is_condition(&statement.after)
    }

    fn is_loop(&self, statement: &Statement) -> bool {
        statement.after.starts_with("for ")
    }

    fn is_assertion(&self, statement: &Statement) -> bool {
        is_assertion(&statement.after)
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

    fn assigns(&self, statement: &Statement) -> bool {
        statement::assigns(statement)
    }

    fn calls(&self, statement: &Statement) -> bool {
        statement::calls(statement)
    }
}
