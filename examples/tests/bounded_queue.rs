//! A condition that is checked once instead of until it holds.

use drawloom_examples::bounded_queue::{BoundedQueue, every_item_arrives_once};

/// Without spurious wake-ups: the other consumer is enough.
#[drawloom::test(spurious_wakeups = 0, trace = false)]
#[should_panic(expected = "woken, so there is an item")]
fn a_consumer_that_looks_once_finds_the_queue_empty() {
    every_item_arrives_once(BoundedQueue::pop_buggy);
}

#[drawloom::test]
fn a_consumer_that_looks_again_finds_an_item() {
    every_item_arrives_once(BoundedQueue::pop_fixed);
}

/// Condition variables may wake anybody at any time, and that can be explored too.
#[drawloom::test(spurious_wakeups = 3)]
fn nor_do_spurious_wakeups_harm_it() {
    every_item_arrives_once(BoundedQueue::pop_fixed);
}
