//! What a failing test prints, for every kind of finding.

use drawloom_engine::finding::{Divergence, Finding, FindingKind, Leak, Panic};
use drawloom_engine::race::Races;
use drawloom_engine::{ChannelState, Engine, Limits, OpKind, ResourceKind, Site, State, TaskId, TaskPath};
use drawloom_report::{Record, RenderOptions, render};
use insta::assert_snapshot;

use crate::script::*;

pub fn screen(record: &Record) -> String {
    render(record, &RenderOptions::default())
}

const SOURCE: &str = "\
use drawloom::{sync::Mutex, thread};

fn transfer() {
    let balance = Arc::new(Mutex::new(0));
    let paid = AtomicU64::new(0);
    let deposit = thread::spawn(move || {
        let mut balance = balance.lock().unwrap();
        *balance += 10;
        paid.fetch_add(10, SeqCst);
    });
    let withdraw = thread::spawn(move || {
        if paid.load(SeqCst) < 10 {
            assert!(*balance.lock().unwrap() >= 10, \"nothing to withdraw\");
        }
    });
    deposit.join().unwrap();
    withdraw.join().unwrap();
}
";

/// Two tasks, one of which panics.
pub fn panic() -> Record {
    let panic = Panic {
        message: "nothing to withdraw\nbalance: 0".into(),
        location: "src/x.rs:13:13".into(),
        ..Panic::default()
    };
    let deposit = vec![op(OpKind::Lock, 0, 7), op(OpKind::Unlock, 0, 7), op(OpKind::Rmw, 1, 9).value(0).arg(10)];
    let withdraw = vec![
        op(OpKind::Load, 1, 12).value(0),
        op(OpKind::Lock, 0, 13),
        op(OpKind::Unlock, 0, 13),
        Act::Fail(FindingKind::Panic(Box::new(panic))),
    ];
    Script::with(&[(ResourceKind::Mutex, State::Plain, 4, None), (ResourceKind::Atomic, State::Plain, 5, Some("paid"))])
        .picks(&[MAIN, FIRST, SECOND, SECOND, FIRST])
        .record(
            "bank::tests::transfer",
            vec![spawn(6, Some("deposit"), deposit), spawn(11, None, withdraw), join(FIRST, 16), join(SECOND, 17)],
        )
}

#[test]
fn a_panic_shows_its_message_and_the_interleaving_with_sources() {
    let sources = |file: &str| (file == "src/x.rs").then(|| SOURCE.to_owned());
    let options = RenderOptions {
        sources: &sources,
        trace_file: Some("target/drawloom/bank-tests-transfer.json"),
        page: Some("target/drawloom/bank-tests-transfer.html"),
        width: 110,
        ..RenderOptions::default()
    };
    assert_snapshot!(render(&panic(), &options));
}

#[test]
fn colours_mark_the_alarm_and_tell_tasks_apart() {
    let options = RenderOptions { colour: true, ..RenderOptions::default() };
    let text = render(&panic(), &options);
    assert_snapshot!(text.replace('\x1b', "␛"));
}

fn channel(capacity: u64) -> State {
    State::Channel(ChannelState::new(capacity))
}

/// The three tasks of the request for comments on deterministic testing: a consumer, a producer that
/// is stuck on another channel, and main, which waits for the consumer.
pub fn producer_consumer() -> Record {
    let consumer = vec![op(OpKind::Recv, 0, 13), op(OpKind::Recv, 0, 14)];
    let producer = vec![op(OpKind::Send, 0, 16), op(OpKind::Send, 1, 17), op(OpKind::Send, 1, 17)];
    Script::with(&[(ResourceKind::Channel, channel(1), 10, None), (ResourceKind::Channel, channel(1), 11, None)])
        .record("producer consumer", vec![spawn(12, None, consumer), spawn(15, None, producer), join(FIRST, 18)])
}

#[test]
fn a_deadlock_has_the_layout_of_the_request_for_comments() {
    let text = screen(&producer_consumer());
    let expected = "\
DEADLOCK in test \"producer consumer\":
  Task 0 (main): blocked on join() for task 0.1
  Task 0.1 (spawn at src/x.rs:12): blocked on recv() at src/x.rs:14 — channel empty, no active senders
  Task 0.2 (spawn at src/x.rs:15): blocked on send() at src/x.rs:17 — channel full, no active receivers

Dependency cycle: Task 0 → Task 0.1 → Task 0.2 → (no progress possible)
";
    assert!(text.starts_with(expected), "{text}");
    assert_snapshot!(text);
}

/// Two tasks that take two locks in opposite order, `spawns` apart from each other.
pub fn two_locks(earlier_spawns: usize) -> Record {
    let first = vec![op(OpKind::Lock, 0, 7), op(OpKind::Lock, 1, 8)];
    let second = vec![op(OpKind::Lock, 1, 21), op(OpKind::Lock, 0, 22)];
    let mut main: Vec<_> = (0..earlier_spawns).map(|_| spawn(3, None, vec![])).collect();
    let shift = earlier_spawns as u32;
    main.extend([
        spawn(6, Some("left"), first),
        spawn(20, None, second),
        join(FIRST + shift, 30),
        join(SECOND + shift, 31),
    ]);
    let (left, right) = (FIRST + shift, SECOND + shift);
    // Both spawns, then one lock of each: nobody else is left to choose from when the circle closes.
    let mut script = Script::with(&[
        (ResourceKind::Mutex, State::Plain, 4, Some("a")),
        (ResourceKind::Mutex, State::Plain, 5, None),
    ]);
    script.picks = vec![MAIN; earlier_spawns * 2 + 1];
    script.picks.extend([left, right, left]);
    script.record("locks::opposite_order", main)
}

#[test]
fn a_cycle_of_locks_is_closed_and_names_the_holders() {
    assert_snapshot!(screen(&two_locks(0)));
}

#[test]
fn a_mutex_locked_twice_is_held_by_the_task_itself() {
    let script = Script::with(&[(ResourceKind::Mutex, State::Plain, 4, None)]);
    let record = script.record("locks::twice", vec![op(OpKind::Lock, 0, 7), op(OpKind::Lock, 0, 9)]);
    assert_snapshot!(screen(&record));
}

/// A task that waits for a notification which came too early, from a task that is gone.
pub fn lost_wakeup() -> Record {
    let waiter = vec![op(OpKind::Lock, 0, 7), op(OpKind::CondWait, 1, 8).arg(0)];
    let notifier = vec![op(OpKind::NotifyOne, 1, 12)];
    Script::with(&[
        (ResourceKind::Mutex, State::Plain, 4, Some("ready")),
        (ResourceKind::Condvar, State::Plain, 5, None),
    ])
    .picks(&[MAIN, SECOND, SECOND, FIRST])
    .record("condvars::lost_wakeup", vec![spawn(6, None, waiter), spawn(11, None, notifier), join(FIRST, 14)])
}

#[test]
fn a_lost_wakeup_is_a_starvation() {
    let record = lost_wakeup();
    assert_eq!(record.finding.kind, "starvation");
    assert_snapshot!(screen(&record));
}

#[test]
fn a_wakeup_lost_by_a_task_that_waits_itself_is_a_starvation() {
    let waiter = vec![op(OpKind::Lock, 0, 7), op(OpKind::CondWait, 1, 8).arg(0)];
    let script = Script::with(&[
        (ResourceKind::Mutex, State::Plain, 4, Some("ready")),
        (ResourceKind::Condvar, State::Plain, 5, None),
    ]);
    let main = vec![spawn(6, None, waiter), op(OpKind::NotifyOne, 1, 12), join(FIRST, 13)];
    assert_snapshot!(screen(&script.picks(&[MAIN]).record("condvars::lost_wakeup", main)));
}

#[test]
fn every_other_wait_says_what_it_waits_for() {
    let body = |act: Act| vec![act];
    let script = Script::with(&[
        (ResourceKind::Semaphore, State::Count(1), 1, Some("permits")),
        (ResourceKind::Barrier, State::Barrier { size: 3, arrived: 0 }, 2, None),
        (ResourceKind::Channel, channel(0), 3, Some("handover")),
        (ResourceKind::RwLock, State::Plain, 4, None),
        (ResourceKind::RwLock, State::Plain, 4, None),
    ])
    .picks(&[MAIN; 16]);
    let record = script.record(
        "waits",
        vec![
            op(OpKind::Acquire, 0, 10).arg(1),
            op(OpKind::Read, 4, 11),
            spawn(12, None, body(op(OpKind::Acquire, 0, 13).arg(2))),
            spawn(14, None, body(op(OpKind::Arrive, 1, 15))),
            spawn(16, None, body(op(OpKind::Send, 2, 17))),
            spawn(18, None, body(op(OpKind::Write, 4, 19))),
            spawn(20, None, body(op(OpKind::Read, 4, 21))),
            op(OpKind::Arrive, 1, 22),
            bare(OpKind::Park, 0, 23),
        ],
    );
    assert_snapshot!(screen(&record));
}

/// Two tasks that spin for a flag that nobody sets.
pub fn livelock() -> Record {
    let spin = |line| (0..40).flat_map(move |_| [op(OpKind::Load, 0, line).value(0), bare(OpKind::Yield, 0, line + 1)]);
    let mut script = Script::with(&[(ResourceKind::Atomic, State::Plain, 2, Some("flag"))]);
    script.limits = Limits { progress_bound: 60, ..Limits::default() };
    let mut main = vec![spawn(8, None, spin(9).collect())];
    main.extend(spin(4));
    script.record("busy loop", main)
}

#[test]
fn a_livelock_counts_the_yields_and_folds_the_loop() {
    let record = livelock();
    let text = screen(&record);
    assert!(text.starts_with("POTENTIAL LIVELOCK in test \"busy loop\":\n  After 60 yields, no task has completed.\n"));
    assert_snapshot!(text);
}

#[test]
fn a_step_limit_says_who_made_the_steps_and_what_to_do() {
    let mut script = Script::with(&[(ResourceKind::Atomic, State::Plain, 2, None)]);
    script.limits = Limits { max_steps: 30, ..Limits::default() };
    let body = (0..40).map(|_| op(OpKind::Rmw, 0, 5).value(7).arg(7)).collect();
    assert_snapshot!(screen(&script.record("x::endless", body)));
}

#[test]
fn a_task_limit_says_who_spawned_one_too_many() {
    let limits = Limits { max_tasks: 4, ..Limits::default() };
    let script = Script { limits, ..Script::default() };
    let body = (0..9).map(|_| spawn(5, None, vec![])).collect();
    assert_snapshot!(screen(&script.record("x::bomb", body)));
}

#[test]
fn a_leak_says_what_was_created_where() {
    let leaks = vec![Leak { created_at: Site(3), references: 1 }, Leak { created_at: Site(9), references: 2 }];
    let main = vec![spawn(5, None, vec![]), join(FIRST, 6), Act::Fail(FindingKind::Leak(leaks))];
    assert_snapshot!(screen(&Script::default().record("x::leak", main)));
}

/// A lock on one side only; what the two sides do besides is up to the caller.
pub fn data_race(before: Vec<Act>, after: Vec<Act>) -> Record {
    let writer = [vec![op(OpKind::CellWrite, 0, 7)], after].concat();
    let reader = [before, vec![op(OpKind::CellRead, 0, 12)]].concat();
    let script = Script::with(&[
        (ResourceKind::Cell, State::Plain, 4, None),
        (ResourceKind::Mutex, State::Plain, 5, Some("paid")),
    ]);
    let engine = script.run(vec![spawn(6, Some("deposit"), writer), spawn(11, None, reader), join(FIRST, 16)]);
    let race = Races::default().of(&engine).expect("a race");
    record(&engine, &race.finding(), "bank::tests::transfer")
}

fn lock_and_unlock(line: usize) -> Vec<Act> {
    vec![op(OpKind::Lock, 1, line), op(OpKind::Unlock, 1, line)]
}

#[test]
fn a_data_race_shows_both_accesses_and_what_is_missing() {
    let sources = |file: &str| (file == "src/x.rs").then(|| SOURCE.to_owned());
    let options = RenderOptions { sources: &sources, ..RenderOptions::default() };
    assert_snapshot!(render(&data_race(vec![op(OpKind::Lock, 1, 11)], vec![]), &options));
}

#[test]
fn what_could_have_ordered_a_race_is_said_in_one_sentence() {
    let sentence = |before, after| {
        let text = screen(&data_race(before, after));
        text.lines().find(|line| line.contains("Nothing orders them")).unwrap_or_default().trim().to_owned()
    };
    assert_snapshot!(sentence(vec![], vec![]), @"Nothing orders them: task 0.1 (deposit) released nothing after its write, and task 0.2 acquired nothing before its read.");
    assert_snapshot!(sentence(vec![], lock_and_unlock(9)), @"Nothing orders them: what task 0.1 (deposit) released after its write (last: unlock mutex `paid`, step 5, src/x.rs:9) is lost, since task 0.2 acquired nothing before its read.");
    assert_snapshot!(sentence(vec![op(OpKind::Lock, 1, 11)], vec![]), @"Nothing orders them: task 0.1 (deposit) released nothing after its write that task 0.2 could have acquired before its read (last: lock mutex `paid`, step 7, src/x.rs:11).");
    assert_snapshot!(sentence(vec![op(OpKind::Load, 1, 11)], lock_and_unlock(9)), @"Nothing orders them: what task 0.1 (deposit) released after its write (last: unlock mutex `paid`, step 5, src/x.rs:9) is not what task 0.2 acquired before its read (last: load mutex `paid`, reads 0, step 9, src/x.rs:11).");
}

#[test]
fn an_unjoined_task_is_named() {
    let found = FindingKind::Unjoined(vec![TaskId(FIRST), TaskId(SECOND)]);
    let main = vec![spawn(5, Some("logger"), vec![]), spawn(6, None, vec![]), Act::Fail(found)];
    assert_snapshot!(screen(&Script::default().record("x::unjoined", main)));
}

#[test]
fn a_divergence_says_what_was_expected_and_what_to_do() {
    let divergence = Divergence {
        step: 1,
        expected: "lock on line 7".into(),
        found: "load on line 12".into(),
        task: Some(TaskPath(vec![0, 1])),
    };
    let main = vec![
        spawn(5, None, vec![op(OpKind::Load, 0, 12).value(u64::MAX)]),
        join(FIRST, 6),
        Act::Fail(FindingKind::Divergence(Box::new(divergence))),
    ];
    let script = Script::with(&[(ResourceKind::Atomic, State::Plain, 2, None)]);
    assert_snapshot!(screen(&script.record("x::replayed", main)));
}

#[test]
fn nothing_explored_says_what_that_means() {
    let finding = Finding { kind: FindingKind::NothingExplored, task: TaskId::MAIN, step: 0 };
    assert_snapshot!(screen(&record(&Engine::new(), &finding, "x::plain")));
}

#[test]
fn a_test_that_cargo_does_not_know_by_name_is_replayed_without_a_filter() {
    let mut record = panic();
    record.meta.test = "a text; of a person's".into();
    assert!(screen(&record).contains("replay: DRAWLOOM_REPLAY='dl1AbC-d_9' cargo test\n"));
    record.meta.test = "bank::transfer".into();
    assert!(screen(&record).contains("replay: DRAWLOOM_REPLAY='dl1AbC-d_9' cargo test -- --exact transfer\n"));
}
