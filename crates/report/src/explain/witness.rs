//! Witnesses: shared state by which a failure was noticed, and which has no part in it.
//!
//! A counter that tasks only ever add to, and that the assertion reads in the end, decides about nothing. When two
//! tasks have both added to it, the question is why both came to do so: what was checked before is to blame.

use drawloom_engine::sorted::Set;

use super::accesses::Access;
use super::case::Case;
use super::flow::Flow;

/// The resources that nothing but the failing judgement reads.
pub(super) fn witnesses(case: &Case<'_>, flow: &Flow<'_, '_>, telling: &[&Access]) -> Set<u32> {
    let all: Set<u32> = case.accesses.all.iter().map(|a| a.resource).collect();
    all.into_iter().filter(|resource| is_witness(case, flow, telling, *resource)).collect()
}

fn is_witness(case: &Case<'_>, flow: &Flow<'_, '_>, telling: &[&Access], resource: u32) -> bool {
    let own = || case.accesses.all.iter().filter(|a| a.resource == resource);
    let last_write =
        |by_others_than: u32| own().rev().find(|a| a.mode.writes() && a.task != by_others_than).map(|a| a.at);
    // In the end: nobody changes it any more.
    let judges = |a: &Access| {
        let told = telling.iter().any(|t| t.step == a.step);
        let settled = last_write(a.task).is_none_or(|last| last < a.at);
        let last = a.task == case.record.finding.task && settled;
        last && (told || !flow.decides(a, a))
    };
    let blind = |a: &Access| flow.is_blind(a);
    own().any(|a| a.mode.writes() && blind(a)) && own().all(|a| blind(a) || (!a.mode.writes() && judges(a)))
}
