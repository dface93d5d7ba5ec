//! What explorations ask for: three clients with four operations each, over and over.

use std::time::Duration;

use drawloom_bench::measure::{allocations, cpu_time};
use drawloom_check::linearizable::Checker;
use drawloom_check::model::{Fifo, Lifo};
use drawloom_check::{Budget, Model};

use crate::generator::{Containers, Counters, Generated, Kind, Plan, Registers, Sets, Stores, generate};
use crate::section::Section;

const HISTORIES: u64 = 300;
const ROUNDS: u32 = 300;

fn check<K: Kind>(name: &str, new: impl Fn() -> K, section: &mut Section) -> (Duration, u64) {
    let plan = Plan { clients: 3, operations: 12, keys: 3, crashed: 0, bad: false };
    let histories: Vec<Generated<K>> = (0..HISTORIES).map(|seed| generate(&mut new(), plan, seed)).collect();
    let model: K::Model = new().model();
    let mut checker: Checker<K::Model> = Checker::new();
    let mut times: Vec<Duration> = histories
        .iter()
        .map(|history| {
            let work = || (0..ROUNDS).all(|_| checker.check(&model, history, Budget::default()).is_ok());
            let (time, ok) = cpu_time(work);
            assert!(ok, "the history is linearizable");
            time / ROUNDS
        })
        .collect();
    times.sort_unstable();
    let median = times[times.len() / 2];
    // Buffers wander between states until all are large enough.
    assert!((0..20).all(|_| all(&mut checker, &model, &histories)));
    let (allocated, _) = allocations(|| all(&mut checker, &model, &histories));
    let nanoseconds = |time: Duration| time.as_nanos().to_string();
    section.row(&[
        name.to_owned(),
        nanoseconds(median),
        nanoseconds(times[times.len() * 9 / 10]),
        allocated.to_string(),
    ]);
    (median, allocated)
}

fn all<M: Model>(checker: &mut Checker<M>, model: &M, histories: &[drawloom_check::History<M::Op, M::Ret>]) -> bool {
    histories.iter().all(|history| checker.check(model, history, Budget::default()).is_ok())
}

pub fn measure() -> Section {
    let mut section = Section::new(&["model", "median ns", "90 % ns", "allocations"]);
    let measured = [
        check("register", || Registers { cas: false, value: 0 }, &mut section),
        check("cas-register", || Registers { cas: true, value: 0 }, &mut section),
        check("key-value", Stores::default, &mut section),
        check("counter", Counters::default, &mut section),
        check("set", Sets::default, &mut section),
        check("queue", Containers::<Fifo>::default, &mut section),
        check("stack", Containers::<Lifo>::default, &mut section),
    ];
    let slowest = measured.iter().map(|(median, _)| *median).max().unwrap_or_default();
    let allocated: u64 = measured.iter().map(|(_, allocated)| allocated).sum();
    let below = |ns: u128| slowest.as_nanos() < ns;
    let said = format!("{} ns", slowest.as_nanos());
    section.gate("slowest median, 3 clients × 4", said, ("< 3 µs", below(3000)), ("< 1 µs", below(1000)));
    let none = allocated == 0;
    section.gate("allocations after warm-up", allocated.to_string(), ("0", none), ("0", none));
    section
}
