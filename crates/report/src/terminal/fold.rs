//! Repetitions: a task that spins makes the same few steps over and over, and is told of once.

use crate::record::{Record, StepRecord};

/// A piece of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// A step, by its index.
    Step(u32),
    /// The items before it, `length` of them, come again `times` times.
    Again { length: usize, times: usize },
}

/// The longest repetition that is looked for.
const LONGEST: usize = 12;
/// Fewer repetitions than this are shown in full.
const FEWEST: usize = 3;

/// The steps with these indices, with repetitions told once.
pub(crate) fn fold(record: &Record, steps: &[u32]) -> Vec<Item> {
    let mut items = Vec::new();
    let same = |a: u32, b: u32| alike(record, &record.steps[a as usize], &record.steps[b as usize]);
    let mut at = 0;
    while at < steps.len() {
        let repetition = (1..=LONGEST).find_map(|length| {
            let rest = &steps[at..];
            let repeated = rest.iter().zip(rest.get(length..)?).take_while(|(a, b)| same(**a, **b)).count();
            let times = repeated / length;
            (times + 1 >= FEWEST && times * length > 1).then_some((length, times))
        });
        let Some((length, times)) = repetition else {
            items.push(Item::Step(steps[at]));
            at += 1;
            continue;
        };
        items.extend(steps[at..at + length].iter().map(|i| Item::Step(*i)));
        items.push(Item::Again { length, times });
        at += length * (times + 1);
    }
    items
}

/// Whether a reader would see no difference, but for the passing of time.
fn alike(record: &Record, a: &StepRecord, b: &StepRecord) -> bool {
    let timed = matches!(record.operation(a), "sleep" | "timer");
    (a.task, a.operation, a.resource, a.place, a.outcome) == (b.task, b.operation, b.resource, b.place, b.outcome)
        && (timed || (a.argument, a.value) == (b.argument, b.value))
}
