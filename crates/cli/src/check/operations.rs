//! The command for histories of single operations.

use std::fmt::Write;

use drawloom_check::causal::{self, Causal, Guarantee};
use drawloom_check::explain::{self, Explained, Explanation, Timeline};
use drawloom_check::format::Log;
use drawloom_check::history::{History, Value};
use drawloom_check::linearizable::{Checker, Violation};
use drawloom_check::model::{
    AppendList, Counter, FifoQueue, KeyValue, LifoStack, Mutex, PriorityQueue, Readable, Register, Semaphore, Set,
    history_from_log,
};
use drawloom_check::transactions::Transactions;
use drawloom_check::{Verdict, escaped, sequential};

use super::lanes::Lanes;
use super::{Answer, CheckError, Options, Shown, code};

pub(super) const MODELS: [&str; 11] = [
    "register",
    "cas-register",
    "key-value",
    "counter",
    "set",
    "append-list",
    "queue",
    "stack",
    "priority-queue",
    "mutex",
    "semaphore",
];
const LINEARIZABLE: &str = "linearizable";
const SEQUENTIAL: &str = "sequential";
/// All session guarantees at once.
const SESSION: &str = "session-guarantees";

pub(super) fn levels() -> Vec<&'static str> {
    let causal = Causal::ALL.iter().map(|kind| kind.name());
    let guarantees = Guarantee::ALL.iter().map(|guarantee| guarantee.name());
    [LINEARIZABLE, SEQUENTIAL].into_iter().chain(causal).chain([SESSION]).chain(guarantees).collect()
}

type Check = fn(&Options, &Log, &str) -> Result<Answer, CheckError>;

/// How to check a model, by any of its names.
fn by_name(model: &str) -> Option<Check> {
    Some(match model {
        "register" | "cas-register" | "casreg" => of::<Register<Value>>,
        "key-value" | "kv" => of::<KeyValue<Value, Value>>,
        "counter" => of::<Counter>,
        "set" => of::<Set<Value>>,
        "append-list" => of::<AppendList<Value>>,
        "queue" => of::<FifoQueue<Value>>,
        "stack" => of::<LifoStack<Value>>,
        "priority-queue" => of::<PriorityQueue<Value>>,
        "mutex" | "lock" => of::<Mutex>,
        "semaphore" => of::<Semaphore>,
        _ => return None,
    })
}

pub(super) fn is_known(model: &str) -> bool {
    by_name(model).is_some()
}

pub(super) fn check(options: &Options, model: &str) -> Result<Answer, CheckError> {
    let unknown = || CheckError::Name { what: "the model", name: model.to_owned(), known: super::models() };
    let check = by_name(model).ok_or_else(unknown)?;
    let level = options.consistency.as_deref().unwrap_or(LINEARIZABLE);
    if !levels().contains(&level) {
        let known = levels();
        return Err(CheckError::Name { what: "the level", name: level.to_owned(), known });
    }
    let log = options.log()?;
    if log.events.is_empty() {
        return Err(options.empty());
    }
    match level {
        LINEARIZABLE | SEQUENTIAL => check(options, &log, level),
        _ => of_sessions(options, &log, level),
    }
}

/// What is said of a history of operations.
struct Said {
    word: &'static str,
    lines: Vec<String>,
    explanation: Option<Explanation>,
    /// The whole history, if a page is asked for.
    timeline: Option<Timeline>,
}

impl Said {
    fn new(word: &'static str, lines: Vec<String>) -> Said {
        Said { word, lines, explanation: None, timeline: None }
    }
}

fn of<M: Readable>(options: &Options, log: &Log, level: &str) -> Result<Answer, CheckError>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let history = history_from_log::<M>(log).map_err(|errors| options.content(errors))?;
    let model = M::from_meta(&log.meta).map_err(|error| options.unfit(error))?;
    // Calls and ends are numbered as events are.
    let place = |op: drawloom_check::OpId| {
        let event = &log.events[history.operations()[op.index()].call as usize];
        let key = event.key.as_ref().map_or(String::new(), |key| format!(" {key}"));
        let f = escaped(&event.f);
        format!("{f}{key} {} of process {}, line {}", event.value, event.process, event.line)
    };
    let said = match level {
        SEQUENTIAL => {
            let verdict = sequential::check_within(&model, &history, options.budget);
            let timeline = options.html.is_some().then(|| {
                let (order, standing, stuck): (&[_], _, &[_]) = match &verdict {
                    Verdict::Ok(order) => (order, Explained::All, &[]),
                    Verdict::Illegal(violation) => (&violation.order, Explained::Prefix, &violation.stuck),
                    Verdict::Unknown(_) => (&[], Explained::Unknown, &[]),
                };
                Timeline::ordered(&model, &history, order, standing, stuck)
            });
            let said = match verdict {
                Verdict::Ok(_) => Said::new("ok", Vec::new()),
                Verdict::Illegal(violation) => {
                    let placed =
                        format!("{} of {} operations can be put in order", violation.order.len(), history.len());
                    let stuck =
                        violation.stuck.iter().map(|op| format!("then none of these can follow: {}", place(*op)));
                    Said::new("illegal", [placed].into_iter().chain(stuck).collect())
                }
                Verdict::Unknown(unknown) => Said::new("unknown", vec![unknown.to_string()]),
            };
            Said { timeline, ..said }
        }
        _ => {
            let (verdict, steps) = verdict(options, &model, &history);
            let timeline =
                options.html.is_some().then(|| Timeline::linearized(&model, &history, &verdict, steps, options.budget));
            let said = match verdict {
                Verdict::Ok(()) => Said::new("ok", Vec::new()),
                Verdict::Illegal(violation) => {
                    let explanation = explain::violated(&model, &history, violation, steps, options.budget);
                    let line = explanation.to_string();
                    Said { explanation: Some(explanation), ..Said::new("illegal", vec![line]) }
                }
                Verdict::Unknown(unknown) => Said::new("unknown", vec![unknown.to_string()]),
            };
            Said { timeline, ..said }
        }
    };
    Ok(answer(said, M::NAME, level, history.len()))
}

/// The verdict, and how many steps it took. What the checker remembers is gone before anything is explained.
fn verdict<M: Readable>(
    options: &Options,
    model: &M,
    history: &History<M::Op, M::Ret>,
) -> (Verdict<(), Violation>, u64) {
    let mut checker = Checker::new();
    if let Some(told) = options.progress {
        checker = checker.telling(told);
    }
    let verdict = checker.check(model, history, options.budget);
    (verdict, checker.steps())
}

/// Causal consistency and session guarantees: of registers, whatever the model.
fn of_sessions(options: &Options, log: &Log, level: &str) -> Result<Answer, CheckError> {
    let history = causal::from_log(log).map_err(|errors| options.content(errors))?;
    let said = match Causal::ALL.iter().find(|kind| kind.name() == level) {
        Some(kind) => match causal::check(&history, *kind).map_err(|error| options.unfit(error))? {
            None => Said::new("ok", Vec::new()),
            Some(violation) => Said::new("illegal", vec![violation.text(&history)]),
        },
        None => guarantees(&history, level).map_err(|error| options.unfit(error))?,
    };
    Ok(answer(said, "register", level, history.len()))
}

fn guarantees(history: &Transactions, level: &str) -> Result<Said, drawloom_check::transactions::Unfit> {
    let sessions = causal::check_sessions(history)?;
    if let Some(nonsense) = sessions.nonsense {
        return Ok(Said::new("illegal", vec![nonsense.text(history)]));
    }
    let asked = |guarantee: Guarantee| level == SESSION || guarantee.name() == level;
    let broken = sessions.broken.iter().filter(|broken| asked(broken.guarantee));
    let lines: Vec<String> = broken.map(|broken| format!("{}: {}", broken.guarantee.name(), broken.because)).collect();
    Ok(Said::new(if lines.is_empty() { "ok" } else { "illegal" }, lines))
}

fn answer(said: Said, model: &str, level: &str, count: usize) -> Answer {
    let Said { word, lines, explanation, timeline } = said;
    let mut text = match word {
        "ok" => format!("ok: the history is {level}\n"),
        "illegal" => format!("illegal: the history is not {level}\n"),
        _ => format!("unknown: whether the history is {level}\n"),
    };
    let _ = writeln!(text, "  {count} operations of a {model}");
    for line in lines.iter().flat_map(|line| line.lines()) {
        let _ = writeln!(text, "{}{line}", if line.is_empty() { "" } else { "  " });
    }
    let json = serde_json::json!({
        "verdict": word,
        "consistency": level,
        "model": model,
        "operations": count,
        "because": lines,
        "explanation": explanation,
    });
    let shown = match timeline {
        Some(timeline) => {
            Shown::Operations(Box::new(Lanes { verdict: word, level: level.to_owned(), timeline, explanation }))
        }
        None => Shown::Nothing,
    };
    Answer { text, json, code: code(word), shown }
}
