//! What stops an execution: deadlock, starvation, livelock, the step limit; and what keeps it going.

use drawloom_engine::finding::{Deadlock, FindingKind};
use drawloom_engine::strategy::{Random, RoundRobin, Sequential, Strategy};
use drawloom_engine::{Engine, Limits};

use crate::driver::{InOrder, Program, Run, every_run, run, run_on};

const SPIN: &str = "label top; load r0 x; jz r0 top";
const SPIN_YIELDING: &str = "label top; load r0 x; jnz r0 over; yield; jmp top; label over";

fn within(limits: &Limits, strategy: &mut dyn Strategy, text: &str) -> Run {
    run_on(&mut Engine::new(), &Program::parse(text), strategy, limits, 1)
}

fn deadlock(run: &Run) -> &Deadlock {
    match &run.kind {
        Some(FindingKind::Deadlock(deadlock)) => deadlock,
        other => panic!("not a deadlock but {other:?}"),
    }
}

#[test]
fn a_task_that_yields_lets_the_others_run() {
    let text = format!("var x\nthread a; {SPIN_YIELDING}\nthread b; store x 1");
    let run = within(&Limits::default(), &mut Sequential, &text);
    assert_eq!(run.finding, None);
    assert!(run.steps.len() < 10, "{} steps", run.steps.len());
}

#[test]
fn two_spinners_that_yield_do_not_starve_a_third() {
    let text = format!("var x\nthread a; {SPIN_YIELDING}\nthread b; {SPIN_YIELDING}\nthread c; store x 1");
    for strategy in [&mut Sequential as &mut dyn Strategy, &mut RoundRobin, &mut Random::new()] {
        let run = within(&Limits::default(), strategy, &text);
        assert_eq!(run.finding, None);
        assert!(run.steps.len() < 100, "{} steps", run.steps.len());
    }
}

#[test]
fn a_spinner_that_never_yields_does_not_starve_the_others_for_ever() {
    let limits = Limits { starvation_bound: 100, ..Limits::default() };
    let run =
        within(&limits, &mut Sequential, &format!("var x\nthread a; {SPIN}\nthread b; store x 1\nthread c; load r0 x"));
    assert_eq!(run.finding, None);
    assert!(run.steps.len() < 1_000, "{} steps", run.steps.len());
}

#[test]
fn a_circle_is_found_while_a_third_task_still_runs() {
    let program = Program::parse(
        "var x; mutex m; mutex n
        thread a; lock m; lock n; unlock n; unlock m
        thread b; lock n; lock m; unlock m; unlock n
        thread c; label top; faa _ x 1; jmp top",
    );
    let run = run(&program, &mut InOrder::new(&program, "a b c a c b"));
    assert_eq!(run.finding.as_deref(), Some("deadlock"));
    assert_eq!(run.steps.len(), 7);
    let mut cycle = deadlock(&run).cycle.clone();
    cycle.sort_unstable();
    assert_eq!(cycle, run.tasks[..2]);
}

#[test]
fn a_lock_taken_twice_by_one_task_is_a_circle_of_one() {
    let run = within(&Limits::default(), &mut Sequential, "mutex m\nthread a; lock m; lock m");
    assert_eq!((run.finding.as_deref(), &deadlock(&run).cycle[..]), (Some("deadlock"), &run.tasks[..]));
}

#[test]
fn tasks_that_join_each_other_are_a_circle() {
    let run = within(&Limits::default(), &mut Sequential, "thread a; join b\nthread b; join a");
    assert_eq!((run.finding.as_deref(), deadlock(&run).cycle.len()), (Some("deadlock"), 2));
}

#[test]
fn a_join_of_a_task_that_waits_for_a_lock_of_the_joiner_is_a_circle() {
    let text = "mutex m\nthread a; lock m; join b\nthread b; lock m; unlock m";
    let run = within(&Limits::default(), &mut Sequential, text);
    assert_eq!((run.finding.as_deref(), deadlock(&run).cycle.len()), (Some("deadlock"), 2));
}

#[test]
fn a_reader_behind_a_waiting_writer_that_waits_for_it_is_a_circle() {
    let program =
        Program::parse("rwlock l\nthread r; rlock l; rlock l; rwunlock l; rwunlock l\nthread w; wlock l; rwunlock l");
    let run = run(&program, &mut InOrder::new(&program, "r w r"));
    assert_eq!((run.finding.as_deref(), deadlock(&run).cycle.len()), (Some("deadlock"), 2));
}

#[test]
fn tasks_that_hold_permits_which_others_wait_for_are_a_circle() {
    let both = |first, second| format!("acquire {first}; acquire {second}; release {second}; release {first}");
    let program =
        Program::parse(&format!("sem s 1; sem t 1\nthread a; {}\nthread b; {}", both("s", "t"), both("t", "s")));
    let run = run(&program, &mut InOrder::new(&program, "a b"));
    assert_eq!((run.finding.as_deref(), deadlock(&run).cycle.len()), (Some("deadlock"), 2));
}

#[test]
fn tasks_that_wait_for_permits_which_nobody_holds_are_no_circle() {
    let text = "sem s 1\nthread a; acquire s; release s; acquire s 2\nthread b; acquire s 2";
    let run = within(&Limits::default(), &mut Sequential, text);
    assert_eq!((run.finding.as_deref(), &deadlock(&run).cycle[..]), (Some("starvation"), &[][..]));
}

#[test]
fn waiting_for_what_nobody_will_do_is_starvation() {
    let run = within(&Limits::default(), &mut Sequential, "chan q inf\nthread a; recv r0 q\nthread b; choose r0 2");
    assert_eq!(run.finding.as_deref(), Some("starvation"));
    assert_eq!(deadlock(&run).blocked.iter().map(|b| b.task).collect::<Vec<_>>(), run.tasks[..1]);
}

#[test]
fn a_read_within_a_read_is_let_in_where_readers_are_preferred() {
    let text = "rwlock l readers\nthread r; rlock l; rlock l; rwunlock l; rwunlock l\nthread w; wlock l; rwunlock l";
    every_run(&Program::parse(text), |run| assert_eq!(run.finding, None));
}

#[test]
fn a_writer_that_is_passed_over_for_ever_starves() {
    // In turns one reader asks just before the other leaves.
    let reader = "label A; rlock l; load r0 x; load r0 x; rwunlock l; load r0 stop; jz r0 A";
    let text = |preference: &str| {
        format!(
            "var x; var stop; rwlock l {preference}
            thread a; {reader}
            thread b; load r1 x; load r1 x; {reader}
            thread w; wlock l; store stop 1; rwunlock l"
        )
    };
    let limits = Limits { starvation_bound: 100, ..Limits::default() };
    let run = within(&limits, &mut RoundRobin, &text("readers"));
    assert_eq!(run.finding.as_deref(), Some("starvation"));
    assert_eq!(deadlock(&run).blocked.iter().map(|b| b.task).collect::<Vec<_>>(), run.tasks[2..3]);
    for preference in ["", "writers"] {
        assert_eq!(within(&limits, &mut RoundRobin, &text(preference)).finding, None);
    }
}

#[test]
fn an_execution_is_cut_at_the_step_limit() {
    let limits = Limits { max_steps: 1_000, ..Limits::default() };
    let run = within(&limits, &mut Random::new(), &format!("var x\nthread a; {SPIN}\nthread b; {SPIN}"));
    assert_eq!((run.finding.as_deref(), run.steps.len()), (Some("step limit"), 1_000));
}

#[test]
fn tasks_that_yield_to_each_other_for_ever_are_a_livelock() {
    let limits = Limits { progress_bound: 50, ..Limits::default() };
    let text = format!("var x\nthread a; {SPIN_YIELDING}\nthread b; {SPIN_YIELDING}");
    let run = within(&limits, &mut Random::new(), &text);
    assert_eq!(run.finding.as_deref(), Some("livelock"));
    assert!(run.steps.len() < 200);
}

#[test]
fn a_failed_assertion_stops_the_execution_at_once() {
    let run = within(&Limits::default(), &mut Sequential, "var x\nthread a; load r0 x; assert r0\nthread b; load r0 x");
    assert_eq!((run.finding.as_deref(), run.steps.len()), (Some("panic"), 2));
}
