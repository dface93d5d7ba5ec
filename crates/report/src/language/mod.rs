//! The language of the program that a record is of: a table of all that a report takes from it.
//!
//! Whoever writes a front end for another language adds a table beside [`RUST`] and [`PYTHON`], a file or a folder of
//! its own, and lists it in `KNOWN`. No other file of this crate knows a language by its name.

#[cfg(feature = "c")]
mod c;
#[cfg(feature = "python")]
mod python;
mod rust;
mod sketch;
mod syntax;

use std::fmt;
use std::ops::Deref;

pub(crate) use sketch::{Awaited, Encapsulation, Sketch};
pub(crate) use syntax::Syntax;

use crate::json::{Fault, Readable, Reader, Written};
use crate::record::{Details, Meta, Record};

/// Rust: panics, guards that are dropped, cargo.
pub const RUST: Language = Language(&rust::TABLE);
/// Python: exceptions, `with`, pytest.
#[cfg(feature = "python")]
pub const PYTHON: Language = Language(&python::TABLE);
/// C and C++: functions, returned statuses, a program that is built anew by whoever wrote it.
#[cfg(feature = "c")]
pub const C: Language = Language(&c::TABLE);

/// The languages that a trace file may name.
const KNOWN: &[Language] = &[
    RUST,
    #[cfg(feature = "python")]
    PYTHON,
    #[cfg(feature = "c")]
    C,
];

/// A language that programs under test are written in. A front end passes its own to the exploration.
#[derive(Clone, Copy)]
pub struct Language(&'static Table);

/// All that reports take from a language.
#[doc(hidden)]
pub struct Table {
    /// What trace files call it.
    pub(crate) name: &'static str,
    /// What begins a comment.
    pub(crate) comment: &'static str,
    pub(crate) words: Words,
    pub(crate) facts: Facts,
    /// How its source is read.
    pub(crate) syntax: &'static dyn Syntax,
    pub(crate) replay: Replay,
    /// The code of a fix.
    pub(crate) sketch: fn(&Sketch<'_>) -> Vec<String>,
    /// How it is kept from anybody that something is reached without its lock.
    pub(crate) encapsulate: fn(name: &str, lock: &str) -> Encapsulation,
}

/// What it calls things.
pub(crate) struct Words {
    /// The headline over a task that failed: its kind and its verb.
    pub(crate) failure: (&'static str, &'static str),
    /// The kind of such a finding, if it is not the engine's word.
    pub(crate) kind_of_failure: Option<&'static str>,
    /// What a task has done that did not end well.
    pub(crate) panicked: &'static str,
    /// Beside the step in which it does.
    pub(crate) panics: &'static str,
    /// Before the message, in three sentences: `panics: …`, `Task 0.1 panicked: …`, `task `0.1` panicked with `…``.
    pub(crate) panics_how: &'static str,
    pub(crate) panicked_how: &'static str,
    pub(crate) panicked_with: &'static str,
    /// What may decide that is not under control.
    pub(crate) decides: &'static str,
    /// Why an exploration may have had no choice.
    pub(crate) no_choice: &'static str,
    /// What is received from a channel.
    pub(crate) received: &'static str,
    /// Kinds of resources and operations for which the engine has another word.
    pub(crate) kinds: &'static [(&'static str, &'static str)],
    pub(crate) verbs: &'static [(&'static str, &'static str)],
}

/// What holds of its programs, and of what their front end tells.
pub(crate) struct Facts {
    /// Whether places have columns.
    pub(crate) columns: bool,
    /// Whether an operation of the program can be atomic by itself.
    pub(crate) has_atomics: bool,
    /// Whether a use of an object says what it does ([`Act`](drawloom_engine::act::Act)).
    pub(crate) uses_are_acts: bool,
    /// Whether the front end tells of waits that begin without a step: of a coroutine, or at a socket.
    pub(crate) tells_waits: bool,
    /// The exception of a failed assertion; one of the main task at the end is an invariant that does not hold.
    pub(crate) assertion: Option<&'static str>,
    /// Things of its library that are made of locks: their class, and the word for it.
    pub(crate) made_of_locks: &'static [(&'static str, &'static str)],
    /// How it is asked whether a queue has something, in a line of source.
    pub(crate) asks_for_items: &'static [&'static str],
    /// How names begin of things with two ends, at which tasks send and receive.
    pub(crate) connections: &'static [&'static str],
    pub(crate) event_loop: Option<EventLoop>,
}

/// An event loop, on whose thread one of its tasks may stand still.
pub(crate) struct EventLoop {
    /// What the front end calls that thread, as a task and as a resource.
    pub(crate) name: &'static str,
    /// What reports call it.
    pub(crate) called: &'static str,
    /// The code that keeps it going while a task waits.
    pub(crate) instead_of_blocking: &'static str,
}

/// How an execution is replayed.
pub(crate) struct Replay {
    /// Whether the name of a trace file may stand for its token.
    pub(crate) takes_files: bool,
    /// A command of a stranger's trace file, made anew from checked parts; none if it is no known one.
    pub(crate) command: fn(&str) -> Option<String>,
    /// The line that replays a token where no command is known; `quoted` is the token, or a trace file, as a word for a
    /// shell.
    pub(crate) line: fn(&Meta, quoted: &str) -> String,
}

impl Language {
    /// The language of this name, if there is a table for it.
    pub(crate) fn named(name: &str) -> Option<Language> {
        KNOWN.iter().copied().find(|language| language.name == name)
    }

    /// The names of all, for messages.
    pub(crate) fn known() -> String {
        KNOWN.iter().map(|language| language.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether a trace file need not name it.
    pub fn is_default(&self) -> bool {
        *self == Language::default()
    }

    /// What it calls a kind of resource.
    pub(crate) fn kind(self, kind: &str) -> &str {
        word_for(self.0.words.kinds, kind).unwrap_or(kind)
    }

    /// What it calls an operation.
    pub(crate) fn verb(self, operation: &str) -> &str {
        word_for(self.0.words.verbs, operation).unwrap_or(operation)
    }

    /// What it calls things of its library that are made of locks, by the name that a record gives to what is inside:
    /// `Event`, or `Event._flag` of a part.
    pub(crate) fn made_of_locks(self, name: &str) -> Option<&'static str> {
        word_for(self.0.facts.made_of_locks, name.split(['.', ' ']).next()?)
    }

    /// The name of such a thing without its class, if the program has one for it: `jobs` of `Queue jobs`.
    pub(crate) fn own_name(self, name: &str) -> &str {
        let own = name.split_once(' ').filter(|_| self.made_of_locks(name).is_some());
        own.map_or(name, |(_, own)| own)
    }

    /// Whether something of that name has two ends, at which tasks send and receive.
    pub(crate) fn is_connection(self, name: &str) -> bool {
        self.0.facts.connections.iter().any(|word| name.starts_with(word))
    }

    /// Whether it is the thread of an [`EventLoop`].
    pub(crate) fn is_event_loop(self, name: &str) -> bool {
        self.event_loop_called(name).is_some()
    }

    /// What reports call it, if it is one.
    pub(crate) fn event_loop_called(self, name: &str) -> Option<&'static str> {
        self.0
            .facts
            .event_loop
            .as_ref()
            .filter(|event_loop| event_loop.name == name)
            .map(|event_loop| event_loop.called)
    }
}

fn word_for(table: &'static [(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == word).map(|(_, own)| *own)
}

impl Deref for Language {
    type Target = Table;

    fn deref(&self) -> &Table {
        self.0
    }
}

/// Where a record does not say.
impl Default for Language {
    fn default() -> Language {
        RUST
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Written for Language {
    fn write(&self, out: &mut String) {
        self.name.write(out);
    }
}

impl Readable for Language {
    fn read(from: &mut Reader<'_>) -> Result<Language, Fault> {
        let name = from.string()?;
        let unknown = || from.fault(format!("`{name}` is not one of the languages {}", Language::known()));
        Language::named(&name).ok_or_else(unknown)
    }
}

impl Record {
    /// Whether a resource is the thread of an [`EventLoop`].
    pub(crate) fn is_event_loop(&self, resource: Option<u32>) -> bool {
        let named = |resource: u32| self.resources.get(resource as usize)?.name.as_deref();
        resource.and_then(named).is_some_and(|name| self.meta.language.is_event_loop(name))
    }

    /// What went wrong, in a word or two.
    pub fn kind_in_words(&self) -> &str {
        match (self.meta.language.words.kind_of_failure, &self.finding.details) {
            (Some(_), Details::Panic { .. }) if self.is_broken_invariant() => "broken invariant",
            (Some(kind), Details::Panic { .. }) => kind,
            _ => &self.finding.kind,
        }
    }

    /// Whether what went wrong is what the program was held against in the end, and no exception of its tasks. Before
    /// any was spawned there was nothing to hold it against.
    pub fn is_broken_invariant(&self) -> bool {
        let finding = &self.finding;
        let Some(assertion) = self.meta.language.facts.assertion else { return false };
        // Files that were written before say so by the message alone.
        let is_assertion = |said: bool| said || finding.message.starts_with(assertion);
        let by_main = self.tasks.get(finding.task as usize).is_some_and(|task| task.path == "0");
        let spawned = self.tasks.iter().any(|task| task.path.starts_with("0."));
        matches!(finding.details, Details::Panic { is_assertion: said, .. } if is_assertion(said)) && by_main && spawned
    }

    /// The first line of the message, as a sentence about the failing task goes on.
    pub(crate) fn failing_how(&self) -> String {
        if self.is_broken_invariant() {
            return self.invariant().lines().next().unwrap_or_default().to_owned();
        }
        let message = self.finding.message.lines().next().unwrap_or_default();
        format!("{} {message}", self.meta.language.words.panics_how)
    }

    /// What a broken invariant says: its message, if it has one.
    pub(crate) fn invariant(&self) -> String {
        let message = self.finding.message.as_str();
        let message = self.meta.language.facts.assertion.and_then(|name| message.strip_prefix(name)).unwrap_or(message);
        match message.trim_start_matches(':').trim() {
            "" => "the invariant does not hold".to_owned(),
            message => message.to_owned(),
        }
    }
}
