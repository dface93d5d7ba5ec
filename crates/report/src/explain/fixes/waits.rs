//! Fixes that change who waits for what: one order of locks, one order of steps, waits that end.

use drawloom_engine::guard::{Guard, Region};
use drawloom_engine::sorted::sort;

use super::{Draft, Words};
use crate::explain::explanation::{Effort, Fix};
use crate::explain::stored::site;
use crate::language::{Awaited, Sketch};
use crate::record::BlockedRecord;

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
        Some(Region { enter: site(first), leave: site(stack.wanted.place.as_ref()?) })
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
            title: "Have no coroutine keep a lock while it waits for another one".to_owned(),
            effort: Effort::Moderate,
            sketch: vec![draft.remark("or take the locks in one order everywhere")],
            tradeoff: "none at run time",
            risk: "a place that forgets it brings it back",
        };
        return vec![draft.with_closes(words, "coroutines of one loop no longer wait for each other", None)];
    }
    if draft.blame.subkind == Some("self") {
        let words = Words {
            title: "Give the lock back before taking it again".to_owned(),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::GiveBackBeforeTakingAgain { in_coroutines }),
            tradeoff: "others may come in between",
            risk: "what was true before the lock was given back need not be true after",
        };
        return vec![draft.with_closes(words, "the second request finds the lock free", None)];
    }
    if draft.blame.subkind == Some("permits") {
        let words = Words {
            title: "Take all permits at once".to_owned(),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::AllPermitsAtOnce),
            tradeoff: "a permit is held before it is needed",
            risk: "who asks for more than there are waits for ever",
        };
        return vec![draft.with_closes(words, "nobody has some of them and waits for more", None)];
    }
    if let Some(fixes) = blocked_event_loop(draft) {
        return fixes;
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
        risk: "a place that forgets the order brings it back",
    };
    let one_lock = Words {
        title: "Take one lock instead of several".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::OneLock { in_coroutines }),
        tradeoff: "less can go on at the same time",
        risk: "every use has to be changed at once",
    };
    let back_off = Words {
        title: "Try, and give back what is held if that fails".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::BackOff { in_coroutines }),
        tradeoff: "nobody waits while holding anything",
        risk: "a livelock, if all of them back off in step",
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
        tradeoff: "other tasks run meanwhile",
        risk: "what was true before the await need not be true after",
    };
    let closes = format!("{called} goes on while a task waits");
    let mut fixes = vec![draft.with_closes(wait, &closes, None)];
    // Another one may have come to its await with a lock in its hand.
    let mut wanted = draft.blame.resources.iter().filter(|resource| !record.is_event_loop(Some(**resource)));
    if let Some(lock) = wanted.find(|resource| draft.case.is_lock(**resource)) {
        let give_back = Words {
            title: format!("Give {} back before the await", names.short(*lock)),
            effort: Effort::Simple,
            sketch: draft.written(Sketch::GiveBack),
            tradeoff: "others may come in between",
            risk: "what was true before the lock was given back need not be true after",
        };
        fixes.push(draft.with_closes(give_back, "nobody waits for it who keeps others from giving it back", None));
    }
    Some(fixes)
}

/// Of tasks that wait for each other, not only for locks.
fn break_the_circle(draft: &Draft<'_, '_>) -> Fix {
    let in_circle = |b: &&BlockedRecord| draft.blame.stacks.iter().any(|stack| stack.task == b.task);
    let mut waits = crate::terminal::reason::blocked(draft.case.record).iter().filter(in_circle).peekable();
    if waits.peek().is_some() && waits.all(|b| b.awaited.as_deref() == Some("send")) {
        let words = Words {
            title: "Receive while waiting for room".to_owned(),
            effort: Effort::Moderate,
            sketch: draft.written(Sketch::ReceiveMeanwhile),
            tradeoff: "messages come in between two sends",
            risk: "more room alone only makes the circle rarer",
        };
        return draft.with_closes(words, "a task that waits for room makes room for others", None);
    }
    let holder = draft.blame.stacks.iter().find(|stack| !stack.held.is_empty());
    let waits = |stack: &crate::explain::Stack| stack.wanted.source.clone().unwrap_or_else(|| "…".to_owned());
    let (words, closes) = match holder {
        Some(holder) => (
            Words {
                title: "Give back what is held before waiting".to_owned(),
                effort: Effort::Simple,
                sketch: [draft.written(Sketch::GiveBack), vec![waits(holder)]].concat(),
                tradeoff: "others may come in between",
                risk: "what was true before the lock was given back need not be true after",
            },
            "nobody who is waited for needs what the waiting one holds",
        ),
        None => (
            Words {
                title: "Let one of them go on without the other".to_owned(),
                effort: Effort::Moderate,
                sketch: vec![draft.remark("send, notify or finish first, and wait then")],
                tradeoff: "none at run time",
                risk: "what was waited for has not happened yet when the other one goes on",
            },
            "there is no circle of tasks that wait for each other",
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
        tradeoff: "they no longer run side by side there",
        risk: "a wait that never ends, if the other one fails before",
    };
    let tolerate = Words {
        title: "Be ready for this order, too".to_owned(),
        effort: Effort::Simple,
        sketch: vec![draft.remark(&format!("look at `{name}` first, and handle what it is")), draft.source(Some(used))],
        tradeoff: "nobody waits",
        risk: "the look and the use have to be one step, or it becomes check-then-act",
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
                Guard::Lock(vec![Region { enter: looked, leave: wait }, Region { enter, leave: notified }])
            })
        }
        // Whoever notifies must not wait for a wait that need not come: without the look nothing can be tried.
        _ => None,
    };
    let in_loop = Words {
        title: "Look under the lock, and wait in a loop".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::WaitInLoop),
        tradeoff: "none",
        risk: "the condition must only be changed with the lock held",
    };
    let permit = Words {
        title: "Use something that remembers".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::Remember),
        tradeoff: "a message more",
        risk: "tokens left over from before end a later wait at once",
    };
    let closes = "the notification can no longer fall between the decision to wait and the wait";
    vec![
        draft.with_closes(in_loop, closes, guard),
        draft.with_closes(permit, "a notification that comes early is kept", None),
    ]
}

/// Where a change was taken back that nobody had looked at.
fn look_after_clearing(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.name();
    let words = Words {
        title: format!("Clear `{name}` before the look, not after it"),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::ClearFirst { name: &name }),
        tradeoff: "a round for nothing, now and then",
        risk: "the look has to come after every clear, also on the way back to the wait",
    };
    draft.with_closes(words, "what comes after the look is still known when the wait begins", None)
}

/// Where nobody was woken because nobody was to be seen.
fn announce_first(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.name();
    let words = Words {
        title: format!("Change `{name}` first, and look then whether there is something to wait for"),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::AnnounceFirst { name: &name }),
        tradeoff: "a wake-up for nothing, now and then",
        risk: "what was announced has to be taken back when the wait is given up",
    };
    draft.with_closes(words, "whoever looks too early leaves what the second look finds", None)
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
    draft.with_closes(words, "whoever is woken finds what it waits for", None)
}

/// Where one notification was not enough.
fn notify_all(draft: &Draft<'_, '_>) -> Fix {
    let words = Words {
        title: "Notify all who wait".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::NotifyAll),
        tradeoff: "all of them wake up and look; who cannot go on waits again",
        risk: "who does not look again, in a loop, goes on although it must not",
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
    draft.with_closes(words, "whoever waits looks again", guard)
}

/// Where those who wait for different things wait in one place.
fn one_for_each(draft: &Draft<'_, '_>) -> Fix {
    let words = Words {
        title: "Have a condition variable for each thing that is waited for".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::OneForEach),
        tradeoff: "nobody is woken in vain",
        risk: "every change has to notify the right one",
    };
    draft.with_closes(words, "a notification reaches somebody who can use it", None)
}

/// Where a future begins to wait only when it is polled.
fn register_first(draft: &Draft<'_, '_>) -> Fix {
    let name = draft.blame.harm.and_then(|i| draft.case.record.steps[i as usize].resource);
    let name = name.map_or("notify", |r| draft.case.names.bare(r));
    let words = Words {
        title: "Begin to wait before the look".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::RegisterFirst { name }),
        tradeoff: "none",
        risk: "of notify_one the future has to be pinned and enabled before the look, too",
    };
    draft.with_closes(words, "the notification can no longer fall between the look and the wait", None)
}

pub(super) fn livelock(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let wait = Words {
        title: "Wait instead of spinning".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::WaitInsteadOfSpinning),
        tradeoff: "a task that waits costs nothing",
        risk: "somebody has to wake it",
    };
    let priority = Words {
        title: "Let one of them go first".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::OneGoesFirst),
        tradeoff: "none",
        risk: "who always gives way may starve",
    };
    let closes = "the round ends: not all of them give way";
    let mut fixes = vec![draft.with_closes(wait, "the round ends: nobody goes round", None)];
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
        tradeoff: "it goes on until it looks",
        risk: "a task that never looks is never stopped",
    };
    let own_task = Words {
        title: "Let it run to its end in a task of its own".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::OwnTask),
        tradeoff: "the work goes on after nobody waits for it",
        risk: "who gave up must not count on its not being done",
    };
    let undo = Words {
        title: format!("Put `{name}` in order when it is dropped"),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::UndoWhenDropped { name: &name }),
        tradeoff: "none while nothing is dropped",
        risk: "Drop cannot await",
    };
    let last = Words {
        title: "Wait first, and change things afterwards".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::ReserveFirst),
        tradeoff: "none",
        risk: "whoever adds an await later brings the mistake back",
    };
    let closes = "what is begun is finished, or taken back";
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
            "Receive before waiting for who sends",
            Sketch::ReceiveFirst(awaited),
            "who sends goes on earlier, and what it does then comes earlier, too",
        ),
        Some("channel") => (
            "Close the channel when nothing more will come",
            Sketch::CloseChannel(awaited),
            "what was meant to be sent is then missing: the receiver has to cope",
        ),
        Some("never-released") => {
            ("Give the lock back", Sketch::GiveBackAlways, "what is protected has to be in order at that point")
        }
        Some("never-written") => (
            "Write what is waited for on every way out, and let nobody overwrite it",
            Sketch::WriteAlways,
            "a value that is there for a moment only can be missed",
        ),
        _ if awaited.future == Some("acquire") => (
            "Give permits back on every way out",
            Sketch::EndWait(awaited),
            "what the permits limit has to be over at that point",
        ),
        _ => (
            "Bring about what is waited for on every way out",
            Sketch::EndWait(awaited),
            "a waiter has to look again whether it is its turn",
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
        risk: "a time that is too short fails on a busy machine",
    };
    vec![
        draft.with_closes(bring, "the wait is ended", None),
        draft.with_closes(timeout, "the wait ends, in failure", None),
    ]
}

/// A process waits for what no process will send.
fn among_processes(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let monitor = Words {
        title: "Learn of the end of the process that was to answer".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::MonitorAsked),
        tradeoff: "none",
        risk: "what was asked for has not been done: somebody has to ask again, or to give up",
    };
    let timeout = Words {
        title: "Wait for a limited time".to_owned(),
        effort: Effort::Simple,
        sketch: draft.written(Sketch::LimitReceive),
        tradeoff: "the failure is reported instead of hanging",
        risk: "an answer that comes later is still in the mailbox",
    };
    vec![
        draft.with_closes(monitor, "the wait ends when the other process does", None),
        draft.with_closes(timeout, "the wait ends, in failure", None),
    ]
}

/// Servers that call each other in a circle.
fn of_calls(draft: &Draft<'_, '_>) -> Vec<Fix> {
    let cast = Words {
        title: "Let one of them tell the other, and go on".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::TellInsteadOfCall),
        tradeoff: "the answer comes in another handler",
        risk: "what is asked meanwhile finds the server between the two",
    };
    let later = Words {
        title: "Answer later: keep the `ReplyTo`, and let a task call".to_owned(),
        effort: Effort::Moderate,
        sketch: draft.written(Sketch::AnswerLater),
        tradeoff: "one more process for each request",
        risk: "requests are answered in another order than they came",
    };
    vec![
        draft.with_closes(cast, "no server waits for another one that waits for it", None),
        draft.with_closes(later, "the server goes on with its mailbox while the call lasts", None),
    ]
}

impl Draft<'_, '_> {
    fn with_closes(&self, words: Words<'_>, closes: &str, guard: Option<Guard>) -> Fix {
        Fix { closes: closes.to_owned(), ..self.fix(words, guard) }
    }
}
