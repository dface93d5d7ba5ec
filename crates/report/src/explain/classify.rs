//! From a pattern to the class of the mistake, with a sentence and the reasons for it.

use drawloom_engine::sorted::Set;

use super::accesses::{Access, Mode};
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;
use super::flow::Flow;
use super::pattern::{Pattern, Shape};

/// What kind of mistake `pattern` is.
pub(super) fn classify(case: &Case<'_>, pattern: &Pattern<'_>) -> Blame {
    let flow = Flow::of(case);
    let Pattern { shape, opens, closes, .. } = pattern;
    let harm = pattern.harm();
    let reached = closes.step < case.end();
    let shared_by_all = |lock: &&u32| closes.locks.contains(lock) && harm.locks.contains(lock);
    let throughout = case
        .accesses
        .held_throughout(opens.task, opens.step, closes.step)
        .filter(|lock| opens.locks.iter().find(shared_by_all).is_none() && is_guard(case, *lock, opens.resource));
    let decides = flow.decides(opens, closes) && opens.mode.reads();
    let reaches = opens.mode.reads() && flow.reaches(opens, closes);
    // Held at both ends and given back between them.
    let kept = |lock: u32| case.accesses.holds_throughout(opens.task, lock, opens.step, closes.step);
    let common = opens.locks.iter().copied().find(|lock| closes.locks.contains(lock) && !kept(*lock));
    let mut blame = Blame {
        pattern: Some(letters(case, pattern)),
        opens: Some((*opens).clone()),
        intrudes: pattern.intrudes.iter().map(|r| (*r).clone()).collect(),
        closes: Some((*closes).clone()),
        resources: pattern.resources(),
        ..Blame::default()
    };
    let again = done_again(case, pattern);
    let (class, subkind) = if let Some(again) = again {
        blame.reasons.push(format!(
            "task {} changed {} in step {} and did so again in step {}",
            case.names.quoted(opens.task),
            case.names.short(again[0].resource),
            again[0].step + 1,
            again[1].step + 1
        ));
        blame.steps.extend(again.map(|a| a.step));
        (Class::AtomicityGap, "done-again")
    } else if let Some((one, other)) = two_locks_for_one_thing(case, pattern) {
        blame.reasons.push(format!(
            "{} and {} were made at the same place and guarded the same state: holding one did not exclude \
             holding the other",
            case.names.short(one),
            case.names.short(other)
        ));
        for lock in [one, other] {
            let asked = first_hold(case, lock);
            blame.steps.extend(asked);
            // Where the lock came from: what the task used right before.
            let task = asked.map(|i| case.whole.steps[i as usize].task);
            let before = |a: &&Access| Some(a.task) == task && Some(a.step) < asked && a.resource != lock;
            let map = case.accesses.all.iter().rfind(before).map(|a| a.resource);
            blame.resources.extend(map.filter(|map| !blame.resources.contains(map)));
        }
        (Class::LifetimeMismatch, "lock-replaced")
    } else if let Some(lock) = throughout {
        blame.reasons.push(format!(
            "task {} held {} all the time from step {} to step {}, and task {} did not ask for it",
            case.names.quoted(opens.task),
            case.names.short(lock),
            opens.step + 1,
            closes.step + 1,
            case.names.quoted(harm.task)
        ));
        (Class::MissingGuard, "lock-not-taken")
    } else if decides && !matches!(shape, Shape::WriteBothWrite | Shape::WriteOverWrite) {
        (Class::Toctou, "check-then-act")
    } else if let Some(lock) = missing_in_task(opens, harm, closes).filter(|lock| is_guard(case, *lock, opens.resource))
    {
        blame.reasons.push(format!(
            "task {} holds {} for {}, task {} does not",
            case.names.quoted(harm.task),
            case.names.short(lock),
            case.names.short(opens.resource),
            case.names.quoted(opens.task)
        ));
        (Class::MissingGuard, "lock-not-taken")
    } else if shape.is_double() {
        match (matches!(shape, Shape::ReadBothRead | Shape::ReadBothWrite), reaches) {
            (true, true) => (Class::StaleReference, "used-after-replaced"),
            (true, false) => (Class::AtomicityGap, "torn-read"),
            (false, _) if *shape == Shape::WriteOverWrite => (Class::AtomicityGap, "mixed-write"),
            (false, _) => (Class::AtomicityGap, "torn-write"),
        }
    } else if *shape == Shape::ReadWriteWrite && (flow.is_written_back(opens, closes) || flow.adds(opens, closes)) {
        (Class::AtomicityGap, if is_aba(opens, harm, closes) { "aba" } else { "lost-update" })
    } else if common.is_some() {
        (Class::AtomicityGap, "two-locked-sections")
    } else {
        match shape {
            Shape::ReadWriteRead if reaches => (Class::StaleReference, "used-after-replaced"),
            Shape::WriteWriteRead => (Class::AtomicityGap, "overwritten"),
            Shape::WriteReadWrite => (Class::AtomicityGap, "half-done"),
            _ => (Class::AtomicityGap, "torn"),
        }
    };
    if let Some(lock) = common.filter(|_| throughout.is_none()) {
        blame.reasons.push(format!(
            "task {} gives {} back between step {} and step {}",
            case.names.quoted(opens.task),
            case.names.short(lock),
            opens.step + 1,
            closes.step + 1
        ));
    }
    (blame.class, blame.subkind) = (Some(class), Some(subkind));
    blame.sentence = sentence(case, pattern, class, subkind);
    blame.window = Some(RaceWindow {
        from: opens.step,
        to: reached.then_some(closes.step),
        task: opens.task,
        resource: Some(opens.resource),
        reason: inconsistent(case, pattern, class, subkind),
    });
    blame
}

/// `R W W of `balance`: steps 3, 6, 9`
fn letters(case: &Case<'_>, pattern: &Pattern<'_>) -> String {
    let name = |i: usize| pattern.resources().get(i).map(|r| case.names.short(*r).to_owned()).unwrap_or_default();
    let letters = pattern.shape.letters();
    let mut steps: Vec<String> = vec![(pattern.opens.step + 1).to_string()];
    steps.extend(pattern.intrudes.iter().map(|r| (r.step + 1).to_string()));
    steps.push(match pattern.closes.step {
        step if step < case.end() => (step + 1).to_string(),
        step if (step as usize) < case.record.steps.len() => format!("{}, too late", step + 1),
        _ => "one that was not reached".to_owned(),
    });
    let what = if pattern.shape.is_double() {
        letters.replace("(a)", &format!("({})", name(0))).replace("(b)", &format!("({})", name(1)))
    } else {
        format!("{letters} of {}", name(0))
    };
    format!("{what} (steps {})", steps.join(", "))
}

/// Different sets of locks that are compared with each other, each with each.
const MOST_COMPARED: usize = 500;

/// Two locks of one birthplace under each of which the same state was used, with nothing in common.
fn two_locks_for_one_thing(case: &Case<'_>, pattern: &Pattern<'_>) -> Option<(u32, u32)> {
    let resources = pattern.resources();
    let about = |a: &&Access| resources.contains(&a.resource) && a.step < case.end();
    let born = |lock: u32| case.whole.resources[lock as usize].created_at;
    // Of the same task with the same locks, one says it all: a long execution has many.
    let mut seen = Set::default();
    let new = |a: &&Access| !a.locks.is_empty() && seen.insert((a.task, a.resource, a.locks.clone()));
    let all: Vec<&Access> = case.accesses.all.iter().filter(about).filter(new).take(MOST_COMPARED).collect();
    for (i, a) in all.iter().enumerate() {
        for b in all[i + 1..].iter().filter(|b| b.resource == a.resource && b.task != a.task) {
            let pairs = a.locks.iter().flat_map(|x| b.locks.iter().map(move |y| (*x, *y)));
            let differ = |(x, y): &(u32, u32)| {
                x != y && born(*x).is_some() && born(*x) == born(*y) && !a.locks.contains(y) && !b.locks.contains(x)
            };
            if let Some(pair) = pairs.into_iter().find(differ) {
                return Some(pair);
            }
        }
    }
    None
}

fn first_hold(case: &Case<'_>, lock: u32) -> Option<u32> {
    let hold = case.accesses.holds.iter().position(|bar| bar.resource == Some(lock))?;
    Some(case.accesses.request(hold))
}

/// Whether a lock is what protects a resource, as far as executions show: it is held for more than half of all
/// accesses.
fn is_guard(case: &Case<'_>, lock: u32, resource: u32) -> bool {
    let key = case.key(lock);
    case.tally(resource).is_none_or(|tally| {
        let held: u64 = tally.held.iter().filter(|((lock, _), _)| lock == key).map(|(_, held)| held).sum();
        2 * held > tally.accesses
    })
}

/// A lock that the other task held, where the task of the window had none at all.
fn missing_in_task(opens: &Access, harm: &Access, closes: &Access) -> Option<u32> {
    let bare = opens.locks.is_empty() && closes.locks.is_empty();
    harm.locks.first().copied().filter(|_| bare && !harm.section)
}

fn is_aba(opens: &Access, harm: &Access, closes: &Access) -> bool {
    closes.mode == Mode::Update && closes.found.is_some() && closes.found == opens.found && harm.left != opens.found
}

fn sentence(case: &Case<'_>, pattern: &Pattern<'_>, class: Class, subkind: &str) -> String {
    let Pattern { opens, closes, shape, .. } = pattern;
    let harm = pattern.harm();
    let (a, b) = (case.names.quoted(opens.task), case.names.quoted(harm.task));
    let x = case.names.short(opens.resource);
    let y = case.names.short(closes.resource);
    let changed = format!("task {b} changed it");
    match (class, subkind, shape) {
        (Class::AtomicityGap, "lost-update", _) if both_read(case, pattern) => {
            format!("Lost update: tasks {a} and {b} both read {x} before either wrote it back")
        }
        (Class::AtomicityGap, "lost-update", _) => {
            format!("Lost update: task {a} wrote back {x} as it had read it before task {b} changed it")
        }
        (Class::AtomicityGap, "aba", _) => format!(
            "ABA: task {a} read {x}, task {b} changed it and it was changed back, and task {a} assumed that it was unchanged"
        ),
        (Class::Toctou, _, Shape::ReadBothRead) => {
            format!("Check-then-act: task {a} checked {x}, task {b} changed {x} and {y}, and task {a} then used {y}")
        }
        (Class::Toctou, _, _) => {
            format!("Check-then-act: task {a} checked {x}, {changed}, and task {a} acted on the old value")
        }
        (Class::StaleReference, _, Shape::ReadBothRead) => {
            format!(
                "Stale reference: task {a} kept using the value that it had read from {x} after task {b} had replaced it"
            )
        }
        (Class::StaleReference, _, _) => {
            format!("Stale reference: task {a} kept using an old {x} after task {b} had replaced it")
        }
        (Class::LifetimeMismatch, _, Shape::WriteBothWrite) => format!(
            "Lifetime mismatch: task {b} got a new lock and came between the changes of task {a} to {x} and {y}"
        ),
        (Class::LifetimeMismatch, _, _) => {
            format!("Lifetime mismatch: tasks {a} and {b} used {x} at the same time, each under a lock of its own")
        }
        (Class::MissingGuard, _, _) => {
            let holder = if opens.locks.is_empty() { (&b, &a) } else { (&a, &b) };
            let lock = opens.locks.first().or(harm.locks.first()).map(|lock| case.names.short(*lock));
            format!(
                "Missing guard: task {} holds {} while it uses {x}, task {} does not",
                holder.0,
                lock.unwrap_or("a lock"),
                holder.1
            )
        }
        (_, "done-again", _) => format!(
            "Atomicity gap: task {a} acted on {x} before it exchanged it; {changed}, the exchange failed, and task {a} \
             repeated all of it"
        ),
        (_, "two-locked-sections", _) => format!(
            "Atomicity gap: task {a} gave its lock back between two uses of {x} that belong together, and {changed}"
        ),
        (_, _, Shape::WriteBothWrite) => {
            format!("Atomicity gap: task {b} saw {x} and {y} when task {a} had changed only the first of them")
        }
        (_, _, Shape::WriteOverWrite) => {
            format!(
                "Atomicity gap: tasks {a} and {b} wrote {x} and {y} at the same time, and one write of each survived"
            )
        }
        (_, _, Shape::ReadBothWrite) => {
            format!("Atomicity gap: task {a} read {x} before and wrote {y} after task {b} changed both")
        }
        (_, _, Shape::ReadBothRead) => {
            format!("Atomicity gap: task {a} read {x} before and {y} after task {b} changed both")
        }
        (_, _, Shape::WriteWriteRead) => {
            format!("Atomicity gap: task {a} wrote {x} and read it back, and task {b} overwrote it in between")
        }
        (_, _, Shape::WriteReadWrite) => {
            format!("Atomicity gap: task {b} read {x} between two writes of task {a} that belong together")
        }
        _ => format!("Atomicity gap: task {b} changed {x} between two uses of it by task {a} that belong together"),
    }
}

/// Whether the window is closed by an exchange that was refused: then the task knows of the change.
pub(super) fn is_noticed(case: &Case<'_>, pattern: &Pattern<'_>) -> bool {
    let step = &case.whole.steps[pattern.closes.step as usize];
    pattern.closes.resource == pattern.opens.resource
        && case.whole.operation(step) == "compare-exchange"
        && case.whole.outcome(step) == "refused"
}

/// What a task did before its exchange was refused, and the same after that.
pub(super) fn done_again<'c>(case: &'c Case<'_>, pattern: &Pattern<'_>) -> Option<[&'c Access; 2]> {
    let Pattern { opens, closes, .. } = pattern;
    let own = || case.accesses.all.iter().filter(|a| a.task == opens.task && a.mode.writes());
    let between = |a: &&Access| opens.at < a.at && a.at < closes.at && a.resource != opens.resource;
    if !is_noticed(case, pattern) {
        return None;
    }
    own().filter(between).find_map(|first| Some([first, own().find(|a| a.at > closes.at && a.code == first.code)?]))
}

/// Whether the task that does the harm had read the location, as the window's task had, before it wrote.
fn both_read(case: &Case<'_>, pattern: &Pattern<'_>) -> bool {
    let harm = pattern.harm();
    let read = |a: &&Access| {
        a.task == harm.task && a.resource == harm.resource && a.mode.reads() && a.at < harm.at && a.step != harm.step
    };
    let Some(read) = case.accesses.all.iter().rfind(read) else { return false };
    // Nobody wrote between its read and its write.
    let written = |a: &Access| a.resource == harm.resource && a.mode.writes() && a.task != harm.task;
    !case.accesses.all.iter().any(|a| written(a) && !a.section && a.at > read.at && a.at < harm.at)
}

/// What is not as it should be while the window is open.
fn inconsistent(case: &Case<'_>, pattern: &Pattern<'_>, class: Class, subkind: &str) -> String {
    let Pattern { opens, closes, shape, .. } = pattern;
    let (x, y) = (case.names.short(opens.resource), case.names.short(closes.resource));
    let a = case.names.path(opens.task);
    match (class, shape) {
        (_, Shape::WriteBothWrite | Shape::WriteOverWrite) => format!("{x} is changed, {y} is not yet"),
        (Class::Toctou, Shape::ReadBothRead) => format!("{a} relies on the {x} that it saw"),
        (_, Shape::ReadBothRead) => format!("{a} has the old {x}, and has not read {y} yet"),
        (_, Shape::ReadBothWrite) => format!("{a} relies on the {x} that it saw"),
        (Class::Toctou, _) => format!("{a} relies on the {x} that it saw"),
        _ if subkind == "two-locked-sections" => format!("the {x} that {a} has read may be out of date"),
        (_, Shape::ReadWriteWrite) => format!("{a} has read {x} and not yet written it back"),
        (_, Shape::ReadWriteRead) => format!("{a} relies on the {x} that it has read"),
        (_, Shape::WriteWriteRead) => format!("{a} relies on the {x} that it has written"),
        (_, Shape::WriteReadWrite) => format!("{x} is half done"),
    }
}
