//! Every engine for linearizability against brute force.

use std::fmt::Debug;

use drawloom_check::linearizable::{Checker, Monitor};
use drawloom_check::model::Model;
use drawloom_check::{Budget, History, OpId, Outcome, Verdict};

use crate::histories::{Size, Subject, random};
use crate::oracle::{Constraint, explains, explains_long};
use crate::rng::Rng;
use crate::subjects::*;

const QUICK: u64 = 400;
const THOROUGH: u64 = 100_000;
const QUICK_LONG: u64 = 5;
const THOROUGH_LONG: u64 = 5_000;

/// Compares so many histories, and says how many were right.
fn compare<S: Subject>(subject: S, histories: u64)
where
    <S::Model as Model>::Op: Clone,
    <S::Model as Model>::Ret: Clone + Debug,
{
    let model = subject.model();
    let mut checker = Checker::new();
    let mut legal = 0;
    for seed in 0..histories {
        let mut rng = Rng(seed);
        let size = Size {
            operations: 2 + rng.below(6),
            processes: 2 + rng.below(3),
            wrong: [0, 10, 30][rng.below(3)],
            unknown: [0, 20, 40][rng.below(3)],
        };
        let history = random(&subject, &mut rng, size);
        let expected = explains(&model, &history, Constraint::RealTime);
        legal += u64::from(expected);
        let say = |what: &str| format!("{what} disagrees with brute force ({expected}), seed {seed}: {history:#?}");
        let verdict = checker.check(&model, &history, Budget::default());
        assert!(!verdict.is_unknown(), "{}", say("unknown"));
        assert_eq!(verdict.is_ok(), expected, "{}", say("the checker"));
        assert_eq!(explained_online(subject.model(), &history), expected, "{}", say("the monitor"));
        if let Verdict::Illegal(violation) = verdict {
            let culprit = violation.op.expect("the search knows");
            let part = |id: OpId| model.partition(&history.operations()[id.index()].op);
            let same = |id: OpId| {
                part(id) == part(culprit) || history.operations().iter().any(|o| model.partition(&o.op).is_none())
            };
            let part = history.subset(same);
            let end = part.operations()[history.iter().filter(|(id, _)| same(*id) && *id < culprit).count()].deadline();
            let before = part.prefix(end);
            assert!(explains(&model, &before, Constraint::RealTime), "{}", say("the prefix before the culprit"));
        }
    }
    eprintln!("{histories} histories, {legal} of them legal");
    assert!(legal > histories / 10 && legal < histories * 99 / 100, "{legal} of {histories} legal: not a fair test");
}

/// Compares longer histories, on which the search has more rules, with a search that has none.
fn compare_long<S: Subject>(subject: S, histories: u64)
where
    <S::Model as Model>::Op: Clone,
    <S::Model as Model>::Ret: Clone + Debug,
{
    let model = subject.model();
    let mut checker = Checker::new();
    let (mut compared, mut legal) = (0, 0);
    for seed in 0..histories {
        let mut rng = Rng(seed);
        let size = Size {
            operations: 26 + rng.below(8),
            processes: 2 + rng.below(3),
            wrong: [0, 1, 4][rng.below(3)],
            unknown: [0, 8][rng.below(2)],
        };
        let history = random(&subject, &mut rng, size);
        let Some(expected) = explains_long(&model, &history) else { continue };
        compared += 1;
        legal += u64::from(expected);
        let verdict = checker.search(&model, &history, Budget::default());
        assert!(!verdict.is_unknown(), "seed {seed}");
        assert_eq!(verdict.is_ok(), expected, "the plain search disagrees, seed {seed}: {history:#?}");
    }
    eprintln!("{compared} of {histories} long histories compared, {legal} of them legal");
    assert!(compared * 2 > histories, "{compared} of {histories} compared: not a fair test");
}

/// What a monitor says after the last event.
fn explained_online<M: Model>(model: M, history: &History<M::Op, M::Ret>) -> bool
where
    M::Op: Clone,
{
    let mut monitor = Monitor::new(model);
    let mut events: Vec<_> = history
        .operations()
        .iter()
        .flat_map(|o| [Some((o.call, o, false)), o.end.map(|end| (end, o, true))])
        .flatten()
        .collect();
    events.sort_by_key(|(event, ..)| *event);
    for (_, operation, ended) in events {
        let process = operation.process;
        match (ended, &operation.outcome) {
            (false, _) => drop(monitor.invoke(process, operation.op.clone()).expect("idle")),
            (true, Outcome::Ok(ret)) => drop(monitor.ok(process, ret).expect("open")),
            (true, Outcome::Fail) => drop(monitor.fail(process).expect("open")),
            (true, _) => drop(monitor.info(process).expect("open")),
        }
    }
    assert!(!monitor.verdict().is_unknown());
    monitor.verdict().is_ok()
}

macro_rules! compared {
    ($($name:ident: $subject:ident),* $(,)?) => {$(
        mod $name {
            #[test]
            fn agrees_with_brute_force() {
                super::compare(super::$subject, super::QUICK);
            }

            #[test]
            fn agrees_with_a_plain_search_on_longer_histories() {
                super::compare_long(super::$subject, super::QUICK_LONG);
            }

            #[test]
            #[ignore = "a hundred thousand histories: run in release"]
            fn agrees_with_brute_force_thoroughly() {
                super::compare(super::$subject, super::THOROUGH);
                super::compare_long(super::$subject, super::THOROUGH_LONG);
            }
        }
    )*};
}

compared! {
    register: Registers,
    cas_register: CasRegisters,
    distinct_register: DistinctRegisters,
    key_value: Stores,
    counter: Counters,
    set: Sets,
    queue: Queues,
    equal_queue: EqualQueues,
    distinct_queue: DistinctQueues,
    stack: Stacks,
    priority_queue: PriorityQueues,
    mutex: Mutexes,
    semaphore: Semaphores,
    append_list: Lists,
    nondeterministic: LossyRegisters,
    spec: Pools,
}
