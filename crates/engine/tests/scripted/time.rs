//! Virtual time: timers, their order, and firing early.

use drawloom_engine::{Budget, Budgets, Limits, OpKind};

use crate::driver::{Program, every_run, every_run_within};

#[test]
fn timers_fire_in_the_order_of_their_deadlines() {
    let sleeper = |time| format!("sleep {time}; faa r0 n 1; now r1");
    let text = format!("var n\nthread a; {}\nthread b; {}\nthread c; {}", sleeper(30), sleeper(10), sleeper(20));
    every_run(&Program::parse(&text), |run| {
        assert_eq!(run.registers.iter().map(|r| (r[0], r[1])).collect::<Vec<_>>(), [(2, 30), (0, 10), (1, 20)]);
        assert_eq!(run.now, 30);
    });
}

#[test]
fn no_timer_fires_while_anybody_can_run() {
    let text = "var n\nthread a; sleep 1; load r0 n\nthread b; faa _ n 1; faa _ n 1; faa _ n 1";
    every_run(&Program::parse(text), |run| assert_eq!(run.registers[0][0], 3));
}

#[test]
fn no_timer_fires_while_somebody_only_yields() {
    let text = "var n\nthread a; sleep 1; load r0 n\nthread b; load r0 n; yield; load r0 n\nyield; faa _ n 1";
    for spin_rounds in [None, Some(1), Some(3)] {
        let limits = Limits { spin_rounds, ..Limits::default() };
        every_run_within(&Program::parse(text), &limits, |run| assert_eq!(run.registers[0][0], 1));
    }
}

#[test]
fn a_loop_that_yields_until_a_sleeper_wakes_ends() {
    let text = "var x\nthread a; label top; load r0 x; jnz r0 over; yield; jmp top; label over; now r1
        thread b; sleep 3; store x 1";
    for spin_rounds in [None, Some(1), Some(3)] {
        let limits = Limits { spin_rounds, ..Limits::default() };
        every_run_within(&Program::parse(text), &limits, |run| {
            assert_eq!((run.finding.as_deref(), run.registers[0][1]), (None, 3));
        });
    }
}

#[test]
fn an_early_timer_is_a_choice_and_there_are_only_so_many() {
    let text = "var n\nthread a; sleep 1; load r0 n\nthread b; sleep 2; load r0 n\nthread c; faa _ n 1";
    let limits = Limits { budgets: Budgets::NONE.with(Budget::EarlyFires, 1), ..Limits::default() };
    let mut seen = Vec::new();
    every_run_within(&Program::parse(text), &limits, |run| {
        let early = run.steps.iter().filter(|s| s.kind == OpKind::TimerFire && s.was_choice).count();
        assert!(early <= 1);
        seen.push((run.registers[0][0], run.registers[1][0]));
    });
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [(0, 1), (1, 1)], "the first timer may be early, the second is then on time");
}

#[test]
fn a_wait_with_a_time_limit_ends_by_what_comes_first() {
    let text = "chan q inf\nthread a; recvfor r0 r1 q 5; now r2\nthread b; sleep 3; send q 8";
    every_run(&Program::parse(text), |run| assert_eq!(run.registers[0][..3], [1, 8, 3]));
    let text = "chan q inf\nthread a; recvfor r0 r1 q 5; now r2\nthread b; sleep 9; send q 8";
    every_run(&Program::parse(text), |run| assert_eq!(run.registers[0][..3], [0, 0, 5]));
}

#[test]
fn a_receive_that_gave_up_leaves_the_message_to_the_next() {
    let text = "chan q inf\nthread a; recvfor r0 r1 q 5\nthread b; recv r1 q\nthread c; sleep 9; send q 8";
    every_run(&Program::parse(text), |run| {
        assert_eq!((run.finding.as_deref(), run.registers[0][0], run.registers[1][1]), (None, 0, 8));
    });
}

#[test]
fn a_wait_for_a_notification_that_times_out_takes_the_mutex_again() {
    let text = "var n; mutex m; cond c\nthread a; lock m; cvwaitfor r0 c m 5; faa r1 n 1; unlock m\nthread b; lock m; faa r1 n 1; unlock m";
    every_run(&Program::parse(text), |run| {
        assert_eq!((run.finding.as_deref(), run.registers[0][0], run.memory[0]), (None, 0, 2));
    });
}

#[test]
fn a_park_with_a_time_limit_needs_no_token() {
    every_run(&Program::parse("thread a; parkfor r0 5; now r1"), |run| assert_eq!(run.registers[0][..2], [0, 5]));
    every_run(&Program::parse("thread a; parkfor r0 5; now r1\nthread b; unpark a"), |run| {
        assert_eq!(run.registers[0][..2], [1, 0]);
    });
}
