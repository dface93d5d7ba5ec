//! Sketches of fixes, in Python.

use crate::language::PYTHON;
use crate::language::sketch::{Awaited, Encapsulation, Sketch, indented, lines};

pub(super) fn sketch(sketch: &Sketch<'_>) -> Vec<String> {
    match sketch {
        Sketch::Hold { lock, lines } => [format!("with {lock}:")].into_iter().chain(indented(lines)).collect(),
        Sketch::HoldAndRemove { lines, remark } => {
            let last = format!("    remove_lock(key)   {remark}");
            ["with lock_of(key):".to_owned()].into_iter().chain(indented(lines)).chain([last]).collect()
        }
        Sketch::HoldOverAll => lines(["with lock:   # from the first use", "    …      # to the last"]),
        Sketch::CheckAgain { name } => vec![format!("if {name} is no longer what it was: start over")],
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
        Sketch::WaitInLoop => lines([
            "with condition:",
            "    condition.wait_for(lambda: …)   # looks first, and again whenever it is notified",
            "# and whoever notifies changes what is looked at under the same lock",
        ]),
        Sketch::Remember => lines(["queue.put(…) / queue.get()   # or an Event: it stays set for who comes late"]),
        Sketch::ClearFirst { name } => vec![
            format!("{name}.clear()   # first: what comes from now on sets it again"),
            "…   # then look at what there is to do, and wait only if there is nothing".to_owned(),
        ],
        Sketch::AnnounceFirst { name } => vec![
            format!("…   # change `{name}`: from now on others know that somebody waits"),
            "…   # then ask, or look once more, and wait only if it has not come meanwhile".to_owned(),
        ],
        Sketch::ChangeFirst { .. } => lines([
            "with condition:",
            "    …   # the change",
            "    condition.notify_all()   # whoever wakes up finds it changed",
        ]),
        Sketch::NotifyAll => lines(["condition.notify_all()   # or whoever is woken notifies the next one"]),
        Sketch::OneForEach => {
            lines(["not_empty, not_full = Condition(lock), Condition(lock)   # notify the one that has changed"])
        }
        Sketch::WaitInsteadOfSpinning => {
            lines(["condition.wait_for(lambda: …)   # or a queue: woken when there is something to do"])
        }
        Sketch::OneGoesFirst => lines(["if my_number < other_number: go on   # else give way"]),
        Sketch::ReceiveFirst(awaited) if is_pipe(awaited) || PYTHON.is_connection(awaited.name) => {
            lines([ends(awaited)])
        }
        Sketch::ReceiveFirst(_) => lines(["queue.get()   # before waiting for whoever puts"]),
        Sketch::CloseChannel(awaited) => match ends(awaited) {
            NOTIFY => lines(["queue.put(None)   # for each reader"]),
            ends => lines([ends]),
        },
        Sketch::GiveBackAlways => lines(["with lock: …   # gives it back on every way out"]),
        Sketch::WriteAlways => lines(["state = DONE   # also when leaving early"]),
        Sketch::EndWait(awaited) => lines([ends(awaited)]),
        Sketch::LimitWait(awaited) => lines([limits(awaited)]),
        // There are no atomics, no cells that race, no futures that are dropped, and no processes.
        Sketch::CheckAndActAtOnce { .. }
        | Sketch::TakeFlagAtOnce { .. }
        | Sketch::UpdateAtOnce { .. }
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

const NOTIFY: &str = "finally: condition.notify_all()   # also when leaving early";

/// What ends a wait.
fn ends(awaited: &Awaited<'_>) -> &'static str {
    match PYTHON.made_of_locks(awaited.name) {
        _ if !awaited.is_told => NOTIFY,
        _ if is_pipe(awaited) => "finally: os.close(writer)   # whoever reads is told of the end",
        _ if PYTHON.is_connection(awaited.name) => "finally: sock.close()   # whoever receives is told of the end",
        Some("event") => "finally: event.set()   # also when leaving early",
        Some("queue") => "queue.put_nowait(None)   # for each reader",
        _ if awaited.operation == "acquire" => "async with semaphore: …   # gives it back on every way out",
        _ => NOTIFY,
    }
}

/// What limits it.
fn limits(awaited: &Awaited<'_>) -> &'static str {
    if !awaited.is_told {
        "wait(timeout=…) / get(timeout=…)   # and say what is missing"
    } else if is_pipe(awaited) {
        "select.select([reader], [], [], …)   # and say what is missing"
    } else if PYTHON.is_connection(awaited.name) {
        "sock.settimeout(…)   # and say what is missing"
    } else {
        "async with asyncio.timeout(…):   # and say what is missing"
    }
}

fn is_pipe(awaited: &Awaited<'_>) -> bool {
    awaited.name.starts_with("pipe ")
}
