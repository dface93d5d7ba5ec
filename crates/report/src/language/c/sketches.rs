//! Sketches of fixes, in C.

use crate::language::sketch::{Encapsulation, Sketch, in_loop, indented, lines};

pub(super) fn sketch(sketch: &Sketch<'_>) -> Vec<String> {
    match sketch {
        Sketch::Hold { lock, lines, .. } => {
            let (first, last) = (format!("pthread_mutex_lock(&{lock});"), format!("pthread_mutex_unlock(&{lock});"));
            [first].into_iter().chain(indented(lines)).chain([last]).collect()
        }
        Sketch::HoldAndRemove { lines, remark } => {
            let last = format!("remove_lock(key);   {remark}");
            ["lock(lock_of(key));".to_owned()].into_iter().chain(indented(lines)).chain([last]).collect()
        }
        Sketch::HoldOverAll { .. } => lines([
            "pthread_mutex_lock(&lock);     // before the first use",
            "pthread_mutex_unlock(&lock);   // after the last",
        ]),
        Sketch::CheckAgain { name } => vec![format!("if (/* {name} has changed since */) goto again;")],
        Sketch::CheckAndActAtOnce { name } => {
            vec![format!("atomic_compare_exchange_strong(&{name}, &seen, new)   // the look and the act in one step")]
        }
        Sketch::TakeFlagAtOnce { name } => vec![format!("if (atomic_exchange(&{name}, 1) == 0) {{ … }}")],
        Sketch::UpdateAtOnce { name } => vec![format!("atomic_fetch_add(&{name}, …);")],
        Sketch::UseReturned { line } => {
            vec![format!("before = {line}   // and decide by `before`, in the place of the second look")]
        }
        Sketch::OneRecord => lines(["struct state { …; … };   // both, behind one lock or one atomic pointer"]),
        Sketch::OneOwner => lines(["// one task owns the state, and the others send it requests"]),
        Sketch::CompareVersions { name } => vec![format!("if (generation_of({name}) != seen) goto again;")],
        Sketch::RemoveUnused => lines(["if (waiters(lock) == 0 && map[key] == lock) remove(map, key);"]),
        Sketch::LockInsteadOfCell { name } => {
            vec![format!("pthread_mutex_t {name}_lock;   // held whenever `{name}` is used")]
        }
        Sketch::HandOver => {
            lines(["pthread_join(thread, NULL);   // or a lock, a channel, a semaphore between the two"])
        }
        Sketch::GiveBackBeforeTakingAgain { .. } => {
            lines(["pthread_mutex_unlock(&lock);   // or PTHREAD_MUTEX_RECURSIVE, which its holder may lock again"])
        }
        Sketch::GiveBack => lines(["pthread_mutex_unlock(&lock);"]),
        Sketch::AllPermitsAtOnce => lines(["acquire(semaphore, all);   // and not one after the other"]),
        Sketch::OneLock { .. } => {
            lines(["pthread_mutex_lock(&one_lock);   // around taking the others, or instead of them"])
        }
        Sketch::BackOff { .. } => {
            lines(["if (pthread_mutex_trylock(&second)) pthread_mutex_unlock(&first);   // and from the beginning"])
        }
        Sketch::WaitForOther { first, second } => {
            vec![format!("{first}: …; sem_post(&done);"), format!("{second}: sem_wait(&done); …")]
        }
        Sketch::LookAgainInLoop { look, wait } => match in_loop(look) {
            Some(look) => vec![format!("{look}   // not `if`"), format!("    {wait}")],
            None => lines([
                "while (…) {   // what is waited for is not there",
                "    pthread_cond_wait(&changed, &lock);",
                "}",
            ]),
        },
        Sketch::WaitInLoop => lines([
            "while (!condition) pthread_cond_wait(&changed, &lock);",
            "// and notify only after changing the condition under the same lock",
        ]),
        Sketch::Remember => lines(["sem_post(&there); / sem_wait(&there);   // it stays for a late task"]),
        Sketch::ClearFirst { name } => vec![
            format!("{name} = 0;   // first: every later event sets it again"),
            "…   // then check for work, and wait only if there is none".to_owned(),
        ],
        Sketch::AnnounceFirst { name } => vec![
            format!("…   // change `{name}`: from now on other tasks see that this one waits"),
            "…   // then check once more, and wait only if it has not happened".to_owned(),
        ],
        Sketch::ChangeFirst { .. } => lines([
            "pthread_mutex_lock(&lock);",
            "    …   // the change",
            "pthread_cond_broadcast(&changed);   // a woken task finds it changed",
            "pthread_mutex_unlock(&lock);",
        ]),
        Sketch::NotifyAll => lines(["pthread_cond_broadcast(&changed);   // or each woken task notifies the next one"]),
        Sketch::OneForEach => lines(["pthread_cond_t not_empty, not_full;   // notify the one that has changed"]),
        Sketch::RegisterFirst { .. } | Sketch::OwnTask | Sketch::UndoWhenDropped { .. } => Vec::new(),
        Sketch::WaitInsteadOfSpinning => {
            lines(["pthread_cond_wait(&changed, &lock);   // woken when there is something to do"])
        }
        Sketch::OneGoesFirst => lines(["if (my_number < other_number) …   // continue; else give way"]),
        Sketch::AskToStop => {
            lines(["stop = 1; pthread_join(thread, NULL);   // the task looks at `stop` where it can end"])
        }
        Sketch::ReserveFirst => lines(["…   // all waits before the first change"]),
        // There are no processes, and no futures.
        Sketch::ReceiveMeanwhile
        | Sketch::MonitorAsked
        | Sketch::LimitReceive
        | Sketch::TellInsteadOfCall
        | Sketch::AnswerLater => Vec::new(),
        Sketch::ReceiveFirst(_) => {
            lines(["while (drawloom_chan_recv(chan, …) == 0) …   // before waiting for the sender"])
        }
        Sketch::CloseChannel(_) => lines(["drawloom_chan_close(chan, DRAWLOOM_HERE);   // receivers see the end"]),
        Sketch::GiveBackAlways => lines(["out: pthread_mutex_unlock(&lock);   // every way out leads here"]),
        Sketch::WriteAlways => lines(["out: state = DONE;   // every way out leads here"]),
        Sketch::EndWait(_) => lines(["out: pthread_cond_broadcast(&changed);   // every way out leads here"]),
        Sketch::TakeOrGiveUp => Vec::new(),
        Sketch::LimitWait(_) => {
            lines(["pthread_cond_timedwait(&changed, &lock, &until)   // and report what is missing"])
        }
    }
}

pub(super) fn encapsulate(name: &str, lock: &str) -> Encapsulation {
    Encapsulation {
        title: format!("Touch `{name}` in functions that take the lock, and nowhere else"),
        sketch: vec!["void change(…)".to_owned(), format!("{{ pthread_mutex_lock(&{lock}); … }}")],
        tradeoff: "one place to look at",
    }
}
