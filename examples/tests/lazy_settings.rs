//! A flag that is raised before what it promises is there.

use drawloom_examples::lazy_settings::{Settings, everybody_sees_the_limit};

#[drawloom::test(trace = false)]
#[should_panic(expected = "the limit was read before it was set")]
fn a_flag_that_is_raised_early_is_seen_early() {
    everybody_sees_the_limit(Settings::limit_buggy);
}

#[drawloom::test]
fn a_flag_that_is_raised_last_is_not() {
    everybody_sees_the_limit(Settings::limit_fixed);
}
