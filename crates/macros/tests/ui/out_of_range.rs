use drawloom_macros::test;

#[test(stack_size = 4KiB)]
fn increments_are_not_lost() {}

fn main() {}
