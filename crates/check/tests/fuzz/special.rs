//! The near-linear algorithms against the general search.

use drawloom_check::linearizable::{self, Checker};
use drawloom_check::model::Model;
use drawloom_check::{Budget, Verdict};

use crate::histories::{Size, Subject, random};
use crate::rng::Rng;
use crate::subjects::*;

const QUICK: u64 = 400;
const THOROUGH: u64 = 100_000;

/// Compares until so many histories were of the kind that the algorithm is for.
fn compare<S: Subject>(subject: S, histories: u64)
where
    <S::Model as Model>::Op: Clone,
    <S::Model as Model>::Ret: Clone,
{
    let model = subject.model();
    let mut checker = Checker::new();
    let (mut decided, mut legal, mut unknown, mut seed) = (0, 0, 0, 0);
    while decided < histories {
        seed += 1;
        assert!(seed < 40 * histories, "the algorithm applied to {decided} of {seed} histories only");
        let mut rng = Rng(seed);
        let size = Size {
            operations: 2 + rng.below(24),
            processes: 2 + rng.below(5),
            wrong: [0, 2, 10][rng.below(3)],
            unknown: [0, 6][rng.below(2)],
        };
        let history = random(&subject, &mut rng, size);
        let Some(quick) = linearizable::quick(&model, &history) else { continue };
        let general = match checker.search(&model, &history, Budget::default().steps(500_000)) {
            Verdict::Ok(()) => true,
            Verdict::Illegal(_) => false,
            // This is what the near-linear algorithms are for.
            Verdict::Unknown(_) => {
                unknown += 1;
                continue;
            }
        };
        assert_eq!(quick, general, "the search disagrees, seed {seed}: {history:#?}");
        decided += 1;
        legal += u64::from(general);
    }
    eprintln!("{decided} of {seed} histories compared, {legal} legal, {unknown} too hard for the search");
    assert!(unknown * 100 < seed, "the search gave up on {unknown} of {seed} histories");
}

macro_rules! compared {
    ($($name:ident: $subject:ident),* $(,)?) => {$(
        mod $name {
            #[test]
            fn agrees_with_the_search() {
                super::compare(super::$subject, super::QUICK);
            }

            #[test]
            #[ignore = "a hundred thousand histories: run in release"]
            fn agrees_with_the_search_thoroughly() {
                super::compare(super::$subject, super::THOROUGH);
            }
        }
    )*};
}

compared! {
    register: DistinctRegisters,
    queue: DistinctQueues,
    stack: DistinctStacks,
    counter: Sums,
    mutex: Mutexes,
    equal_queue: EqualQueues,
    equal_stack: Stacks,
    priority_queue: PriorityQueues,
}
