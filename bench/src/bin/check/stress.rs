//! Sixty generated histories, half of them with one violation. Porcupine answers 33 of them within 45 s and 12 GB.

use std::time::Duration;

use drawloom_bench::measure::peak_memory_kib;
use drawloom_check::model::{Fifo, Lifo};
use drawloom_check::{Budget, linearizable::Checker};

use crate::generator::{Containers, Counters, Kind, Plan, Registers, Sets, Stores, generate};
use crate::section::{Section, best, ms};

/// Name, clients, operations, keys, crashed in ten thousand; what Porcupine took for the right and for the wrong one, in ms.
type Shape = (&'static str, u64, usize, u64, u64, Option<f64>, Option<f64>);

const SHAPES: [Shape; 30] = [
    ("register c4 n1k", 4, 1_000, 1, 0, Some(2.6), Some(8.0)),
    ("register c16 n1k", 16, 1_000, 1, 0, Some(18_401.0), None),
    ("register c64 n1k", 64, 1_000, 1, 0, None, None),
    ("register c8 n10k", 8, 10_000, 1, 0, Some(813.0), Some(4_017.0)),
    ("register c16 n30k", 16, 30_000, 1, 0, None, None),
    ("register c16 n100k", 16, 100_000, 1, 0, None, None),
    ("register c8 n1k crash1", 8, 1_000, 1, 100, Some(48.0), None),
    ("casreg c5 n200", 5, 200, 1, 0, Some(0.3), Some(1.5)),
    ("casreg c10 n1k", 10, 1_000, 1, 0, Some(30.0), Some(821.0)),
    ("casreg c20 n1k", 20, 1_000, 1, 0, Some(13_635.0), None),
    ("casreg c5 n100 crash10", 5, 100, 1, 1_000, Some(0.1), Some(2_323.0)),
    ("casreg c5 n200 crash10", 5, 200, 1, 1_000, Some(1.7), None),
    ("casreg c10 n1k crash1", 10, 1_000, 1, 100, Some(35.0), None),
    ("kv c10 k10 n2k", 10, 2_000, 10, 0, Some(4.5), Some(7.2)),
    ("kv c50 k10 n5k", 50, 5_000, 10, 0, Some(442.0), Some(485.0)),
    ("kv c50 k100 n20k", 50, 20_000, 100, 0, Some(50.0), Some(49.0)),
    ("queue c2 n1k", 2, 1_000, 1, 0, None, None),
    ("queue c4 n200", 4, 200, 1, 0, Some(17.7), Some(23.0)),
    ("queue c4 n1k", 4, 1_000, 1, 0, None, None),
    ("queue c8 n1k", 8, 1_000, 1, 0, None, None),
    ("queue c16 n1k", 16, 1_000, 1, 0, None, None),
    ("queue c8 n10k", 8, 10_000, 1, 0, None, None),
    ("queue c16 n100k", 16, 100_000, 1, 0, None, None),
    ("stack c4 n200", 4, 200, 1, 0, Some(0.4), Some(1.4)),
    ("stack c4 n1k", 4, 1_000, 1, 0, Some(9.6), Some(1_524.0)),
    ("stack c8 n1k", 8, 1_000, 1, 0, None, None),
    ("stack c8 n10k", 8, 10_000, 1, 0, None, None),
    ("set c16 k20 n5k", 16, 5_000, 20, 0, Some(18.0), Some(16.0)),
    ("set c64 k10 n10k", 64, 10_000, 10, 0, Some(82.0), Some(261.0)),
    ("counter c8 n1k", 8, 1_000, 1, 0, Some(8.5), Some(39.0)),
];

struct Taken {
    time: Duration,
    right: bool,
}

fn check<K: Kind>(mut kind: K, plan: Plan) -> Taken {
    let history = generate(&mut kind, plan, 1);
    let model = kind.model();
    let mut checker = Checker::new();
    let (time, verdict) = best(|| checker.check(&model, &history, Budget::default()).word());
    Taken { time, right: verdict == if plan.bad { "illegal" } else { "ok" } }
}

fn check_shape((name, clients, operations, keys, crashed, ..): Shape, bad: bool) -> Taken {
    let plan = Plan { clients, operations, keys, crashed, bad };
    match name.split(' ').next() {
        Some("register") => check(Registers { cas: false, value: 0 }, plan),
        Some("casreg") => check(Registers { cas: true, value: 0 }, plan),
        Some("kv") => check(Stores::default(), plan),
        Some("queue") => check(Containers::<Fifo>::default(), plan),
        Some("stack") => check(Containers::<Lifo>::default(), plan),
        Some("set") => check(Sets::default(), plan),
        _ => check(Counters::default(), plan),
    }
}

pub fn measure() -> Section {
    let mut section = Section::new(&["history", "Porcupine ok", "Porcupine bad", "drawloom ok", "drawloom bad"]);
    let (mut right, mut slowest, mut slower, mut thrice) = (0, Duration::ZERO, 0, true);
    for shape in SHAPES {
        let taken = [false, true].map(|bad| check_shape(shape, bad));
        let porcupine = [shape.5, shape.6];
        for (taken, porcupine) in taken.iter().zip(porcupine) {
            right += usize::from(taken.right);
            slowest = slowest.max(taken.time);
            let ours = taken.time.as_secs_f64() * 1e3;
            slower += usize::from(porcupine.is_some_and(|theirs| theirs > 1.0 && ours > theirs));
            thrice &= porcupine.is_none_or(|theirs| theirs <= 1.0 || 3.0 * ours <= theirs);
        }
        let theirs = porcupine.map(|ms| ms.map_or("no answer".to_owned(), |ms| ms.to_string()));
        let ours =
            taken.map(|taken| if taken.right { ms(taken.time) } else { format!("**wrong** {}", ms(taken.time)) });
        eprintln!("{}: {} / {}", shape.0, ours[0], ours[1]);
        section.row(&[shape.0.to_owned(), theirs[0].clone(), theirs[1].clone(), ours[0].clone(), ours[1].clone()]);
    }
    let memory = peak_memory_kib().unwrap_or(u64::MAX) / 1024;
    let below = |ms| slowest < Duration::from_millis(ms);
    section.gate("answered, and right", format!("{right} of 60"), ("60", right == 60), ("60", right == 60));
    section.gate("slowest", format!("{} ms", ms(slowest)), ("< 1 s", below(1000)), ("< 300 ms", below(300)));
    section.gate("peak memory", format!("{memory} MB"), ("< 200 MB", memory < 200), ("< 200 MB", memory < 200));
    let said = format!("{slower} slower");
    section.gate("each above 1 ms in Porcupine", said, ("not slower", slower == 0), ("3×", thrice));
    section
}
