//! A whole history on a time line: who called what and when, an order that explains it, and where that order ends.
//!
//! Each part has an order of its own. A part that is not linearizable gets an order of its longest prefix that is: all
//! that happened before the return of one operation, the culprit. Orders have an allowance, as explanations have; a
//! part whose order was not found within it says so.

use std::fmt::{self, Write};

use serde::Serialize;

use super::allowance::Allowance;
use super::minimise::{STEPS, shortest_prefix};
use super::{last_to_return, show};
use crate::history::{History, OpId, Operation, Outcome};
use crate::linearizable::{Parts, Violation};
use crate::model::{Model, Next};
use crate::verdict::{Budget, Verdict};

/// A whole history, to be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Timeline {
    /// How many operations the history has.
    pub operations: usize,
    /// How many of them were called before those that are drawn.
    pub before: usize,
    /// How many of them were called after those that are drawn.
    pub after: usize,
    /// What the history falls into, such as keys. One part if it does not.
    pub parts: Vec<TimelinePart>,
    /// At most [`Timeline::LARGEST`] operations, in the order of their calls.
    pub drawn: Vec<Drawn>,
}

/// A part of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimelinePart {
    /// What it is about, such as a key; nothing if it is the whole history.
    pub name: String,
    /// How many operations it has.
    pub operations: usize,
    /// What is known of it.
    pub standing: Explained,
    /// How many operations its order places; `None` if no order was found within the allowance.
    pub placed: Option<usize>,
    /// Operations that cannot come next.
    pub culprits: Vec<u32>,
}

/// What is known of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Explained {
    /// Some order explains all of it.
    All,
    /// No order does. That of the part is one of its longest prefix that can be explained.
    Prefix,
    /// The budget ran out before anybody could say.
    Unknown,
}

/// An operation on the time line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drawn {
    /// Which operation of the history it is, in the order of calls.
    pub id: u32,
    /// Who called it.
    pub process: u64,
    /// The event of its call, among those that are drawn.
    pub call: u32,
    /// The event of its end, among those that are drawn; `None` if nobody knows when it took effect.
    pub end: Option<u32>,
    /// What it was, in the model's words.
    pub text: String,
    /// Which part it belongs to.
    pub part: usize,
    /// Whether it certainly did not take effect.
    pub failed: bool,
    /// Its place in the order of its part, from 0.
    pub rank: Option<usize>,
    /// The state that it left in that order, if only one is possible; its beginning, if that is long.
    pub state: Option<String>,
}

impl Timeline {
    /// The most operations that are drawn: those around the first that cannot be placed.
    pub const LARGEST: usize = 4_000;
    /// The most characters of a state.
    pub const STATE: usize = 60;

    /// The time line of a history that a checker for linearizability judged after so many steps.
    ///
    /// ```
    /// use drawloom_check::explain::{Explained, Timeline};
    /// use drawloom_check::linearizable::Checker;
    /// use drawloom_check::model::{Register, RegisterOp::*, RegisterRet};
    /// use drawloom_check::{Budget, History};
    ///
    /// let (model, budget) = (Register::new(0), Budget::default());
    /// let stale = History::builder()
    ///     .call(0, Write(1), RegisterRet::Written)
    ///     .call(1, Read, RegisterRet::Value(0))
    ///     .build()?;
    /// let verdict = Checker::new().check(&model, &stale, budget);
    /// let timeline = Timeline::linearized(&model, &stale, &verdict, 0, budget);
    /// assert_eq!(timeline.parts[0].standing, Explained::Prefix);
    /// assert_eq!((timeline.drawn[0].rank, timeline.parts[0].culprits[0]), (Some(0), 1));
    /// # Ok::<(), drawloom_check::HistoryError>(())
    /// ```
    pub fn linearized<M: Model>(
        model: &M,
        history: &History<M::Op, M::Ret>,
        verdict: &Verdict<(), Violation>,
        steps: u64,
        budget: Budget,
    ) -> Timeline
    where
        M::Op: Clone,
        M::Ret: Clone,
    {
        let mut allowance = Allowance::new(model, history.len(), steps, budget);
        let mut parts = Parts::default();
        parts.divide(model, history);
        let mut places = vec![Place::default(); history.len()];
        let mut described = Vec::new();
        for part in 0..parts.len() {
            let members = parts.members(part);
            members.iter().for_each(|member| places[*member as usize].part = part);
            let known = match verdict {
                Verdict::Ok(()) => Some(true),
                Verdict::Illegal(violation) => members.binary_search(&violation.part.0).is_ok().then_some(false),
                Verdict::Unknown(_) => None,
            };
            let (standing, order, culprits) = judged(&mut allowance, history, members, known, steps);
            follow(model, history, order.iter().flatten(), &mut places);
            let about = members.first().and_then(|first| model.partition(&history.operations()[*first as usize].op));
            let name = match parts.len() {
                0 | 1 => String::new(),
                _ => about.map_or_else(String::new, |token| token.to_string()),
            };
            let placed = order.as_ref().map(Vec::len);
            described.push(TimelinePart { name, operations: members.len(), standing, placed, culprits });
        }
        drawn(model, history, described, &places)
    }

    /// The time line of a history with an order, and the operations that cannot come next in it: none if the order
    /// explains everything.
    pub fn ordered<M: Model>(
        model: &M,
        history: &History<M::Op, M::Ret>,
        order: &[OpId],
        standing: Explained,
        culprits: &[OpId],
    ) -> Timeline
    where
        M::Op: Clone,
        M::Ret: Clone,
    {
        let mut places = vec![Place::default(); history.len()];
        follow(model, history, order, &mut places);
        let placed = (standing != Explained::Unknown).then_some(order.len());
        let culprits = culprits.iter().map(|id| id.0).collect();
        let part = TimelinePart { name: String::new(), operations: history.len(), standing, placed, culprits };
        drawn(model, history, vec![part], &places)
    }
}

/// Where an operation stands in the order of its part.
#[derive(Clone, Default)]
struct Place {
    part: usize,
    rank: Option<usize>,
    state: Option<String>,
}

/// What is known of a part, an order of it or of its longest prefix that can be explained, and what cannot come next.
fn judged<M: Model>(
    allowance: &mut Allowance<'_, M>,
    history: &History<M::Op, M::Ret>,
    members: &[u32],
    known: Option<bool>,
    steps: u64,
) -> (Explained, Option<Vec<OpId>>, Vec<u32>)
where
    M::Op: Clone,
    M::Ret: Clone,
{
    // What failed did not happen.
    let happened = |id: &u32| !matches!(history.operations()[*id as usize].outcome, Outcome::Fail);
    let kept: Vec<u32> = members.iter().copied().filter(happened).collect();
    let part = history.subset(|id| kept.binary_search(&id.0).is_ok());
    let original = |order: Vec<OpId>| order.iter().map(|id| OpId(kept[id.index()])).collect();
    let most = STEPS.max(steps).saturating_mul(2).saturating_add(4 * kept.len() as u64);
    match known.or_else(|| allowance.explains(&part, most)) {
        None => (Explained::Unknown, None, Vec::new()),
        Some(true) => (Explained::All, allowance.order(&part, most).map(original), Vec::new()),
        Some(false) => {
            let events = shortest_prefix(allowance, &part, STEPS.max(steps));
            let culprit = last_to_return(&part.prefix(events));
            // All but the return that cannot be explained.
            let order = allowance.order(&part.prefix(events.saturating_sub(1)), most).map(original);
            (Explained::Prefix, order, vec![kept[culprit.index()]])
        }
    }
}

/// Notes the rank of each operation of an order, and the state after it.
fn follow<'o, M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    order: impl IntoIterator<Item = &'o OpId>,
    places: &mut [Place],
) {
    // Objects that are free to choose may be in several states; which one may show later, or never.
    const STATES: usize = 16;
    let mut states = vec![model.init()];
    for (rank, id) in order.into_iter().enumerate() {
        let operation = &history.operations()[id.index()];
        let mut after: Vec<M::State> = Vec::new();
        for state in &states {
            let mut next = Next::default();
            model.step(state, &operation.op, operation.outcome.ret(), &mut next);
            for state in next.states(state) {
                if !after.contains(state) && after.len() < STATES {
                    after.push(state.clone());
                }
            }
        }
        let place = &mut places[id.index()];
        place.rank = Some(rank);
        if let [only] = &after[..] {
            place.state = Some(beginning(only));
        }
        states = after;
    }
}

/// The first characters of a value's `Debug` form. The rest is never written: a state may be as long as the history.
fn beginning(value: &impl fmt::Debug) -> String {
    struct Cut(String, usize);
    impl Write for Cut {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for character in text.chars() {
                self.1 = self.1.checked_sub(1).ok_or(fmt::Error)?;
                self.0.push(character);
            }
            Ok(())
        }
    }
    let mut cut = Cut(String::new(), Timeline::STATE);
    if write!(cut, "{value:?}").is_err() {
        cut.0.push('…');
    }
    cut.0
}

fn drawn<M: Model>(model: &M, history: &History<M::Op, M::Ret>, parts: Vec<TimelinePart>, places: &[Place]) -> Timeline
where
    M::Op: Clone,
    M::Ret: Clone,
{
    // Most of the room is for what led to the failure.
    let failure = parts.iter().flat_map(|part| part.culprits.iter().copied()).min().unwrap_or(0) as usize;
    let latest = history.len().saturating_sub(Timeline::LARGEST);
    let first = (failure.saturating_sub(Timeline::LARGEST / 10 * 9)).min(latest);
    let last = (first + Timeline::LARGEST).min(history.len());
    let chosen: Vec<Operation<M::Op, M::Ret>> = history.operations()[first..last].to_vec();
    let window = History::from_positions(chosen);
    let drawn = window.iter().map(|(id, operation)| {
        let id = OpId((first + id.index()) as u32);
        let Place { part, rank, state } = places[id.index()].clone();
        let failed = matches!(operation.outcome, Outcome::Fail);
        let shown = show(model, id, operation);
        let super::Shown { id, process, call, end, text } = shown;
        Drawn { id, process, call, end, text, part, failed, rank, state }
    });
    let drawn = drawn.collect();
    Timeline { operations: history.len(), before: first, after: history.len() - last, parts, drawn }
}
