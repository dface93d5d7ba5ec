use drawloom_macros::test;

#[test(timeout = "soon")]
fn a_word_is_no_duration() {}

#[test(timeout = 60)]
fn a_duration_has_a_unit() {}

fn main() {}
