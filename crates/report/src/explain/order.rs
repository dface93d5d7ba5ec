//! Failures in which nothing is torn apart: a wrong order of whole operations, or no matter of order at all.

use drawloom_engine::sorted::{Map, sort_by_key};

use super::accesses::{Access, Mode};
use super::case::{Blame, Case};
use super::class::Class;
use super::flow::Flow;
use super::parting::{Parting, parting};
use super::wakeups::waits_in_a_loop;
use super::witness::witnesses;
use crate::names::count;
use crate::processes::{lost, standing};
use crate::record::Record;

/// So many lines are read; the last are nearest to the failure.
const MOST_ACTS: usize = 12;

/// What the failing task did in the end: `task `0` (main) panicked with `…``.
fn failed(case: &Case<'_>) -> String {
    let finding = &case.record.finding;
    let message = finding.message.lines().next().unwrap_or_default();
    let panicked = case.record.meta.language.words.panicked_with;
    format!("task {} {panicked} `{message}`", case.names.quoted(finding.task))
}

/// A failure that none of the schedules that were tried goes without.
pub(super) fn always(case: &Case<'_>, tried: u64) -> Blame {
    let mut telling = case.telling();
    if telling.is_empty() {
        telling = acts(case);
    }
    let broken = Some(case.record).filter(|record| record.is_broken_invariant()).map(Record::failing_how);
    let how = broken.unwrap_or_else(|| failed(case));
    Blame {
        class: Some(Class::AnyOrder),
        sentence: format!("Fails in all of {} that were tried: {how}", count(tried + 1, "schedule")),
        reasons: vec![format!(
            "{} of other schedules fail in the same way; further schedules were not examined",
            count(tried, "execution")
        )],
        resources: telling.iter().map(|a| a.resource).collect(),
        steps: telling.iter().map(|a| a.step).collect(),
        ..Blame::default()
    }
}

/// Where the other tasks act, if the failing one shows nothing of what it has seen: an invariant may read without
/// steps. That is the last write of each task to each thing that others use, too, or its last look at it.
fn acts<'c>(case: &'c Case<'_>) -> Vec<&'c Access> {
    let is_before = |a: &&Access| a.task != case.record.finding.task && a.step < case.end();
    let mut last: Map<(u32, u32), &Access> = Map::default();
    for access in case.accesses.all.iter().filter(is_before) {
        let known = last.get_or_insert_with((access.task, access.resource), || access);
        if access.mode.writes() || !known.mode.writes() {
            *known = access;
        }
    }
    let shared = |a: &&Access| others(case, a).next().is_some();
    let mut acts: Vec<&Access> = last.values().copied().filter(shared).collect();
    if acts.is_empty() {
        acts = last.values().copied().collect();
    }
    sort_by_key(&mut acts, |access| access.step);
    acts.split_off(acts.len().saturating_sub(MOST_ACTS))
}

/// A panic after a wait for a notification that is in no loop, and that ended without one: what was waited for need not be there.
fn woken_for_nothing(case: &Case<'_>) -> Option<Blame> {
    let task = case.record.finding.task;
    let woken = (0..case.end()).rev().find(|i| case.whole.steps[*i as usize].task == task && case.is_spurious(*i))?;
    if waits_in_a_loop(case, woken) {
        return None;
    }
    let own = || case.accesses.all.iter().filter(|a| a.task == task);
    // The lock is taken again at the line of the wait, and what it guards is used under it.
    let used = own().find(|a| a.step > woken && a.step < case.end())?;
    let looked = own().rfind(|a| a.step < woken && a.resource == used.resource)?;
    let (who, x) = (case.names.quoted(task), case.names.short(used.resource));
    Some(Blame {
        class: Some(Class::Toctou),
        subkind: Some("not-looked-again"),
        sentence: format!(
            "Check-then-act: task {who} checked {x} before its wait, was woken without a notification, and continued without checking \
             again"
        ),
        reasons: vec![format!(
            "a wait may end at any time, here in step {}; it also ends when another task was faster",
            woken + 1
        )],
        resources: vec![used.resource],
        opens: Some(looked.clone()),
        closes: Some(used.clone()),
        steps: vec![woken],
        ..Blame::default()
    })
}

/// A panic that no pattern explains.
pub(super) fn order(case: &Case<'_>) -> Blame {
    if let Some(blame) = woken_for_nothing(case) {
        return blame;
    }
    let finding = &case.record.finding;
    let who = case.names.quoted(finding.task);
    let mut blame = Blame { resources: Vec::new(), ..Blame::default() };
    let shared = |access: &&&Access| others(case, access).next().is_some();
    let telling = case.telling();
    // A value that changed is a better clue than one that did not.
    let told = telling.iter().filter(shared).max_by_key(|a| (last_writer(case, a).is_some(), a.at));
    let only_shows = |access: &Access| witnesses(case, &Flow::of(case), &telling).contains(&access.resource);
    let shows_nothing = told.is_none_or(|told| only_shows(told));
    if let Some(parting) = if shows_nothing { parting(case) } else { None } {
        return by_parting(case, parting);
    }
    // That a counter was read after it was counted up explains nothing, if others that pass do not go otherwise.
    let compared = !case.knowledge.others().is_empty();
    let told = told.copied();
    let told = match told.filter(|_| shows_nothing && compared) {
        Some(_) => origin(case, &telling),
        None => told,
    };
    let Some(told) = told else {
        // What it read before the panic leads to no step of another task: what is shown is what there is.
        let what = capital(&failed(case));
        let nodes = &case.record.processes.nodes;
        blame.sentence = match among_processes(case) {
            // Whose code it was is known from what happened, and who serves the nodes has nothing to do with it.
            _ if !nodes.is_empty() => capital(finding.message.lines().next().unwrap_or_default()),
            Some(why) => format!("{what}; {why}"),
            None => format!("{what}; no known pattern fits this execution, so no class is claimed"),
        };
        blame.resources = telling.iter().map(|a| a.resource).collect();
        return blame;
    };
    let x = case.names.short(told.resource);
    let who = if told.task == finding.task { who } else { case.names.quoted(told.task) };
    blame.class = Some(Class::OrderViolation);
    blame.resources = telling.iter().filter(shared).map(|a| a.resource).chain([told.resource]).collect();
    blame.closes = Some(told.clone());
    match (last_writer(case, told), next_writer(case, told)) {
        (Some(write), _) => {
            let writer = case.names.quoted(write.task);
            blame.subkind = Some("too-late");
            blame.sentence = format!(
                "Order violation: task {who} used {x} after task {writer} had changed it (step {})",
                write.step + 1
            );
            blame.reasons.push(format!("each operation on {x} is complete; the program does not expect their order"));
            blame.intrudes.push(write.clone());
        }
        (None, Some(write)) => {
            let writer = case.names.quoted(write.task);
            blame.subkind = Some("too-early");
            blame.sentence = format!("Order violation: task {who} used {x} before task {writer} had changed it");
            blame.reasons.push(format!("task {writer} would have changed {x} next"));
            blame.intrudes.push(write.clone());
            if let Some([look, change]) = let_through(case, told, write) {
                let y = case.names.short(look.resource);
                blame.sentence = format!(
                    "Order violation: task {who} read {y} before task {writer} had changed it, and so used {x} before \
             task {writer} had changed that, too"
                );
                blame.resources.push(look.resource);
                blame.steps.extend([told.step, write.step]);
                (blame.closes, blame.intrudes) = (Some(look.clone()), vec![change.clone()]);
            }
        }
        (None, None) => {
            let other = others(case, told).next().map(|a| case.names.quoted(a.task)).unwrap_or_default();
            blame.sentence = format!(
                "Order violation: tasks {who} and {other} used {x} in an order that the program does not expect"
            );
        }
    }
    blame
}

/// What the task of `told` looked at to know whether it may go on, before the task of `write` had changed that: the look,
/// and the change.
fn let_through<'c>(case: &'c Case<'_>, told: &Access, write: &Access) -> Option<[&'c Access; 2]> {
    let flow = Flow::of(case);
    let all = || case.accesses.all.iter();
    let looks =
        |a: &&Access| a.task == told.task && a.at < told.at && a.mode == Mode::Read && a.resource != told.resource;
    let change = |look: &Access| {
        let by_writer = |a: &&Access| a.task == write.task && a.resource == look.resource && a.mode.writes();
        all().find(by_writer).filter(|first| look.at < first.at && first.at < write.at)
    };
    all().rev().filter(looks).find_map(|look| {
        let change = change(look)?;
        flow.decides(look, told).then_some([look, change])
    })
}

/// What was read to compute what the failure saw, where another task changes it later: `total` of
/// `average.store(total / count)`.
fn origin<'c>(case: &'c Case<'_>, telling: &[&Access]) -> Option<&'c Access> {
    let flow = Flow::of(case);
    let all = || case.accesses.all.iter();
    let of = |told: &&Access| {
        let written = all().rfind(|a| a.resource == told.resource && a.mode.writes() && a.at < told.at)?;
        let reads = |a: &&Access| a.task == written.task && a.at < written.at && a.mode.reads();
        all().rev().filter(reads).find(|read| flow.reaches(read, written))
    };
    let early = |read: &&Access| next_writer(case, read).is_some() && last_writer(case, read).is_none();
    telling.iter().filter_map(of).find(early)
}

/// A task that found something else than in an execution that passes.
fn by_parting(case: &Case<'_>, parting: Parting) -> Blame {
    Blame {
        class: Some(Class::OrderViolation),
        subkind: Some(if parting.too_late { "too-late" } else { "too-early" }),
        sentence: format!("Order violation: {}", parting.sentence(case)),
        reasons: vec![parting.reason(case)],
        resources: vec![parting.read.resource],
        intrudes: vec![parting.write],
        closes: Some(parting.read),
        ..Blame::default()
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn others<'c>(case: &'c Case<'_>, told: &Access) -> impl Iterator<Item = &'c Access> {
    let (task, resource) = (told.task, told.resource);
    case.accesses.all.iter().filter(move |a| a.task != task && a.resource == resource)
}

/// The write of another task that `told` came after, most recently.
fn last_writer<'c>(case: &'c Case<'_>, told: &Access) -> Option<&'c Access> {
    let before = |a: &&Access| a.mode.writes() && a.at < told.at && a.step < case.end();
    others(case, told).filter(before).last()
}

/// The first write of another task that came, or would have come, after `told`.
fn next_writer<'c>(case: &'c Case<'_>, told: &Access) -> Option<&'c Access> {
    let after = |a: &&Access| a.mode.writes() && a.at > told.at;
    others(case, told).find(after)
}

/// What went before among processes that may have led to it: ends that are none in good order, and messages that were lost.
fn among_processes(case: &Case<'_>) -> Option<String> {
    const MOST: usize = 2;
    let told = case.told();
    let in_order = |reason: &str| reason.is_empty() || reason.starts_with("normal") || reason.starts_with("shutdown");
    let ended = standing(told).into_iter().filter(|s| s.task != case.record.finding.task);
    let ended = ended.filter_map(|s| Some((s.task, s.reason.filter(|reason| !in_order(reason))?)));
    let ended = ended.map(|(task, reason)| {
        format!("{} had ended: {}", case.names.quoted(task), reason.lines().next().unwrap_or_default())
    });
    let lost = lost(told).into_iter().map(|lost| {
        let whom = case.names.quoted(lost.to);
        format!("`{}` of {} was lost, since {whom} had ended", lost.text, lost.from)
    });
    let all: Vec<String> = ended.chain(lost).take(MOST).collect();
    (!all.is_empty()).then(|| format!("before that {}", all.join(", and ")))
}
