use drawloom_macros::test;

#[test(random,, trace = false)]
fn a_comma_too_many() {}

#[test(random(seed = 7) trace = false)]
fn a_comma_too_few() {}

fn main() {}
