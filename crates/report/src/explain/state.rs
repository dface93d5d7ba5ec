//! The table of shared state: who writes it, who reads it, and what guards it.

use drawloom_engine::act::Act;
use drawloom_engine::sorted::{Map, Set, sort_by_key};

use super::accesses::Access;
use super::acts;
use super::case::{Blame, Case};
use super::explanation::{Accessor, GuardCell, SharedState};

/// Rows that are shown.
const MOST: usize = 8;
/// Places that an accessor is shown with.
const MOST_PLACES: usize = 4;

/// What several tasks use, and what the failure is about first.
pub(super) fn shared(case: &Case<'_>, blame: &Blame) -> Vec<SharedState> {
    let mut resources = blame.resources.clone();
    let mut accesses: Map<u32, Vec<&Access>> = Map::default();
    for access in &case.accesses.all {
        resources.push(access.resource);
        accesses.at(access.resource).push(access);
    }
    let mut seen = Set::default();
    // What tasks of a library wait at, a channel or a semaphore, guards itself, as those of std do; but for locks.
    let guards_itself = acts::with_any_act(case.record, |act| {
        !matches!(act, Act::Uses | Act::Locks | Act::LocksShared | Act::Unlocks | Act::Abandons | Act::Awaits(_))
    });
    let is_state = |resource: &u32| !case.record.is_event_loop(Some(*resource)) && !guards_itself.contains(resource);
    resources.retain(|resource| seen.insert(*resource) && is_state(resource));
    resources.iter().filter_map(|r| row(case, *r, accesses.get(r)?)).take(MOST).collect()
}

fn row(case: &Case<'_>, resource: u32, accesses: &[&Access]) -> Option<SharedState> {
    let first = accesses.first()?.task;
    let shared = accesses.iter().any(|a| a.task != first);
    let writes = accesses.iter().any(|a| a.mode.writes());
    if !shared || !writes {
        return None;
    }
    Some(SharedState {
        state: case.names.short(resource).to_owned(),
        resource,
        writers: accessors(case, accesses, |a| a.mode.writes()),
        readers: accessors(case, accesses, |a| a.mode.reads()),
        guard: guard(case, resource, accesses),
    })
}

fn accessors(case: &Case<'_>, accesses: &[&Access], wanted: impl Fn(&Access) -> bool) -> Vec<Accessor> {
    let mut all: Vec<Accessor> = Vec::new();
    let mut known: Map<String, usize> = Map::default();
    let mut accesses: Vec<&&Access> = accesses.iter().filter(|a| wanted(a)).collect();
    sort_by_key(&mut accesses, |a| (a.task, a.step));
    for access in accesses {
        let task = match case.names.role(access.task) {
            Some(role) => format!("{} ({role})", case.names.path(access.task)),
            None => case.names.path(access.task).to_owned(),
        };
        let at = *known.get_or_insert_with(task.clone(), || {
            all.push(Accessor { task, places: Vec::new() });
            all.len() - 1
        });
        let place = case.place_of(access.step).filter(|p| !all[at].places.contains(p)).cloned();
        if all[at].places.len() < MOST_PLACES {
            all[at].places.extend(place);
        }
    }
    all
}

/// What guards it, over all executions that were looked at.
fn guard(case: &Case<'_>, resource: u32, accesses: &[&Access]) -> GuardCell {
    let itself = case.names.short(resource);
    if accesses.iter().all(|a| a.section) {
        let of = case.tally(resource).map_or(accesses.len() as u64, |t| t.accesses);
        let text = "its own lock".to_owned();
        return GuardCell { text, lock: Some(itself.to_owned()), held: of, of };
    }
    let Some(tally) = case.tally(resource) else {
        return GuardCell { text: "UNGUARDED".to_owned(), ..GuardCell::default() };
    };
    let of = tally.accesses;
    let most = tally.held.iter().max_by_key(|(_, held)| **held);
    match most {
        Some(((_, lock), held)) => {
            let text = if *held == of { lock.clone() } else { format!("{lock} ({held}/{of} accesses)") };
            GuardCell { text, lock: Some(lock.clone()), held: *held, of }
        }
        None => GuardCell { text: "UNGUARDED".to_owned(), lock: None, held: 0, of },
    }
}
