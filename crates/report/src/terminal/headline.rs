//! What went wrong, in the first lines of a report.

use drawloom_engine::sorted::sort_by_key;
use std::fmt::Write as _;

use drawloom_engine::finding::Backtrace;

use super::blocked::{blocked_on, closed};
use super::paint::{Ink, Paint};
use super::race::race;
use super::stuck::stuck_task;
use super::{MOST_LISTED, RenderOptions};
use crate::names::{Names, count};
use crate::record::{BlockedRecord, Details, Place, Record};
use crate::source::Sources;

/// The headline with what belongs under it; ends with a line break.
pub(crate) fn headline(record: &Record, names: &Names<'_>, options: &RenderOptions<'_>) -> String {
    let mut out = what_went_wrong(record, names, options);
    if let Some(aside) = &record.finding.aside {
        advice(&mut out, aside);
    }
    out
}

fn what_went_wrong(record: &Record, names: &Names<'_>, options: &RenderOptions<'_>) -> String {
    let paint = Paint(options.colour);
    let test = &record.meta.test;
    let place = if test.is_empty() { "in an exploration".to_owned() } else { format!("in test \"{test}\"") };
    let start = |kind: &str| format!("{} {place}:", paint.ink(Ink::Alarm, kind));
    let kind = record.finding.kind.to_uppercase();
    let mut out = String::new();
    match &record.finding.details {
        Details::Stuck(stuck) => {
            let _ = writeln!(out, "{}", start(&kind));
            out.push_str(&stuck_task(record, names, stuck));
        }
        Details::OutOfStacks { stacks, reason } => {
            let _ = writeln!(out, "{}", start("TASK LIMIT"));
            let at = record.place(record.finding.place).map(|p| format!(", at {p}")).unwrap_or_default();
            let who = names.full(record.finding.task);
            let _ = writeln!(out, "  There is no stack for {who}{at}: {} are in use.", count(*stacks, "stack"));
            let _ = writeln!(out, "  {reason}");
            advice(
                &mut out,
                "Either the test starts tasks without end, or it needs many: then raise that limit, or let some tasks\nend before others begin. `max_tasks` sets a limit of your own.",
            );
        }
        Details::OutOfTime => {
            let _ = writeln!(out, "{}", start("OUT OF TIME"));
            let _ = writeln!(
                out,
                "  The `timeout` ended before the first execution did, after {}.",
                count(record.steps.len() as u64, "step")
            );
            for (i, task) in unfinished(record).take(MOST_LISTED) {
                let last =
                    record.steps.iter().rev().find(|step| step.task == i).and_then(|step| record.place(step.place));
                let at = last.map(|p| format!(", the last at {p}")).unwrap_or_default();
                let _ = writeln!(out, "  {}: {}{at}", names.full(i), count(task.steps, "step"));
            }
            and_more(&mut out, unfinished(record).count());
            advice(&mut out, "Either it never ends, or it takes long: then raise `timeout` or make the test smaller.");
        }
        Details::Panic { backtrace, waiting, .. } => {
            if record.is_broken_invariant() {
                let _ = writeln!(out, "{}", start("BROKEN INVARIANT"));
                indent(&mut out, &record.invariant());
                return out;
            }
            let place = record.place(record.finding.place);
            let who = names.tag(record.finding.task);
            let language = record.meta.language;
            let column = |p: &Place| if language.facts.columns { format!(":{}", p.column) } else { String::new() };
            let at = place.map(|p| format!(" at {p}{}", column(p))).unwrap_or_default();
            let (failure, fails) = language.words.failure;
            let _ = match record.finding.kind.as_str() {
                "not linearizable" => writeln!(out, "{} seen by task {who}{at}:", start(&kind)),
                _ => writeln!(out, "{} task {who} {fails}{at}:", start(failure)),
            };
            indent(&mut out, &record.finding.message);
            if let Some(text) = backtrace.as_ref().map(Backtrace::text).filter(|text| !text.is_empty()) {
                let _ = writeln!(out, "  backtrace:");
                indent(&mut out, text);
            }
            if !waiting.is_empty() {
                let _ = writeln!(out, "  These then wait for ever:");
            }
            for b in waiting.iter().take(MOST_LISTED) {
                let _ = writeln!(out, "  {}: {}", names.full(b.task), blocked_on(record, names, b, waiting, true));
            }
            and_more(&mut out, waiting.len());
        }
        Details::Deadlock { blocked, cycle, chain, everybody } => {
            let _ = writeln!(out, "{}", start(&kind));
            // Those in the cycle first, if not all can be shown.
            let mut order: Vec<&BlockedRecord> = blocked.iter().collect();
            if order.len() > MOST_LISTED {
                sort_by_key(&mut order, |b| !cycle.contains(&b.task));
            }
            for b in order.iter().take(MOST_LISTED) {
                let _ =
                    writeln!(out, "  {}: {}", names.full(b.task), blocked_on(record, names, b, blocked, *everybody));
            }
            and_more(&mut out, blocked.len());
            let path = |tasks: &[u32]| {
                tasks.iter().map(|t| format!("Task {}", names.path(*t))).collect::<Vec<_>>().join(" → ")
            };
            if !cycle.is_empty() {
                let _ = writeln!(out, "\nDependency cycle: {}", path(&closed(cycle, names)));
            } else if !chain.is_empty() {
                let word = if record.finding.kind == "deadlock" { "cycle" } else { "chain" };
                let _ = writeln!(out, "\nDependency {word}: {} → (no progress possible)", path(chain));
            }
            if !everybody {
                let _ = writeln!(out, "\nOther tasks could still continue; these never will.");
            }
        }
        Details::DataRace { resource, earlier, later } => {
            let cell = names.resource(Some(*resource)).unwrap_or("a cell");
            let _ = writeln!(out, "{} {cell}", start("DATA RACE"));
            out.push_str(&race(record, names, &Sources::of(record, options.sources), [earlier, later]));
            advice_unless_explained(
                record,
                &mut out,
                "Protect the cell by a lock, or pass it on by a join, a channel or an atomic. Operations outside\n\
                 Drawloom's control, such as std's own locks and the counts of an `Arc`, order nothing here.",
            );
        }
        Details::Livelock { bound } => {
            let _ = writeln!(out, "{}", start("POTENTIAL LIVELOCK"));
            let some_finished = record.tasks.iter().any(|t| t.finished);
            let since = if some_finished { "In the last" } else { "After" };
            let _ = writeln!(out, "  {since} {}, no task has completed.", count(*bound, "yield"));
            let mut last = vec![None; record.tasks.len()];
            for step in record.steps.iter().filter(|s| record.operation(s) == "yield") {
                last[step.task as usize] = step.place;
            }
            for (i, task) in unfinished(record).take(MOST_LISTED) {
                let at = record.place(last[i as usize]).map(|p| format!(", last at {p}")).unwrap_or_default();
                let _ = writeln!(out, "  {}: yielded {}{at}", names.full(i), count(task.yields, "time"));
            }
            and_more(&mut out, unfinished(record).count());
            advice(&mut out, "If they would end nevertheless, raise `progress_bound`.");
        }
        Details::StepLimit { limit } => {
            let _ = writeln!(out, "{}", start("STEP LIMIT"));
            let _ = writeln!(out, "  The execution was cut after {}.", count(*limit, "step"));
            for (i, task) in unfinished(record).take(MOST_LISTED) {
                let _ = writeln!(out, "  {}: {}", names.full(i), count(task.steps, "step"));
            }
            and_more(&mut out, unfinished(record).count());
            advice(&mut out, "Either it never ends, or it is long: then raise `max_steps` or make the test smaller.");
        }
        Details::TaskLimit { limit } => {
            let _ = writeln!(out, "{}", start("TASK LIMIT"));
            let at = record.place(record.finding.place).map(|p| format!(", at {p}")).unwrap_or_default();
            let who = names.full(record.finding.task);
            let _ = writeln!(out, "  {who} spawned one task more than the allowed {limit}{at}.");
            advice(&mut out, "Either it spawns without end, or it needs many: then raise `max_tasks`.");
        }
        Details::Leak { leaks } => {
            let _ = writeln!(out, "{}", start("LEAK"));
            for leak in leaks.iter().take(MOST_LISTED) {
                let at = record.place(leak.created_at).map_or("an unknown place".into(), ToString::to_string);
                let left = count(leak.references, "reference");
                let _ = writeln!(out, "  {left} left to the shared value created at {at}");
            }
            if leaks.len() > MOST_LISTED {
                let _ = writeln!(out, "  … and {} more", leaks.len() - MOST_LISTED);
            }
            advice(
                &mut out,
                "They were alive when every task had ended: a cycle of references, a forgotten guard, or a static.\n\
                 If that is intended, set `leaks = false`.",
            );
        }
        Details::Unjoined { tasks } => {
            let _ = writeln!(out, "{}", start(if tasks.len() == 1 { "UNJOINED TASK" } else { "UNJOINED TASKS" }));
            for task in tasks.iter().take(MOST_LISTED) {
                let _ = writeln!(out, "  {}: its handle was dropped without a join", names.full(*task));
            }
            and_more(&mut out, tasks.len());
            advice(
                &mut out,
                "No task learns when they end, or that they panicked. Join them, or set `unjoined = false`.",
            );
        }
        Details::Divergence { step, expected, found, task } => {
            let _ = writeln!(out, "{}", start("DIVERGENCE"));
            let who = task.as_ref().map(|path| format!(", task {path}")).unwrap_or_default();
            // Steps are counted from 1 wherever they are shown.
            let step = step + 1;
            let _ =
                writeln!(out, "  The program behaved differently when its schedule was repeated, at step {step}{who}:");
            let _ = writeln!(out, "    expected: {expected}");
            let _ = writeln!(out, "    found:    {found}");
            let decides = record.meta.language.words.decides;
            advice(
                &mut out,
                &format!(
                    "Either the program has changed since the recording: then run the test again.\n\
                     Or the outcome depends on something outside Drawloom's control: {decides}"
                ),
            );
        }
        Details::Nothing if record.finding.kind == "nothing explored" => {
            let _ = writeln!(out, "{}", start("NOTHING EXPLORED"));
            let _ = writeln!(out, "  No execution had a choice: at no time could two tasks run.");
            advice(&mut out, record.meta.language.words.no_choice);
        }
        Details::Nothing => {
            let _ = writeln!(out, "{}", start(&kind));
            indent(&mut out, &record.finding.message);
        }
    }
    out
}

fn indent(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
}

/// Says how many of `all` were not listed.
fn and_more(out: &mut String, all: usize) {
    if all > MOST_LISTED {
        let _ = writeln!(out, "  … and {}", count((all - MOST_LISTED) as u64, "more task"));
    }
}

fn advice(out: &mut String, text: &str) {
    out.push('\n');
    for line in text.lines() {
        let _ = writeln!(out, "  {line}");
    }
}

/// An explanation has fixes of its own.
fn advice_unless_explained(record: &Record, out: &mut String, text: &str) {
    if record.explanation.is_none() {
        advice(out, text);
    }
}

fn unfinished(record: &Record) -> impl Iterator<Item = (u32, &crate::record::TaskRecord)> {
    (0..).zip(&record.tasks).filter(|(_, t)| !t.finished && t.path != "clock")
}
