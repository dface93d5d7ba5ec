//! A lost update, found by an assertion.

use drawloom_examples::bank::{both_arrive, deposit_buggy, deposit_fixed};

#[drawloom::test(trace = false)]
#[should_panic(expected = "a deposit was lost")]
fn a_deposit_is_lost() {
    both_arrive(deposit_buggy);
}

#[drawloom::test]
fn both_deposits_arrive() {
    both_arrive(deposit_fixed);
}
