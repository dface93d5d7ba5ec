use drawloom_macros::test;

#[test(pct(depth = 3))]
fn increments_are_not_lost() {}

fn main() {}
