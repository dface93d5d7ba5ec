//! Why a history is not linearizable, in few operations.
//!
//! From the part that cannot be explained: its shortest prefix that cannot; the operation whose return ends that prefix; as
//! few operations as still cannot be explained; the ways in which they were tried, and what each would have needed. As
//! text, as JSON and as a page.
//!
//! Operations that failed did not happen, and are left out from the beginning: a prefix in which one has not failed yet could
//! be explained by it. What is shown can therefore not be explained on its own. An explanation has an
//! allowance of steps and bytes, and says so when it ran out.

mod allowance;
mod attempts;
mod minimise;
mod text;
mod timeline;

use serde::Serialize;

pub use self::timeline::{Drawn, Explained, Timeline, TimelinePart};

use self::allowance::Allowance;
use self::minimise::{Others, STEPS, minimise, opened, shortest_prefix};
use crate::history::{History, OpId, Operation, Outcome};
use crate::linearizable::{Checker, Violation};
use crate::model::Model;
use crate::verdict::{Budget, Verdict};

/// Why a history is not linearizable. `Display` gives one screen of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// How many operations the history has.
    pub operations: usize,
    /// How many of them belong to the part that cannot be explained, if there are parts, and what the part is about.
    pub part: Option<Part>,
    /// How many operations the shortest prefix of the part that cannot be explained has.
    pub prefix: usize,
    /// Operations that cannot be explained together; without any one of them, the others could be, or a value would come
    /// from nowhere, unless the explanation was given up. Nothing if it was given up with more than
    /// [`Explanation::LARGEST`] of them.
    pub minimal: Vec<Shown>,
    /// An operation that failed, and would explain the others if it had not.
    pub failed: Option<Shown>,
    /// Whether `minimal` cannot be explained whatever the other operations did. If not, the allowance did not suffice to
    /// say: it cannot be explained on its own.
    pub enough: bool,
    /// Whether the explanation's allowance of steps ran out before nothing more could be left out.
    pub given_up: bool,
    /// How many operations were left when it ended: as many as `minimal` has, if it has any.
    pub left: usize,
    /// How many steps it took.
    pub steps: u64,
    /// The one among `minimal` that cannot be placed: it returned last.
    pub culprit: usize,
    /// Orders that go as far as possible, longest first, and why the culprit does not fit there. Last those in which it
    /// does, and another operation does not.
    pub attempts: Vec<Attempt>,
    /// The prefix around the culprit, for the page: at most [`Explanation::CONTEXT`] operations.
    pub context: Vec<Shown>,
}

/// A part of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What it is about, such as a key.
    pub name: String,
    /// How many operations it has.
    pub operations: usize,
}

/// An operation to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Which operation of the history it is, in the order of calls.
    pub id: u32,
    /// Who called it.
    pub process: u64,
    /// The event of its call, among those that are shown.
    pub call: u32,
    /// The event of its end, among those that are shown; `None` if nobody knows when it took effect.
    pub end: Option<u32>,
    /// What it was, in the model's words.
    pub text: String,
}

/// An order that goes as far as possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// Operations of `minimal`, in the order in which they were placed.
    pub order: Vec<usize>,
    /// The state after each.
    pub states: Vec<String>,
    /// The one of `minimal` that cannot come next: the culprit, or, after it, one that it leaves no room for.
    pub blocked: usize,
    /// Why that cannot come next.
    pub reason: String,
}

impl Explanation {
    /// The most operations that are shown around the culprit.
    pub const CONTEXT: usize = 200;
    /// The most operations that cannot be explained together and are shown.
    pub const LARGEST: usize = 200;

    /// The explanation as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Why a history is not linearizable; `None` if it is, or if the budget does not suffice to say.
///
/// ```
/// use drawloom_check::model::{Register, RegisterOp::*, RegisterRet};
/// use drawloom_check::{Budget, History, explain};
///
/// let stale = History::builder()
///     .call(0, Write(1), RegisterRet::Written)
///     .call(1, Read, RegisterRet::Value(1))
///     .call(1, Read, RegisterRet::Value(0))
///     .build()?;
/// let why = explain::linearizability(&Register::new(0), &stale, Budget::default()).unwrap();
/// assert_eq!(why.minimal.len(), 2);
/// assert!(why.to_string().contains("read → 0 cannot be placed"));
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
pub fn linearizability<M: Model>(model: &M, history: &History<M::Op, M::Ret>, budget: Budget) -> Option<Explanation>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut checker = Checker::new();
    let Verdict::Illegal(violation) = checker.check(model, history, budget) else { return None };
    let steps = checker.steps();
    // What it remembers is not needed any more.
    drop(checker);
    Some(violated(model, history, violation, steps, budget))
}

/// Why a history is not linearizable that a [`Checker`] has found not to be, after so many steps.
pub fn violated<M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    violation: Violation,
    steps: u64,
    budget: Budget,
) -> Explanation
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut allowance = Allowance::new(model, history.len(), steps, budget);
    let about = |id: OpId| model.partition(&history.operations()[id.index()].op);
    let divided = (0..history.len()).all(|id| about(OpId(id as u32)).is_some());
    let in_part = |id: OpId| !divided || about(id) == about(violation.part);
    let happened = |id: OpId| in_part(id) && !matches!(history.operations()[id.index()].outcome, Outcome::Fail);
    let mut kept: Vec<OpId> = history.iter().map(|(id, _)| id).filter(|id| happened(*id)).collect();
    let part = history.subset(happened);
    let prefix = part.prefix(shortest_prefix(&mut allowance, &part, STEPS.max(steps)));
    kept.truncate(prefix.len());
    let called = kept.clone();

    // Fewer operations may fail earlier: then what comes later is not needed either.
    let mut minimal = prefix.clone();
    let mut complete = loop {
        let fewest = minimise(&mut allowance, &minimal, last_to_return(&minimal), Others::Out);
        kept = fewest.kept.iter().map(|id| kept[id.index()]).collect();
        minimal = minimal.subset(|id| fewest.kept.binary_search(&id).is_ok());
        let events = shortest_prefix(&mut allowance, &minimal, STEPS);
        if events == minimal.events() {
            break fewest.complete;
        }
        minimal = minimal.prefix(events);
        kept.truncate(minimal.len());
    };
    // They must be wrong whatever the others did, and not because those are missing.
    let mut enough = match minimal.len() == prefix.len() {
        true => Some(false),
        false => allowance.explains(&whatever_else(&prefix, &called, &kept, &minimal), ENOUGH.max(steps)),
    };
    if enough == Some(true) {
        let fewest = minimise(&mut allowance, &prefix, last_to_return(&prefix), Others::Open);
        kept = fewest.kept.iter().map(|id| called[id.index()]).collect();
        minimal = prefix.subset(|id| fewest.kept.binary_search(&id).is_ok());
        (complete, enough) = (fewest.complete, Some(false));
    }
    let culprit = last_to_return(&minimal);
    let failed = (complete && minimal.len() <= Explanation::LARGEST)
        .then(|| would_explain(&mut allowance, history, &in_part, &kept, &minimal))
        .flatten();
    let part_of = |operations| Part {
        name: about(violation.part).map_or_else(String::new, |token| token.to_string()),
        operations,
    };
    let mut explanation = Explanation {
        operations: history.len(),
        part: divided.then(|| part_of((0..history.len()).filter(|id| in_part(OpId(*id as u32))).count())),
        prefix: prefix.len(),
        minimal: Vec::new(),
        failed: None,
        given_up: !complete,
        enough: enough == Some(false),
        left: minimal.len(),
        steps: allowance.spent(),
        culprit: culprit.index(),
        attempts: Vec::new(),
        context: Vec::new(),
    };
    if minimal.len() <= Explanation::LARGEST {
        let mut ids = kept.clone();
        let picture = with_failed(history, &mut ids, &minimal, failed);
        let shown = picture.iter().map(|(id, o)| show(model, ids[id.index()], o));
        let (failed, minimal_shown) = shown.partition(|shown| Some(shown.id) == failed.map(|id| id.0));
        (explanation.failed, explanation.minimal) = (Vec::pop(&mut { failed }), minimal_shown);
        explanation.attempts = attempts::attempts(model, &minimal, culprit);
        explanation.context = context(model, history, &in_part, kept[culprit.index()]);
    }
    explanation
}

/// Steps for the one check of whether what is shown is enough.
const ENOUGH: u64 = 100_000;

/// The operations of `minimal`, with all others of the prefix that were called before the last of them returned; nobody
/// knows what became of those.
fn whatever_else<O: Clone, R: Clone>(
    prefix: &History<O, R>,
    called: &[OpId],
    kept: &[OpId],
    minimal: &History<O, R>,
) -> History<O, R> {
    let at = |id: OpId| kept.binary_search(&called[id.index()]).ok();
    let is_open = |id: OpId| at(id).is_none_or(|at| minimal.operations()[at].end.is_none());
    let open = opened(prefix, is_open);
    let last = open.operations().iter().map(Operation::deadline).filter(|end| *end < u32::MAX).max();
    open.subset(|id| Some(open.operations()[id.index()].call) < last)
}

/// The operation whose return is the last one.
fn last_to_return<O, R>(history: &History<O, R>) -> OpId {
    let returned = history.iter().filter(|(_, operation)| operation.outcome.ret().is_some());
    returned.max_by_key(|(_, operation)| operation.end).map_or(OpId(0), |(id, _)| id)
}

/// How many operations that failed are asked whether they would explain the rest.
const ASKED: usize = 32;

/// The last operation that failed, and would explain what cannot be explained if it had not.
fn would_explain<M: Model>(
    allowance: &mut Allowance<'_, M>,
    history: &History<M::Op, M::Ret>,
    in_part: &impl Fn(OpId) -> bool,
    kept: &[OpId],
    minimal: &History<M::Op, M::Ret>,
) -> Option<OpId>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let last = kept.iter().map(|id| history.operations()[id.index()].deadline()).filter(|end| *end < u32::MAX).max()?;
    let failed = history
        .iter()
        .filter(|(id, operation)| in_part(*id) && matches!(operation.outcome, Outcome::Fail) && operation.call < last);
    let failed: Vec<OpId> = failed.map(|(id, _)| id).collect();
    failed.into_iter().rev().take(ASKED).find(|failed| {
        let unknown =
            Operation { outcome: Outcome::Pending, end: None, ..history.operations()[failed.index()].clone() };
        let others = original(history, kept, minimal).chain([unknown]);
        allowance.explains(&History::from_positions(others.collect()), STEPS) == Some(true)
    })
}

/// The operations of a small history, where they stand in the whole one.
fn original<'h, O: Clone, R: Clone>(
    history: &'h History<O, R>,
    kept: &'h [OpId],
    minimal: &'h History<O, R>,
) -> impl Iterator<Item = Operation<O, R>> + 'h {
    kept.iter().zip(minimal.operations()).map(|(id, small)| {
        let Operation { call, end, .. } = &history.operations()[id.index()];
        Operation { call: *call, end: small.end.and(*end), ..small.clone() }
    })
}

/// The small history with an operation that failed, if there is one; its id joins the others in the order of calls.
fn with_failed<O: Clone, R: Clone>(
    history: &History<O, R>,
    ids: &mut Vec<OpId>,
    minimal: &History<O, R>,
    failed: Option<OpId>,
) -> History<O, R> {
    let added = failed.map(|id| history.operations()[id.index()].clone());
    let picture = History::from_positions(original(history, ids, minimal).chain(added).collect());
    ids.extend(failed);
    ids.sort_unstable();
    picture
}

/// What was open or ended around the culprit: the last operations that were called before its return, those that failed
/// included.
fn context<M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    in_part: &impl Fn(OpId) -> bool,
    culprit: OpId,
) -> Vec<Shown>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let end = history.operations()[culprit.index()].deadline();
    let called = history.iter().filter(|(id, operation)| in_part(*id) && operation.call < end);
    let mut ids: Vec<OpId> = called.map(|(id, _)| id).collect();
    ids.drain(..ids.len().saturating_sub(Explanation::CONTEXT));
    let seen = |id: &OpId| {
        let operation = &history.operations()[id.index()];
        match operation.outcome {
            // That it failed is known, even if only later.
            Outcome::Ok(_) if operation.end > Some(end) => {
                Operation { outcome: Outcome::Pending, end: None, ..operation.clone() }
            }
            _ => operation.clone(),
        }
    };
    let window = History::from_positions(ids.iter().map(seen).collect());
    window.iter().map(|(id, operation)| show(model, ids[id.index()], operation)).collect()
}

fn show<M: Model>(model: &M, id: OpId, operation: &Operation<M::Op, M::Ret>) -> Shown {
    let text = model.describe(&operation.op, operation.outcome.ret());
    let (end, text) = match operation.outcome {
        Outcome::Ok(_) => (operation.end, text),
        // Nobody asks what an operation returned that did not happen.
        Outcome::Fail => (operation.end, format!("{} → failed", text.strip_suffix(" → ?").unwrap_or(&text))),
        Outcome::Info | Outcome::Pending => (None, text),
    };
    Shown { id: id.0, process: operation.process.0, call: operation.call, end, text }
}
