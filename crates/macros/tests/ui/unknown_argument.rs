use drawloom_macros::test;

#[test(random(iterations = 100, sede = 7))]
fn increments_are_not_lost() {}

fn main() {}
