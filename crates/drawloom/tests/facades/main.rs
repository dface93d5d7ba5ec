//! Facades of other crates: the same bodies with those crates themselves, outside of an exploration, and under control.

mod crossbeam;
mod once_cell;
mod parking_lot;
#[path = "../support/outcomes.rs"]
mod support;

use std::collections::BTreeSet;
use std::fmt::Debug;

/// All that `body` comes to, over all of its schedules.
fn outcomes<T: Ord + Send + 'static>(body: fn() -> T) -> BTreeSet<T> {
    let config = "exhaustive, spurious_wakeups = 0".parse().expect("a strategy");
    let beside_another = move || {
        drawloom::thread::spawn(drawloom::thread::yield_now);
        body()
    };
    support::outcomes(config, beside_another).0
}

/// What a body comes to for real it comes to in every schedule.
fn same<T: Ord + Debug + Send + 'static>(real: fn() -> T, ours: fn() -> T) {
    let expected = real();
    assert_eq!(ours(), expected, "outside of an exploration");
    assert_eq!(outcomes(ours), BTreeSet::from([expected]), "under control");
}

/// Under control a body comes to exactly `expected`, and for real to nothing else.
fn any_of<T: Ord + Debug + Send + 'static>(expected: impl IntoIterator<Item = T>, real: fn() -> T, ours: fn() -> T) {
    let expected = BTreeSet::from_iter(expected);
    assert_eq!(outcomes(ours), expected, "under control");
    for _ in 0..20 {
        assert!(expected.contains(&real()), "for real");
        assert!(expected.contains(&ours()), "outside of an exploration");
    }
}
