//! Exhaustive exploration makes one execution for each class of orders that there is, and no other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::cluster::{Cluster, Host, Probe};

use crate::brute;
use crate::programs::{Message, Program, Seen};

/// So many orders are gone through one by one.
const MOST_ORDERS: usize = 4_000;

/// What exhaustive exploration makes of a program: executions, and what was seen in any.
fn explored(program: Program) -> (u64, BTreeSet<Seen>) {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let exploration = drawloom::explore("exhaustive(iterations = 100000)".parse().unwrap(), move || {
        let probe = Probe::new(Seen::new());
        let mut cluster = Cluster::new();
        program.build(&mut cluster, &probe);
        cluster.run();
        seen.lock().unwrap().insert(probe.get().clone());
    });
    assert!(exploration.findings().is_empty(), "{program:?}: {}", exploration.findings()[0].message());
    let all = all.lock().unwrap().clone();
    (exploration.executions(), all)
}

/// Whether the program was small enough; how many orders and classes it has.
fn agrees(program: Program) -> Option<(usize, usize)> {
    let (orders, classes) = brute::classes(MOST_ORDERS, |host| run(program, host))?;
    if orders == 1 {
        return Some((1, 1));
    }
    let expected: BTreeSet<Seen> = classes.values().cloned().collect();
    let (executions, seen) = explored(program);
    assert!(seen.is_subset(&expected), "{program:?}: impossible: {:?}", seen.difference(&expected).next());
    assert!(expected.is_subset(&seen), "{program:?}: missed: {:?}", expected.difference(&seen).next());
    let classes = if program.is_ordered() { orders } else { classes.len() };
    assert_eq!(executions as usize, classes, "{program:?}: executions, and classes of {orders} orders");
    Some((orders, classes))
}

/// One run of the program, decided by `host`.
fn run(program: Program, host: &mut dyn Host) -> Seen {
    let probe = Probe::new(Seen::new());
    let mut cluster = drawloom_sim::Cluster::<Message>::new();
    program.build(&mut cluster, &probe);
    cluster.run_on(host);
    probe.get().clone()
}

#[test]
fn beginnings_that_differ_in_the_order_of_events_that_commute_need_no_two_ends() {
    for program in (0..60).map(Program::of) {
        if let Some((_, classes)) = brute::classes(MOST_ORDERS, |host| run(program, host)) {
            assert_eq!(brute::count(|host| drop(run(program, host))), classes.len(), "{program:?}");
        }
    }
}

fn all_agree(seeds: impl Iterator<Item = u64>, programs: usize) {
    let (mut done, mut of_one) = (0, 0);
    let mut kinds = BTreeSet::new();
    for seed in seeds {
        let program = Program::of(seed);
        let Some((orders, _)) = agrees(program) else { continue };
        if orders == 1 {
            of_one += 1;
            continue;
        }
        kinds.insert(program.faults);
        done += 1;
        if done == programs {
            break;
        }
    }
    assert_eq!(done, programs, "{of_one} had only one order");
    assert!(programs < 100 || kinds.len() == Program::KINDS as usize, "{kinds:?}");
}

#[test]
fn small_clusters_have_as_many_executions_as_classes() {
    all_agree(0..10_000, 60);
}

#[test]
fn so_have_those_that_break_off_drift_or_hold_messages() {
    for kind in 0..7 {
        assert_eq!(agree(kind, 0..10_000, 2), 2, "kind {kind}");
    }
}

#[test]
#[ignore = "minutes: thousands of random clusters against every order of their events"]
fn so_have_two_thousand_that_break_off_drift_or_hold_messages() {
    for kind in 0..7 {
        assert_eq!(agree(kind, 20_000..1_000_000, 300), 300, "kind {kind}");
    }
}

/// How many programs of a kind agree, of so many that have more than one order.
fn agree(kind: u32, seeds: impl Iterator<Item = u64>, programs: usize) -> usize {
    seeds.filter_map(|seed| agrees(Program::with(kind, seed))).filter(|(orders, _)| *orders > 1).take(programs).count()
}

#[test]
fn what_a_partition_holds_up_does_not_wait_for_what_is_sent_meanwhile() {
    assert!(agrees(Program::of(10_221)).is_some());
}

#[test]
#[ignore = "minutes: 5,000 random clusters against every order of their events"]
fn five_thousand_clusters_have_as_many_executions_as_classes() {
    all_agree(10_000..1_000_000, 5_000);
}
