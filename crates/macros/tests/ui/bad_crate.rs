use drawloom_macros::test;

#[test(crate = "drawloom")]
fn increments_are_not_lost() {}

fn main() {}
