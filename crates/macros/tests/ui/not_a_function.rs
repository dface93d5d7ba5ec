use drawloom_macros::test;

#[test]
struct Counter;

fn main() {}
