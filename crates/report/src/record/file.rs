//! The record as a file: compact arrays for steps, and errors that say what is wrong with a file.

use super::packed::{self, PACKED_VERSION, Packed};
use super::{AccessRecord, Details, Record, StepRecord, VERSION};
use crate::cause::cause;
use crate::explain::Explanation;
use crate::json::{self, Fault, Readable, Reader, Written};
use crate::language::Language;
use crate::printable::printable;

/// Steps that a trace file has at most: of more, nobody would want to know.
const MOST_STEPS: usize = 4_000_000;
/// No number of a step, line or column is as large as this, so that whoever adds to one need not ask.
const TOO_LARGE: u32 = 1 << 31;
/// Of what is wrong with a file so much is repeated.
const LONGEST_REASON: usize = 200;

/// Why a text cannot be read as a record.
#[derive(Debug)]
pub enum ReadError {
    /// It is no trace file at all.
    NotATrace,
    /// It is of another version.
    Version {
        /// Its version.
        found: u64,
    },
    /// It is of a program in a language that is not known here.
    Language {
        /// Its name.
        found: String,
    },
    /// It was cut or altered.
    Damaged(String),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::NotATrace => {
                write!(f, "this is not a drawloom trace file: it should be a JSON object with a `version`")
            }
            ReadError::Version { found } => write!(
                f,
                "this trace file has version {found}, and this drawloom reads version {VERSION}: \
                 use the drawloom that wrote it, or run the test again"
            ),
            ReadError::Language { found } => write!(
                f,
                "this trace file is of a program in `{}`, and this drawloom knows {}: use the drawloom that wrote it",
                shortened(printable(found).into_owned()),
                Language::known()
            ),
            ReadError::Damaged(why) => {
                write!(f, "this trace file is damaged ({why}): run the test again to write a new one")
            }
        }
    }
}

impl std::error::Error for ReadError {}

impl Record {
    /// The record as the text of a trace file.
    pub fn write(&self) -> String {
        let mut text;
        if self.steps.len() < packed::FROM {
            text = json::text(self);
            text.pop();
        } else {
            let without = Record { version: PACKED_VERSION, steps: Vec::new(), ..self.clone() };
            text = json::text(&without);
            // One more field of the object.
            text.pop();
            text += ",\"packed\":";
            text += &json::text(&Packed::of(&self.steps));
        }
        text += ",\"cause\":";
        text += &json::text(&cause(self));
        text + "}"
    }

    /// Reads a trace file.
    #[cfg(feature = "read")]
    pub fn read(text: &str) -> Result<Record, ReadError> {
        let damaged = |fault: Fault| ReadError::Damaged(shortened(fault.to_string()));
        let head: Head = match json::read(text) {
            Ok(head) => head,
            // A trace file always begins with its version, so one that was cut can be told.
            Err(fault) if fault.at_end && text.starts_with("{\"version\":") => {
                return Err(damaged(fault));
            }
            Err(_) => return Err(ReadError::NotATrace),
        };
        let is_packed = head.version == u64::from(PACKED_VERSION);
        if head.version != u64::from(VERSION) && !is_packed {
            return Err(ReadError::Version { found: head.version });
        }
        let mut record: Record = json::read(text).map_err(|fault| match unknown_language(text) {
            Some(found) => ReadError::Language { found },
            None => damaged(fault),
        })?;
        if is_packed {
            let Tail { packed } = json::read(text).map_err(damaged)?;
            record.steps = packed.steps(MOST_STEPS).map_err(ReadError::Damaged)?;
            record.version = VERSION;
        }
        record.check().map_err(ReadError::Damaged)?;
        Ok(record)
    }

    /// Reads what little of a trace file is needed to replay it, and to tell its finding from others.
    pub fn glance(text: &str) -> Result<Glance, ReadError> {
        json::read(text).map_err(|fault| match text.starts_with("{\"version\":") {
            true => ReadError::Damaged(shortened(fault.to_string())),
            false => ReadError::NotATrace,
        })
    }

    /// Every index points into its table, so that nobody who uses a record has to ask.
    fn check(&self) -> Result<(), String> {
        if self.places.iter().any(|place| place.line >= TOO_LARGE || place.column >= TOO_LARGE) {
            return Err("a place has a line or a column that no file has".to_owned());
        }
        if self.explanation.as_ref().is_some_and(|explanation| !fits(explanation)) {
            return Err("its explanation is about steps that are not there".to_owned());
        }
        let task = |i: &u32| (*i as usize) < self.tasks.len();
        let place = |i: &Option<u32>| i.is_none_or(|i| (i as usize) < self.places.len());
        let resource = |i: &Option<u32>| i.is_none_or(|i| (i as usize) < self.resources.len());
        for (i, step) in self.steps.iter().enumerate() {
            let fits = task(&step.task)
                && place(&step.place)
                && resource(&step.resource)
                && usize::from(step.operation) < self.operations.len()
                && usize::from(step.outcome) < self.outcomes.len()
                && step.after.is_none_or(|after| (after as usize) < i);
            if !fits {
                return Err(format!("step {i} refers to something that is not there"));
            }
        }
        let details = match &self.finding.details {
            Details::Deadlock { blocked, cycle, chain, .. } => {
                cycle.iter().all(task)
                    && chain.iter().all(task)
                    && blocked.iter().all(|b| task(&b.task) && place(&b.place) && resource(&b.resource))
                    && blocked.iter().flat_map(|b| &b.blockers).all(|b| task(&b.task) && place(&b.place))
            }
            Details::DataRace { resource: cell, earlier, later } => {
                let step = |i: &u32| (*i as usize) < self.steps.len();
                let side =
                    |a: &AccessRecord| task(&a.task) && step(&a.step) && place(&a.place) && a.sync.iter().all(step);
                resource(&Some(*cell)) && side(earlier) && side(later)
            }
            Details::Stuck(stuck) => {
                stuck.stack.iter().all(|frame| place(&frame.place))
                    && stuck.holds.iter().all(|held| resource(&Some(held.resource)) && place(&held.place))
                    && stuck.others.iter().all(|o| task(&o.task) && resource(&o.resource) && place(&o.place))
            }
            Details::Unjoined { tasks } => tasks.iter().all(task),
            Details::Leak { leaks } => leaks.iter().all(|l| place(&l.created_at)),
            Details::Panic { waiting, .. } => {
                waiting.iter().all(|b| task(&b.task) && resource(&b.resource) && place(&b.place))
            }
            Details::Livelock { .. }
            | Details::StepLimit { .. }
            | Details::TaskLimit { .. }
            | Details::OutOfStacks { .. }
            | Details::OutOfTime
            | Details::Divergence { .. }
            | Details::Nothing => true,
        };
        let window =
            self.window.is_none_or(|w| w.from <= w.to && (w.to as usize) < self.steps.len() && resource(&w.resource));
        let tables = window
            && self.tasks.iter().all(|t| place(&t.spawned_at))
            && self.resources.iter().all(|r| place(&r.created_at))
            && place(&self.finding.place)
            && (self.tasks.is_empty() || task(&self.finding.task));
        let processes = self.processes.fits(self.tasks.len(), self.resources.len(), self.steps.len());
        if details && tables && processes {
            Ok(())
        } else {
            Err("it refers to a task or place that is not there".into())
        }
    }
}

/// Whether all steps that an explanation speaks of could be there. Some that it names were never made: it says what tasks
/// would have done next.
fn fits(explanation: &Explanation) -> bool {
    let lines = explanation.lines().flat_map(|line| [line.step, line.last]).flatten();
    let window = explanation.window.iter().flat_map(|window| [Some(window.from), window.to]).flatten();
    let taken = explanation.stacks.iter().flat_map(|stack| stack.held.iter().chain([&stack.wanted]));
    let steps = lines.chain(window).chain(taken.filter_map(|taken| taken.step));
    let checkpoints = explanation.checkpoints.iter().map(|point| point.step);
    steps.chain(checkpoints).chain(explanation.evidence.steps.iter().copied()).all(|step| step < TOO_LARGE)
}

/// What is read by those who do not look at the execution: tests do, and all that they can do is compiled for each project.
pub struct Glance {
    /// How the schedule is replayed.
    pub meta: Replays,
    /// What was found.
    pub finding: Kind,
    /// The [cause](crate::cause()) of the finding. Files of earlier versions say none.
    pub cause: String,
}

/// The token of a trace file.
pub struct Replays {
    /// The token; empty if there is none.
    pub token: String,
}

/// The finding of a trace file.
pub struct Kind {
    /// Its kind.
    pub kind: String,
}

/// What is looked at before the rest.
struct Head {
    version: u64,
}

/// What a file with many steps has besides.
struct Tail {
    packed: Packed,
}

struct OfLanguage {
    meta: Named,
}

struct Named {
    language: String,
}

crate::json::object! {
    Head { version }
    Tail { packed }
    OfLanguage { meta }
    Named { language }
    Glance { meta, finding, #[optional] cause }
    Replays { token }
    Kind { kind }
}

/// The language that a file names, if there is no table for it.
fn unknown_language(text: &str) -> Option<String> {
    let OfLanguage { meta: Named { language } } = json::read(text).ok()?;
    Language::named(&language).is_none().then_some(language)
}

/// The beginning of a reason: it may repeat what the file says.
fn shortened(reason: String) -> String {
    match reason.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason,
    }
}

/// The steps, up to so many: a file of a stranger does not decide how much memory is taken.
pub(super) mod steps {
    use super::*;

    pub(crate) fn write(steps: &Vec<StepRecord>, out: &mut String) {
        steps.write(out);
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Vec<StepRecord>, Fault> {
        from.open('[', "a list of steps")?;
        let mut steps = Vec::new();
        while from.element()? {
            if steps.len() == MOST_STEPS {
                return Err(from.fault(format!("it has more than {MOST_STEPS} steps, the most that are read")));
            }
            steps.push(StepRecord::read(from)?);
        }
        Ok(steps)
    }
}

/// Up to here every reader of JSON keeps a number exact.
const EXACT: u64 = 1 << 53;

impl Written for StepRecord {
    fn write(&self, out: &mut String) {
        let cells = [
            Some(u64::from(self.task)),
            Some(u64::from(self.operation)),
            self.resource.map(u64::from),
            self.place.map(u64::from),
            Some(u64::from(self.outcome)),
            Some(u64::from(self.choice)),
            self.after.map(u64::from),
            self.argument,
            self.value,
        ];
        // An absent outcome or choice is 0; an absent argument or value is none, so their 0 is written.
        let says_something = |(i, cell): (usize, &Option<u64>)| match i {
            4 | 5 => *cell != Some(0),
            _ => cell.is_some(),
        };
        let used = (0..cells.len()).rev().find(|i| says_something((*i, &cells[*i]))).map_or(0, |i| i + 1);
        for (i, cell) in cells[..used].iter().enumerate() {
            out.push(if i == 0 { '[' } else { ',' });
            match cell {
                Some(number) if *number > EXACT => number.to_string().write(out),
                cell => cell.write(out),
            }
        }
        out.push(']');
    }
}

impl Readable for StepRecord {
    fn read(from: &mut Reader<'_>) -> Result<StepRecord, Fault> {
        from.open('[', "a step as an array of numbers")?;
        let mut cells = [None; 9];
        let mut at = 0;
        while from.element()? {
            match cells.get_mut(at) {
                Some(cell) => *cell = number(from)?,
                None => from.skip()?,
            }
            at += 1;
        }
        let [task, operation, resource, place, outcome, choice, after, argument, value] = cells;
        let missing = |what: &str| from.fault(format!("a step without {what}"));
        Ok(StepRecord {
            task: narrow(task, from)?.ok_or_else(|| missing("a task"))?,
            operation: narrow(operation, from)?.ok_or_else(|| missing("an operation"))?,
            outcome: narrow(outcome, from)?.unwrap_or(0),
            resource: narrow(resource, from)?,
            place: narrow(place, from)?,
            choice: choice == Some(1),
            after: narrow(after, from)?,
            argument,
            value,
        })
    }
}

/// One element of a step's array: none, a number, or one as a text.
fn number(from: &mut Reader<'_>) -> Result<Option<u64>, Fault> {
    if !from.is_text() {
        return Readable::read(from);
    }
    let text = from.string()?;
    text.parse().map(Some).map_err(|_| from.fault(format!("`{text}` is no number")))
}

fn narrow<T: TryFrom<u64>>(cell: Option<u64>, from: &Reader<'_>) -> Result<Option<T>, Fault> {
    let narrow = |n| T::try_from(n).map_err(|_| from.fault(format!("{n} is too large for an index")));
    cell.map(narrow).transpose()
}

/// A number as `"0x5eed"`.
pub(super) mod hexadecimal {
    use super::*;

    pub(crate) fn write(number: &Option<u64>, out: &mut String) {
        number.map(|n| format!("{n:#x}")).write(out);
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Option<u64>, Fault> {
        let text = Option::<String>::read(from)?;
        let parse = |text: String| u64::from_str_radix(text.trim_start_matches("0x"), 16);
        let wrong = |_| from.fault("a seed is written as 0x and hexadecimal digits".to_owned());
        text.map(parse).transpose().map_err(wrong)
    }
}

/// A backtrace as its text.
pub(super) mod backtrace {
    use drawloom_engine::finding::Backtrace;

    use super::*;

    pub(crate) fn write(backtrace: &Option<Backtrace>, out: &mut String) {
        backtrace.as_ref().map(Backtrace::text).filter(|text| !text.is_empty()).write(out);
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Option<Backtrace>, Fault> {
        let text = Option::<String>::read(from)?;
        Ok(text.map(|text| Backtrace::new(move || text)))
    }
}
