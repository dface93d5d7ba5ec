use drawloom_macros::test;

#[test(fest(size = 3))]
fn increments_are_not_lost() {}

fn main() {}
