//! What a report says of a schedule that was minimised.

use drawloom_report::{Extent, Minimised, Record};
use insta::assert_snapshot;

use crate::screens::{panic, screen};

fn extent(preemptions: u64, faults: u64, switches: u64, data: u64, steps: u64) -> Extent {
    Extent { preemptions, faults, switches, data, steps }
}

fn minimised(before: Extent, after: Extent, replays: u64, complete: bool) -> Record {
    let mut record = panic();
    let original = "dl1original".to_owned();
    let (replays_of_edits, preempting) = (replays, vec![3]);
    record.meta.minimised =
        Some(Minimised { original, before, after, replays, replays_of_edits, complete, preempting });
    record
}

/// The lines about the schedule.
fn footer(record: &Record) -> String {
    screen(record).lines().rev().take_while(|line| !line.is_empty()).filter(|line| line.contains("replays")).collect()
}

#[test]
fn a_minimised_finding_says_what_has_become_less() {
    let simple = extent(1, 0, 3, 0, 13);
    assert_snapshot!(
        footer(&minimised(extent(41, 2, 44, 9, 88), simple, 71, true)),
        @"minimised 41 → 1 preemptions in 71 replays"
    );
    assert_snapshot!(
        footer(&minimised(extent(1, 0, 5, 0, 13), simple, 28, true)),
        @"minimised 5 → 3 switches in 28 replays"
    );
    assert_snapshot!(
        footer(&minimised(extent(1, 0, 3, 0, 19), simple, 28, true)),
        @"minimised 19 → 13 steps in 28 replays"
    );
    assert_snapshot!(
        footer(&minimised(simple, simple, 28, true)),
        @"no simpler schedule in 28 replays (1 preemption)"
    );
    let faulty = extent(0, 2, 3, 0, 13);
    assert_snapshot!(
        footer(&minimised(faulty, faulty, 90, true)),
        @"no simpler schedule in 90 replays (0 preemptions, 2 faults)"
    );
    assert_snapshot!(
        footer(&minimised(simple, simple, 500, false)),
        @"no simpler schedule in the first 500 replays (1 preemption); the time was up: `shrink = full` continues"
    );
    assert_snapshot!(
        footer(&minimised(extent(41, 2, 44, 9, 88), simple, 500, false)),
        @"minimised 41 → 1 preemptions in 500 replays; the time was up: `shrink = full` continues"
    );
}

#[test]
fn only_the_preemptions_that_were_counted_are_called_so() {
    let simple = extent(1, 0, 3, 0, 13);
    let text = screen(&minimised(simple, simple, 28, true));
    assert_eq!(text.matches("preempted").count(), 1, "{text}");
}

#[test]
fn both_schedules_are_in_the_trace_file() {
    let simple = extent(1, 0, 3, 0, 13);
    let record = minimised(extent(4, 0, 9, 0, 15), simple, 28, true);
    let file = record.write();
    assert!(file.contains("\"minimised\":{\"original\":\"dl1original\",\"before\":{\"preemptions\":4,"), "{file}");
    assert_eq!(Record::read(&file).expect("its own file"), record);
    assert!(!panic().write().contains("minimised"), "nothing is said of what was not minimised");
}
