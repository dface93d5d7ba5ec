//! All that a program comes to.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::{Config, explore};

/// All that `body` comes to, over all of its schedules (spin loops cut), and in how many classes.
pub fn outcomes<T: Ord + Send + 'static>(
    config: Config,
    body: impl Fn() -> T + Send + Sync + 'static,
) -> (BTreeSet<T>, u64) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let exploration = explore(config, move || {
        let outcome = body();
        theirs.lock().unwrap().insert(outcome);
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    let explored = exploration.exhausted() || exploration.cut_spin_rounds().is_some();
    assert!(explored, "{}", exploration.summary());
    let outcomes = std::mem::take(&mut *seen.lock().unwrap());
    (outcomes, exploration.executions())
}
