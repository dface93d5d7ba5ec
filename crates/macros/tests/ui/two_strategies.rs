use drawloom_macros::test;

#[test(random(seed = 7), max_steps = 5_000, sticky)]
fn increments_are_not_lost() {}

fn main() {}
