//! The programs of the literature, as texts that one interpreter runs on every library.
//!
//! Texts, interpreter and numbers of classes are those of drawloom's own tests; a side is what it takes
//! to put the interpreter on a library.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use drawloom_engine::{ResourceKind, State, UNBOUNDED};
use shuttle::scheduler::DfsScheduler;

use self::instruction::Instruction;
use self::program::Program;
use self::published::{Cost, Row, rows};
use crate::measure::{cpu_time, process_cpu_clock};

mod drawloom_side;
mod loom_side;
mod shuttle_side;

#[path = "../../../crates/engine/tests/driver/program.rs"]
#[allow(dead_code, missing_docs)]
mod program;

#[path = "../../../crates/engine/tests/driver/instruction.rs"]
#[allow(dead_code, missing_docs)]
mod instruction;

#[path = "../../../crates/engine/tests/programs/published.rs"]
#[allow(dead_code, missing_docs)]
mod published;

/// Tasks that loom allows beside main.
const LOOMS_TASKS: usize = 4;

/// A program with its name and what is known of it.
pub struct Text {
    row: &'static Row,
    program: Arc<Program>,
}

/// A library that drawloom is put beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// loom, without bounds.
    Loom,
    /// shuttle's depth-first search.
    Shuttle,
}

/// How far a peer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// It has explored everything that it knows of.
    ToTheEnd {
        /// Executions made.
        executions: u64,
        /// CPU time taken.
        took: Duration,
    },
    /// It was given up.
    ToTheCap {
        /// Executions made until then.
        executions: u64,
    },
    /// It does not run the program to the end, for this reason.
    Nowhere(&'static str),
}

impl Text {
    /// All programs that drawloom's API can express.
    pub fn all() -> Vec<Text> {
        rows(&[Cost::Small, Cost::Medium, Cost::Large])
            .map(|row| Text { row, program: Arc::new(Program::parse(row.text)) })
            .collect()
    }

    /// What the program is called.
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// The classes of equivalent executions, from elsewhere.
    pub fn classes(&self) -> u64 {
        self.row.classes as u64
    }

    /// Explores the program with drawloom; the executions, which are its classes.
    ///
    /// # Panics
    ///
    /// If anything is left, if a class was explored twice or not at all, or if other classes fail than
    /// those in which tasks wait for ever.
    pub fn drawloom(&self) -> u64 {
        let config =
            format!("exhaustive(max_schedules = 1000000, resume = false), threads = 1, {}", crate::exhaust::PLAIN);
        let program = self.program.clone();
        let explored = drawloom::explore(config.parse().expect("a valid configuration"), move || {
            drawloom_side::interpreter::run(&program);
        });
        assert!(explored.exhausted(), "{}: {}", self.name(), explored.summary());
        let found = (explored.executions(), explored.failing_executions(), explored.redundant_executions());
        assert_eq!(
            found,
            (self.row.classes as u64, self.row.blocked as u64, 0),
            "{}: {}",
            self.name(),
            explored.summary()
        );
        explored.executions()
    }

    /// Explores the program with a peer, in a process of its own, for at most `cap` of CPU time.
    pub fn beside(&self, peer: Peer, cap: Duration) -> Came {
        if let Some(reason) = self.reason_against(peer) {
            return Came::Nowhere(reason);
        }
        let this = std::env::current_exe().expect("a running program has a file");
        let args = ["--peer", peer.word(), self.name(), &cap.as_millis().to_string()];
        let child = Command::new(this).args(args).output().expect("it can be started");
        let said = String::from_utf8_lossy(&child.stdout);
        let words: Vec<&str> = said.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
        match (words.first(), number(1), number(2)) {
            (Some(&"end"), Some(executions), Some(nanoseconds)) => {
                Came::ToTheEnd { executions, took: Duration::from_nanos(nanoseconds) }
            }
            (Some(&"cap"), Some(executions), _) => Came::ToTheCap { executions },
            _ if String::from_utf8_lossy(&child.stderr).contains("Model exceeded") => Came::Nowhere("too long"),
            // The interpreter's own assertions: the program is correct, so it did not hold where it does.
            _ if String::from_utf8_lossy(&child.stderr).contains("\nline ") => Came::Nowhere("false alarm"),
            _ => panic!("{}: {}", self.name(), String::from_utf8_lossy(&child.stderr)),
        }
    }

    /// The child's part of [`Text::beside`].
    pub fn run_beside(&self, peer: Peer, cap: Duration) {
        let executions = Arc::new(AtomicU64::new(0));
        let counted = executions.clone();
        let until = process_cpu_clock() + cap;
        let count = move || {
            let before = counted.fetch_add(1, Ordering::Relaxed);
            if before % 64 == 0 && process_cpu_clock() > until {
                println!("cap {before}");
                let _ = std::io::stdout().flush();
                std::process::exit(0);
            }
        };
        let program = self.program.clone();
        let (took, ()) = match peer {
            Peer::Loom => cpu_time(|| {
                loom::model::Builder::new().check(move || {
                    count();
                    loom_side::interpreter::run(&program);
                });
            }),
            Peer::Shuttle => cpu_time(|| {
                let runner = shuttle::Runner::new(DfsScheduler::new(None, false), shuttle::Config::default());
                runner.run(move || {
                    count();
                    shuttle_side::interpreter::run(&program);
                });
            }),
        };
        println!("end {} {}", executions.load(Ordering::Relaxed), took.as_nanos());
    }

    /// Why a peer cannot run the program to the end, as far as that is known beforehand.
    fn reason_against(&self, peer: Peer) -> Option<&'static str> {
        let mut instructions = self.program.threads.iter().flat_map(|thread| &thread.code);
        let is_bounded = |state| matches!(state, State::Channel(channel) if channel.capacity != UNBOUNDED);
        if self.row.blocked > 0 {
            Some("stops at the deadlock")
        } else if instructions.any(|(_, instruction)| matches!(instruction, Instruction::Choose { .. })) {
            Some("no data choices")
        } else if peer == Peer::Loom && self.program.threads.len() > LOOMS_TASKS {
            Some("too many threads")
        } else if peer == Peer::Loom
            && self.program.things.iter().any(|thing| thing.kind == ResourceKind::Channel && is_bounded(thing.state))
        {
            Some("no bounded channels")
        } else {
            None
        }
    }
}

impl Peer {
    /// Its name on a command line.
    pub fn word(self) -> &'static str {
        match self {
            Peer::Loom => "loom",
            Peer::Shuttle => "shuttle",
        }
    }

    /// The peer of that name.
    pub fn named(word: &str) -> Option<Peer> {
        [Peer::Loom, Peer::Shuttle].into_iter().find(|peer| peer.word() == word)
    }
}
