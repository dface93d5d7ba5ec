//! What each primitive promises, as short programs.

use std::collections::HashSet;

use crate::driver::{InOrder, Program, Run, every_run, run};

/// Runs with the first steps made by the tasks in `order`, the rest sequentially.
fn in_order(order: &str, text: &str) -> Run {
    let program = Program::parse(text);
    run(&program, &mut InOrder::new(&program, order))
}

/// What register `register` of thread `thread` is at the end, over all schedules.
fn all_ends(text: &str, thread: usize, register: usize) -> Vec<i64> {
    let mut ends = HashSet::new();
    every_run(&Program::parse(text), |run| {
        assert_eq!(run.finding, None, "{text}");
        ends.insert(run.registers[thread][register]);
    });
    let mut ends: Vec<i64> = ends.into_iter().collect();
    ends.sort_unstable();
    ends
}

#[test]
fn a_mutex_is_handed_over_in_the_order_of_requests() {
    let section = "lock m; faa r0 n 1; unlock m";
    let run =
        in_order("a c b", &format!("var n; mutex m\nthread a; {section}\nthread b; {section}\nthread c; {section}"));
    assert_eq!([run.registers[0][0], run.registers[2][0], run.registers[1][0]], [0, 1, 2]);
}

/// A reader holds the lock, a writer waits, another reader comes; what the writer and that reader find.
fn with_preference(preference: &str) -> [i64; 2] {
    let run = in_order(
        "a w b",
        &format!(
            "var n; rwlock l {preference}
            thread a; rlock l; rwunlock l
            thread w; wlock l; faa r0 n 1; rwunlock l
            thread b; rlock l; faa r0 n 1; rwunlock l"
        ),
    );
    [run.registers[1][0], run.registers[2][0]]
}

#[test]
fn a_lock_lets_those_in_first_whom_it_prefers() {
    assert_eq!(with_preference("readers"), [1, 0]);
    assert_eq!(with_preference("writers"), [0, 1]);
    assert_eq!(with_preference(""), [0, 1]);
    // A reader waits before a writer does.
    let after_a_writer = |preference| {
        let program = format!(
            "var n; rwlock l {preference}
            thread a; wlock l; rwunlock l
            thread r; rlock l; faa r0 n 1; rwunlock l
            thread w; wlock l; faa r0 n 1; rwunlock l"
        );
        let run = in_order("a r w", &program);
        [run.registers[1][0], run.registers[2][0]]
    };
    assert_eq!(after_a_writer("readers"), [0, 1]);
    assert_eq!(after_a_writer("writers"), [1, 0]);
    assert_eq!(after_a_writer(""), [0, 1]);
}

#[test]
fn a_waiting_writer_is_not_overtaken_by_readers() {
    let run = in_order(
        "a w b t",
        "var n; rwlock l
        thread a; rlock l; rwunlock l
        thread w; wlock l; faa r0 n 1; rwunlock l
        thread b; rlock l; faa r0 n 1; rwunlock l
        thread t; tryrlock r0 l",
    );
    assert_eq!((run.registers[1][0], run.registers[2][0]), (0, 1), "the writer came first");
    assert_eq!(run.registers[3][0], 0, "an attempt to read is refused while a writer waits");
}

#[test]
fn readers_share_and_a_downgraded_writer_is_one_of_them() {
    let run = in_order(
        "w r w",
        "rwlock l; chan q 0
        thread w; wlock l; downgrade l; send q 1; rwunlock l
        thread r; rlock l; recv r0 q; rwunlock l",
    );
    assert_eq!((run.finding, run.registers[1][0]), (None, 1));
}

#[test]
fn a_notification_wakes_the_longest_waiter_alone() {
    let waiter = "lock m; cvwait c m; faa r0 n 1; unlock m";
    let text = format!("var n; mutex m; cond c\nthread a; {waiter}\nthread b; {waiter}\nthread x; notify c");
    let run = in_order("b b a a x", &text);
    assert_eq!(run.finding.as_deref(), Some("starvation"));
    assert_eq!(run.memory[0], 1, "one of them went on");
    let went_on = run.steps.iter().filter(|s| s.task == run.tasks[1]).count();
    assert!(went_on > 2, "and that was b, who had waited longer");
}

#[test]
fn a_notification_without_a_waiter_is_lost() {
    let run = in_order("x", "mutex m; cond c\nthread a; lock m; cvwait c m; unlock m\nthread x; notify c");
    assert_eq!(run.finding.as_deref(), Some("starvation"));
}

#[test]
fn a_notification_of_all_wakes_everybody() {
    let waiter = "lock m; cvwait c m; unlock m";
    let run =
        in_order("a a b b", &format!("mutex m; cond c\nthread a; {waiter}\nthread b; {waiter}\nthread x; notifyall c"));
    assert_eq!(run.finding, None);
}

#[test]
fn permits_are_given_in_the_order_in_which_they_were_asked_for() {
    let run = in_order(
        "a many one",
        "var n; sem s 2
        thread a; acquire s; release s
        thread many; acquire s 2; faa r0 n 1; release s 2
        thread one; acquire s; faa r0 n 1; release s",
    );
    assert_eq!((run.registers[1][0], run.registers[2][0]), (0, 1), "one waits although a permit is free");
}

#[test]
fn a_barrier_can_be_used_again_and_names_one_leader_each_time() {
    let twice = "arrive r0 b; arrive r1 b";
    every_run(&Program::parse(&format!("barrier b 2\nthread a; {twice}\nthread c; {twice}")), |run| {
        assert_eq!(run.finding, None);
        for round in 0..2 {
            assert_eq!(run.registers[0][round] + run.registers[1][round], 1);
        }
    });
}

#[test]
fn an_initialiser_that_panics_passes_to_the_next_in_the_queue() {
    let run = in_order(
        "a b",
        "once o
        thread a; enter r0 o; finish o 0
        thread b; enter r0 o; finish o 1; check r1 o; enter r2 o",
    );
    assert_eq!(run.registers[0][0], 1, "the first one runs it");
    assert_eq!(run.registers[1][..3], [2, 1, 0], "the second one runs it after a panic, and then it is done");
}

#[test]
fn a_rendezvous_waits_for_the_receiver_and_a_buffer_does_not() {
    let text = |capacity| {
        format!("var sent; chan q {capacity}\nthread a; send q 7; store sent 1\nthread b; load r0 sent; recv r1 q")
    };
    assert_eq!(all_ends(&text(0), 1, 0), [0]);
    assert_eq!(all_ends(&text(1), 1, 0), [0, 1]);
    assert_eq!(all_ends(&text(0), 1, 1), [7]);
}

#[test]
fn a_full_buffer_makes_the_sender_wait_and_refuses_an_attempt() {
    let run =
        in_order("a a t", "chan q 1\nthread a; send q 1; send q 2\nthread t; trysend r0 q 3; recv r1 q; recv r2 q");
    assert_eq!((run.finding, &run.registers[1][..3]), (None, &[0, 1, 2][..]));
}

#[test]
fn an_attempt_to_meet_succeeds_only_if_somebody_waits() {
    let text = "chan z 0\nthread a; trysend r0 z 9\nthread b; recv r0 z";
    assert_eq!(in_order("b a", text).registers, [[1, 0, 0, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0, 0, 0]]);
    let alone = in_order("a b", text);
    assert_eq!((alone.finding.as_deref(), alone.registers[0][0]), (Some("starvation"), 0));
}

#[test]
fn a_receiver_gets_what_was_sent_before_it_learns_that_the_senders_are_gone() {
    let text = "chan q inf\nthread a; send q 5; close q\nthread b; recvok r0 r1 q; recvok r2 r3 q";
    assert_eq!(all_ends(text, 1, 0), [1]);
    assert_eq!(all_ends(text, 1, 1), [5]);
    assert_eq!(all_ends(text, 1, 2), [0]);
}

#[test]
fn a_sender_that_waits_learns_that_the_receiver_is_gone() {
    assert_eq!(all_ends("chan q 0\nthread a; sendok r0 q 1\nthread b; closerecv q", 0, 0), [0]);
}

#[test]
fn a_park_token_is_kept_and_there_is_only_one() {
    assert_eq!(all_ends("thread a; park; set r0 1\nthread b; unpark a", 0, 0), [1]);
    let run = in_order("b b", "thread a; park; park\nthread b; unpark a; unpark a");
    assert_eq!(run.finding.as_deref(), Some("starvation"));
}

#[test]
fn a_join_waits_for_the_exit_and_a_question_does_not() {
    assert_eq!(all_ends("var x\nthread a; store x 1\nthread b; join a; load r0 x", 1, 0), [1]);
    assert_eq!(
        in_order("b", "thread a; yield\nthread b; isfinished r0 a; join a; isfinished r1 a").registers[1][..2],
        [0, 1]
    );
}
