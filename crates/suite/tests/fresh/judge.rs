//! What a report must say of a program, and whether it does.

use std::fmt;

use drawloom_report::Place;
use drawloom_report::explain::{Explanation, Line};

/// A program with one bug, and what is right to say of it. Alternatives have `|` between them.
pub struct Fresh {
    pub name: &'static str,
    pub body: fn(),
    /// The classes that are right; `none` where claiming none is right, too.
    pub classes: &'static str,
    /// The shared things that may be blamed: fields or variables.
    pub blames: &'static [&'static str],
    /// The shared things that only tell of the harm: counters that nothing but the assertion reads. To name one of
    /// them in the sentence is to blame the witness.
    pub observers: &'static [&'static str],
    /// Pieces of the source lines that the reader must be shown.
    pub lines: &'static [&'static str],
    /// Words that must be in the report.
    pub mentions: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grade {
    Right,
    /// The class or the blame is right, and something else is not.
    Partly,
    Wrong,
}

pub struct Judged {
    name: &'static str,
    pub grade: Grade,
    class: String,
    sentence: String,
    faults: Vec<String>,
    /// What no report may have in it.
    pub unfit: Vec<String>,
    pub report: String,
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged { name, grade, class, sentence, faults, .. } = self;
        write!(f, "{name}: {grade:?}, {class}: {sentence}")?;
        faults.iter().try_for_each(|fault| write!(f, "\n    ✗ {fault}"))
    }
}

/// What says nothing, where a name should be.
const PLACEHOLDERS: [&str; 6] = ["`it`", "``", "`?`", "the other wait for the other", "`everything`", "`something`"];

/// Where our own sources are.
const OURS: [&str; 5] = ["crates/drawloom/", "crates/tokio/", "crates/engine/", "crates/explore/", "crates/fiber/"];

pub fn judge(program: &'static Fresh) -> Judged {
    let config = format!("auto, name = \"fresh::{}\", iterations = 5000, trace = false, threads = 1", program.name);
    let found = drawloom::explore(config.parse().expect("a configuration"), program.body);
    let Some(failure) = found.findings().first() else {
        let (class, sentence) = ("not found".to_owned(), String::new());
        return Judged {
            name: program.name,
            grade: Grade::Wrong,
            class,
            sentence,
            faults: Vec::new(),
            unfit: Vec::new(),
            report: String::new(),
        };
    };
    let explanation = failure.record().explanation.as_deref().expect("it is explained");
    let report = without_backtrace(&failure.report());
    let class = explanation.class.map_or("none", |class| class.word());
    let mut faults = Vec::new();
    let class_right = program.classes.split('|').any(|label| label == class);
    if !class_right {
        faults.push(format!("is {}, not {class}", program.classes));
    }
    let blame_right = blames(program, explanation);
    if !blame_right {
        faults.push(format!("blames none of {:?}", program.blames));
    }
    for observer in program.observers.iter().filter(|observer| names(&explanation.sentence, observer)) {
        faults.push(format!("blames `{observer}`, which is a witness"));
    }
    for wanted in program.lines {
        if !shows(explanation, wanted) {
            faults.push(format!("does not show `{wanted}`"));
        }
    }
    for wanted in program.mentions {
        if !wanted.split('|').any(|word| report.contains(word)) {
            faults.push(format!("does not mention {wanted}"));
        }
    }
    let unfit = unfit(&report, explanation);
    faults.extend(unfit.iter().cloned());
    let grade = match (class_right, blame_right) {
        (true, true) if faults.is_empty() => Grade::Right,
        (false, false) => Grade::Wrong,
        _ => Grade::Partly,
    };
    let class = explanation.subkind.as_deref().map_or_else(|| class.to_owned(), |kind| format!("{class} / {kind}"));
    Judged { name: program.name, grade, class, sentence: explanation.sentence.clone(), faults, unfit, report }
}

/// Whether the sentence or the window is about the right thing.
fn blames(program: &Fresh, explanation: &Explanation) -> bool {
    let window = explanation.window.as_ref().and_then(|window| window.resource);
    let state = explanation.shared.iter().find(|state| Some(state.resource) == window);
    let name = state.map(|state| format!("`{}`", state.state));
    program
        .blames
        .iter()
        .any(|wanted| names(&explanation.sentence, wanted) || name.as_deref().is_some_and(|name| names(name, wanted)))
}

/// Whether something of this name is between backquotes in the text.
fn names(text: &str, wanted: &str) -> bool {
    let mut quoted = text.split('`').skip(1).step_by(2);
    quoted.any(|name| name.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == wanted))
}

fn shows(explanation: &Explanation, wanted: &str) -> bool {
    let held = explanation.stacks.iter().flat_map(|stack| stack.held.iter().chain([&stack.wanted]));
    let mut shown = explanation
        .lines()
        .filter_map(|line| line.source.as_deref())
        .chain(held.filter_map(|taken| taken.source.as_deref()));
    shown.any(|source| wanted.split('|').any(|piece| source.contains(piece)))
}

/// Placeholders, and paths of our own.
pub fn unfit(report: &str, explanation: &Explanation) -> Vec<String> {
    let words = PLACEHOLDERS.into_iter().filter(|word| report.contains(word)).map(|word| format!("says {word}"));
    let mut faults: Vec<String> = words.collect();
    let line = |line: &Line| line.place.clone();
    let places =
        explanation.lines().filter_map(line).chain(explanation.checkpoints.iter().filter_map(|c| c.place.clone()));
    let accessors = explanation.shared.iter().flat_map(|state| state.writers.iter().chain(&state.readers));
    let places = places.chain(accessors.flat_map(|accessor| accessor.places.clone()));
    let ours = |place: &Place| OURS.iter().any(|path| place.file.contains(path)) && !place.file.contains("/tests/");
    let mut internal: Vec<String> =
        places.filter(ours).map(|place| format!("shows {}:{}", place.file, place.line)).collect();
    internal.sort();
    internal.dedup();
    faults.extend(internal);
    faults.extend(
        report
            .lines()
            .filter(|line| OURS.iter().any(|path| line.contains(&format!("{path}src"))))
            .map(|line| format!("shows {}", line.trim())),
    );
    faults
}

/// Whether there is one is up to `RUST_BACKTRACE`.
fn without_backtrace(report: &str) -> String {
    let mut within = false;
    let kept = report.lines().filter(|line| {
        within = line.trim() == "backtrace:" || (within && line.starts_with("    "));
        !within
    });
    kept.collect::<Vec<_>>().join("\n")
}
