//! What could be done about a finding: templates with its names in them. They know the steps, not the meaning.

use drawloom_report::explain::{Effort, Fix};

use crate::graph::Event;
use crate::program::Program;
use crate::rules::{Found, Rule};
use crate::types::{Framework, LockKind, Type};
use drawloom_syntax::Language;

/// The names that templates use.
struct Words {
    state: String,
    other: String,
    lock: String,
    take: String,
    opens: u32,
    gap: u32,
    closes: u32,
    intrudes: u32,
}

/// The steps of a trace are numbered 1 to 4: opens, gap, intrudes, closes.
pub(crate) fn fixes(program: &Program<'_, '_>, found: &Found) -> Vec<Fix> {
    let graph = &program.tasks[found.task].graph;
    let rust = program.facts.module.language == Language::Rust;
    let known = found.lock.map(|lock| program.names.name(lock).to_owned()).or_else(|| lock_beside(program, found));
    let lock = known.unwrap_or_else(|| if rust { "lock".to_owned() } else { "self.lock".to_owned() });
    let threads = program.tasks[found.task].preempted;
    let lock = if rust { lock } else { lock.rsplit_once('.').map_or(lock.clone(), |(_, name)| format!("self.{name}")) };
    let words = Words {
        state: program.names.name(found.loc).to_owned(),
        other: found.second.map(|loc| program.names.name(loc).to_owned()).unwrap_or_default(),
        take: match (rust, threads) {
            (true, _) => format!("let guard = {lock}.lock();"),
            (false, true) => format!("with {lock}:"),
            (false, false) => format!("async with {lock}:"),
        },
        lock,
        opens: graph.nodes[found.opens].span.line,
        gap: found.gap.map_or(graph.nodes[found.opens].span.line, |gap| graph.nodes[gap].span.line),
        closes: graph.nodes[found.closes].span.line,
        intrudes: found.remote.map_or(0, |remote| program.node(remote).span.line),
    };
    let tasks = program.facts.tasks();
    let container = matches!(program.kind(found.loc), Type::Container(_));
    match found.rule {
        Rule::CheckThenAct | Rule::AtomicPair | Rule::RacedGuard => {
            check(&words, rust, threads, container, graph.nodes[found.closes].event.clone())
        }
        Rule::WakeOrder => vec![
            fix(
                "let the waker change the state",
                Effort::Simple,
                format!(
                    "# in the waker, before it wakes (L{}):\n{} = …   # for the woken task\nwaiter.set_result(None)\n# after the wait: nothing to change",
                    words.intrudes, words.state
                ),
                "step 4 moves into step 3: no task finds the state free in between",
                "the woken task must give it back if it was cancelled in between",
                "a cancelled waiter that was given the state must pass it on",
            ),
            fix(
                "check again after waking",
                Effort::Simple,
                format!("while not free({}):\n    await waiter", words.state),
                "step 4 is done only if the check still holds",
                "a newcomer may overtake waiting tasks",
                "starvation of waiters under load",
            ),
        ],
        Rule::ReadModifyWrite | Rule::AwaitInUpdate => update(&words, rust, threads),
        Rule::PairedState => vec![
            fix(
                &format!("change `{}` and `{}` on the same side of the checkpoint", words.state, words.other),
                Effort::Simple,
                format!(
                    "{}.pop(key)\n{}.pop(key)   # from L{} to here\n…   # then the await (L{})",
                    words.state, words.other, words.closes, words.gap
                ),
                "step 4 comes before step 2: no task sees one without the other",
                "a task that arrives during the checkpoint finds neither, and starts again",
                "the closing object and the new one can exist at the same time",
            ),
            fix(
                "keep both in one record",
                Effort::Moderate,
                format!("entries[key] = Entry(…)   # instead of {} and {}\nentries.pop(key)", words.state, words.other),
                "steps 1 and 4 become one",
                "every access has to be rewritten",
                "none beyond the rewrite",
            ),
            fix(
                "hold the key's lock over the whole teardown",
                Effort::Complex,
                format!("{}\n    {}.pop(key)\n    …\n    {}.pop(key)", words.take, words.state, words.other),
                "step 3 waits until step 4 is done",
                "newcomers wait for a slow teardown",
                "shield the teardown from cancellation under the lock; a deadlock if it needs the lock itself",
            ),
        ],
        Rule::LockLifetime => vec![
            fix(
                "never remove the locks",
                Effort::Simple,
                format!("# delete L{}", words.intrudes),
                "step 3 is gone",
                "one lock for every key that was ever used",
                "memory, if keys are not bounded",
            ),
            fix(
                "remove a lock only if no task holds it or waits for it",
                Effort::Moderate,
                format!(
                    "lock = {state}[key]\nif not lock.locked():   # and no task waits\n    del {state}[key]",
                    state = words.state
                ),
                "step 3 is done only when step 4 cannot be under way",
                "the check must include waiting tasks",
                "asyncio's `locked()` knows nothing of waiters: count users",
            ),
            fix(
                "count users before they take the lock",
                Effort::Moderate,
                format!(
                    "entry = {state}.setdefault(key, Entry())\nentry.users += 1\ntry:\n    async with entry.lock: …\nfinally:\n    entry.users -= 1\n    if entry.users == 0:\n        del {state}[key]",
                    state = words.state
                ),
                "step 3 is done only by the last one",
                "a little bookkeeping",
                "a forgotten increment brings the bug back",
            ),
        ],
        Rule::StaleElement => vec![
            fix(
                "look the element up after the checkpoint",
                Effort::Simple,
                format!("…   # the await (L{})\nitem = {}.get(key)\nif item is None: …", words.gap, words.state),
                "step 1 moves behind step 2",
                "the element may be gone: handle that case",
                "none, if both cases are handled",
            ),
            fix(
                "mark removed elements, and check the mark",
                Effort::Moderate,
                "if item.closed: …".to_owned(),
                "step 4 sees that step 3 has happened",
                "another field to keep consistent",
                "a use that does not check",
            ),
        ],
        Rule::Iteration => vec![
            fix(
                "iterate over a copy, and expect removed elements",
                Effort::Simple,
                if threads {
                    format!("{}\n    items = list({})\nfor item in items: …", words.take, words.state)
                } else {
                    format!("for item in list({}): …", words.state)
                },
                "step 3 no longer changes the iterated collection",
                "a copy; elements added during the loop are left out",
                "an element may have been removed when its turn comes",
            ),
            fix(
                "hold a lock over the loop",
                Effort::Moderate,
                format!("{}\n    for item in {}: …", words.take, words.state),
                "step 3 waits for the loop",
                "writers wait for a slow loop",
                "a deadlock if the body needs the lock",
            ),
        ],
        Rule::MissingGuard => vec![
            fix(
                &format!("take `{}` at L{}", words.lock, words.intrudes),
                Effort::Simple,
                format!("{}\n    …   # L{}", words.take, words.intrudes),
                "step 3 waits until step 4 is done",
                "the caller may have to wait",
                "a deadlock if a caller holds the lock already",
            ),
            fix(
                "keep checkpoints out of the section",
                Effort::Moderate,
                format!("{}\n    items = copy of {}\n…   # the await, outside the lock", words.take, words.state),
                "step 2 is gone",
                "acts on a copy",
                "the copy may be out of date",
            ),
        ],
        Rule::CancellationLeak => {
            let release = matches!(graph.nodes[found.closes].event, Event::Release { .. });
            let restore = if release {
                format!("{}.release()", words.state)
            } else {
                format!("…   # restore {} (L{})", words.state, words.closes)
            };
            let cancelled =
                if tasks == Framework::Asyncio { "asyncio.CancelledError" } else { "the framework's Cancelled" };
            vec![
                fix(
                    "restore it in a `finally`",
                    Effort::Simple,
                    format!("try:\n    …   # L{}\nfinally:\n    {restore}", words.gap),
                    "a cancellation at step 2 passes step 3, too",
                    "none",
                    "an `await` in the `finally` can be cancelled itself: shield it",
                ),
                fix(
                    "change it after the last checkpoint",
                    Effort::Moderate,
                    format!("…   # L{}\n…   # L{}: from here on nothing awaits", words.gap, words.opens),
                    &format!("step 1 moves behind step 2, where {cancelled} can no longer strike"),
                    "other tasks do not see the change until then",
                    "two tasks may then both continue",
                ),
            ]
        }
        Rule::LostWakeup => vec![
            fix(
                "begin to wait before checking",
                Effort::Simple,
                if rust {
                    "let notified = bell.notified();   // first\nif !ready.load() { notified.await; }".to_owned()
                } else {
                    "with condition:\n    while not ready:\n        condition.wait()".to_owned()
                },
                "step 4 comes before step 1: a wake-up in between is not lost",
                "none",
                "with `notify_waiters` the future must exist before the check",
            ),
            fix(
                "use a wake-up that is remembered",
                Effort::Simple,
                if rust {
                    "bell.notify_one()   // keeps a permit".to_owned()
                } else {
                    "event.set()   # stays set; never clear it after checking".to_owned()
                },
                "step 3 leaves something that step 4 finds",
                "one permit wakes one task",
                "several waiters need one permit each",
            ),
        ],
    }
}

fn check(words: &Words, rust: bool, threads: bool, container: bool, act: Event) -> Vec<Fix> {
    let state = &words.state;
    let mut all = Vec::new();
    if rust {
        let (title, sketch) = match act {
            Event::Write { key: Some(_), .. } => (
                "use `entry`, which checks and inserts in one step",
                format!("{state}.entry(key).or_insert_with(|| …)"),
            ),
            _ => (
                "make it one atomic step",
                format!("if {state}.compare_exchange(old, new).is_err() {{ … }}   // or swap, fetch_update"),
            ),
        };
        all.push(fix(
            title,
            Effort::Simple,
            sketch,
            "steps 1 and 4 become one",
            "a new value may be discarded",
            "none for a value that is cheap to make",
        ));
        all.push(fix(
            "hold one guard over both",
            Effort::Simple,
            format!("{}\n// check (L{}) and act (L{}) under it", words.take, words.opens, words.closes),
            "step 3 waits until step 4 is done",
            "others wait while the guard is held",
            "a guard of std must not be held over an `.await`",
        ));
        all.push(fix(
            "check again after retaking the lock",
            Effort::Simple,
            format!("{}\nif already done {{ return; }}   // before L{}", words.take, words.closes),
            "step 4 is done only if the check still holds",
            "a redundant value is dropped",
            "dropping it may need work of its own",
        ));
        return all;
    }
    if !threads {
        all.push(fix("check again after the checkpoint", Effort::Simple, format!("value = await …            # L{}\nif …:   # the check of L{} once more\n    {state} = value           # L{}", words.gap, words.opens, words.closes), "step 4 is done only if the check still holds", "a redundant value must be discarded", "a discarded resource must be closed"));
    }
    all.push(fix(
        "check and act under one lock",
        Effort::Simple,
        format!("{}\n    if …:      # L{}\n        …      # L{}", words.take, words.opens, words.closes),
        "step 3 waits until step 4 is done",
        "others wait while it is being made",
        "a deadlock if the called function takes the lock itself",
    ));
    if threads && container {
        all.push(fix(
            "use one call that does both",
            Effort::Simple,
            format!("{state}.setdefault(key, …)"),
            "steps 1 and 4 become one",
            "the value is made even if it is not needed",
            "none for a value that is cheap to make",
        ));
    }
    if !threads {
        all.push(fix("share the task that makes it, and not its result", Effort::Moderate, format!("if {state} is None:\n    {state} = asyncio.ensure_future(make())   # no await between check and act\nreturn await {state}"), "nothing awaits between steps 1 and 4", "a failure is shared, too: forget it", "one cancelled caller must not cancel the others: shield the task"));
    }
    all
}

fn update(words: &Words, rust: bool, threads: bool) -> Vec<Fix> {
    let state = &words.state;
    let mut all = Vec::new();
    if rust {
        all.push(fix(
            "make it one atomic step",
            Effort::Simple,
            format!("{state}.fetch_add(n, …)   // or fetch_update"),
            "steps 1 and 4 become one",
            "none",
            "none",
        ));
        all.push(fix(
            "hold one guard over both",
            Effort::Simple,
            format!("let mut guard = {state}.lock();\n*guard = f(*guard);"),
            "step 3 waits until step 4 is done",
            "others wait while the guard is held",
            "a guard of std must not be held over an `.await`",
        ));
        return all;
    }
    if !threads {
        all.push(fix(
            "read after the checkpoint",
            Effort::Simple,
            format!(
                "value = await …   # L{}\n{state} += value    # reads and writes without a checkpoint between",
                words.gap
            ),
            "step 1 moves behind step 2",
            "none",
            "none, if the value does not depend on the read",
        ));
    }
    all.push(fix(
        "update under a lock",
        Effort::Simple,
        format!("{}\n    …   # L{} to L{}", words.take, words.opens, words.closes),
        "step 3 waits until step 4 is done",
        "updates wait for each other",
        "a deadlock if the called function takes the lock itself",
    ));
    all.push(fix(
        "let one task own it",
        Effort::Complex,
        format!("queue.put(change)   # one task applies changes to {state}"),
        "step 3 is done by the same task",
        "another design; answers need a way back",
        "the queue can grow",
    ));
    all
}

fn fix(title: &str, effort: Effort, sketch: String, closes: &str, tradeoff: &str, risk: &str) -> Fix {
    Fix {
        title: title.to_owned(),
        effort,
        sketch,
        closes: closes.to_owned(),
        tradeoff: tradeoff.to_owned(),
        risk: risk.to_owned(),
        guard: None,
        verified: None,
    }
}

/// A lock of the same class.
fn lock_beside(program: &Program<'_, '_>, found: &Found) -> Option<String> {
    let name = program.names.name(found.loc);
    let class = name.split_once('.').and_then(|(class, _)| program.facts.class_named(class))?;
    let mut locks: Vec<&str> = program
        .facts
        .fields_of(class)
        .filter(|(_, kind)| matches!(kind, Type::Lock { kind: LockKind::Mutex, .. }))
        .map(|(name, _)| name)
        .collect();
    locks.sort_unstable();
    locks.first().map(|lock| format!("{}.{lock}", program.facts.module.classes[class.0].name))
}
