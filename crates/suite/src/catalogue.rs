//! What is known of each program: its bug, its size, and what others need to find the bug.

use std::sync::OnceLock;

use drawloom::{Config, Exploration, StrategySpec};

use crate::programs::{BODIES, Body};

/// What kind of mistake a program makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Tasks wait for each other.
    Deadlock,
    /// Steps come in an order that somebody did not think of.
    OrderViolation,
    /// What belongs together is torn apart by a step of another task.
    AtomicityGap,
    /// Something is looked at, and has changed when it is acted upon.
    CheckThenAct,
    /// Two read-modify-writes, of which one is lost.
    LostUpdate,
    /// It fails in every execution: a smoke test.
    Always,
}

impl Bug {
    fn parse(word: &str) -> Option<Bug> {
        use Bug::{Always, AtomicityGap, CheckThenAct, Deadlock, LostUpdate, OrderViolation};
        let all = [Deadlock, OrderViolation, AtomicityGap, CheckThenAct, LostUpdate, Always];
        all.into_iter().find(|bug| format!("{bug:?}") == word)
    }
}

/// The columns of [`Program::expected`], as configurations.
pub const COLUMNS: [&str; 7] = ["random", "pct(depth = 3)", "pct(depth = 10)", "pos", "urw", "surw", "race_directed"];

/// A program of the suite, and what is known of it.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its two versions.
    pub body: Body,
    /// Tasks, main included.
    pub tasks: u32,
    /// Steps of the longest execution, by the rules of the suite; not told for programs without a bound.
    pub steps: Option<u32>,
    /// What is wrong with it.
    pub bug: Bug,
    /// The class that a report should name; two with `|` between, if it has two bugs.
    pub class: &'static str,
    /// The fewest preemptions of a schedule that fails.
    pub preemptions: u32,
    /// Classes of equivalent executions, and how many of them fail, where they have been counted.
    pub classes: Option<(u64, u64)>,
    /// Mean schedules to the first bug, for each of [`COLUMNS`], from a simulator in which a lock can be
    /// requested only while it is free. None: never, or not measured.
    pub expected: [Option<f64>; COLUMNS.len()],
    /// A schedule that fails, where the bug is too rare to be looked for each time.
    pub schedule: Option<&'static str>,
}

impl Program {
    /// The program of that name.
    pub fn named(name: &str) -> Option<&'static Program> {
        catalogue().iter().find(|program| program.body.name == name)
    }

    /// Shows the bug: explores with `config`, or replays the schedule that is known to fail.
    pub fn show(&self, config: Config) -> Exploration {
        let config = match self.schedule {
            Some(token) => config.strategy(StrategySpec::Replay { token: token.to_owned(), lenient: false }),
            None => config,
        };
        drawloom::explore(config, self.body.buggy)
    }

    /// What the simulator needs with the strategy that is written as `strategy`.
    pub fn expected(&self, strategy: &str) -> Option<f64> {
        let column = COLUMNS.iter().position(|column| *column == strategy)?;
        self.expected[column]
    }
}

/// All programs, the smoke tests last.
pub fn catalogue() -> &'static [Program] {
    static CATALOGUE: OnceLock<Vec<Program>> = OnceLock::new();
    CATALOGUE.get_or_init(|| TABLE.lines().filter(|line| !line.starts_with('#')).map(row).collect())
}

/// `expected` is the table of the simulator, see its first lines.
const TABLE: &str = include_str!("catalogue.txt");

fn row(line: &'static str) -> Program {
    let words: Vec<&'static str> = line.split_whitespace().collect();
    let body = BODIES.iter().find(|body| body.name == words[0]).copied();
    let number = |word: &str| (word != "-").then(|| word.parse::<f64>().expect("a number"));
    let whole = |word: &str| number(word).map(|n| n as u64);
    let mut expected = [None; COLUMNS.len()];
    for (expected, word) in expected.iter_mut().zip(&words[8..]) {
        *expected = number(word);
    }
    Program {
        body: body.expect("each row is a program"),
        tasks: whole(words[1]).expect("tasks are counted") as u32,
        steps: whole(words[2]).map(|steps| steps as u32),
        bug: Bug::parse(words[3]).expect("a kind of bug"),
        class: words[4],
        preemptions: whole(words[5]).expect("preemptions are counted") as u32,
        classes: whole(words[6]).zip(whole(words[7])),
        expected,
        schedule: words.get(8 + COLUMNS.len()).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_in_the_catalogue_once() {
        let names: Vec<_> = catalogue().iter().map(|program| program.body.name).collect();
        assert_eq!(names, BODIES.iter().map(|body| body.name).collect::<Vec<_>>());
    }
}
