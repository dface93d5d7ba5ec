use drawloom_macros::test;

#[test(random(iterations = "many"))]
fn a_string_is_no_number() {}

#[test(seed = -5)]
fn a_seed_is_not_negative() {}

#[test(clock = real)]
fn a_clock_is_one_of_two() {}

fn main() {}
