//! What an explanation says: the types, which are also its JSON form.

use drawloom_engine::guard::Guard;

use super::class::Class;
use super::stored;
use crate::json;
use crate::record::{Place, Record};

/// The version of the JSON form. Further fields may come, which readers ignore; any other change is a new
/// version.
pub const EXPLANATION: &str = "drawloom.explanation/1";

/// Why an execution failed, in the order in which a person wants to know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// Always [`EXPLANATION`].
    pub schema: String,
    /// The test.
    pub target: String,
    /// What happened, in one sentence without a full stop.
    pub sentence: String,
    /// What kind of mistake it is; none where nothing can be said of that.
    pub class: Option<Class>,
    /// The class more closely: `lost-update`, `two-locked-sections` …
    pub subkind: Option<String>,
    /// What the classification rests on.
    pub evidence: Evidence,
    /// The stretch in which a step of another task does the harm.
    pub window: Option<RaceWindow>,
    /// The steps that matter, in order.
    pub trace: Vec<Item>,
    /// Of tasks that wait for each other: what each of them had taken, and what it waits for.
    pub stacks: Vec<Stack>,
    /// Everything that several tasks use and that has a part in it.
    pub shared: Vec<SharedState>,
    /// The executions that guards were inferred from.
    pub basis: Basis,
    /// Where a switch was possible inside the window.
    pub checkpoints: Vec<Checkpoint>,
    /// What could be done, the simplest first.
    pub fixes: Vec<Fix>,
}

/// What a classification rests on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// The pattern of accesses that no order of whole operations has: `R W W of `balance``.
    pub pattern: Option<String>,
    /// The steps of that pattern, in order.
    pub steps: Vec<u32>,
    /// One sentence for each further observation.
    pub reasons: Vec<String>,
    /// What happens if the harmful step is moved out of the window, where that was tried.
    pub counterfactual: Option<String>,
}

/// The stretch in which a step of another task does the harm. Steps are indices in the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaceWindow {
    /// The step that opens it.
    pub from: u32,
    /// The step that closes it; none if the execution had failed before that.
    pub to: Option<u32>,
    /// The task that it belongs to.
    pub task: u32,
    /// What it is about.
    pub resource: Option<u32>,
    /// What is inconsistent in it.
    pub reason: String,
}

/// A piece of the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// What a task did.
    Line(Line),
    /// Steps that do not matter here.
    Folded {
        /// How many.
        steps: u64,
    },
    /// The lines before it come again.
    Again {
        /// How many lines.
        lines: usize,
        /// How many times.
        times: u64,
    },
}

/// One line of the trace: steps that a task made in a row at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The first of its steps, by index in the record; none if it was not reached: what a task was about to
    /// do.
    pub step: Option<u32>,
    /// The last of them.
    pub last: Option<u32>,
    /// Who, by index in the record.
    pub task: u32,
    /// What was done, in words.
    pub text: String,
    /// What that is to others.
    pub effect: Effect,
    /// Where.
    pub place: Option<Place>,
    /// The source line there.
    pub source: Option<String>,
    /// Why the task did not go on after it, if it did not.
    pub switch: Option<String>,
    /// Its part in the failure.
    pub mark: Option<Mark>,
}

/// What a line is to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Reads shared state.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it in one step.
    Update,
    /// Takes a lock.
    Acquire,
    /// Gives one back.
    Release,
    /// Begins to wait.
    Wait,
    /// Ends a wait of others.
    Wake,
    /// Anything else.
    Other,
    /// The failure itself.
    Crash,
}

/// The part of a line in the failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Opens the window.
    Opens,
    /// Does the harm.
    Intrudes,
    /// Closes the window.
    Closes,
    /// Is where it failed.
    Fails,
}

/// What a task had taken when it could not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Who.
    pub task: u32,
    /// What it held, in the order of taking.
    pub held: Vec<Taken>,
    /// What it waits for.
    pub wanted: Taken,
}

/// A lock taken or wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// What was done, in words.
    pub text: String,
    /// With which step; none if it is no step before its wait is over, as a join.
    pub step: Option<u32>,
    /// Where.
    pub place: Option<Place>,
    /// The source line there.
    pub source: Option<String>,
}

/// What several tasks use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedState {
    /// Its name.
    pub state: String,
    /// By index in the record.
    pub resource: u32,
    /// Who writes it.
    pub writers: Vec<Accessor>,
    /// Who reads it.
    pub readers: Vec<Accessor>,
    /// What protects it.
    pub guard: GuardCell,
}

/// A task that uses something, and where it does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accessor {
    /// The task's name, or path.
    pub task: String,
    /// Where.
    pub places: Vec<Place>,
}

/// What protects shared state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GuardCell {
    /// As in a table: `<lock>`, `<lock> (k/n accesses)`, `ordering: <what>`, `UNGUARDED`.
    pub text: String,
    /// The lock that is held most often.
    pub lock: Option<String>,
    /// Accesses with it held.
    pub held: u64,
    /// All accesses, but those before a second task came.
    pub of: u64,
}

/// The executions that guards were inferred from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Basis {
    /// Executions in all.
    pub executions: u64,
    /// Those in which nothing was found.
    pub passing: u64,
}

/// A place where the task of the window could be left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// Where.
    pub place: Option<Place>,
    /// The source line there.
    pub source: Option<String>,
    /// `CHECKPOINT`, `(wakes 0.2, no switch yet)` …
    pub mark: String,
    /// The step.
    pub step: u32,
    /// Whether another task was let run there, in this execution.
    pub taken: bool,
}

/// What could be done about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// In a few words, in the imperative.
    pub title: String,
    /// How much work it is.
    pub effort: Effort,
    /// The change as pseudocode; several lines.
    pub sketch: String,
    /// Which steps of the trace it removes or reorders.
    pub closes: String,
    /// What it costs.
    pub tradeoff: String,
    /// What could go wrong.
    pub risk: String,
    /// What it does to the order of operations, if that can be tried without editing the program.
    pub guard: Option<Guard>,
    /// What trying it came to.
    pub verified: Option<Verification>,
}

/// How much work a fix is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Effort {
    /// A line or two.
    Simple,
    /// A few places.
    Moderate,
    /// Another design.
    Complex,
}

/// What an exploration under a fix's guard came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verification {
    /// Whether the failure is gone, and no other has come.
    pub helps: bool,
    /// Schedules tried.
    pub schedules: u64,
    /// Whether these were all there are.
    pub exhausted: bool,
    /// `verified: 412 schedules, none fails`, `does not help: deadlocks in …`.
    pub text: String,
}

impl Verification {
    /// Whether the program fails under it: what it closes is not all that is wrong, or not at all.
    pub fn refutes(&self) -> bool {
        !self.helps && self.text.starts_with(DOES_NOT_HELP)
    }
}

/// How the text of a fix begins under which the program fails.
pub const DOES_NOT_HELP: &str = "does not help";

impl Effort {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Effort::Simple => "simple",
            Effort::Moderate => "moderate",
            Effort::Complex => "complex",
        }
    }
}

impl Explanation {
    /// The same schedule has also failed with the message `said`: something else than the schedule decides that.
    pub fn also_said(&mut self, said: &str, record: &Record) {
        let decides = record.meta.language.words.decides.replace('\n', " ");
        let said = said.lines().map(str::trim).collect::<Vec<_>>().join(", ");
        self.sentence += &format!(
            "; followed again, the same schedule said `{said}`: the message depends on something else, such as {}",
            decides.trim_end_matches('.')
        );
    }

    /// The lines of the trace, without what is folded between them.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.trace.iter().filter_map(|item| match item {
            Item::Line(line) => Some(line),
            Item::Folded { .. } | Item::Again { .. } => None,
        })
    }

    /// Reads its JSON form; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Explanation, String> {
        json::read(text).map_err(|fault| fault.to_string())
    }

    /// Its JSON form.
    pub fn to_json(&self) -> String {
        json::pretty(&json::text(self))
    }
}

crate::json::object! {
    Explanation { schema, target, sentence, class, subkind, evidence, window, trace, stacks, shared, basis, checkpoints, fixes }
    Evidence { pattern, steps, reasons, counterfactual }
    RaceWindow { from, to, task, resource, reason }
    Line { step, last, task, text, effect, place, source, switch, mark }
    Stack { task, held, wanted }
    Taken { text, step, place, source }
    SharedState { state, resource, writers, readers, guard }
    Accessor { task, places }
    GuardCell { text, lock, held, of }
    Basis { executions, passing }
    Checkpoint { place, source, mark, step, taken }
    Fix { title, effort, sketch, closes, tradeoff, risk, #[left_out] guard as stored, #[left_out] verified }
    Verification { helps, schedules, exhausted, text }
}

crate::json::words! {
    Effect { Read = "read", Write = "write", Update = "update", Acquire = "acquire", Release = "release", Wait = "wait", Wake = "wake", Other = "other", Crash = "crash" }
    Mark { Opens = "opens", Intrudes = "intrudes", Closes = "closes", Fails = "fails" }
    Effort { Simple = "simple", Moderate = "moderate", Complex = "complex" }
}

crate::json::variants! {
    Item {
        values { Line = "line" }
        objects { Folded = "folded" { steps }, Again = "again" { lines, times } }
    }
}
