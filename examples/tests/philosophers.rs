//! A deadlock of three tasks, found as a cycle of waits.

use drawloom_examples::philosophers::{dinner, left_first, lower_first};

#[test]
fn with_the_left_fork_first_all_may_starve() {
    let config = "random(iterations = 1000)".parse().unwrap();
    let exploration = drawloom::explore(config, || dinner(left_first));
    let found = &exploration.findings()[0];
    assert_eq!(found.kind(), "deadlock");
    let report = found.report();
    for philosopher in ["philosopher 0", "philosopher 1", "philosopher 2"] {
        assert!(report.contains(philosopher), "{report}");
    }
}

#[drawloom::test]
fn with_the_lower_fork_first_everybody_eats() {
    dinner(lower_first);
}
