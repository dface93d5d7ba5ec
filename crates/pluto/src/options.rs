//! What was asked for: by the compiler, and by variables of the environment, which say otherwise.

use crate::foreign::Word;

/// How a test is explored, by the compiler's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    Sequential,
    RoundRobin,
    Random,
    Exhaustive,
}

/// What a test is explored with.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) strategy: Strategy,
    pub(crate) seed: u64,
    /// Schedules of `random`.
    pub(crate) iterations: u64,
    /// Schedules of `exhaustive`.
    pub(crate) max_schedules: u64,
    /// Steps of each, if that is limited.
    pub(crate) max_depth: Option<u64>,
    /// Operations without progress that are a livelock.
    pub(crate) progress_bound: u64,
}

/// More than a task can be passed over by a scheduler that owes it a turn.
const PROGRESS_BOUND: u64 = 50_000;
const MAX_SCHEDULES: u64 = 10_000;

impl Options {
    pub(crate) fn new(strategy: Word, seed: Word, iterations: Word) -> Options {
        let strategy = match strategy {
            1 => Strategy::RoundRobin,
            2 => Strategy::Random,
            3 => Strategy::Exhaustive,
            _ => Strategy::Sequential,
        };
        let iterations = u64::try_from(iterations).unwrap_or_default();
        Options {
            strategy,
            seed: number("PLUTO_TEST_SEED").unwrap_or(seed as u64),
            iterations: number("PLUTO_TEST_ITERATIONS").unwrap_or(iterations).max(1),
            max_schedules: number("PLUTO_MAX_SCHEDULES").unwrap_or(MAX_SCHEDULES).max(1),
            max_depth: number("PLUTO_MAX_DEPTH").filter(|depth| *depth > 0),
            progress_bound: number("PLUTO_PROGRESS_BOUND").unwrap_or(PROGRESS_BOUND).max(1),
        }
    }
}

/// A number as C writes it: decimal, `0x…` or octal; what cannot be read is 0.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let text = text.trim();
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    let end = digits.find(|digit: char| !digit.is_digit(radix)).unwrap_or(digits.len());
    Some(u64::from_str_radix(&digits[..end], radix).unwrap_or_default())
}

/// How results are printed, and what else the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Line by line, with a summary, and on to the next test after a failure.
    pub(crate) report: bool,
    /// The only test that runs.
    pub(crate) test: Option<String>,
    /// The source file.
    pub(crate) file: Option<String>,
}

impl Asked {
    pub(crate) fn new() -> Asked {
        let text = |variable| std::env::var(variable).ok().filter(|text| !text.is_empty());
        Asked {
            report: text("DRAWLOOM_PLUTO").is_some_and(|how| how == "report"),
            test: text("DRAWLOOM_PLUTO_TEST"),
            file: text("DRAWLOOM_PLUTO_FILE"),
        }
    }

    /// Whether this test runs.
    pub(crate) fn runs(&self, test: &str) -> bool {
        self.test.as_deref().is_none_or(|wanted| wanted == test)
    }
}
