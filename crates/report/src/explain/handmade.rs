//! Locks made by hand: a flag that was to keep two accesses apart, and does not.

use super::accesses::{Access, Mode};
use super::case::{Blame, Case};
use super::explanation::RaceWindow;
use crate::record::AccessRecord;

/// How a task comes to an access: it looks at a flag, and sets it in a later step.
struct Taking<'a> {
    look: &'a Access,
    set: &'a Access,
}

/// Of a data race, why the flag that both tasks have set before their accesses did not keep them apart.
pub(super) fn blame(case: &Case<'_>, cell: u32, earlier: &AccessRecord, later: &AccessRecord) -> Option<Blame> {
    let (one, other) = (taking(case, earlier)?, taking(case, later)?);
    if one.set.resource != other.set.resource {
        return None;
    }
    // Who looks while the other has not set it yet finds it as free as the other did.
    let between = |own: &Taking<'_>, other: &Taking<'_>| own.look.at < other.set.at && other.set.at < own.set.at;
    let (own, other) = if between(&other, &one) {
        (other, one)
    } else if between(&one, &other) {
        (one, other)
    } else {
        return None;
    };
    let flag = case.names.short(own.set.resource);
    let (task, intruder) = (case.names.quoted(own.set.task), case.names.quoted(other.set.task));
    Some(Blame {
        subkind: Some("broken-lock"),
        sentence: format!(
            "Data race: tasks {intruder} and {task} use {}, and nothing orders them. {flag} should keep them apart, but checking and setting it are two steps: task {task} checked it \
             in step {}, task {intruder} set it in step {}, and task {task} set it, too, in step {}",
            case.names.short(cell),
            own.look.step + 1,
            other.set.step + 1,
            own.set.step + 1
        ),
        reasons: vec![format!("both found {flag} free, since neither had set it when they checked")],
        window: Some(RaceWindow {
            from: own.look.step,
            to: Some(own.set.step),
            task: own.set.task,
            resource: Some(own.set.resource),
            reason: format!("{} has found {flag} free but has not set it yet", case.names.path(own.set.task)),
        }),
        opens: Some(own.look.clone()),
        intrudes: vec![other.set.clone()],
        closes: Some(own.set.clone()),
        resources: vec![own.set.resource, cell],
        steps: vec![other.look.step, earlier.step, later.step],
        ..Blame::default()
    })
}

/// The last flag that a task has set before an access, if it has looked at it before, in a step of its own.
fn taking<'a>(case: &'a Case<'_>, access: &AccessRecord) -> Option<Taking<'a>> {
    let is_flag = |a: &&Access| case.record.resources[a.resource as usize].kind == "atomic";
    let before =
        |step: u32| case.accesses.all.iter().filter(move |a| a.task == access.task && a.step < step).filter(is_flag);
    let set = before(access.step).rfind(|a| a.mode.writes())?;
    let look = before(set.step).rfind(|a| a.resource == set.resource)?;
    (set.mode == Mode::Write && look.mode == Mode::Read).then_some(Taking { look, set })
}
