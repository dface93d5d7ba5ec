//! Fixes that keep steps together: one lock over them, or one step instead of several.

use super::{Draft, Words};
use crate::explain::accesses::Mode;
use crate::explain::explanation::{Effort, Fix};
use crate::language::{Encapsulation, Sketch};

const SERIALISES: &str = "other tasks block while the lock is held; keep slow work outside";
const DEADLOCKS: &str = "a deadlock, if one place takes another lock inside and another place takes it outside";
const OTHERS: &str = "every other place that uses the same state must take the lock, too";

/// The lock that the window's task holds at its ends, or one to be made.
fn lock_name(draft: &Draft<'_, '_>) -> (String, bool) {
    let ends = draft.blame.opens.as_ref().into_iter().chain(&draft.blame.intrudes).chain(&draft.blame.closes);
    let lock = ends.flat_map(|a| a.locks.first()).next();
    match lock {
        Some(lock) => (draft.case.names.bare(*lock).to_owned(), true),
        // What has no name, and so none that a lock could be named after.
        None if draft.is_nameless() || draft.name().contains(' ') => ("lock".to_owned(), false),
        None => {
            // A lock beside what it guards: `Account.balance` has a `balance_lock`, and so has `accounts['a']` one.
            let name = draft.name();
            (format!("{}_lock", draft.case.record.meta.language.syntax.variable(&name)), false)
        }
    }
}

fn keep_the_lock(draft: &Draft<'_, '_>) -> Fix {
    let (lock, exists) = lock_name(draft);
    let title = match exists {
        true => format!("Hold `{lock}` over all of it"),
        false => "Hold one lock over all of it".to_owned(),
    };
    let own = draft.blame.opens.as_ref().is_some_and(|a| a.section && a.locks.contains(&a.resource));
    let mut sketch = draft.written(draft.hold(&lock, draft.window_lines()));
    if own {
        let once = draft.remark("once; use `held` below instead of locking again");
        sketch[0].push_str(&format!("   {once}"));
    }
    let words = Words { title, effort: Effort::Simple, sketch, tradeoff: SERIALISES, risk: DEADLOCKS };
    draft.fix(words, draft.lock())
}

/// Lines above a wait among which is the one that looks.
const LOOK_ABOVE: u32 = 3;

/// Of a look before a wait for a notification, and an act after it: the lock is given back while the task waits, so that it
/// has to look again.
fn look_after_the_wait(draft: &Draft<'_, '_>) -> Option<Fix> {
    let (opens, closes) = (draft.blame.opens.as_ref()?, draft.blame.closes.as_ref()?);
    let wait = draft.case.place_of(draft.case.notification_awaited(opens.task, opens.step, closes.step)?)?;
    // The line that looks: the access may be a lock that is taken before it.
    let above = (wait.line.saturating_sub(LOOK_ABOVE)..wait.line).rev();
    let look = above.filter_map(|n| draft.case.sources.raw(&wait.file, n)).find(|line| line.trim().starts_with("if "));
    let look = look.map_or_else(|| draft.source(Some(opens)), |line| line.trim().to_owned());
    let wait = draft.case.sources.line(wait);
    let words = Words {
        title: "Look again after the wait, in a loop".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::LookAgainInLoop { look: &look, wait: wait.as_deref().unwrap_or("…") }),
        tradeoff: "none",
        risk: "every wait for this needs its loop",
    };
    Some(draft.fix(words, None))
}

pub(super) fn check_then_act(draft: &Draft<'_, '_>) -> Vec<Fix> {
    if let Some(in_loop) = look_after_the_wait(draft) {
        return vec![in_loop];
    }
    let name = draft.name();
    let mut fixes = vec![keep_the_lock(draft)];
    fixes[0].title = fixes[0].title.replace("over all of it", "over check and act");
    // One step of an atomic is all that there is to it: not where something else is acted on.
    if draft.is_atomic() && draft.blame.resources.len() < 2 {
        let words = Words {
            title: "Check and act in one step".to_owned(),
            effort: Effort::Moderate,
            sketch: draft.written(Sketch::CheckAndActAtOnce { name: &name }),
            tradeoff: "no lock; a task that fails must retry or give up",
            risk: "any other effect of the action is still a separate step",
        };
        fixes.push(draft.fix(words, draft.atomic()));
    }
    let words = Words {
        title: "Check again before acting".to_owned(),
        effort: Effort::Moderate,
        sketch: {
            let (first, last) = (draft.blame.opens.as_ref(), draft.blame.closes.as_ref());
            let again = draft.written(Sketch::CheckAgain { name: &name });
            [vec![draft.source(first), "…".to_owned()], again, vec![draft.source(last)]].concat()
        },
        tradeoff: "no wait in the common case",
        risk: "a window remains unless the second check and the action are one step",
    };
    fixes.push(draft.fix(words, None));
    fixes
}

pub(super) fn atomicity(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let name = draft.name();
    let double = draft.blame.resources.len() > 1;
    let mut fixes = Vec::new();
    if draft.is_atomic() && !double && draft.blame.subkind == Some("lost-update") {
        let words = Words {
            title: "Read and write in one step".to_owned(),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::UpdateAtOnce { name: &name }),
            tradeoff: "no lock is needed",
            risk: "this covers one variable only, not others that must agree with it",
        };
        fixes.push(draft.fix(words, draft.atomic()));
    }
    // What a step of an atomic has made of it is known from what it returns: nobody need look once more.
    let returns = draft.blame.opens.as_ref().is_some_and(|opens| opens.mode == Mode::Update);
    if draft.is_atomic() && returns && draft.blame.subkind == Some("overwritten") {
        let words = Words {
            title: format!("Use what the first step returned, instead of reading `{name}` again"),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::UseReturned { line: &draft.source(draft.blame.opens.as_ref()) }),
            tradeoff: "no lock is needed",
            risk: "it returns the value before the step",
        };
        fixes.push(draft.fix(words, draft.atomic()));
    }
    fixes.push(keep_the_lock(draft));
    if double {
        let words = Words {
            title: "Make one record of the two".to_owned(),
            effort: Effort::Moderate,
            sketch: draft.written(Sketch::OneRecord),
            tradeoff: "a task that reads one of them gets the other as well",
            risk: "every use has to be changed at once",
        };
        fixes.push(draft.fix(words, draft.atomic()));
    } else {
        let words = Words {
            title: format!("Let one task own `{name}`"),
            effort: Effort::Complex,
            sketch: draft.written(Sketch::OneOwner),
            tradeoff: "no lock, no race; every use becomes a message",
            risk: "requests queue up, and the owner must never wait for a sender",
        };
        fixes.push(draft.fix(words, None));
    }
    fixes
}

pub(super) fn missing_guard(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let (lock, _) = lock_name(draft);
    let harm = &draft.blame.intrudes;
    let other = harm.first().filter(|a| a.locks.is_empty()).or(draft.blame.opens.as_ref());
    let place = other.and_then(|a| draft.case.place_of(a.step)).map(|p| format!(" in line {}", p.line));
    let mut lines = match harm.first().is_some_and(|a| a.locks.is_empty()) {
        true => harm.iter().map(|a| draft.source(Some(a))).collect(),
        false => draft.window_lines(),
    };
    lines.dedup();
    let sketch = draft.written(draft.hold(&lock, lines));
    let take = Words {
        title: format!("Take `{lock}`{}, too", place.unwrap_or_default()),
        effort: Effort::Simple,
        sketch,
        tradeoff: SERIALISES,
        risk: OTHERS,
    };
    let name = draft.name();
    let Encapsulation { title, sketch, tradeoff } = (draft.case.record.meta.language.encapsulate)(&name, &lock);
    let inside = Words { title, effort: Effort::Moderate, sketch, tradeoff, risk: DEADLOCKS };
    vec![draft.fix(take, draft.lock()), draft.fix(inside, None)]
}

pub(super) fn stale_reference(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let name = draft.name();
    let again = Words {
        title: format!("Look `{name}` up again before using it"),
        effort: Effort::Simple,
        sketch: vec![
            draft.remark("after every point where another task can run:"),
            draft.source(draft.blame.opens.as_ref()),
        ],
        tradeoff: "one look-up more",
        risk: "a window remains unless look-up and use are one step",
    };
    let version = Words {
        title: "Compare versions".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::CompareVersions { name: &name }),
        tradeoff: "readers never wait",
        risk: "every change must increment the version",
    };
    vec![draft.fix(again, None), keep_the_lock(draft), draft.fix(version, None)]
}

pub(super) fn lifetime(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let mut locks: Vec<u32> = Vec::new();
    for access in &draft.case.accesses.all {
        locks.extend(access.locks.iter().filter(|l| draft.case.accesses.locks_only.contains(l)));
    }
    let lock = locks.first().map(|l| draft.case.names.short(*l).to_owned());
    let lock = lock.unwrap_or_else(|| "the lock".to_owned());
    let never = Words {
        title: "Never remove the lock".to_owned(),
        effort: Effort::Simple,
        sketch: vec![
            draft.remark(&format!("leave the entry of {lock} in its map, so that later tasks find the same lock")),
        ],
        tradeoff: "one lock for every key ever used",
        risk: "memory grows with the number of keys",
    };
    let held = Words {
        title: "Hold the lock until the teardown is complete".to_owned(),
        effort: Effort::Complex,
        sketch: draft.written(Sketch::HoldAndRemove {
            lines: draft.window_lines(),
            remark: &draft.remark("last, and while it is held"),
        }),
        tradeoff: "other tasks wait until it is complete",
        risk: "a teardown that is slow or fails blocks all other tasks",
    };
    let counted = Words {
        title: "Remove the lock only while nobody waits for it".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::RemoveUnused),
        tradeoff: "a count for each entry",
        risk: "the count must be kept under the lock of the map",
    };
    vec![draft.fix(never, None), draft.fix(counted, None), draft.fix(held, draft.lock())]
}

pub(super) fn data_race(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let name = draft.name();
    let lock = Words {
        title: format!("Protect `{name}` by a lock"),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::LockInsteadOfCell { name: &name }),
        tradeoff: SERIALISES,
        risk: DEADLOCKS,
    };
    let pass = Words {
        title: format!("Pass `{name}` on"),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::HandOver),
        tradeoff: "no lock; only one task has it at a time",
        risk: "every access has to come after the hand-over",
    };
    if draft.blame.subkind == Some("broken-lock") {
        let at_once = Words {
            title: format!("Look at `{name}` and set it in one step"),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::TakeFlagAtOnce { name: &name }),
            tradeoff: "none",
            risk: "waiting tasks spin, and a panic inside leaves it set; a Mutex avoids both",
        };
        let state = draft.blame.resources.get(1).map_or("the state", |cell| draft.case.names.bare(*cell));
        let lock = Words {
            title: format!("Protect `{state}` by a lock of the library"),
            sketch: draft.written(Sketch::LockInsteadOfCell { name: state }),
            ..lock
        };
        return vec![draft.fix(at_once, draft.lock()), draft.fix(lock, None)];
    }
    let sides = [&draft.blame.opens, &draft.blame.closes];
    let regions = sides.into_iter().flatten().map(|a| draft.region(a, a)).collect::<Option<Vec<_>>>();
    vec![draft.fix(lock, regions.map(drawloom_engine::guard::Guard::Lock)), draft.fix(pass, None)]
}
