use drawloom_macros::test;

#[test]
fn increments_are_not_lost(tasks: usize, increments: usize) {
    let _ = (tasks, increments);
}

fn main() {}
