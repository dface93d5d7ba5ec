//! Histories of a hundred thousand operations, right and wrong.

use std::time::Duration;

use drawloom_check::model::{Fifo, Lifo};
use drawloom_check::{Budget, linearizable::Checker};

use crate::generator::{Containers, Kind, Plan, Registers, generate};
use crate::section::{Section, best, ms};

fn check<K: Kind>(name: &str, new: impl Fn() -> K, section: &mut Section) {
    let mut slowest = Duration::ZERO;
    let mut cells = vec![name.to_owned()];
    for bad in [false, true] {
        let mut kind = new();
        let plan = Plan { clients: 16, operations: 100_000, keys: 1, crashed: 0, bad };
        let history = generate(&mut kind, plan, 1);
        let model = kind.model();
        let mut checker = Checker::new();
        let (time, verdict) = best(|| checker.check(&model, &history, Budget::default()).word());
        assert_eq!(verdict, if bad { "illegal" } else { "ok" });
        slowest = slowest.max(time);
        cells.push(ms(time));
    }
    section.row(&cells);
    let below = |ms| slowest < Duration::from_millis(ms);
    let what = format!("{name}, 100,000 operations");
    section.gate(&what, format!("{} ms", ms(slowest)), ("< 50 ms", below(50)), ("< 15 ms", below(15)));
}

pub fn measure() -> Section {
    let mut section = Section::new(&["model", "right ms", "wrong ms"]);
    check("register", || Registers { cas: false, value: 0 }, &mut section);
    check("queue", Containers::<Fifo>::default, &mut section);
    check("stack", Containers::<Lifo>::default, &mut section);
    section
}
