//! Schedules: the whole of an execution's nondeterminism, and its printable form.
//!
//! A schedule says "keep running this task for so many steps, then that one", with tasks named by
//! spawn path, followed by the outcomes of the choices that tasks made. A *token* is a schedule as
//! one printable word. Each segment carries the operation that it began with, so that a replay of a
//! changed program can say what it expected.

use crate::base64;
use crate::config::DEFAULT_SPIN_ROUNDS;
use crate::engine::Engine;
use crate::id::{Site, TaskPath};
use crate::operation::OpKind;
use crate::resource::Traits;
use crate::sorted;
use crate::trace::Step;

/// Turns a place into a line number; what a front end knows and the engine does not.
pub type LineOf = fn(Site) -> u32;

/// A stretch of steps of one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Who.
    pub task: TaskPath,
    /// How many steps.
    pub count: u64,
    /// The operation that it begins with.
    pub first: Option<Expected>,
}

/// What a recorded step did, in short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    /// What.
    pub kind: OpKind,
    /// On which line of its file.
    pub line: u32,
}

/// The choices of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// Identifies the test that it belongs to.
    pub test: u32,
    /// Who ran, in order.
    pub segments: Vec<Segment>,
    /// What `Choose` steps came to, in order.
    pub outcomes: Vec<u64>,
    /// The [`Limits::spin_rounds`](crate::Limits::spin_rounds) that it was made under, and is to be replayed under.
    pub spin_rounds: Option<u32>,
    /// Whether it has choices that are only made in exhaustive explorations ([`Strategy::is_exhaustive`](crate::strategy::Strategy::is_exhaustive)).
    /// Tokens of earlier versions have none.
    pub exhaustive: bool,
}

/// Why a token cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenError {
    /// It does not look like one.
    NotAToken,
    /// It was cut or altered.
    Damaged(&'static str),
    /// It is of another test.
    Foreign(String),
}

impl std::fmt::Display for TokenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TokenError::NotAToken => write!(f, "this is not a replay token: it should begin with `{PREFIX}`"),
            TokenError::Damaged(why) => {
                write!(f, "this replay token is damaged ({why}): copy the whole line that the failing test printed")
            }
            TokenError::Foreign(test) => {
                write!(f, "this replay token belongs to another test, not to `{test}`: run the test that printed it")
            }
        }
    }
}

impl std::error::Error for TokenError {}

const PREFIX: &str = "dl1";
/// Above this many segments the expectations are left out, to keep the token short.
const MAX_CHECKED_SEGMENTS: usize = 400;
/// What the paths of all segments may come to, in numbers.
const MOST_PATH_PARTS: usize = 1 << 26;

impl Schedule {
    /// The schedule of the execution that `engine` has just made.
    pub fn of(engine: &Engine, test: &str, line_of: LineOf) -> Schedule {
        let spin_rounds = engine.limits().spin_rounds;
        // Where nobody had to choose among one outcome, it is the same as any other.
        let is_spent = |step: &Step| step.kind.is(Traits::CHOOSES) && !step.kind.happens() && step.outcomes() == 1;
        let exhaustive = engine.exhaustive && engine.steps().iter().any(is_spent);
        let mut schedule = Schedule { test: test_id(test), spin_rounds, exhaustive, ..Schedule::default() };
        let mut last = None;
        for step in engine.steps() {
            // Where there is one outcome, nobody is asked.
            schedule.outcomes.extend(step.choices().each().map(|(_, chosen)| chosen));
            match schedule.segments.last_mut() {
                Some(segment) if last == Some(step.task) => segment.count += 1,
                _ => schedule.segments.push(Segment {
                    task: engine.path(step.task),
                    count: 1,
                    first: Some(Expected { kind: step.kind, line: line_of(step.site) }),
                }),
            }
            last = Some(step.task);
        }
        schedule
    }

    /// Its number of steps.
    pub fn len(&self) -> u64 {
        self.segments.iter().fold(0, |steps, segment| steps.saturating_add(segment.count))
    }

    /// Whether it has no step.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The printable form.
    pub fn token(&self) -> String {
        let mut bytes = self.test.to_le_bytes().to_vec();
        let mut paths: Vec<&TaskPath> = self.segments.iter().map(|s| &s.task).collect();
        sorted::sort(&mut paths);
        paths.dedup();
        put(&mut bytes, paths.len() as u64);
        for path in &paths {
            put(&mut bytes, path.0.len() as u64);
            path.0.iter().for_each(|part| put(&mut bytes, u64::from(*part)));
        }
        let checked = self.segments.len() <= MAX_CHECKED_SEGMENTS;
        let rounds = self.spin_rounds.filter(|rounds| *rounds != DEFAULT_SPIN_ROUNDS);
        let flags = [checked, self.spin_rounds.is_some(), rounds.is_some(), self.exhaustive];
        bytes.push(flags.into_iter().zip(0..).map(|(flag, bit)| u8::from(flag) << bit).sum());
        rounds.into_iter().for_each(|rounds| put(&mut bytes, u64::from(rounds)));
        put(&mut bytes, self.segments.len() as u64);
        for segment in &self.segments {
            let path = paths.binary_search(&&segment.task).unwrap_or_default();
            put(&mut bytes, path as u64);
            put(&mut bytes, segment.count);
            if checked {
                let kind = segment.first.map_or(OpKind::Start, |e| e.kind);
                bytes.push(kind as u8);
                put(&mut bytes, u64::from(segment.first.map_or(0, |e| e.line)));
            }
        }
        put(&mut bytes, self.outcomes.len() as u64);
        self.outcomes.iter().for_each(|o| put(&mut bytes, *o));
        let sum = fnv(&bytes);
        bytes.extend(sum.to_le_bytes());
        format!("{PREFIX}{}", base64::encode(&bytes))
    }

    /// Reads a token that was made for the test named `test`.
    pub fn from_token(token: &str, test: &str) -> Result<Schedule, TokenError> {
        let schedule = Schedule::decode(token)?;
        if !schedule.is_of(test) {
            return Err(TokenError::Foreign(test.to_owned()));
        }
        Ok(schedule)
    }

    /// Whether it was made for the test named `test`.
    pub fn is_of(&self, test: &str) -> bool {
        self.test == test_id(test)
    }

    /// Reads a token of any test.
    pub fn decode(token: &str) -> Result<Schedule, TokenError> {
        let body = token.trim().strip_prefix(PREFIX).ok_or(TokenError::NotAToken)?;
        let bytes = base64::decode(body).ok_or(TokenError::Damaged("a character does not belong there"))?;
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or(TokenError::Damaged("it is too short"))?;
        if fnv(content).to_le_bytes() != *sum {
            return Err(TokenError::Damaged("its check sum is wrong"));
        }
        let mut reader = Reader { bytes: content };
        reader.schedule()?.ok_or(TokenError::Damaged("it ends too early"))
    }
}

/// The number that stands for a test's name in tokens.
fn test_id(name: &str) -> u32 {
    fnv(name.as_bytes())
}

fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Appends a number, in as few bytes as it needs.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes numbers off the front of bytes.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
}

impl Reader<'_> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A count of things that take at least a byte each, so that a damaged one cannot exhaust memory.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.bytes.len()).then_some(count)
    }

    /// None if the bytes end before it does.
    fn schedule(&mut self) -> Result<Option<Schedule>, TokenError> {
        let Some((paths, short)) = self.short() else { return Ok(None) };
        // Whoever makes up a token may make a few bytes stand for more than there is memory, or more steps than numbers.
        let steps = short.segments.iter().try_fold(0u64, |steps, (_, count, _)| steps.checked_add(*count));
        let parts: usize = short.segments.iter().map(|(path, ..)| paths[*path].0.len() + 1).sum();
        if steps.is_none_or(|steps| steps > u64::from(u32::MAX)) || parts > MOST_PATH_PARTS {
            return Err(TokenError::Damaged("it stands for more steps than an execution can have"));
        }
        let segment = |(path, count, first): (usize, u64, _)| Segment { task: paths[path].clone(), count, first };
        let segments = short.segments.into_iter().map(segment).collect();
        let Short { test, outcomes, spin_rounds, exhaustive, .. } = short;
        Ok(Some(Schedule { test, segments, outcomes, spin_rounds, exhaustive }))
    }

    /// As it is written: each path once.
    fn short(&mut self) -> Option<(Vec<TaskPath>, Short)> {
        let test = u32::from_le_bytes([self.byte()?, self.byte()?, self.byte()?, self.byte()?]);
        let mut paths = Vec::new();
        for _ in 0..self.count()? {
            let length = self.count()?;
            let parts = (0..length).map(|_| u32::try_from(self.number()?).ok()).collect::<Option<_>>()?;
            paths.push(TaskPath(parts));
        }
        let flags = self.byte()?;
        let [checked, cuts, counted, exhaustive] = [0, 1, 2, 3].map(|bit| flags & 1 << bit != 0);
        let rounds = if counted { self.number()? as u32 } else { DEFAULT_SPIN_ROUNDS };
        let spin_rounds = cuts.then_some(rounds);
        let mut segments = Vec::new();
        for _ in 0..self.count()? {
            let path = usize::try_from(self.number()?).ok().filter(|path| *path < paths.len())?;
            let count = self.number()?;
            let first = if checked {
                let kind = *OpKind::ALL.get(usize::from(self.byte()?))?;
                Some(Expected { kind, line: u32::try_from(self.number()?).ok()? })
            } else {
                None
            };
            segments.push((path, count, first));
        }
        let outcomes = (0..self.count()?).map(|_| self.number()).collect::<Option<_>>()?;
        Some((paths, Short { test, segments, outcomes, spin_rounds, exhaustive }))
    }
}

/// A schedule as its token has it: who goes is the number of a path.
struct Short {
    test: u32,
    segments: Vec<(usize, u64, Option<Expected>)>,
    outcomes: Vec<u64>,
    spin_rounds: Option<u32>,
    exhaustive: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schedules() -> impl Strategy<Value = Schedule> {
        let path = proptest::collection::vec(0..300u32, 0..4).prop_map(TaskPath);
        let kind = (0..OpKind::ALL.len()).prop_map(|k| OpKind::ALL[k]);
        let segment = (path, 1..100_000u64, kind, 0..5000u32).prop_map(|(task, count, kind, line)| Segment {
            task,
            count,
            first: Some(Expected { kind, line }),
        });
        let segments = proptest::collection::vec(segment, 0..20);
        (any::<u32>(), segments, proptest::collection::vec(any::<u64>(), 0..5)).prop_map(
            |(test, segments, outcomes)| {
                let spin_rounds = (test % 2 == 0).then_some(test % 8);
                Schedule { test, segments, outcomes, spin_rounds, exhaustive: test % 3 == 0 }
            },
        )
    }

    #[test]
    fn a_few_bytes_cannot_stand_for_more_than_an_execution_can_have() {
        let said = Err(TokenError::Damaged("it stands for more steps than an execution can have"));
        let segment = |count| Segment { task: TaskPath(vec![0]), count, first: None };
        for segments in [vec![segment(u64::MAX)], vec![segment(u64::MAX), segment(u64::MAX)]] {
            let schedule = Schedule { segments, ..Schedule::default() };
            assert_eq!(Schedule::decode(&schedule.token()), said);
            assert_eq!(schedule.len(), u64::MAX);
        }
        // One long path, and many segments that name it.
        let (parts, segments) = (40_000, 2_000);
        let mut bytes = vec![0; 4];
        [1, parts].into_iter().for_each(|number| put(&mut bytes, number));
        (0..parts).for_each(|_| put(&mut bytes, 0));
        bytes.push(0);
        put(&mut bytes, segments);
        (0..segments).for_each(|_| bytes.extend([0, 1]));
        put(&mut bytes, 0);
        bytes.extend(fnv(&bytes).to_le_bytes());
        assert_eq!(Schedule::decode(&format!("{PREFIX}{}", base64::encode(&bytes))), said);
    }

    proptest! {
        #[test]
        fn a_token_reads_back_as_its_schedule(schedule in schedules()) {
            prop_assert_eq!(Schedule::decode(&schedule.token()), Ok(schedule));
        }

        #[test]
        fn a_damaged_token_is_refused(schedule in schedules(), at in 3..1000usize, with in "[A-Za-z0-9_-]") {
            let token = schedule.token();
            let at = 3 + at % (token.len() - 3);
            let mut damaged = token.clone();
            damaged.replace_range(at..=at, &with);
            if damaged != token {
                // The last character's unused bits are the only ones that may differ unnoticed.
                prop_assert!(Schedule::decode(&damaged).is_err() || Schedule::decode(&damaged) == Ok(schedule));
            }
        }

        #[test]
        fn nonsense_is_refused_without_a_panic(text in ".{0,60}") {
            let _ = Schedule::from_token(&text, "a test");
            let _ = Schedule::from_token(&format!("dl1{text}"), "a test");
        }
    }

    #[test]
    fn a_token_of_another_test_is_refused_by_name() {
        let token = Schedule { test: test_id("mine"), ..Schedule::default() }.token();
        assert!(Schedule::from_token(&token, "mine").is_ok());
        let error = Schedule::from_token(&token, "yours").unwrap_err();
        assert_eq!(error, TokenError::Foreign("yours".into()));
    }
}
