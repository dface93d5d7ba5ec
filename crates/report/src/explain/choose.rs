//! Which of several patterns is to blame: the one that the failure saw, or that made a task do what the failure saw;
//! that a preemption made possible; and that is the tightest.

use drawloom_engine::sorted::{Set, sort_by_key};

use super::accesses::{Access, Mode, is_no_state};
use super::case::Case;
use super::classify::{done_again, is_noticed};
use super::flow::Flow;
use super::pattern::{Pattern, Shape, patterns};
use super::witness::witnesses;
use crate::record::StepRecord;

/// Patterns that are told apart.
const MOST: usize = 4;
/// Those of them that begin with the same location: if one of them is not to blame, the others hardly are.
const MOST_ALIKE: usize = 2;

/// The patterns that explain the failure, the best first.
pub(super) fn choose<'a>(case: &'a Case<'_>) -> Vec<Pattern<'a>> {
    let telling = case.telling();
    let flow = Flow::of(case);
    let witnesses = witnesses(case, &flow, &telling);
    let preempting = case.record.meta.minimised.as_ref().map_or(&[][..], |minimised| &minimised.preempting);
    let mut all: Vec<(Relevance, Pattern<'a>)> = patterns(&case.accesses, case.end(), preempting)
        .into_iter()
        .map(|pattern| (relevance(case, &pattern, &telling, &witnesses), pattern))
        .collect();
    sort_by_key(&mut all, |(relevance, _)| *relevance);
    let mut chosen: Vec<Pattern<'a>> = Vec::new();
    // The source is read for the most relevant ones only.
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let plausible = group.iter().map(|(_, pattern)| pattern).filter(|pattern| is_plausible(case, &flow, pattern));
        let mut ranked: Vec<_> = plausible.map(|pattern| (rank(&flow, pattern), pattern)).collect();
        sort_by_key(&mut ranked, |(rank, _)| *rank);
        for (_, pattern) in ranked {
            let code = |pattern: &Pattern<'_>| (pattern.opens.code, pattern.closes.code, pattern.harm().code);
            let alike = chosen.iter().filter(|known| known.opens.resource == pattern.opens.resource).count();
            if alike < MOST_ALIKE && !chosen.iter().any(|known| code(known) == code(pattern)) {
                chosen.push(pattern.clone());
            }
            if chosen.len() == MOST {
                return chosen;
            }
        }
    }
    chosen
}

/// A load before a read-modify-write tears nothing apart unless something rests on the load; and whoever has
/// waited for the end of another task expects to find what that has done.
fn is_plausible(case: &Case<'_>, flow: &Flow<'_, '_>, pattern: &Pattern<'_>) -> bool {
    let Pattern { opens, closes, .. } = pattern;
    let other = pattern.harm().task;
    let joins = |step: &StepRecord| {
        let target = step.argument == Some(u64::from(other));
        // The handle of a task of tokio is an object that is made where the task is.
        let of_handle = || {
            let handle = step.resource.map(|resource| &case.whole.resources[resource as usize]);
            let made = handle.filter(|handle| is_no_state(case.whole, handle)).and_then(|handle| handle.created_at);
            made.is_some() && made == case.whole.tasks[other as usize].spawned_at
        };
        step.task == opens.task && ((target && case.whole.operation(step) == "join") || of_handle())
    };
    let steps = case.whole.steps.get(opens.step as usize..closes.step as usize);
    if steps.is_some_and(|steps| steps.iter().any(joins)) {
        return false;
    }
    // What was read before a loop says nothing of its later rounds, unless it says how many there are.
    let round = |a: &Access| {
        (a.task, a.code) == (closes.task, closes.code) && opens.at < a.at && a.at < closes.at && opens.code != a.code
    };
    if opens.resource == closes.resource && case.accesses.all.iter().any(round) && !flow.counts_rounds(opens) {
        return false;
    }
    // Nobody relies on what nobody has learned: `jobs.lock().unwrap().push(job)` reads nothing, though it is one section.
    let reads_first = !matches!(
        pattern.shape,
        Shape::WriteWriteRead | Shape::WriteReadWrite | Shape::WriteBothWrite | Shape::WriteOverWrite
    );
    if reads_first && opens.mode.writes() && !opens.piece && flow.is_blind(opens) {
        return false;
    }
    // Who finds its exchange refused knows that it has to begin again: that is in order, unless it has done something.
    if is_noticed(case, pattern) {
        return done_again(case, pattern).is_some();
    }
    if pattern.shape == Shape::ReadBothWrite {
        return flow.decides(opens, closes);
    }
    let atomic = closes.mode == Mode::Update && !closes.section && case.record.meta.language.facts.has_atomics;
    let rests = || {
        let known = case.place_of(opens.step).and_then(|place| case.sources.line(place)).is_some();
        !known || flow.decides(opens, closes) || flow.reaches(opens, closes)
    };
    !(pattern.shape == Shape::ReadWriteWrite && atomic) || rests()
}

/// The less, the more likely: whether it is about what only shows the harm, how close it is to what the failure saw,
/// and whether a preemption made it possible.
type Relevance = (bool, u32, bool);

fn relevance(case: &Case<'_>, pattern: &Pattern<'_>, telling: &[&Access], witnesses: &Set<u32>) -> Relevance {
    let finding = &case.record.finding;
    let told = |access: &Access| telling.iter().any(|t| t.step == access.step);
    let seen_by_failure = told(pattern.closes) || pattern.intrudes.iter().any(|r| told(r));
    let about = pattern.resources().iter().any(|r| telling.iter().any(|t| t.resource == *r));
    let by_failing = pattern.opens.task == finding.task || pattern.intrudes.iter().any(|r| r.task == finding.task);
    // What the failure saw came of the pattern, if the task of the window did it later on.
    let shown = |resource: u32| witnesses.contains(&resource) && telling.iter().any(|t| t.resource == resource);
    let led_to = |a: &Access| a.task == pattern.opens.task && a.at > pattern.opens.at && shown(a.resource);
    let causes = || case.accesses.all.iter().any(led_to);
    let distance = match (seen_by_failure, about || causes(), by_failing) {
        (true, ..) => 0,
        (false, true, _) => 1,
        (false, false, true) => 2,
        (false, false, false) => 3,
    };
    // A location that is torn within one statement is to blame whoever reads it.
    let torn = !pattern.shape.is_double() && pattern.opens.code.1 == pattern.closes.code.1;
    // And what is checked is to blame for what was done about it.
    let blamed = if pattern.shape == Shape::ReadBothWrite { vec![pattern.opens.resource] } else { pattern.resources() };
    let witness = !torn && blamed.iter().any(|r| witnesses.contains(r));
    (witness, distance, !is_preempted(case, pattern))
}

/// Among equally relevant ones: what rests on what, and the tightest.
fn rank(flow: &Flow<'_, '_>, pattern: &Pattern<'_>) -> (u32, bool, u32) {
    let rests = flow.decides(pattern.opens, pattern.closes) || flow.reaches(pattern.opens, pattern.closes);
    // The same look once more: what it finds is up to date.
    let again = pattern.shape == Shape::ReadWriteRead && pattern.opens.code.1 == pattern.closes.code.1;
    let shape = match pattern.shape {
        _ if again => 3,
        Shape::ReadWriteWrite | Shape::ReadWriteRead if rests => 0,
        Shape::ReadBothRead | Shape::ReadBothWrite if rests => 1,
        Shape::WriteBothWrite => 1,
        Shape::WriteWriteRead => 1,
        Shape::ReadWriteWrite | Shape::ReadWriteRead => 2,
        // Two locations that have nothing to do with each other are changed by many.
        Shape::ReadBothRead | Shape::WriteReadWrite | Shape::WriteOverWrite | Shape::ReadBothWrite => 3,
    };
    let sections = pattern.opens.section && pattern.closes.section && !rests;
    (shape, sections, pattern.closes.at - pattern.opens.at)
}

/// Whether the window's task was left inside it although it could have gone on.
fn is_preempted(case: &Case<'_>, pattern: &Pattern<'_>) -> bool {
    let (from, to) = (pattern.opens.at, pattern.harm().at);
    let leaves =
        |next: u32| next > from && next <= to && case.whole.steps[next as usize - 1].task == pattern.opens.task;
    match &case.record.meta.minimised {
        Some(minimised) => minimised.preempting.iter().any(|next| leaves(*next)),
        None => (from + 1..=to).any(|next| {
            let step = &case.whole.steps[next as usize];
            leaves(next) && step.task != pattern.opens.task && step.choice
        }),
    }
}
