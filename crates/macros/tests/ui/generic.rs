use drawloom_macros::test;

#[test]
fn increments_are_not_lost<T: Default>() {}

fn main() {}
