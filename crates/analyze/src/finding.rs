//! Findings: a claim, in the words that an executed finding has too, and what it rests on.

use drawloom_report::explain::{Checkpoint, Class, Fix, SharedState};
use drawloom_report::{Place, explain::Effect};
use serde::Serialize;

/// The version of the JSON form. Further fields may come; any other change is a new version.
pub const SCHEMA: &str = "drawloom.analysis/1";

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Below 45.
    Low,
    /// From 45 on.
    Medium,
    /// From 70 on.
    High,
}

impl Confidence {
    /// Of a sum of weights.
    pub fn of(score: i32) -> Confidence {
        match score {
            70.. => Confidence::High,
            45..70 => Confidence::Medium,
            _ => Confidence::Low,
        }
    }

    /// The word of reports and arguments.
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// What was analysed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Target {
    /// The file, relative to where the analysis was started if it is below.
    pub path: String,
    /// `python` or `rust`.
    pub language: &'static str,
    /// The libraries that run tasks in it.
    pub frameworks: Vec<&'static str>,
    /// `tasks`, `threads` or `auto`.
    pub model: &'static str,
    /// The lines that were asked for; none for all of them.
    pub lines: Option<(u32, u32)>,
    /// The functions that were looked at.
    pub functions: usize,
    /// A hash of the source.
    pub hash: String,
}

/// One step of the suspected schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// From 1 on.
    pub n: u32,
    /// `Task A`, `Task B`.
    pub task: &'static str,
    /// What it runs.
    pub runs: String,
    /// The function that the step is in.
    pub function: String,
    /// What happens.
    pub text: String,
    /// What that is to others.
    pub effect: Effect,
    /// Where.
    pub place: Place,
    /// The source line there.
    pub source: String,
    /// Locks held there.
    pub holds: Vec<String>,
}

/// The steps between which the state is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Window {
    /// The first step.
    pub from_step: u32,
    /// The last one.
    pub to_step: u32,
    /// What is wrong in between.
    pub reason: String,
}

/// What a run of the suspected schedule has shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Confirmation {
    /// It happens.
    Confirmed {
        /// What failed.
        message: String,
        /// How to repeat it.
        replay: String,
        /// The page of the execution.
        page: Option<String>,
    },
    /// It did not.
    NotReproduced {
        /// Schedules tried.
        schedules: u64,
    },
    /// It could not be tried.
    NotTried {
        /// Why.
        reason: String,
    },
}

/// What a finding rests on: source alone, with the suspected schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Evidence {
    /// From 0 to 100.
    pub score: i32,
    /// The same in a word.
    pub confidence: Confidence,
    /// `Reporting because …`
    pub because: String,
    /// The suspected schedule.
    pub trace: Vec<Step>,
    /// Its window.
    pub window: Window,
}

/// A suspected mistake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// `DL001` …
    pub rule: &'static str,
    /// The rule in a few words.
    pub title: &'static str,
    /// The kind of mistake.
    pub class: Class,
    /// More closely.
    pub subkind: &'static str,
    /// What it is about.
    pub state: String,
    /// In one sentence, without a full stop.
    pub sentence: String,
    /// The function whose window it is.
    pub function: String,
    /// Where a reader should look first: the place where another task comes in, or the act.
    pub place: Place,
    /// The access that closes the window: where a fix goes.
    pub act: Place,
    /// What it rests on.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// Where else the same is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
    /// What could be done.
    pub fixes: Vec<Fix>,
    /// The same as long as the code is, wherever it moves to.
    pub fingerprint: String,
    /// What running it has shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
}

/// Another place of the same mistake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Also {
    /// The function.
    pub function: String,
    /// Where in it.
    pub place: Place,
}

impl Finding {
    /// Why it is said, and where else it holds.
    pub fn because(&self) -> String {
        let mut text = self.evidence.because.clone();
        for (at, also) in self.also.iter().enumerate() {
            text += if at == 0 { " The same in " } else { ", in " };
            text += &format!("`{}` at line {}", also.function, also.place.line);
        }
        if !self.also.is_empty() {
            text += ".";
        }
        text
    }
}

/// Something to know that is no mistake in itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// `DN101` …
    pub rule: &'static str,
    /// Where.
    pub place: Place,
    /// The source line there.
    pub source: String,
    /// In one sentence, without a full stop.
    pub text: String,
}

/// Something that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unread {
    /// Where.
    pub place: Place,
    /// Why.
    pub message: String,
}

/// All of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Analysis {
    /// What it is of.
    pub target: Target,
    /// What several tasks use.
    pub shared_state: Vec<SharedState>,
    /// Where tasks can be left.
    pub checkpoints: Vec<Checkpoint>,
    /// What is suspected, the surest first.
    pub findings: Vec<Finding>,
    /// What else to know.
    pub notes: Vec<Note>,
    /// What could not be read.
    pub problems: Vec<Unread>,
    /// Findings that a comment says to leave out.
    pub ignored: usize,
    /// Lines of source.
    pub lines: usize,
}
