//! Why a history is not linearizable, in few operations.
//!
//! From the part that cannot be explained: its shortest prefix that cannot; the operation whose return ends that prefix; as
//! few operations as still cannot be explained; the ways in which they were tried, and what each would have needed. As
//! text, as JSON and as a page.

mod attempts;
mod html;
mod minimise;
mod text;

use serde::Serialize;

use crate::history::{History, OpId, Operation, Outcome};
use crate::linearizable::Checker;
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
    /// Operations that cannot be explained together; without any one of them, the others could be, unless the budget of
    /// the reduction ran out.
    pub minimal: Vec<Shown>,
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

    /// The explanation as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A page that shows the explanation, without a network; never larger than a megabyte.
    pub fn to_html(&self, title: &str) -> String {
        html::page(self, title)
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
    let about = |id: OpId| model.partition(&history.operations()[id.index()].op);
    let divided = (0..history.len()).all(|id| about(OpId(id as u32)).is_some());
    let in_part = |id: OpId| !divided || about(id) == about(violation.part);
    let ids: Vec<OpId> = history.iter().map(|(id, _)| id).filter(|id| in_part(*id)).collect();
    let part = history.subset(in_part);
    let events = shortest_prefix(&mut checker, model, &part, budget);
    let prefix = part.prefix(events);
    let ids = &ids[..prefix.len()];

    // Fewer operations may fail earlier: then what comes later is not needed either.
    let mut kept: Vec<OpId> = prefix.iter().map(|(id, _)| id).collect();
    let mut minimal = prefix.clone();
    let culprit = loop {
        let last = last_to_return(&minimal);
        let fewer = minimise::minimise(&mut checker, model, &minimal, last);
        kept = fewer.iter().map(|id| kept[id.index()]).collect();
        minimal = minimal.subset(|id| fewer.binary_search(&id).is_ok());
        let events = shortest_prefix(&mut checker, model, &minimal, budget);
        if events == minimal.events() {
            break last_to_return(&minimal);
        }
        minimal = minimal.prefix(events);
        kept.truncate(minimal.len());
    };
    let name = |number: usize| ids[kept[number].index()].0;
    let shown = minimal.iter().map(|(id, o)| show(model, name(id.index()), o)).collect();

    // What was open or returned around the culprit, as a window on the prefix.
    let from = prefix.len().saturating_sub(Explanation::CONTEXT);
    let window = prefix.subset(|id| id.index() >= from);
    let context = window.iter().map(|(id, o)| show(model, ids[from + id.index()].0, o)).collect();
    Some(Explanation {
        operations: history.len(),
        part: divided.then(|| Part {
            name: about(violation.part).map_or_else(String::new, |token| token.to_string()),
            operations: part.len(),
        }),
        prefix: prefix.len(),
        minimal: shown,
        culprit: culprit.index(),
        attempts: attempts::attempts(model, &minimal, culprit),
        context,
    })
}

/// The operation whose return is the last one.
fn last_to_return<O, R>(history: &History<O, R>) -> OpId {
    let returned = history.iter().filter(|(_, operation)| operation.outcome.ret().is_some());
    returned.max_by_key(|(_, operation)| operation.end).map_or(OpId(0), |(id, _)| id)
}

/// How many events of a history cannot be explained, at least. More events never help, so that halving finds it.
fn shortest_prefix<M: Model>(
    checker: &mut Checker<M>,
    model: &M,
    history: &History<M::Op, M::Ret>,
    budget: Budget,
) -> u32
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut returns: Vec<u32> = history
        .operations()
        .iter()
        .filter(|operation| matches!(operation.outcome, Outcome::Ok(_)))
        .filter_map(|operation| operation.end)
        .collect();
    returns.sort_unstable();
    // A budget that runs out counts as explained: the prefix is then longer than it need be, but cannot be explained.
    let fits = |end: &u32| !checker.check(model, &history.prefix(end + 1), budget).is_illegal();
    let (mut low, mut high, mut fits) = (0, returns.len() - 1, fits);
    while low < high {
        let middle = (low + high) / 2;
        if fits(&returns[middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    returns[low] + 1
}

fn show<M: Model>(model: &M, id: u32, operation: &Operation<M::Op, M::Ret>) -> Shown {
    Shown {
        id,
        process: operation.process.0,
        call: operation.call,
        end: operation.end.filter(|_| matches!(operation.outcome, Outcome::Ok(_))),
        text: model.describe(&operation.op, operation.outcome.ret()),
    }
}
