//! Every outcome that OTP allows, and no other, with as many executions as there are classes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::actor::{Delivery, System};

use crate::term::{C, T};
use crate::{programs, servers};

const TABLE: &str = include_str!("otp.tsv");

struct Row {
    name: &'static str,
    atomic: BTreeSet<String>,
    split: BTreeSet<String>,
    classes: [Option<u64>; 4],
}

fn outcomes(text: &str) -> BTreeSet<String> {
    text.split(" ; ").map(str::to_owned).collect()
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        // Timers fire in the order of their deadlines.
        let clocked = if columns[4].is_empty() { None } else { Some(outcomes(columns[4])) };
        Row {
            name: columns[0],
            // Who wakes first need not go on first.
            atomic: clocked
                .clone()
                .filter(|_| columns[0] != "after_two_sleepers")
                .unwrap_or_else(|| outcomes(columns[2])),
            split: clocked.filter(|_| columns[0] != "after_two_sleepers").unwrap_or_else(|| outcomes(columns[3])),
            classes: [5, 6, 7, 8].map(|at| columns[at].parse().ok()),
        }
    })
}

/// What an exploration has found.
#[derive(PartialEq, Eq, Debug)]
pub struct Found {
    pub outcomes: BTreeSet<String>,
    pub executions: u64,
}

pub fn explore<F, Fut>(name: &str, delivery: Delivery, program: F) -> Found
where
    F: Fn(C) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    explore_with(name, delivery, ", clock = explore, early_fires = 5", program)
}

fn explore_with<F, Fut>(name: &str, delivery: Delivery, clock: &str, program: F) -> Found
where
    F: Fn(C) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = outcomes.clone();
    let config = format!("exhaustive(max_schedules = 100000, trace = false{clock})").parse().unwrap();
    let explored = drawloom::explore(config, move || {
        let outcome = System::new().delivery(delivery).run(program).expect("the first process returns");
        theirs.lock().unwrap().insert(outcome.to_string());
    });
    assert!(explored.exhausted(), "{name}: {}", explored.summary());
    let mut outcomes = outcomes.lock().unwrap().clone();
    for found in explored.findings().iter().filter(|found| found.kind() != "nothing explored") {
        assert!(matches!(found.kind(), "deadlock" | "starvation"), "{name}: {} {}", found.kind(), found.message());
        outcomes.insert("DEADLOCK".to_owned());
    }
    Found { outcomes, executions: explored.executions() }
}

macro_rules! programs {
    ($($room:ident: $($name:ident)+;)+) => {
        fn run(name: &str, delivery: Delivery) -> Option<Found> {
            match name {
                $($(stringify!($name) => Some(explore(name, delivery, $room::$name)),)+)+
                _ => None,
            }
        }
    };
}

programs! {
    programs: fan_in_2 fan_in_4 fan_in_5 fan_in_3_take_2 fan_in_2_unread fan_in_3_sum two_mailboxes
    fifo_pair fifo_pid_and_name fifo_self causal_3 causal_4 causal_spawn
    sel_two_patterns sel_guard sel_guard_then_all sel_clause_order sel_blocked_forever
    after_0 after_0_synced_by_third after_T after_two_sleepers after_0_other_in_mailbox
    ping_pong_3 late_reply_with_ref late_reply_no_ref reply_to_dead_client call_reply_then_exit
    mon_msg_then_down mon_dead mon_race demonitor_flush demonitor_noflush mon_twice mon_causal_third mon_unknown_name
    link_trap_abnormal link_notrap_normal link_notrap_abnormal link_exit_with_kill_trap link_exit_with_kill_notrap
    link_dead_notrap link_dead_trap link_race_notrap spawn_link_atomic spawn_then_link_killed unlink_race
    trap_switch_race link_twice link_and_monitor_order
    exit2_normal_other exit2_normal_trapping exit2_kill_trapping exit2_alive_after_kill exit2_kill_then_monitor
    exit2_boom_then_kill_trap exit2_boom_then_kill_notrap
    sig_msg_then_exit sig_trap_order sig_link_msg_exit sig_exit_normal_reason_race
    reg_race_hold reg_whereis_race unreg_send_race whereis_then_send whereis_then_send_name name_handover
    whereis_then_register
    timer_cancel_race timer_cancel_by_other timer_two timer_vs_send timer_zero_vs_send timer_vs_reply
    alive_then_call monitor_then_call
    ets_insert_new_race ets_update_counter ets_lost_update ets_write_then_msg ets_two_keys atomics_get_put atomics_cas
    prim_mutual_call prim_lock_counter prim_lost_wakeup prim_lost_wakeup_msgs prim_barrier_2
    pdict_local group_leader_read self_make_ref;
    servers: gs_two_calls gs_cast_by_other_then_call gs_call_timeout gs_stop_during_call_by_name gs_crash_in_call
    gs_mutual_call gs_call_dead
    sup_restart_window sup_rest_for_one sup_one_for_one sup_max_intensity sup_max_intensity_zero;
}

/// Rows whose number of executions is not that of the table, each with the reason. The numbers are for both deliveries.
const OTHER_COUNTS: &[(&str, [u64; 2], &str)] = &[
    (
        "demonitor_flush",
        [3, 3],
        "the removal of a monitor is a step that races with the message that the process is down",
    ),
    ("mon_twice", [2, 2], "which of two messages about one end comes first is nowhere documented, so it is a choice"),
    ("link_notrap_normal", [2, 2], "as before: a signal that comes of a link, and a message about the end"),
    ("link_and_monitor_order", [2, 2], "as before"),
    (
        "spawn_then_link_killed",
        [3, 5],
        "a process that is killed is found alive by nobody, whether it has made its last step or not",
    ),
    ("exit2_alive_after_kill", [1, 1], "as before"),
    ("exit2_kill_then_monitor", [1, 1], "as before"),
    ("after_T", [5, 5], "the clock makes steps of its own: it fires before or after the message, in time or too late"),
    ("after_two_sleepers", [6, 6], "as before"),
    ("late_reply_with_ref", [7, 7], "as before"),
    ("late_reply_no_ref", [7, 7], "as before"),
    ("timer_two", [4, 4], "as before"),
    (
        "timer_zero_vs_send",
        [2, 2],
        "a timer of no time is not ordered with what its process sends; the tool that was counted with orders it",
    ),
    ("ets_lost_update", [8, 8], "two writes of the same value are two writes"),
    ("prim_lost_wakeup", [3, 3], "tables are not deleted by the end of a process"),
    // Servers and supervisors are made of other steps here. What makes their numbers larger is the same in all of these rows: each
    // server that ends is linked and monitored, so its two messages are a choice; and a call that is over takes its monitor back by
    // a step that races with the end of the server.
    ("gs_two_calls", [8, 8], "the stop of the server: its `Exit` and its `Down` come in either order"),
    ("gs_cast_by_other_then_call", [2, 6], "as before"),
    ("gs_call_timeout", [21, 21], "as before; and the clock makes steps of its own"),
    ("gs_stop_during_call_by_name", [20, 24], "as before; and the monitor of the call is taken back"),
    ("gs_crash_in_call", [2, 2], "as before"),
    ("gs_mutual_call", [17, 17], "as before"),
    ("gs_call_dead", [9, 9], "as before; and the clock makes steps of its own"),
    (
        "sup_restart_window",
        [7, 16],
        "a process that is killed is found alive by nobody: the tool that was counted finds it",
    ),
    ("sup_max_intensity", [6, 12], "as the servers"),
];

fn check(names: impl Fn(&str) -> bool) {
    let mut checked = 0;
    for row in rows().filter(|row| names(row.name)) {
        for (delivery, expected, column) in [(Delivery::Atomic, &row.atomic, 0), (Delivery::Split, &row.split, 1)] {
            let Some(found) = run(row.name, delivery) else { continue };
            assert_eq!(found.outcomes, *expected, "{} {delivery:?}", row.name);
            let other = OTHER_COUNTS.iter().find(|(name, ..)| *name == row.name).map(|(_, counts, _)| counts[column]);
            if let Some(classes) = other.or(row.classes[2 * column + 1]) {
                assert_eq!(found.executions, classes, "{} {delivery:?}", row.name);
            }
            checked += 1;
        }
    }
    assert!(checked > 0, "there are such rows");
}

#[test]
fn senders() {
    check(|name| ["fan", "two", "fif", "cau", "sel"].contains(&&name[..3]));
}

#[test]
fn waits_and_timers() {
    check(|name| ["aft", "tim", "lat", "pin", "rep", "cal"].contains(&&name[..3]));
}

#[test]
fn ends() {
    check(|name| ["mon", "dem", "lin", "spa", "unl", "tra", "exi", "sig"].contains(&&name[..3]));
}

#[test]
fn names_tables_and_protocols() {
    check(|name| ["reg", "unr", "whe", "nam", "ali", "ets", "ato", "pri", "pdi", "gro", "sel"].contains(&&name[..3]));
}

#[test]
fn servers_and_supervisors() {
    check(|name| name.starts_with("gs_") || name.starts_with("sup_"));
}

/// Without timers that fire early, who sleeps for less time is first.
#[test]
fn where_time_passes_only_when_nobody_can_go_on_sleepers_wake_in_order() {
    let found = explore_with("after_two_sleepers", Delivery::Atomic, "", programs::after_two_sleepers);
    assert_eq!(found.outcomes, BTreeSet::from(["[a,b]".to_owned()]));
}

fn report_of<F, Fut>(program: F) -> String
where
    F: Fn(C) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    let explored = drawloom::explore("exhaustive(trace = false)".parse().unwrap(), move || {
        System::new().run(program).expect("the first process returns");
    });
    explored.findings()[0].report()
}

#[test]
fn processes_that_call_each_other_are_a_deadlock_with_its_circle() {
    let report = report_of(programs::prim_mutual_call);
    assert!(report.starts_with("DEADLOCK"), "{report}");
    assert!(report.contains("Dependency cycle: Task 0.1 → Task 0.2 → Task 0.1"), "{report}");
    for (one, other) in [("0.1", "0.2"), ("0.2", "0.1")] {
        assert!(report.contains(&format!("`{one}` waits for a message after it has asked `{other}`")), "{report}");
    }
}

#[test]
fn a_receive_that_nothing_can_match_is_named_with_what_it_leaves_in_the_mailbox() {
    let report = report_of(programs::sel_blocked_forever);
    assert!(report.contains("Task 0 (main): waits for a message at"), "{report}");
    assert!(report.contains("1 message in the mailbox, which it does not accept"), "{report}");
}

/// The number of executions of each row beside the numbers of classes of the table.
#[test]
#[ignore = "prints figures: run with --nocapture"]
fn executions_beside_classes() {
    let only = std::env::var("ROWS").unwrap_or_default();
    for row in rows().filter(|row| row.name.contains(&only)) {
        for (delivery, expected, column) in [(Delivery::Atomic, &row.atomic, 0), (Delivery::Split, &row.split, 2)] {
            let Some(found) = run(row.name, delivery) else { continue };
            let number = |at: usize| row.classes[at].map_or("-".to_owned(), |classes| classes.to_string());
            let wrong = found.outcomes != *expected;
            let mark = match row.classes[column] {
                _ if wrong => format!("  OUTCOMES {:?}", found.outcomes),
                Some(classes) if classes == found.executions => String::new(),
                _ => "  *".to_owned(),
            };
            println!(
                "{} {delivery:?}: {} of {} / {}{mark}",
                row.name,
                found.executions,
                number(column),
                number(column + 1)
            );
        }
    }
}
