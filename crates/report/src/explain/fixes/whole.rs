//! The coarse fix: one lock over everything that each of the tasks does to what they share.
//!
//! The window is what failed; there may be others beside it. Where it does not help to close the one window,
//! this tells whether a lock can help at all.

use drawloom_engine::sorted::Set;

use drawloom_engine::guard::{Guard, Region};

use super::{Draft, Words};
use crate::explain::accesses::Access;
use crate::explain::explanation::{Effort, Fix};
use crate::language::Sketch;

/// The fix, unless it would be the one that closes the window.
pub(super) fn whole(draft: &Draft<'_, '_>) -> Option<Fix> {
    let blame = draft.blame;
    // A lock that is kept while its holder waits for a notification is another fix, and a bad one.
    if let (Some(opens), Some(closes)) = (&blame.opens, &blame.closes) {
        if draft.case.notification_awaited(opens.task, opens.step, closes.step).is_some() {
            return None;
        }
    }
    let ends = blame.opens.iter().chain(&blame.intrudes).chain(&blame.closes);
    let tasks: Set<u32> = ends.map(|access| access.task).collect();
    let mut regions: Vec<Region> = Vec::new();
    for task in &tasks {
        let own = || draft.case.accesses.all.iter().filter(|a| a.task == *task && is_shared(draft, a, &tasks));
        let region = draft.region(own().next()?, own().next_back()?)?;
        if !regions.iter().any(|known| known.enter == region.enter) {
            regions.push(region);
        }
    }
    if draft.regions().is_some_and(|of_window| regions.iter().all(|region| of_window.contains(region))) {
        return None;
    }
    let who: Vec<String> = tasks.iter().map(|task| draft.case.names.path(*task).to_string()).collect();
    let words = Words {
        title: format!("Hold one lock while {} use their shared state", who.join(" and ")),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::HoldOverAll { in_coroutines: draft.in_coroutines() }),
        tradeoff: "they run one after the other",
        risk: "a deadlock, if one of them waits for the other inside",
    };
    Some(Fix {
        closes: "no step of one falls between those of the other".to_owned(),
        ..draft.fix(words, Some(Guard::Lock(regions)))
    })
}

/// Whether an access is to something that two of `tasks` use, and one of them changes.
fn is_shared(draft: &Draft<'_, '_>, access: &Access, tasks: &Set<u32>) -> bool {
    let on_it = || draft.case.accesses.all.iter().filter(|a| a.resource == access.resource && tasks.contains(&a.task));
    on_it().any(|a| a.task != access.task) && on_it().any(|a| a.mode.writes())
}
