//! Objects that clients use at the same time, each beside a model of what one client alone would see.

use drawloom::history::Scenario;
use drawloom::history::model::{ContainerOp::*, ContainerRet::*, FifoQueue};
use drawloom::{Config, explore};
use drawloom_examples::counter::{self, Counter};
use drawloom_examples::quorum::{self, Replicas};
use drawloom_examples::replication::{self, Replicated};
use drawloom_examples::slots::{self, SlotQueue};

/// What the default configuration finds, in one screen.
fn found(test: impl Fn() + Send + Sync + 'static) -> String {
    let exploration = explore(Config::new().trace(false), test);
    let finding = exploration.findings().first().expect("a finding");
    assert_eq!(finding.kind(), "not linearizable");
    let message = finding.message();
    assert!(message.contains("not linearizable") && message.lines().count() <= 25, "{message}");
    message.to_owned()
}

/// All schedules there are, and nothing in them.
fn passes(test: impl Fn() + Send + Sync + 'static) {
    let exploration = explore("exhaustive, trace = false".parse().expect("a configuration"), test);
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].message());
    assert!(exploration.exhausted(), "{}", exploration.summary());
}

#[test]
fn a_follower_answers_with_what_was_overwritten() {
    insta::assert_snapshot!(found(|| replication::is_one_register(Replicated::read_buggy)));
}

#[test]
fn the_leader_does_not() {
    passes(|| replication::is_one_register(Replicated::read_fixed));
}

#[test]
fn a_reader_that_does_not_write_back_knows_more_than_the_next() {
    found(|| quorum::is_one_register(Replicas::read_buggy));
}

#[test]
fn one_that_writes_back_does_not() {
    passes(|| quorum::is_one_register(Replicas::read_fixed));
}

#[test]
fn two_clients_are_given_the_same_number() {
    found(|| counter::counts(Counter::next_buggy));
}

#[test]
fn numbers_that_are_taken_in_one_step_differ() {
    passes(|| counter::counts(Counter::next_fixed));
}

#[test]
fn a_queue_that_is_not_empty_says_that_it_is() {
    found(|| slots::is_a_queue(SlotQueue::push_buggy));
}

#[test]
fn one_that_is_filled_in_one_step_gives_its_item() {
    passes(|| slots::is_a_queue(SlotQueue::push_fixed));
}

/// Nobody has to think of the scenario.
fn any_scenario(push: fn(&SlotQueue, u32)) {
    drawloom::check_linearizable! {
        model: FifoQueue::new(),
        object: SlotQueue::default(),
        operations: [Insert(1), Insert(2), Remove],
        scenario: Scenario { clients: 2, length: 2 },
        apply: move |queue, operation| match operation {
            Insert(item) => {
                push(queue, item);
                Inserted
            }
            Remove => queue.pop().map_or(Empty, Removed),
        },
    }
}

#[test]
fn a_scenario_for_the_queue_is_found() {
    insta::assert_snapshot!(found(|| any_scenario(SlotQueue::push_buggy)));
}

/// The default configuration, as users write it.
mod by_attribute {
    use super::{Replicas, Replicated, SlotQueue, any_scenario, quorum, replication};

    #[drawloom::test(trace = false)]
    #[should_panic(expected = "not linearizable: read")]
    fn stale_reads_are_found() {
        replication::is_one_register(Replicated::read_buggy);
    }

    #[drawloom::test]
    fn nothing_is_found_in_the_register() {
        quorum::is_one_register(Replicas::read_fixed);
    }

    #[drawloom::test]
    fn nor_in_the_queue() {
        any_scenario(SlotQueue::push_fixed);
    }
}
