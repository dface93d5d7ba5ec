//! Sketches of fixes, in Rust.

use crate::language::sketch::{Awaited, Encapsulation, Sketch, in_loop, indented, lines};

pub(super) fn sketch(sketch: &Sketch<'_>) -> Vec<String> {
    match sketch {
        Sketch::Hold { lock, lines, .. } => {
            let first = format!("let held = {};", taken(lock, lines));
            [first].into_iter().chain(indented(lines)).chain(["drop(held);".to_owned()]).collect()
        }
        Sketch::HoldAndRemove { lines, remark } => {
            let first = "let held = lock_of(key).lock();".to_owned();
            let last = format!("remove_lock(key);   {remark}");
            [first].into_iter().chain(indented(lines)).chain([last]).collect()
        }
        Sketch::HoldOverAll { .. } => {
            lines(["let held = lock.lock();   // before the first use", "    …", "drop(held);   // after the last"])
        }
        Sketch::CheckAgain { name } => vec![format!("if {name} has changed since {{ start over }}")],
        Sketch::CheckAndActAtOnce { name } => {
            vec![format!("{name}.compare_exchange(expected, new, …)   // or fetch_update")]
        }
        Sketch::TakeFlagAtOnce { name } => {
            vec![format!(
                "while {name}.swap(true, Acquire) {{ yield_now(); }}   // or compare_exchange(false, true, …)"
            )]
        }
        Sketch::UpdateAtOnce { name } => {
            vec![format!("{name}.fetch_add(…)   // or fetch_update(…) for anything else")]
        }
        Sketch::UseReturned { line } => {
            vec![format!("let before = {line}   // and decide by `before`, in the place of the second look")]
        }
        Sketch::OneRecord => lines(["struct State { … both … }", "state: Mutex<State>   // changed in one step"]),
        Sketch::OneOwner => lines(["owner: for request in requests { … }   // the others send requests"]),
        Sketch::CompareVersions { name } => vec![format!("if generation({name}) != seen {{ start over }}")],
        Sketch::RemoveUnused => lines(["if waiters(lock) == 0 && map[key] is lock { map.remove(key) }"]),
        Sketch::LockInsteadOfCell { name } => vec![format!("{name}: Mutex<…>   // instead of a cell")],
        Sketch::HandOver => lines(["handle.join() or channel.recv() before the second access"]),
        Sketch::GiveBackBeforeTakingAgain { .. } => {
            lines(["drop(held);   // or pass the guard on, instead of locking again"])
        }
        Sketch::GiveBack => lines(["drop(held);"]),
        Sketch::AllPermitsAtOnce => {
            lines(["let held = semaphore.acquire_many(2).await;   // all that it will need, or none"])
        }
        Sketch::OneLock { .. } => lines(["Mutex<(…, …)>   // or one lock around taking the others"]),
        Sketch::BackOff { .. } => {
            lines(["loop { take the first; if the second can be had at once: break; give the first back }"])
        }
        Sketch::WaitForOther { first, second } => vec![
            format!("{first}: … ; done.send(())"),
            format!("{second}: done.recv(); …   // a join, a channel, a barrier or a condition variable"),
        ],
        Sketch::LookAgainInLoop { look, wait } => match in_loop(look) {
            Some(look) => vec![format!("{look}   // not `if`"), format!("    {wait}")],
            None => lines([
                "while … {   // what is waited for is not there",
                "    held = condvar.wait(held).unwrap();",
                "}",
            ]),
        },
        Sketch::WaitInLoop => lines([
            "let mut held = lock.lock();",
            "while !*held { held = condvar.wait(held); }   // or wait_while",
            "// and notify only after changing the condition under the same lock",
        ]),
        Sketch::Remember => {
            lines(["channel.send(()) / channel.recv()   // or park and unpark: a token waits for a late task"])
        }
        Sketch::ClearFirst { name } => vec![
            format!("{name}.store(false);   // first: every later event sets it again"),
            "…   // then check for work, and wait only if there is none".to_owned(),
        ],
        Sketch::AnnounceFirst { name } => vec![
            format!("…   // change `{name}`: from now on other tasks see that this one waits"),
            "…   // then check once more, and wait only if it has not happened".to_owned(),
        ],
        Sketch::ChangeFirst { name } => vec![
            format!("*{name}.lock().unwrap() = …;"),
            "condvar.notify_all();   // a woken task finds it changed".to_owned(),
        ],
        Sketch::NotifyAll => lines(["condvar.notify_all();   // or each woken task notifies the next one"]),
        Sketch::OneForEach => {
            lines(["not_empty: Condvar, not_full: Condvar   // with the same mutex; notify the one that has changed"])
        }
        Sketch::RegisterFirst { name } => vec![
            format!("let notified = {name}.notified();   // counts from here"),
            "if … is there already { return }".to_owned(),
            "notified.await;".to_owned(),
        ],
        Sketch::WaitInsteadOfSpinning => {
            lines(["condvar.wait_while(held, …)   // or a channel: woken when there is something to do"])
        }
        Sketch::OneGoesFirst => lines(["if my_number < other_number { continue } else { give way }"]),
        Sketch::AskToStop => lines([
            "stop.cancel(); task.await   // instead of abort(); the task looks at `stop` between whole operations",
        ]),
        Sketch::OwnTask => {
            lines(["timeout(limit, tokio::spawn(work)).await   // a caller that stops waiting does not stop the work"])
        }
        Sketch::UndoWhenDropped { name } => vec![
            format!("let undo = Undo(&{name});   // its Drop undoes the change"),
            "….await;".to_owned(),
            "undo.forget();   // all of it is done".to_owned(),
        ],
        Sketch::ReserveFirst => {
            lines(["let place = channel.reserve().await;   // then everything, without an await in between"])
        }
        Sketch::ReceiveMeanwhile => lines([
            "select! {",
            "    place = to_other.reserve() => place?.send(message),",
            "    received = from_other.recv() => …   // handle or keep it, and wait again",
            "}",
        ]),
        Sketch::ReceiveFirst(Awaited { future: Some(_), .. }) => {
            lines(["while let Some(message) = receiver.recv().await { … }   // or drop(receiver): send() then fails"])
        }
        Sketch::ReceiveFirst(_) => lines(["for message in receiver { … }   // or drop(receiver): send() then fails"]),
        Sketch::CloseChannel(_) => lines(["drop(sender);   // every clone of it: then recv() ends with an error"]),
        Sketch::GiveBackAlways => lines(["drop(guard);   // not mem::forget, and on every way out"]),
        Sketch::WriteAlways => lines(["state.store(DONE, Release);   // also when leaving early"]),
        Sketch::EndWait(awaited) => lines([ends(awaited)]),
        Sketch::TakeOrGiveUp => lines(["if let Ok(item) = receiver.try_recv() { … }   // else nothing is there"]),
        Sketch::LimitWait(Awaited { future: Some(_), .. }) => {
            lines(["timeout(limit, …).await   // around the future, and report what is missing"])
        }
        Sketch::LimitWait(_) => lines(["recv_timeout(…) / wait_timeout(…)   // and report what is missing"]),
        Sketch::MonitorAsked => lines([
            "let monitor = ctx.monitor(&pid);",
            "receive!(ctx; answer => …, down(d) => …)   // or `ctx.call`, which does so",
        ]),
        Sketch::LimitReceive => lines(["receive!(ctx; answer => …, after Duration::from_secs(5) => …)"]),
        Sketch::TellInsteadOfCall => lines(["other.cast(…);   // its answer comes as a message of its own"]),
        Sketch::AnswerLater => lines([
            "self.pending.push(reply);   // the `ReplyTo`",
            "ctx.spawn(…);   // calls the other server, and casts the answer to this one",
        ]),
    }
}

/// What ends a wait.
fn ends(awaited: &Awaited<'_>) -> &'static str {
    match awaited.future {
        None => "condition = true; condvar.notify_all();   // also when leaving early",
        Some("notified") => "notify.notify_one();   // also when leaving early",
        Some("acquire") => "drop(permit);   // not permit.forget()",
        Some("barrier wait") => "Barrier::new(n)   // as many as reach it, each time",
        Some("join") => "return;   // the awaited task must finish",
        Some(_) => "sender.send(…)   // also when leaving early; or drop the sender: the wait ends with an error",
    }
}

pub(super) fn encapsulate(name: &str, lock: &str) -> Encapsulation {
    Encapsulation {
        title: format!("Put `{name}` into the lock"),
        sketch: vec![format!("{lock}: Mutex<…>   // holds `{name}`, so that nobody can reach it without")],
        tradeoff: "the compiler finds every place that forgets it",
    }
}

/// How a lock is taken before `lines`: a reader–writer lock to write, and one of async code by a future.
fn taken(lock: &str, lines: &[String]) -> String {
    let calls = |method: &str| lines.iter().any(|line| line.contains(&format!("{lock}.{method}()")));
    let method = if calls("read") || calls("write") { "write" } else { "lock" };
    let awaits = if lines.iter().any(|line| line.contains(".await")) { ".await" } else { "" };
    format!("{lock}.{method}(){awaits}")
}
