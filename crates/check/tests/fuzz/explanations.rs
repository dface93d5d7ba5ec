//! What an explanation shows is itself wrong: the picture, read as a history, has no order that explains it.

use std::fmt::Debug;

use drawloom_check::explain::{self, Shown};
use drawloom_check::linearizable::Checker;
use drawloom_check::model::Model;
use drawloom_check::{Budget, History, Outcome, Process};

use crate::histories::{Size, Subject, random};
use crate::oracle::{Constraint, explains};
use crate::rng::Rng;
use crate::subjects::*;

const QUICK: u64 = 300;
const THOROUGH: u64 = 20_000;

type HistoryOf<M> = History<<M as Model>::Op, <M as Model>::Ret>;

/// The history that a picture shows: bars that end have returned, bars without an end may yet take effect.
fn pictured<M: Model>(history: &HistoryOf<M>, shown: &[Shown]) -> HistoryOf<M>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut events: Vec<(u32, usize, bool)> = Vec::new();
    for (at, operation) in shown.iter().enumerate() {
        events.push((operation.call, at, false));
        events.extend(operation.end.map(|end| (end, at, true)));
    }
    events.sort_unstable();
    assert!(events.windows(2).all(|pair| pair[0].0 < pair[1].0), "events are distinct: {shown:?}");
    let mut picture = History::new();
    for (_, at, ends) in events {
        let operation = &history.operations()[shown[at].id as usize];
        // One process for each bar: who calls is no matter.
        let process = Process(at as u64);
        match ends {
            false => drop(picture.invoke(process, operation.op.clone()).unwrap()),
            true => drop(picture.complete(process, operation.outcome.clone()).unwrap()),
        }
    }
    picture
}

/// Explains so many histories, and looks at every picture. Says how many there were.
fn look_at_pictures<S: Subject>(subject: S, histories: u64) -> u64
where
    <S::Model as Model>::Op: Clone,
    <S::Model as Model>::Ret: Clone + Debug,
{
    let model = subject.model();
    let mut checker = Checker::new();
    let mut refuted = 0;
    for seed in 0..histories {
        let mut rng = Rng(seed ^ 0xE1);
        let size = Size {
            operations: 2 + rng.below(7),
            processes: 2 + rng.below(3),
            wrong: [10, 30, 60][rng.below(3)],
            unknown: [0, 30, 60][rng.below(3)],
        };
        let history = random(&subject, &mut rng, size);
        let why = explain::linearizability(&model, &history, Budget::default());
        assert_eq!(why.is_some(), checker.check(&model, &history, Budget::default()).is_illegal(), "seed {seed}");
        let Some(why) = why else { continue };
        refuted += 1;
        let shown: Vec<Shown> = why.minimal.iter().chain(&why.failed).cloned().collect();
        let picture = pictured::<S::Model>(&history, &shown);
        // Whatever the others did: as if nobody knew what became of them.
        let mut rest = History::new();
        let mut events: Vec<_> = history.operations().iter().enumerate().map(|(id, o)| (o.call, id, false)).collect();
        let ends = why.minimal.iter().filter(|shown| shown.end.is_some());
        events.extend(ends.filter_map(|shown| {
            let id = shown.id as usize;
            history.operations()[id].end.map(|end| (end, id, true))
        }));
        events.sort_unstable();
        for (_, id, ends) in events {
            let operation = &history.operations()[id];
            let (process, failed) = (Process(id as u64), matches!(operation.outcome, Outcome::Fail));
            match ends {
                false if failed => {}
                false => drop(rest.invoke(process, operation.op.clone()).unwrap()),
                true => drop(rest.complete(process, operation.outcome.clone()).unwrap()),
            }
        }
        let say = || format!("seed {seed}:\n{why}\n{history:#?}");
        assert!(!explains(&model, &picture, Constraint::RealTime), "the picture is linearizable, {}", say());
        assert!(why.enough, "nothing is too hard here, {}", say());
        assert!(!explains(&model, &rest, Constraint::RealTime), "the others would explain it, {}", say());
        let returned = |id: u32| matches!(history.operations()[id as usize].outcome, Outcome::Ok(_));
        assert!(returned(why.minimal[why.culprit].id), "the culprit has returned, {}", say());
        assert!(!why.given_up && why.left == why.minimal.len(), "{}", say());
        for shown in &why.minimal {
            let failed = matches!(history.operations()[shown.id as usize].outcome, Outcome::Fail);
            assert!(!failed, "what certainly did not happen proves nothing, {}", say());
        }
        for shown in shown.iter().chain(&why.context) {
            let failed = matches!(history.operations()[shown.id as usize].outcome, Outcome::Fail);
            assert_eq!(failed, shown.text.ends_with("→ failed"), "{}", say());
        }
    }
    eprintln!("{histories} histories, {refuted} refuted and explained");
    assert!(refuted > histories / 50, "{refuted} of {histories} refuted: not a fair test");
    refuted
}

macro_rules! pictures {
    ($($name:ident: $subject:ident),* $(,)?) => {$(
        mod $name {
            #[test]
            fn pictures_are_wrong_themselves() {
                super::look_at_pictures(super::$subject, super::QUICK);
            }

            #[test]
            #[ignore = "twenty thousand histories: run in release"]
            fn pictures_are_wrong_themselves_thoroughly() {
                super::look_at_pictures(super::$subject, super::THOROUGH);
            }
        }
    )*};
}

pictures! {
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
    distinct_stack: DistinctStacks,
    priority_queue: PriorityQueues,
    mutex: Mutexes,
    semaphore: Semaphores,
    append_list: Lists,
    nondeterministic: LossyRegisters,
    spec: Pools,
}
