//! Sketches of fixes, in Python.

use crate::language::PYTHON;
use crate::language::sketch::{Awaited, Encapsulation, Sketch, in_loop, indented, lines};

pub(super) fn sketch(sketch: &Sketch<'_>) -> Vec<String> {
    match sketch {
        Sketch::Hold { lock, lines, in_coroutines } => {
            [format!("{}with {lock}:", awaits(*in_coroutines))].into_iter().chain(indented(lines)).collect()
        }
        Sketch::HoldAndRemove { lines, remark } => {
            let last = format!("    remove_lock(key)   {remark}");
            ["with lock_of(key):".to_owned()].into_iter().chain(indented(lines)).chain([last]).collect()
        }
        Sketch::HoldOverAll { in_coroutines } => {
            vec![
                format!("{}with lock:   # from the first use", awaits(*in_coroutines)),
                "    …      # to the last".to_owned(),
            ]
        }
        Sketch::CheckAgain { name } => vec![format!("if {name} has changed since: start over")],
        Sketch::OneRecord => lines(["state = State(…, …)   # both; replaced in one assignment, and never changed"]),
        Sketch::OneOwner => {
            lines(["owner: for request in iter(requests.get, None): …   # the others put requests into the queue"])
        }
        Sketch::CompareVersions { name } => vec![format!("if generation({name}) != seen: start over")],
        Sketch::RemoveUnused => lines(["if waiters(lock) == 0 and map[key] is lock: del map[key]"]),
        Sketch::GiveBackBeforeTakingAgain { in_coroutines: true } => {
            lines(["lock.release()   # or call what expects that the lock is held"])
        }
        Sketch::GiveBackBeforeTakingAgain { in_coroutines: false } => {
            lines(["lock.release()   # or threading.RLock(), which its holder may take again"])
        }
        Sketch::GiveBack => lines(["lock.release()"]),
        Sketch::OneLock { in_coroutines: true } => {
            lines(["async with one_lock:   # around taking the others, or instead of them"])
        }
        Sketch::OneLock { in_coroutines: false } => {
            lines(["with one_lock:   # around taking the others, or instead of them"])
        }
        Sketch::BackOff { in_coroutines: true } => {
            lines(["if second.locked(): first.release()   # and from the beginning"])
        }
        Sketch::BackOff { in_coroutines: false } => {
            lines(["if not second.acquire(blocking=False): first.release()   # and from the beginning"])
        }
        Sketch::WaitForOther { first, second } => vec![
            format!("{first}: … ; done.set()"),
            format!("{second}: done.wait(); …   # an Event; or a join, a queue, a barrier, a condition"),
        ],
        Sketch::LookAgainInLoop { look, wait } => match in_loop(look) {
            Some(look) => vec![format!("{look}   # not `if`"), format!("    {wait}")],
            None => lines(["while …:   # what is waited for is not there", "    condition.wait()"]),
        },
        Sketch::WaitInLoop => lines([
            "with condition:",
            "    condition.wait_for(lambda: …)   # looks first, and again whenever it is notified",
            "# and notify only after changing the condition under the same lock",
        ]),
        Sketch::Remember => lines(["queue.put(…) / queue.get()   # or an Event: it stays set for late tasks"]),
        Sketch::ClearFirst { name } => vec![
            format!("{name}.clear()   # first: every later event sets it again"),
            "…   # then check for work, and wait only if there is none".to_owned(),
        ],
        Sketch::AnnounceFirst { name } => vec![
            format!("…   # change `{name}`: from now on other tasks see that this one waits"),
            "…   # then check once more, and wait only if it has not happened".to_owned(),
        ],
        Sketch::ChangeFirst { .. } => lines([
            "with condition:",
            "    …   # the change",
            "    condition.notify_all()   # a woken task finds it changed",
        ]),
        Sketch::NotifyAll => lines(["condition.notify_all()   # or each woken task notifies the next one"]),
        Sketch::OneForEach => {
            lines(["not_empty, not_full = Condition(lock), Condition(lock)   # notify the one that has changed"])
        }
        Sketch::WaitInsteadOfSpinning => {
            lines(["condition.wait_for(lambda: …)   # or a queue: woken when there is something to do"])
        }
        Sketch::OneGoesFirst => lines(["if my_number < other_number: continue   # else give way"]),
        Sketch::ReceiveFirst(awaited) if is_pipe(awaited) || PYTHON.is_connection(awaited.name) => {
            lines([ends(awaited)])
        }
        Sketch::ReceiveFirst(_) => lines(["queue.get()   # before waiting for the producer"]),
        Sketch::CloseChannel(awaited) => match ends(awaited) {
            NOTIFY => lines(["queue.put(None)   # for each reader"]),
            ends => lines([ends]),
        },
        Sketch::GiveBackAlways => lines(["with lock: …   # gives it back on every way out"]),
        Sketch::WriteAlways => lines(["state = DONE   # also when leaving early"]),
        Sketch::EndWait(awaited) => lines([ends(awaited)]),
        Sketch::LimitWait(awaited) => lines([limits(awaited)]),
        Sketch::TakeOrGiveUp => lines(["try: item = queue.get_nowait()", "except queue.Empty: …   # nothing is there"]),
        // There are no atomics, no cells that race, no futures that are dropped, and no processes.
        Sketch::CheckAndActAtOnce { .. }
        | Sketch::TakeFlagAtOnce { .. }
        | Sketch::UpdateAtOnce { .. }
        | Sketch::UseReturned { .. }
        | Sketch::LockInsteadOfCell { .. }
        | Sketch::HandOver
        | Sketch::AllPermitsAtOnce
        | Sketch::RegisterFirst { .. }
        | Sketch::AskToStop
        | Sketch::OwnTask
        | Sketch::UndoWhenDropped { .. }
        | Sketch::MonitorAsked
        | Sketch::LimitReceive
        | Sketch::TellInsteadOfCall
        | Sketch::AnswerLater
        | Sketch::ReceiveMeanwhile
        | Sketch::ReserveFirst => Vec::new(),
    }
}

pub(super) fn encapsulate(name: &str, lock: &str) -> Encapsulation {
    Encapsulation {
        title: format!("Touch `{name}` in methods that take the lock, and nowhere else"),
        sketch: vec!["def change(self, …):".to_owned(), format!("    with {lock}: …")],
        tradeoff: "one place to look at",
    }
}

/// How a statement of a coroutine begins that may have to wait.
fn awaits(in_coroutines: bool) -> &'static str {
    if in_coroutines { "async " } else { "" }
}

const NOTIFY: &str = "finally: condition.notify_all()   # also when leaving early";

/// What ends a wait.
fn ends(awaited: &Awaited<'_>) -> &'static str {
    match PYTHON.made_of_locks(awaited.name) {
        Some("event") => "finally: event.set()   # also when leaving early",
        Some("queue") => "queue.put_nowait(None)   # for each reader",
        _ if !awaited.is_told => NOTIFY,
        _ if is_pipe(awaited) => "finally: os.close(writer)   # readers see the end",
        _ if PYTHON.is_connection(awaited.name) => "finally: sock.close()   # receivers see the end",
        _ if awaited.operation == "acquire" => "async with semaphore: …   # gives it back on every way out",
        _ => NOTIFY,
    }
}

/// What limits it.
fn limits(awaited: &Awaited<'_>) -> &'static str {
    if !awaited.is_told {
        "wait(timeout=…) / get(timeout=…)   # and report what is missing"
    } else if is_pipe(awaited) {
        "select.select([reader], [], [], …)   # and report what is missing"
    } else if PYTHON.is_connection(awaited.name) {
        "sock.settimeout(…)   # and report what is missing"
    } else {
        "async with asyncio.timeout(…):   # and report what is missing"
    }
}

fn is_pipe(awaited: &Awaited<'_>) -> bool {
    awaited.name.starts_with("pipe ")
}
