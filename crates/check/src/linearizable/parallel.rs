//! Parts on several cores. The verdict is the same for any number of them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::checker::{Checker, Violation};
use super::parts::Parts;
use crate::history::History;
use crate::model::Model;
use crate::verdict::{Budget, Verdict};

/// Whether a history is linearizable, with its parts spread over so many threads; each part has the whole budget. Worth it for
/// long histories of many keys; a history that is one part is checked on one thread.
///
/// Of several parts that cannot be explained, the one that was called first is reported, whichever thread finds it.
pub fn check_parallel<M>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    budget: Budget,
    threads: usize,
) -> Verdict<(), Violation>
where
    M: Model<State: Send, Op: Sync, Ret: Sync> + Sync,
{
    let mut parts = Parts::default();
    parts.divide(model, history);
    let next = AtomicUsize::new(0);
    let worst: Mutex<Option<(usize, Verdict<(), Violation>)>> = Mutex::new(None);
    // Behind a part that cannot be explained nothing matters; one that is unknown leaves room for one that is illegal.
    let illegal = AtomicUsize::new(usize::MAX);
    let work = || {
        let mut checker = Checker::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts.len() || part > illegal.load(Ordering::Relaxed) {
                return;
            }
            let verdict = checker.check_part(model, history, parts.members(part), budget);
            if verdict.is_illegal() {
                illegal.fetch_min(part, Ordering::Relaxed);
            }
            if !verdict.is_ok() {
                let mut worst = worst.lock().unwrap_or_else(PoisonError::into_inner);
                let rank = |part: usize, verdict: &Verdict<(), Violation>| (!verdict.is_illegal(), part);
                if worst.as_ref().is_none_or(|(other, old)| rank(part, &verdict) < rank(*other, old)) {
                    *worst = Some((part, verdict));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(parts.len()) {
            scope.spawn(work);
        }
        work();
    });
    worst.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Verdict::Ok(()), |(_, verdict)| verdict)
}
