//! Fixes that change who waits for what: one order of locks, one order of steps, waits that end.

use drawloom_engine::guard::{Guard, Region};
use drawloom_engine::sorted::sort;

use super::{Draft, Words};
use crate::explain::explanation::{Effort, Fix};
use crate::explain::stored::site;
use crate::language::{Awaited, Sketch};
use crate::record::{BlockedRecord, Place};
use crate::source::statement::is_condition;

pub(super) fn deadlock(draft: &Draft<'_, '_>) -> Vec<Fix> {
    if awaited(draft).operation == "receive" {
        return of_calls(draft);
    }
    let names = &draft.case.names;
    let stacks = &draft.blame.stacks;
    let blocked: Vec<u32> = draft.blame.resources.clone();
    let mut locks: Vec<&str> = blocked.iter().map(|r| names.short(*r)).collect();
    sort(&mut locks);
    locks.dedup();
    let region = |stack: &crate::explain::Stack| {
        let first = stack.held.first()?.place.as_ref()?;
        Some(Region { enter: site(first), leave: site(stack.wanted.place.as_ref()?), whole: false })
    };
    let regions: Option<Vec<Region>> = stacks.iter().map(region).collect();
    // A lock of an event loop is taken within a piece, which no guard can be put around.
    let in_coroutines = stacks.iter().any(|stack| stack.held.iter().any(|taken| taken.step.is_none()));
    let guard = regions.filter(|regions| regions.len() > 1 && !in_coroutines).map(Guard::Lock);
    // An event loop within a thread is one task: several of its coroutines are in the circle.
    let language = draft.case.record.meta.language;
    let is_loop =
        |stack: &crate::explain::Stack| names.role(stack.task).is_some_and(|role| language.is_event_loop(role));
    if draft.blame.subkind == Some("self") && in_coroutines && stacks.iter().any(is_loop) {
        let words = Words {
            title: "Do not let a coroutine hold one lock while it waits for another".to_owned(),
            effort: Effort::Moderate,
            sketch: vec![draft.remark("or take the locks in one order everywhere")],
            tradeoff: "none at run time",
            risk: "one place that forgets it brings the bug back",
        };
        return vec![draft.with_closes(words, "coroutines of one loop no longer wait for each other", None)];
    }
    if draft.blame.subkind == Some("self") {
        let words = Words {
            title: "Give the lock back before taking it again".to_owned(),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::GiveBackBeforeTakingAgain { in_coroutines }),
            tradeoff: "others may come in between",
            risk: "conditions checked before the release may no longer hold",
        };
        return vec![draft.with_closes(words, "the second request finds the lock free", None)];
    }
    if draft.blame.subkind == Some("permits") {
        let words = Words {
            title: "Take all permits at once".to_owned(),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::AllPermitsAtOnce),
            tradeoff: "a permit is held before it is needed",
            risk: "a task that asks for more permits than exist waits for ever",
        };
        return vec![draft.with_closes(words, "no task holds some permits while it waits for more", None)];
    }
    if let Some(fixes) = blocked_event_loop(draft) {
        return fixes;
    }
    if draft.blame.subkind == Some("circular-wait") && all_send(draft) {
        return vec![make_room(draft)];
    }
    if draft.blame.subkind == Some("circular-wait") || blocked.iter().any(|r| !draft.case.is_lock(*r)) {
        return vec![break_the_circle(draft)];
    }
    let order = locks.join(", then ");
    let one_order = Words {
        title: "Take them in one order everywhere".to_owned(),
        effort: Effort::Simple,
        sketch: vec![draft.remark(&format!("everywhere: {order}"))],
        tradeoff: "none at run time",
        risk: "one place that forgets the order brings the bug back",
    };
    let one_lock = Words {
        title: "Take one lock instead of several".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::OneLock { in_coroutines }),
        tradeoff: "fewer tasks can run at the same time",
        risk: "every use has to be changed at once",
    };
    let back_off = Words {
        title: "Use try_lock, and release the held lock if it fails".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::BackOff { in_coroutines }),
        tradeoff: "no task waits while it holds a lock",
        risk: "a livelock, if all of them retry in lockstep",
    };
    let closes = "no task waits for one of them while it holds another that comes later";
    vec![
        // Another order of requests is no guard: what can be tried is one lock around them.
        draft.with_closes(one_order, closes, None),
        draft.with_closes(one_lock, "no task holds one of them and waits for another", guard),
        draft.with_closes(back_off, "no task waits for one of them while it holds another", None),
    ]
}

/// Of a task that blocks, and keeps the thread from those who could let it go on.
fn blocked_event_loop(draft: &Draft<'_, '_>) -> Option<Vec<Fix>> {
    let (record, names) = (draft.case.record, &draft.case.names);
    let event_loop = record.meta.language.facts.event_loop.as_ref()?;
    let in_circle = draft.blame.resources.iter().find(|resource| record.is_event_loop(Some(**resource)))?;
    let called = names.short(*in_circle);
    let wait = Words {
        title: format!("Await instead of blocking {called}"),
        effort: Effort::Simple,
        sketch: vec![event_loop.instead_of_blocking.to_owned()],
        tradeoff: "other tasks run during the wait",
        risk: "conditions checked before the await may no longer hold",
    };
    let closes = format!("{called} continues while a task waits");
    let mut fixes = vec![draft.with_closes(wait, &closes, None)];
    // Another one may have come to its await with a lock in its hand.
    let mut wanted = draft.blame.resources.iter().filter(|resource| !record.is_event_loop(Some(**resource)));
    if let Some(lock) = wanted.find(|resource| draft.case.is_lock(**resource)) {
        let give_back = Words {
            title: format!("Give {} back before the await", names.short(*lock)),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::GiveBack),
            tradeoff: "others may come in between",
            risk: "conditions checked before the release may no longer hold",
        };
        fixes.push(draft.with_closes(give_back, "no task that waits for it keeps its holder from releasing it", None));
    }
    Some(fixes)
}

/// Whether all tasks of the circle wait for room in a channel.
fn all_send(draft: &Draft<'_, '_>) -> bool {
    let in_circle = |b: &&BlockedRecord| draft.blame.stacks.iter().any(|stack| stack.task == b.task);
    let mut waits = crate::terminal::reason::blocked(draft.case.record).iter().filter(in_circle).peekable();
    waits.peek().is_some() && waits.all(|b| b.method() == "send")
}

/// Of tasks that all send, where there is no room.
fn make_room(draft: &Draft<'_, '_>) -> Fix {
    if awaited(draft).future.is_some() {
        let words = Words {
            title: "Receive while waiting for room".to_owned(),
            effort: Effort::Moderate,
            sketch: draft.written(Sketch::ReceiveMeanwhile),
            tradeoff: "messages come in between two sends",
            risk: "more room alone only makes the circle rarer",
        };
        return draft.with_closes(words, "a task that waits for room makes room for others", None);
    }
    let words = Words {
        title: "Receive before sending in one of them".to_owned(),
        effort: Effort::Simple,
        sketch: vec![draft.remark("or give the channels room for every message that is sent before a receive")],
        tradeoff: "none",
        risk: "a channel with room for n is as stuck as before with n + 1 messages",
    };
    draft.with_closes(words, "one of them continues, and makes room for the others", None)
}

/// Of tasks that wait for each other, not only for locks.
fn break_the_circle(draft: &Draft<'_, '_>) -> Fix {
    let holder = draft.blame.stacks.iter().find(|stack| !stack.held.is_empty());
    let waits = |stack: &crate::explain::Stack| stack.wanted.source.clone().unwrap_or_else(|| "…".to_owned());
    let (words, closes) = match holder {
        Some(holder) => (
            Words {
                title: "Release the held lock before waiting".to_owned(),
                effort: Effort::Simple,
                sketch: [draft.written(Sketch::GiveBack), vec![waits(holder)]].concat(),
                tradeoff: "others may come in between",
                risk: "conditions checked before the release may no longer hold",
            },
            "the waiting task holds nothing that the other tasks need",
        ),
        None => (
            Words {
                title: "Let one of them continue without the other".to_owned(),
                effort: Effort::Moderate,
                sketch: vec![draft.remark("send, notify or finish first, and wait then")],
                tradeoff: "none at run time",
                risk: "the other task continues before the event that it used to wait for",
            },
            "the tasks no longer wait in a circle",
        ),
    };
    draft.with_closes(words, closes, None)
}

pub(super) fn order(draft: &Draft<'_, '_>) -> Vec<Fix> {
    // Where it is not known who comes before whom, nothing can be proposed.
    let (Some(used), Some(changed)) = (draft.blame.closes.as_ref(), draft.blame.intrudes.last()) else {
        return Vec::new();
    };
    let name = draft.case.names.bare(used.resource);
    let too_early = draft.blame.subkind == Some("too-early");
    let (first, second) = if too_early { (changed, used) } else { (used, changed) };
    let (before, after) = (draft.is_over(first), draft.begins(second));
    let guard = before.zip(after).filter(|(b, a)| a != b).map(|(before, after)| Guard::Order { before, after });
    let (first, second) = (draft.case.names.path(first.task), draft.case.names.path(second.task));
    let wait = Words {
        title: format!("Let {second} wait for {first}"),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::WaitForOther { first, second }),
        tradeoff: "they no longer run in parallel there",
        risk: "a wait that never ends, if the other task fails first",
    };
    let tolerate = Words {
        title: "Handle this order, too".to_owned(),
        effort: Effort::Simple,
        sketch: vec![draft.remark(&format!("check `{name}` first, and handle both states")), draft.source(Some(used))],
        tradeoff: "nobody waits",
        risk: "check and use must be one step, or this becomes check-then-act",
    };
    vec![draft.fix(wait, guard), draft.fix(tolerate, None)]
}

pub(super) fn lost_wakeup(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let (blame, case) = (draft.blame, draft.case);
    if matches!(blame.subkind, Some("one-of-several")) {
        return vec![notify_all(draft)];
    }
    if blame.subkind == Some("wrong-waiter") {
        return vec![notify_all(draft), one_for_each(draft)];
    }
    if blame.subkind == Some("wiped-out") {
        return vec![look_after_clearing(draft)];
    }
    if blame.subkind == Some("before-the-change") {
        return vec![change_first(draft)];
    }
    if blame.subkind == Some("looked-too-early") {
        return vec![announce_first(draft)];
    }
    let of_object = |step: &u32| {
        let resource = case.record.steps[*step as usize].resource.map(|r| &case.record.resources[r as usize]);
        resource.is_some_and(|resource| resource.kind == "object")
    };
    if blame.harm.as_ref().is_some_and(of_object) {
        return vec![register_first(draft)];
    }
    let wait = blame.window.as_ref().and_then(|w| w.to).and_then(|i| case.place_of(i)).map(site);
    let look = blame.opens.as_ref();
    let notify = (0..case.end())
        .rev()
        .find(|i| matches!(case.operation(*i), "notify_one" | "notify_all") && blame.steps.contains(i));
    let notified = notify.and_then(|i| case.place_of(i)).map(site);
    let guard = match (look, wait, notified) {
        (Some(look), Some(wait), Some(notified)) => {
            // The condition is changed somewhere before the notification, by the same task.
            let writer = notify.map(|i| case.record.steps[i as usize].task);
            let changes = case.accesses.all.iter().rfind(|a| {
                Some(a.task) == writer && a.resource == look.resource && a.mode.writes() && Some(a.step) < notify
            });
            let enter = changes.and_then(|a| case.place_of(a.step)).map(site).unwrap_or_else(|| notified.clone());
            let looked = case.place_of(look.step).map(site);
            looked.map(|looked| {
                Guard::Lock(vec![
                    Region { enter: looked, leave: wait, whole: false },
                    Region { enter, leave: notified, whole: false },
                ])
            })
        }
        // Whoever notifies must not wait for a wait that need not come: without the look nothing can be tried.
        _ => None,
    };
    let in_loop = Words {
        title: "Check under the lock, and wait in a loop".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::WaitInLoop),
        tradeoff: "none",
        risk: "every change of the condition needs the lock",
    };
    let permit = Words {
        title: "Use a primitive that remembers notifications".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::Remember),
        tradeoff: "a message more",
        risk: "a leftover token ends a later wait at once",
    };
    let closes = "the notification can no longer fall between the decision to wait and the wait";
    vec![
        draft.with_closes(in_loop, closes, guard),
        draft.with_closes(permit, "an early notification is remembered", None),
    ]
}

/// Where a change was taken back that nobody had looked at.
fn look_after_clearing(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.name();
    let words = Words {
        title: format!("Clear `{name}` before the check, not after it"),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::ClearFirst { name: &name }),
        tradeoff: "an unnecessary round now and then",
        risk: "the check must follow every clear, also on the way back to the wait",
    };
    draft.with_closes(words, "an event after the check is still visible when the wait begins", None)
}

/// Where nobody was woken because nobody was to be seen.
fn announce_first(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.name();
    let words = Words {
        title: format!("Change `{name}` first, then check whether a wait is needed"),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::AnnounceFirst { name: &name }),
        tradeoff: "an unnecessary wake-up now and then",
        risk: "a task that gives up waiting must undo the announcement",
    };
    draft.with_closes(words, "a task that checks too early leaves a value that the second check finds", None)
}

/// Where a notification told of something that was not there yet.
fn change_first(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.name();
    let words = Words {
        title: format!("Change `{name}` first, and notify then"),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::ChangeFirst { name: &name }),
        tradeoff: "none",
        risk: "every other change has to notify, too",
    };
    draft.with_closes(words, "a woken task finds its condition true", None)
}

/// Where one notification was not enough.
fn notify_all(draft: &Draft<'_, '_>) -> Fix {
    let words = Words {
        title: "Notify all waiting tasks".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::NotifyAll),
        tradeoff: "all of them wake up and check; those that cannot continue wait again",
        risk: "a task that does not check again, in a loop, continues wrongly",
    };
    // All of its notifications: the next one for one alone could go to the wrong one, too.
    let condvar = draft.blame.harm.and_then(|i| draft.case.record.steps[i as usize].resource);
    let notifies =
        |i: &u32| draft.case.record.steps[*i as usize].resource == condvar && draft.case.operation(*i) == "notify_one";
    let mut sites: Vec<_> =
        (0..draft.case.end()).filter(notifies).filter_map(|i| draft.case.place_of(i)).map(site).collect();
    sort(&mut sites);
    sites.dedup();
    let guard = (!sites.is_empty()).then_some(Guard::NotifyAll(sites));
    draft.with_closes(words, "every waiting task checks again", guard)
}

/// Where those who wait for different things wait in one place.
fn one_for_each(draft: &Draft<'_, '_>) -> Fix {
    let words = Words {
        title: "Use one condition variable for each condition".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::OneForEach),
        tradeoff: "no unnecessary wake-ups",
        risk: "every change must notify the right one",
    };
    draft.with_closes(words, "a notification reaches a task that can use it", None)
}

/// Where a future begins to wait only when it is polled.
fn register_first(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.blame.harm.and_then(|i| draft.case.record.steps[i as usize].resource);
    let name = name.map_or("notify", |r| draft.case.names.bare(r));
    let words = Words {
        title: "Begin to wait before the check".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::RegisterFirst { name }),
        tradeoff: "none",
        risk: "for notify_one, pin and enable the future before the check, too",
    };
    draft.with_closes(words, "the notification can no longer fall between check and wait", None)
}

pub(super) fn livelock(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let wait = Words {
        title: "Wait instead of spinning".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::WaitInsteadOfSpinning),
        tradeoff: "a task that waits costs nothing",
        risk: "another task must wake it",
    };
    let priority = Words {
        title: "Let one of them go first".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::OneGoesFirst),
        tradeoff: "none",
        risk: "a task that always gives way may starve",
    };
    let closes = "the round ends: not all of them give way";
    let mut fixes = vec![draft.with_closes(wait, "the round ends: no task starts another round", None)];
    if draft.blame.subkind == Some("mutual") {
        fixes.push(draft.with_closes(priority, closes, None));
    }
    fixes
}

/// Where a future is dropped in the middle.
pub(super) fn dropped(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let name = draft.name();
    let asked = Words {
        title: "Ask it to stop, and wait for its end".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::AskToStop),
        tradeoff: "it continues until its next check",
        risk: "a task that never checks is never stopped",
    };
    let own_task = Words {
        title: "Let it finish in a task of its own".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::OwnTask),
        tradeoff: "the work continues although no task waits for it",
        risk: "the caller that gave up must expect that it may still happen",
    };
    let undo = Words {
        title: format!("Restore `{name}` when the future is dropped"),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::UndoWhenDropped { name: &name }),
        tradeoff: "none unless a future is dropped",
        risk: "Drop cannot await",
    };
    let last = Words {
        title: "Wait first, and change state afterwards".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::ReserveFirst),
        tradeoff: "none",
        risk: "an await that is added later brings the bug back",
    };
    let closes = "a change that has begun is finished or undone";
    let first = if draft.blame.subkind == Some("aborted-task") { asked } else { own_task };
    [first, undo, last].into_iter().map(|words| draft.with_closes(words, closes, None)).collect()
}

/// What the first of those who are stuck waits for.
fn awaited<'d>(draft: &'d Draft<'_, '_>) -> Awaited<'d> {
    let record = draft.case.record;
    let stuck = draft.blame.stacks.first();
    let b = stuck.and_then(|stack| crate::terminal::reason::blocked(record).iter().find(|b| b.task == stack.task));
    let resource = b.and_then(|b| record.resources.get(b.resource? as usize));
    Awaited {
        is_told: b.is_some_and(|b| record.is_told(b)),
        operation: b.map_or("", |b| &b.operation),
        future: b.and_then(|b| b.awaited.as_deref()),
        name: resource.and_then(|resource| resource.name.as_deref()).unwrap_or_default(),
    }
}

pub(super) fn starvation(draft: &Draft<'_, '_>) -> Vec<Fix> {
    if awaited(draft).operation == "receive" {
        return among_processes(draft);
    }
    let awaited = awaited(draft);
    let (title, sketch, risk) = match draft.blame.subkind {
        Some("channel") if awaited.sends() => (
            "Receive before waiting for the sender",
            Sketch::ReceiveFirst(awaited),
            "the sender continues earlier, and so does everything after it",
        ),
        Some("channel") => (
            "Close the channel after the last message",
            Sketch::CloseChannel(awaited),
            "the message is then missing: the receiver must handle that",
        ),
        Some("never-released") => {
            ("Give the lock back", Sketch::GiveBackAlways, "the protected state must be consistent at that point")
        }
        Some("never-written") => (
            "Set the awaited value on every exit path, and never overwrite it",
            Sketch::WriteAlways,
            "a waiter can miss a value that is set only briefly",
        ),
        _ if awaited.future == Some("acquire") => (
            "Give permits back on every way out",
            Sketch::EndWait(awaited),
            "the limited work must be over at that point",
        ),
        _ => (
            "Produce the awaited event on every exit path",
            Sketch::EndWait(awaited),
            "a waiter must check again whether it is its turn",
        ),
    };
    let bring = Words {
        title: title.to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(sketch),
        tradeoff: "none",
        risk,
    };
    let timeout = Words {
        title: "Wait for a limited time".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::LimitWait(awaited)),
        tradeoff: "the failure is reported instead of hanging",
        risk: "a time limit that is too short fails on a busy machine",
    };
    let mut fixes = vec![
        draft.with_closes(bring, "the wait is ended", None),
        draft.with_closes(timeout, "the wait ends, in failure", None),
    ];
    if asked_before(draft) {
        let at_once = Words {
            title: "Take it in one step, or find that there is nothing".to_owned(),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::TakeOrGiveUp),
            tradeoff: "none",
            risk: "who finds nothing has to cope with that",
        };
        fixes.insert(0, draft.with_closes(at_once, "nobody can take it between the look and the wait", None));
    }
    fixes
}

/// Whether the task that waits for something of a queue had asked just before whether there is something.
fn asked_before(draft: &Draft<'_, '_>) -> bool {
    const LINES: u32 = 8;
    let record = draft.case.record;
    let asks = record.meta.language.facts.asks_for_items;
    let Some(stuck) = draft.blame.stacks.first() else { return false };
    let Some(waits) = &stuck.wanted.place else { return false };
    let is_near = |place: &&Place| place.file == waits.file && (place.line..=place.line + LINES).contains(&waits.line);
    let own = (0..draft.case.end()).filter(|i| record.steps[*i as usize].task == stuck.task);
    let lines = own.filter_map(|i| draft.case.place_of(i).filter(is_near)).filter_map(|at| draft.case.sources.line(at));
    lines.into_iter().any(|line| is_condition(&line) && asks.iter().any(|word| line.contains(word)))
}

/// A process waits for what no process will send.
fn among_processes(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let monitor = Words {
        title: "Monitor the process that should answer".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::MonitorAsked),
        tradeoff: "none",
        risk: "the request was not carried out: the caller must retry or give up",
    };
    let timeout = Words {
        title: "Wait for a limited time".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::LimitReceive),
        tradeoff: "the failure is reported instead of hanging",
        risk: "a late answer stays in the mailbox",
    };
    vec![
        draft.with_closes(monitor, "the wait ends when the other process does", None),
        draft.with_closes(timeout, "the wait ends, in failure", None),
    ]
}

/// Servers that call each other in a circle.
fn of_calls(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let cast = Words {
        title: "Let one of them cast instead of call".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::TellInsteadOfCall),
        tradeoff: "the answer comes in another handler",
        risk: "requests in between see the server in an intermediate state",
    };
    let later = Words {
        title: "Answer later: keep the `ReplyTo`, and let a task call".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::AnswerLater),
        tradeoff: "one more process for each request",
        risk: "answers can leave in another order than their requests came",
    };
    vec![
        draft.with_closes(cast, "no two servers wait for each other", None),
        draft.with_closes(later, "the server serves its mailbox during the call", None),
    ]
}

impl Draft<'_, '_> {
    fn with_closes(&self, words: Words<'_>, closes: &str, guard: Option<Guard>) -> Fix {
        Fix { closes: closes.to_owned(), ..self.fix(words, guard) }
    }
}
