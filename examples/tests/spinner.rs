//! A deadlock of some tasks, found while another one still runs.

use drawloom_examples::spinner::{one_order, two_orders};

#[test]
fn two_orders_deadlock_while_the_third_task_spins() {
    let config = "random(iterations = 1000)".parse().unwrap();
    let exploration = drawloom::explore(config, two_orders);
    let found = &exploration.findings()[0];
    assert_eq!(found.kind(), "deadlock");
    let spinner = found.record().tasks.iter().find(|task| task.name.as_deref() == Some("spinner"));
    assert!(spinner.is_some_and(|task| !task.finished), "{}", found.report());
    assert!(!found.report().contains("spinner): blocked"), "{}", found.report());
}

#[drawloom::test(random(iterations = 200))]
fn one_order_does_not() {
    one_order();
}
