use drawloom_macros::test;

#[test(corpus(size = 3))]
fn increments_are_not_lost() {}

fn main() {}
