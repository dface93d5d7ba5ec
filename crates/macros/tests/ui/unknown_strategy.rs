use drawloom_macros::test;

#[test(radnom(seed = 7))]
fn increments_are_not_lost() {}

fn main() {}
