//! The ports are the programs that they are meant to be: exhaustive exploration finds their known classes.

use drawloom_suite::{Bug, catalogue, explore};

/// Executions in which a fixed twin must be exhausted, or else is only sampled.
const SMALL: u64 = 300;

fn exhaust(body: fn()) -> drawloom::Exploration {
    explore(&format!("exhaustive(max_schedules = {SMALL}, resume = false)"), body)
}

#[test]
fn each_program_has_as_many_classes_as_were_counted_and_as_many_of_them_fail() {
    for program in catalogue() {
        let Some(classes) = program.classes else { continue };
        let explored = exhaust(program.body.buggy);
        assert!(explored.exhausted(), "{}: {}", program.body.name, explored.summary());
        let found = (explored.executions(), explored.failing_executions());
        assert_eq!(found, classes, "{}", program.body.name);
    }
}

#[test]
fn small_fixed_twins_are_proved_and_large_ones_silent() {
    for program in catalogue() {
        let explored = exhaust(program.body.fixed);
        let sampled = explore("random(iterations = 50)", program.body.fixed);
        for exploration in [&explored, &sampled] {
            let first = exploration.findings().first().map(drawloom::Failure::report);
            assert!(first.is_none(), "{}: {}", program.body.name, first.unwrap_or_default());
        }
        if program.classes.is_some_and(|(classes, _)| classes < SMALL) {
            assert!(explored.exhausted(), "{}: {}", program.body.name, explored.summary());
        }
    }
}

#[test]
fn smoke_tests_fail_at_once() {
    for program in catalogue().iter().filter(|program| program.bug == Bug::Always) {
        let explored = explore("random(iterations = 1)", program.body.buggy);
        assert_eq!(explored.failing_executions(), 1, "{}", program.body.name);
    }
}

#[test]
fn a_schedule_that_is_kept_fails_with_the_fewest_preemptions() {
    for program in catalogue().iter().filter(|program| program.schedule.is_some()) {
        let rules: drawloom::Config = "spurious_wakeups = 0, weak_failures = 0, trace = false".parse().expect("rules");
        // Minimised, so that they are counted.
        let found = program.show(rules.shrink(drawloom::Shrink::Full));
        let preemptions: Vec<u64> = found.findings().iter().map(drawloom::Failure::preemptions).collect();
        assert_eq!(preemptions, [u64::from(program.preemptions)], "{}", program.body.name);
    }
}
