//! Failures that are no matter of one window: tasks that spin for ever, accesses that nothing orders.

use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;
use super::handmade;
use crate::names::count;
use crate::record::AccessRecord;
use crate::terminal::race::missing;
use drawloom_engine::sorted::sort;

/// Steps of the end that are looked at for the round that repeats itself.
const LAST: usize = 64;
/// The longest round of a task that is taken for one, in steps,
const LONGEST_ROUND: usize = 24;
/// and how often it comes at least.
const ROUNDS: usize = 4;

/// Who was busy in the end, and with what.
struct Busy<'c> {
    tasks: Vec<u32>,
    resources: Vec<u32>,
    named: String,
    /// ` over `flag``
    over: String,
    case: &'c Case<'c>,
}

impl<'c> Busy<'c> {
    fn of(case: &'c Case<'_>) -> Busy<'c> {
        let record = case.record;
        let first = record.steps.len().saturating_sub(LAST);
        let mut tasks: Vec<u32> = Vec::new();
        let mut resources: Vec<u32> = Vec::new();
        for step in &record.steps[first..] {
            if !tasks.contains(&step.task) {
                tasks.push(step.task);
            }
            resources.extend(step.resource.filter(|r| !resources.contains(r)));
        }
        sort(&mut tasks);
        let about: Vec<&str> = resources.iter().take(3).map(|r| case.names.short(*r)).collect();
        let over = if about.is_empty() { String::new() } else { format!(" over {}", about.join(", ")) };
        let named = tasks.iter().map(|t| case.names.quoted(*t)).collect::<Vec<_>>().join(" and ");
        Busy { tasks, resources, named, over, case }
    }

    fn blame(self, sentence: String) -> Blame {
        let record = self.case.record;
        let yielded = |t: &u32| {
            let task = &record.tasks[*t as usize];
            let times = count(task.yields, "time");
            (task.yields > 0).then(|| format!("{} yielded {times}", self.case.names.path(*t)))
        };
        let yields: Vec<String> = self.tasks.iter().filter_map(yielded).collect();
        let mut blame = Blame { sentence, resources: self.resources, ..Blame::default() };
        blame.reasons.extend((!yields.is_empty()).then(|| yields.join(", ")));
        let first = record.steps.len().saturating_sub(LAST);
        blame.steps.extend(first as u32..record.steps.len() as u32);
        blame
    }

    /// Whether `task` does the same again and again, and finds the same each time.
    fn repeats(&self, task: u32) -> bool {
        let record = self.case.record;
        let own = record.steps.iter().rev().filter(|step| step.task == task).take(LONGEST_ROUND * ROUNDS);
        let done: Vec<_> = own.map(|s| (s.place, s.operation, s.resource, s.value, s.outcome)).collect();
        (1..=LONGEST_ROUND).any(|round| {
            let seen = &done[..done.len().min(round * ROUNDS)];
            seen.len() == round * ROUNDS && seen[round..].iter().zip(seen).all(|(later, earlier)| later == earlier)
        })
    }
}

/// Tasks that yield without getting anywhere.
pub(super) fn livelock(case: &Case<'_>) -> Blame {
    let busy = Busy::of(case);
    let sentence = match busy.tasks.as_slice() {
        [_] => format!(
            "Livelock: task {} spins{} for ever: no task changes the value that it waits for",
            busy.named, busy.over
        ),
        _ => format!("Livelock: tasks {} give way to each other for ever{}", busy.named, busy.over),
    };
    let subkind = if busy.tasks.len() == 1 { "spin" } else { "mutual" };
    Blame { class: Some(Class::Livelock), subkind: Some(subkind), ..busy.blame(sentence) }
}

/// An execution that was cut: a livelock, if all who were busy went round in circles; else it is long, and nothing more
/// is known.
pub(super) fn step_limit(case: &Case<'_>, limit: u64) -> Blame {
    let busy = Busy::of(case);
    let who = are(busy.tasks.len(), &busy.named);
    if busy.tasks.iter().all(|task| busy.repeats(*task)) {
        let sentence = format!("Endless: after {} {who} still busy{}", count(limit, "step"), busy.over);
        let subkind = if busy.tasks.len() == 1 { "spin" } else { "mutual" };
        return Blame { class: Some(Class::Livelock), subkind: Some(subkind), ..busy.blame(sentence) };
    }
    let sentence = format!("Unfinished after {}: {who} still working{}", count(limit, "step"), busy.over);
    let mut blame = busy.blame(sentence);
    blame.reasons.push(
        "the steps do not repeat, so the program may just be long: allow more steps (`max_steps`), or \
             make it smaller"
            .to_owned(),
    );
    blame
}

fn are(number: usize, tasks: &str) -> String {
    if number == 1 { format!("task {tasks} is") } else { format!("tasks {tasks} are") }
}

/// Accesses to plain memory that nothing orders.
pub(super) fn data_race(case: &Case<'_>, cell: u32, earlier: &AccessRecord, later: &AccessRecord) -> Blame {
    let verb = |access: &AccessRecord| match case.operation(access.step) {
        "write cell" => "writes",
        _ => "reads",
    };
    let (a, b) = (case.names.quoted(earlier.task), case.names.quoted(later.task));
    let x = case.names.short(cell);
    let access = |side: &AccessRecord| case.accesses.all.iter().find(|a| a.step == side.step).cloned();
    let nothing_orders = Blame {
        class: Some(Class::DataRace),
        subkind: Some(match (verb(earlier), verb(later)) {
            ("writes", "writes") => "write-write",
            _ => "read-write",
        }),
        sentence: format!(
            "Data race: task {a} {} {x} and task {b} {} it, and nothing orders the two",
            verb(earlier),
            verb(later)
        ),
        pattern: Some(format!("no edge from step {} to step {}", earlier.step + 1, later.step + 1)),
        reasons: vec![missing(case.record, &case.names, earlier, later)],
        window: Some(RaceWindow {
            from: earlier.step,
            to: Some(later.step),
            task: earlier.task,
            resource: Some(cell),
            reason: format!(
                "no lock, join, message or atomic leads from step {} to step {}",
                earlier.step + 1,
                later.step + 1
            ),
        }),
        opens: access(earlier),
        closes: access(later),
        resources: vec![cell],
        steps: [earlier.sync, later.sync].into_iter().flatten().collect(),
        ..Blame::default()
    };
    match handmade::blame(case, cell, earlier, later) {
        Some(mut broken) => {
            broken.class = nothing_orders.class;
            broken.pattern = nothing_orders.pattern;
            broken.steps.extend(nothing_orders.steps);
            broken
        }
        None => nothing_orders,
    }
}
