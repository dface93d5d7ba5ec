//! Random programs of pods, with crashes: brute force over every schedule finds the classes that exhaustive exploration makes.

use std::sync::Arc;

use drawloom::cluster::pods::Pods;
use drawloom::cluster::{Faults, Isolate, NodeId, Shape};

use drawloom_engine::Budgets;

use super::brute::{Log, Numbers, Subject, compare_subject};

/// What a pod does, one after the other.
#[derive(Clone, Copy, Debug)]
enum Does {
    Send(u32),
    SendInOrder(u32),
    Take,
    Look,
    Save(u32),
    Load,
}

#[derive(Clone, Debug)]
struct Program {
    pods: Vec<Vec<Does>>,
    faults: u64,
}

/// What tasks have seen is the test's.
#[derive(Clone)]
struct Seen(Arc<Log>);

impl Isolate for Seen {
    fn isolate(&self) -> Self {
        self.clone()
    }
}

fn program(seed: u64) -> Program {
    let mut numbers = Numbers::new(seed);
    let all = [Does::Send(1), Does::Send(2), Does::SendInOrder(3), Does::Take, Does::Look, Does::Save(4), Does::Load];
    let pods = (0..2).map(|_| (0..1 + numbers.below(2)).map(|_| numbers.of(&all)).collect()).collect();
    Program { pods, faults: numbers.below(6) }
}

fn run(program: &Program, log: &Arc<Log>) {
    let mut pods = Pods::new();
    let channels = [pods.channel::<u32>("b"), pods.channel::<u32>("a")];
    let [(to_b, of_b), (to_a, of_a)] = channels;
    let [(in_order_to_b, _), (in_order_to_a, _)] = [pods.ordered_channel::<u32>("b"), pods.ordered_channel::<u32>("a")];
    let storages = [pods.storage::<u32>(), pods.storage::<u32>()];
    let all = [(to_b, in_order_to_b, of_a), (to_a, in_order_to_a, of_b)];
    for ((at, does), (ends, storage)) in program.pods.iter().enumerate().zip(all.into_iter().zip(storages)) {
        let script: Vec<(u32, u32)> = does.iter().map(|does| encoded(*does)).collect();
        let config = ((ends.0, ends.1, ends.2), storage, script, at, Seen(Arc::clone(log)));
        pods.pod(["a", "b"][at], config, |((sender, in_order, receiver), storage, script, at, Seen(log))| {
            for (kind, n) in script {
                match kind {
                    0 => sender.send(n),
                    1 => in_order.send(n),
                    2 => log.note(at, i64::from(receiver.recv())),
                    3 => log.note(at, receiver.try_recv().map_or(-1, i64::from)),
                    4 => storage.save(n),
                    _ => log.note(at, storage.load().map_or(-2, i64::from)),
                }
            }
            log.note(at, 100);
        });
    }
    pods.client("waits", (), |()| {
        drawloom::thread::sleep(std::time::Duration::from_secs(1));
    });
    let one = [NodeId::from_index(0)];
    let link = Shape::Links(vec![(NodeId::from_index(1), NodeId::from_index(0))]);
    pods.faults(match program.faults {
        0 => Faults::none().crashes(1).crash_only(one).certain(),
        1 => Faults::none().reboots(1).crash_only(one).certain(),
        2 => Faults::none().partitions(1, link).certain(),
        3 => Faults::none().duplicates(1),
        4 => Faults::none().losses(1),
        _ => Faults::none(),
    });
    pods.run();
}

fn encoded(does: Does) -> (u32, u32) {
    match does {
        Does::Send(n) => (0, n),
        Does::SendInOrder(n) => (1, n),
        Does::Take => (2, 0),
        Does::Look => (3, 0),
        Does::Save(n) => (4, n),
        Does::Load => (5, 0),
    }
}

fn compare(seeds: std::ops::Range<u64>, most: u64) -> u64 {
    let mut compared = 0;
    for seed in seeds {
        let program = program(seed);
        let name = format!("{seed}: {program:?}");
        let may_crash = program.faults < 2;
        let body = move |log: &Arc<Log>| run(&program, log);
        // Whoever is killed may be so before a spawn and before its end.
        let subject = Subject {
            body: Arc::new(body),
            asks_for_exits: may_crash,
            has_gate: false,
            has_signals: may_crash,
            budgets: Budgets::NONE,
        };
        compared += u64::from(compare_subject(&subject, &name, most).is_some());
    }
    compared
}

#[test]
fn pods_have_as_many_executions_as_classes() {
    let compared = compare(0..30, 1_500);
    assert!(compared >= 5, "{compared} of 30");
}

#[test]
#[ignore = "minutes: 150 random programs of pods against every schedule"]
fn a_hundred_and_fifty_programs_of_pods_have_as_many_executions_as_classes() {
    let compared = compare(1_000..1_150, 20_000);
    eprintln!("{compared} of 150 programs compared");
    assert!(compared >= 40, "{compared} of 150");
}
