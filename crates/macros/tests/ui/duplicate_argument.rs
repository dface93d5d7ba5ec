use drawloom_macros::test;

#[test(random(seed = 7), seed = 8)]
fn increments_are_not_lost() {}

fn main() {}
