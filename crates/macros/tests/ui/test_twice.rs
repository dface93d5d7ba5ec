use drawloom_macros::test;

#[test]
#[test]
fn increments_are_not_lost() {}

fn main() {}
