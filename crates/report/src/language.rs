//! The language of the program that a record is of: what its reports call things.

use serde::{Deserialize, Serialize};

use crate::record::{Details, Record};

/// A language that programs under test are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Where a record does not say.
    #[default]
    Rust,
    /// Exceptions instead of panics, `with` instead of guards, pytest instead of cargo.
    Python,
}

/// What Python's front end calls the thread of an event loop, on which one of its tasks stands still.
pub(crate) const EVENT_LOOP: &str = "event loop";

impl Language {
    pub(crate) fn is_rust(&self) -> bool {
        *self == Language::Rust
    }

    /// What a task has done that did not end well.
    pub(crate) fn panicked(self) -> &'static str {
        match self {
            Language::Rust => "panicked",
            Language::Python => "raised an exception",
        }
    }

    /// Beside the step in which it does.
    pub(crate) fn panics(self) -> &'static str {
        match self {
            Language::Rust => "panics",
            Language::Python => "raises",
        }
    }

    /// What may decide that is not under control.
    pub(crate) fn decides(self) -> &'static str {
        match self {
            Language::Rust => {
                "the order of a hash map with random state, real\n\
                 time, real randomness, or a static that keeps its value from one execution to the next."
            }
            Language::Python => {
                "the order of a set, which is that of\n\
                 addresses where objects have no hash of their own, and of texts another one in each process;\n\
                 `id()`; real time, real randomness, or a global that keeps its value from one execution to the next."
            }
        }
    }

    /// What it calls a kind of resource.
    pub(crate) fn kind(self, kind: &str) -> &str {
        match (self, kind) {
            (Language::Python, "mutex") => "lock",
            (Language::Python, "condvar") => "condition",
            (Language::Python, "cell") => "variable",
            _ => kind,
        }
    }

    /// What it calls things of its library that are made of locks, by the name that a record gives to what is inside:
    /// `Event`, or `Event._flag` of a part.
    pub(crate) fn made_of_locks(self, name: &str) -> Option<&'static str> {
        if self != Language::Python {
            return None;
        }
        match name.split(['.', ' ']).next()? {
            "Event" => Some("event"),
            "Semaphore" | "BoundedSemaphore" => Some("semaphore"),
            "Barrier" => Some("barrier"),
            "Queue" | "LifoQueue" | "PriorityQueue" | "SimpleQueue" => Some("queue"),
            _ => None,
        }
    }

    /// The name of such a thing without its class, if the program has one for it: `jobs` of `Queue jobs`.
    pub(crate) fn own_name(self, name: &str) -> &str {
        let own = name.split_once(' ').filter(|_| self.made_of_locks(name).is_some());
        own.map_or(name, |(_, own)| own)
    }

    /// Whether something of that name has two ends, at which tasks send and receive.
    pub(crate) fn is_connection(self, name: &str) -> bool {
        let words = ["socket pair ", "connection ", "address ", "pipe "];
        self == Language::Python && words.iter().any(|word| name.starts_with(word))
    }

    /// Whether it is the [`EVENT_LOOP`].
    pub(crate) fn is_event_loop(self, name: &str) -> bool {
        self == Language::Python && name == EVENT_LOOP
    }

    /// What it calls an operation.
    pub(crate) fn verb(self, operation: &str) -> &str {
        match (self, operation) {
            (Language::Python, "lock") => "acquire",
            (Language::Python, "try_lock") => "try to acquire",
            (Language::Python, "unlock") => "release",
            (Language::Python, "read cell" | "read parts") => "read",
            (Language::Python, "write cell" | "write parts") => "write",
            _ => operation,
        }
    }
}

impl Record {
    /// What went wrong, in a word or two.
    pub(crate) fn kind_in_words(&self) -> &str {
        match (self.meta.language, &self.finding.details) {
            (Language::Python, Details::Panic { .. }) if self.is_broken_invariant() => "broken invariant",
            (Language::Python, Details::Panic { .. }) => "exception",
            _ => &self.finding.kind,
        }
    }

    /// Whether what went wrong is what the program was held against in the end, and no exception of its tasks. Before
    /// any was spawned there was nothing to hold it against.
    pub fn is_broken_invariant(&self) -> bool {
        let finding = &self.finding;
        // Files that were written before say so by the message alone.
        let is_assertion = |said: bool| said || finding.message.starts_with(ASSERTION);
        let by_main = self.tasks.get(finding.task as usize).is_some_and(|task| task.path == "0");
        let spawned = self.tasks.iter().any(|task| task.path.starts_with("0."));
        self.meta.language == Language::Python
            && matches!(finding.details, Details::Panic { is_assertion: said, .. } if is_assertion(said))
            && by_main
            && spawned
    }

    /// The first line of the message, as a sentence about the failing task goes on.
    pub(crate) fn failing_how(&self) -> String {
        let message = self.finding.message.lines().next().unwrap_or_default();
        match self.meta.language {
            _ if self.is_broken_invariant() => self.invariant().lines().next().unwrap_or_default().to_owned(),
            Language::Rust => format!("panics: {message}"),
            Language::Python => format!("raises {message}"),
        }
    }

    /// What a broken invariant says: its message, if it has one.
    pub(crate) fn invariant(&self) -> String {
        let message = self.finding.message.strip_prefix(ASSERTION).unwrap_or(&self.finding.message);
        match message.trim_start_matches(':').trim() {
            "" => "the invariant does not hold".to_owned(),
            message => message.to_owned(),
        }
    }
}

const ASSERTION: &str = "AssertionError";
