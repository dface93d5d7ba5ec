use drawloom_macros::test;

#[test(keep_going)]
fn a_flag_is_written_out() {}

#[test(replay)]
fn a_replay_needs_a_token() {}

fn main() {}
