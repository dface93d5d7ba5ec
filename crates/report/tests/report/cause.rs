//! When two findings are the same bug.

use drawloom_report::cause;
use insta::assert_snapshot;

use crate::screens::{data_race, livelock, lost_wakeup, panic, two_locks};

#[test]
fn the_same_bug_of_other_tasks_has_the_same_cause() {
    let (first, later) = (two_locks(0), two_locks(3));
    assert_ne!(first.tasks.len(), later.tasks.len());
    assert_eq!(cause(&first), cause(&later));
    assert_snapshot!(cause(&first), @"deadlock: task spawned at src/x.rs:20:5 in lock at src/x.rs:22:5; task spawned at src/x.rs:6:5 in lock at src/x.rs:8:5");
}

#[test]
fn the_message_of_a_panic_is_not_its_cause() {
    let (first, mut other) = (panic(), panic());
    other.finding.message = "nothing to withdraw\nbalance: 3".into();
    assert_eq!(cause(&first), cause(&other));
    assert_snapshot!(cause(&first), @"panic at src/x.rs:13:13 in task spawned at src/x.rs:11:5");
}

#[test]
fn kinds_and_places_make_other_causes() {
    assert_snapshot!(cause(&lost_wakeup()), @"starvation: task spawned at src/x.rs:6:5 in wait at src/x.rs:8:5");
    assert_snapshot!(cause(&livelock()), @"livelock: main; task spawned at src/x.rs:8:5");
}

#[test]
fn a_data_race_is_caused_by_its_two_places_in_either_order() {
    let mut race = data_race(vec![], vec![]);
    let key = cause(&race);
    assert_snapshot!(key, @"data race: read cell at src/x.rs:12:5; write cell at src/x.rs:7:5");
    if let drawloom_report::Details::DataRace { earlier, later, .. } = &mut race.finding.details {
        std::mem::swap(earlier, later);
    }
    assert_eq!(cause(&race), key);
}
