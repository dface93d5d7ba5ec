//! A wait that nobody ends.

use drawloom_examples::pipeline::sum_of_squares;

#[test]
fn a_forgotten_sender_keeps_the_pipeline_waiting() {
    let config = "random(iterations = 100)".parse().unwrap();
    let exploration = drawloom::explore(config, || assert_eq!(sum_of_squares(true), 25));
    let found = &exploration.findings()[0];
    assert_eq!(found.kind(), "starvation", "{}", found.report());
    assert!(found.report().contains("blocked on recv()"), "{}", found.report());
}

#[drawloom::test]
fn without_it_the_pipeline_ends() {
    assert_eq!(sum_of_squares(false), 25);
}
