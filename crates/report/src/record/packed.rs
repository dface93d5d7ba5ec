//! Steps of a long execution in few bytes: an execution that reaches its step limit repeats itself, and a file of it need not.
//!
//! Two ideas. A step is written relative to what came before it (the step that ended its wait, by its distance; values, by
//! their difference to the last one of the same resource), so that the rounds of a loop that counts are equal. Then each
//! different row is written once, and the order of rows as numbers, in which a negative one and the number after it stand for
//! "go back so far, and take so many from there" (Lempel and Ziv, 1977). What is read back is exactly what was written.

use std::collections::HashMap;

use super::StepRecord;

/// Shorter executions are written step by step, which every reader understands.
pub(super) const FROM: usize = 10_000;
/// The version of a file whose steps are packed.
pub(super) const PACKED_VERSION: u32 = 2;
/// Fewer steps than this are not worth a pair of numbers.
const SHORTEST: usize = 4;

/// Steps, packed.
pub(super) struct Packed {
    /// Each different row once.
    rows: Vec<StepRecord>,
    /// Which row each step is; after a negative number, which is a distance, how many steps are as those so far back.
    order: Vec<i64>,
}

/// What values are written relative to: the last one of each resource.
#[derive(Default)]
struct Last(HashMap<u32, u64>);

impl Last {
    fn of(&self, resource: Option<u32>) -> u64 {
        resource.and_then(|resource| self.0.get(&resource)).copied().unwrap_or(0)
    }

    fn note(&mut self, step: &StepRecord) {
        if let (Some(resource), Some(value)) = (step.resource, step.value.or(step.argument)) {
            self.0.insert(resource, value);
        }
    }
}

impl Packed {
    pub(super) fn of(steps: &[StepRecord]) -> Packed {
        let mut last = Last::default();
        let mut rows: Vec<StepRecord> = Vec::new();
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut which: Vec<u32> = Vec::with_capacity(steps.len());
        for (i, step) in (0u32..).zip(steps) {
            let base = last.of(step.resource);
            last.note(step);
            let row = StepRecord {
                after: step.after.map(|after| i.wrapping_sub(after)),
                argument: step.argument.map(|argument| argument.wrapping_sub(base)),
                value: step.value.map(|value| value.wrapping_sub(base)),
                ..*step
            };
            which.push(*known.entry(key(&row)).or_insert_with(|| {
                rows.push(row);
                rows.len() as u32 - 1
            }));
        }
        Packed { rows, order: shortened(&which) }
    }

    /// The steps, or what is wrong; never more than `most`.
    pub(super) fn steps(self, most: usize) -> Result<Vec<StepRecord>, String> {
        let mut last = Last::default();
        let mut which: Vec<usize> = Vec::new();
        let mut order = self.order.into_iter();
        while let Some(number) = order.next() {
            let (from, count) = match usize::try_from(number) {
                Ok(row) => {
                    which.push(row);
                    continue;
                }
                Err(_) => (usize::try_from(number.unsigned_abs()), order.next().and_then(|n| usize::try_from(n).ok())),
            };
            let from = from.ok().and_then(|distance| which.len().checked_sub(distance));
            let (Some(from), Some(count)) = (from, count) else {
                return Err("its steps go back to before the first one".to_owned());
            };
            if count > most.saturating_sub(which.len()) {
                return Err(format!("it has more than {most} steps"));
            }
            // What is taken may be what was taken just now.
            (from..from + count).for_each(|at| which.push(which[at]));
        }
        if which.len() > most {
            return Err(format!("it has more than {most} steps"));
        }
        let step = |(i, row): (u32, usize)| {
            let row = self.rows.get(row).ok_or("it has a step that is not one of its rows")?;
            let base = last.of(row.resource);
            let step = StepRecord {
                after: row.after.map(|distance| i.wrapping_sub(distance)),
                argument: row.argument.map(|argument| argument.wrapping_add(base)),
                value: row.value.map(|value| value.wrapping_add(base)),
                ..*row
            };
            last.note(&step);
            Ok(step)
        };
        (0u32..).zip(which).map(step).collect::<Result<_, &str>>().map_err(str::to_owned)
    }
}

/// All that tells rows apart.
type Key = (u32, u16, u16, Option<u32>, Option<u32>, bool, Option<u32>, Option<u64>, Option<u64>);

fn key(row: &StepRecord) -> Key {
    let StepRecord { task, operation, outcome, resource, place, choice, after, argument, value } = *row;
    (task, operation, outcome, resource, place, choice, after, argument, value)
}

/// Numbers of rows, with pairs for what has been there before.
fn shortened(which: &[u32]) -> Vec<i64> {
    let mut order = Vec::new();
    // Where three rows have last stood one after the other.
    let mut stood: HashMap<[u32; 3], usize> = HashMap::new();
    let three = |at: usize| which.get(at..at + 3).map(|rows| [rows[0], rows[1], rows[2]]);
    let mut at = 0;
    while at < which.len() {
        let before = three(at).and_then(|rows| stood.get(&rows).copied());
        let equal = |before: usize| (at..which.len()).take_while(|i| which[*i] == which[before + i - at]).count();
        let (taken, written) = match before.map(|before| (before, equal(before))) {
            Some((before, count)) if count >= SHORTEST => (count, vec![-((at - before) as i64), count as i64]),
            _ => (1, vec![i64::from(which[at])]),
        };
        order.extend(written);
        for i in at..at + taken {
            three(i).map(|rows| stood.insert(rows, i));
        }
        at += taken;
    }
    order
}

crate::json::object! {
    Packed { rows, order }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn step(task: u32, resource: Option<u32>, argument: Option<u64>, value: Option<u64>) -> StepRecord {
        StepRecord {
            task,
            operation: 1,
            outcome: 0,
            resource,
            place: Some(task),
            choice: true,
            after: None,
            argument,
            value,
        }
    }

    /// Two tasks in some order, of which one counts and one looks.
    fn counting(steps: u64) -> Vec<StepRecord> {
        let (mut count, mut state) = (0u64, 0x5eedu64);
        (0..steps)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if state >> 63 == 0 {
                    return step(0, Some(3), None, Some(count));
                }
                count += 1;
                step(1, Some(3), Some(count), Some(count - 1))
            })
            .collect()
    }

    #[test]
    fn what_is_packed_is_read_back_as_it_was() {
        for steps in [vec![], counting(1), counting(5_000), vec![step(0, None, None, None); 7]] {
            let text = json::text(&Packed::of(&steps));
            let packed: Packed = json::read(&text).unwrap();
            assert!(packed.steps(10_000).unwrap() == steps);
        }
        let mut odd = counting(100);
        (odd[40].after, odd[41].after) = (Some(39), Some(0));
        (odd[50].value, odd[51].argument) = (Some(u64::MAX), Some(0));
        assert!(Packed::of(&odd).steps(1_000).unwrap() == odd);
    }

    #[test]
    fn a_million_steps_that_repeat_themselves_take_little_room() {
        let packed = json::text(&Packed::of(&counting(1_000_000)));
        assert!(packed.len() < 2_000_000, "{}", packed.len());
        let spin = json::text(&Packed::of(&vec![step(0, Some(1), None, Some(0)); 1_000_000]));
        assert!(spin.len() < 200, "{spin}");
    }

    #[test]
    fn damage_is_said_and_takes_no_memory() {
        let of = |order: &[i64]| Packed { rows: vec![step(0, None, None, None)], order: order.to_vec() };
        for order in [&[1][..], &[-1, 5], &[0, -1], &[0, -1, -1], &[0, -2, 1], &[0, -1, i64::MAX], &[0, i64::MIN, 1]] {
            assert!(of(order).steps(100).is_err(), "{order:?}");
        }
    }
}
