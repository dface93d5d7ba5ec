//! Sequential consistency against brute force.

use drawloom_check::model::Model;
use drawloom_check::sequential;

use crate::histories::{Size, Subject, random};
use crate::oracle::{Constraint, explains};
use crate::rng::Rng;
use crate::subjects::*;

const QUICK: u64 = 300;
const THOROUGH: u64 = 100_000;

/// Compares so many histories.
fn compare<S: Subject>(subject: S, histories: u64)
where
    <S::Model as Model>::Op: Clone,
    <S::Model as Model>::Ret: Clone,
{
    let model = subject.model();
    let mut legal = 0;
    for seed in 0..histories {
        let mut rng = Rng(seed);
        let size = Size {
            operations: 2 + rng.below(6),
            processes: 2 + rng.below(2),
            wrong: [10, 30][rng.below(2)],
            unknown: [0, 20][rng.below(2)],
        };
        let history = random(&subject, &mut rng, size);
        let expected = explains(&model, &history, Constraint::Program);
        let verdict = sequential::check(&model, &history);
        assert!(!verdict.is_unknown());
        assert_eq!(verdict.is_ok(), expected, "brute force disagrees, seed {seed}: {history:#?}");
        legal += u64::from(expected);
    }
    eprintln!("{histories} histories, {legal} of them legal");
}

macro_rules! compared {
    ($($name:ident: $subject:ident),* $(,)?) => {$(
        mod $name {
            #[test]
            fn agrees_with_brute_force() {
                super::compare(super::$subject, super::QUICK);
            }

            #[test]
            #[ignore = "a hundred thousand histories: run in release"]
            fn agrees_with_brute_force_thoroughly() {
                super::compare(super::$subject, super::THOROUGH);
            }
        }
    )*};
}

compared! {
    register: Registers,
    distinct_register: DistinctRegisters,
    cas_register: CasRegisters,
    key_value: Stores,
    counter: Counters,
    queue: DistinctQueues,
    stack: Stacks,
    mutex: Mutexes,
    nondeterministic: LossyRegisters,
}
