use drawloom_macros::test;

#[test(random)]
async fn increments_are_not_lost() {}

fn main() {}
