//! Unserialisable patterns: accesses of one task between which another one's falls, so that no order of whole
//! operations has the same effect.
//!
//! For one location these are AVIO's four of eight (Lu et al., ASPLOS 2006), for two the scenarios of Vaziri,
//! Tip and Dolby (POPL 2006). We deviate in three ways. Values are looked at, where they are known: a read
//! that finds what it found before is in order, whatever happened meanwhile. A pair that lies in two rounds of
//! a loop is none. And the access that would have closed the window may lie after the failure: what the task
//! would have done next is known from other executions.

use super::accesses::{Access, Accesses, Mode};
use drawloom_engine::sorted::{sort, sort_by_key};

/// How the accesses follow each other. The middle one is another task's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Shape {
    /// What was read is no longer so when it is written back or acted upon.
    ReadWriteWrite,
    /// Two reads do not agree.
    ReadWriteRead,
    /// What was written is gone when it is read.
    WriteWriteRead,
    /// Somebody saw what was not meant to be seen.
    WriteReadWrite,
    /// Two locations, read one after the other, of different times.
    ReadBothRead,
    /// Two locations, one read and then the other written, of which the read is no longer true.
    ReadBothWrite,
    /// Two locations, written one after the other, seen half written.
    WriteBothWrite,
    /// Two locations, written by two tasks at the same time: one of each is left.
    WriteOverWrite,
}

impl Shape {
    pub(super) fn letters(self) -> &'static str {
        match self {
            Shape::ReadWriteWrite => "R W W",
            Shape::ReadWriteRead => "R W R",
            Shape::WriteWriteRead => "W W R",
            Shape::WriteReadWrite => "W R W",
            Shape::ReadBothRead => "R(a) · W(a) W(b) · R(b)",
            Shape::ReadBothWrite => "R(a) · W(a) W(b) · W(b)",
            Shape::WriteBothWrite => "W(a) · R(a) R(b) · W(b)",
            Shape::WriteOverWrite => "W(a) · W(a) W(b) · W(b)",
        }
    }

    pub(super) fn is_double(self) -> bool {
        matches!(self, Shape::ReadBothRead | Shape::ReadBothWrite | Shape::WriteBothWrite | Shape::WriteOverWrite)
    }
}

/// A pattern that was found.
#[derive(Clone, Debug)]
pub(super) struct Pattern<'a> {
    pub(super) shape: Shape,
    /// Opens the window.
    pub(super) opens: &'a Access,
    /// Other accesses in it, by another task; the last one does the harm.
    pub(super) intrudes: Vec<&'a Access>,
    /// Closes the window. It may lie behind the failure.
    pub(super) closes: &'a Access,
}

impl Pattern<'_> {
    pub(super) fn resources(&self) -> Vec<u32> {
        let mut all = vec![self.opens.resource];
        if self.closes.resource != self.opens.resource {
            all.push(self.closes.resource);
        }
        all
    }

    /// The access of another task that does the harm.
    pub(super) fn harm(&self) -> &Access {
        self.intrudes[self.intrudes.len() - 1]
    }
}

/// Accesses that are looked at: the last ones before the failure, and all after it.
const MOST: usize = 2_000;
/// Of a longer execution also those around its preemptions, if they are known: so many of them,
const PREEMPTIONS: usize = 8;
/// and so many accesses on each side, where the task is left and where it goes on.
const AROUND: usize = 100;
/// Accesses of the same task within which a window closes.
const FURTHEST: usize = 48;

/// Every pattern whose window opens, and is intruded upon, before step `end`. `preempting` are the steps that came
/// although the task before could have gone on.
pub(super) fn patterns<'a>(accesses: &'a Accesses, end: u32, preempting: &[u32]) -> Vec<Pattern<'a>> {
    let all = looked_at(&accesses.all, preempting);
    let mut found = Vec::new();
    let mut tasks: Vec<u32> = all.iter().map(|a| a.task).collect();
    sort(&mut tasks);
    tasks.dedup();
    for task in tasks {
        let own: Vec<&Access> = all.iter().copied().filter(|a| a.task == task).collect();
        let others: Vec<&Access> = all.iter().copied().filter(|a| a.task != task && a.at < end).collect();
        // What follows at once in the execution: where accesses were left out, there is no pair.
        let whole: Vec<&Access> = accesses.all.iter().filter(|a| a.task == task).collect();
        for (i, opens) in own.iter().enumerate().filter(|(_, a)| a.at < end) {
            let next = whole.partition_point(|a| a.at <= opens.at);
            let following = own[i + 1..].iter().zip(&whole[next..]).take_while(|(a, b)| std::ptr::eq(**a, **b));
            // Of each location the next read and the next write: what lies further away is another pair's business.
            let mut seen: Vec<(u32, bool)> = Vec::new();
            let mut next: Vec<&Access> = Vec::new();
            for (closes, _) in following.take(FURTHEST) {
                let known = seen.len();
                for (does, writes) in [(closes.mode.reads(), false), (closes.mode.writes(), true)] {
                    if does && !seen.contains(&(closes.resource, writes)) {
                        seen.push((closes.resource, writes));
                    }
                }
                // Unless it is the same in a further round of a loop, whose rounds may rest on what was read before it.
                let round = next.iter().any(|a| a.code == closes.code) && closes.resource == opens.resource;
                if seen.len() > known {
                    next.push(closes);
                }
                if !(seen.len() > known || round) || opens.until >= closes.at || !accesses.forward(opens, closes) {
                    continue;
                }
                let after = |at: u32| others.partition_point(|r| r.at <= at);
                let until = others.partition_point(|r| r.at < closes.at);
                let between = &others[after(opens.at).min(until)..until];
                if closes.resource == opens.resource {
                    found.extend(single(opens, between, closes));
                } else if !seen.contains(&(opens.resource, opens.mode.writes())) {
                    // A later look at the first location makes the earlier one good.
                    found.extend(double(opens, between, closes));
                }
            }
        }
    }
    found
}

/// The accesses in which patterns are looked for, in their order.
fn looked_at<'a>(all: &'a [Access], preempting: &[u32]) -> Vec<&'a Access> {
    let last = all.len().saturating_sub(MOST);
    let mut chosen = vec![false; last];
    for step in preempting.iter().take(PREEMPTIONS) {
        let left = all.partition_point(|a| a.at < *step);
        let back = left.checked_sub(1).and_then(|i| {
            let who = all[i].task;
            all[left..].iter().position(|a| a.task == who).map(|n| left + n)
        });
        for at in std::iter::once(left).chain(back) {
            let (from, to) = (at.saturating_sub(AROUND).min(last), (at + AROUND).min(last));
            chosen[from..to].fill(true);
        }
    }
    let earlier = all[..last].iter().zip(chosen).filter_map(|(access, chosen)| chosen.then_some(access));
    earlier.chain(&all[last..]).collect()
}

/// Whether a value is known to be another than it was.
fn differs(a: Option<u64>, b: Option<u64>) -> bool {
    a.is_none() || b.is_none() || a != b
}

fn single<'a>(opens: &'a Access, between: &[&'a Access], closes: &'a Access) -> Vec<Pattern<'a>> {
    let on =
        |wanted: fn(Mode) -> bool| between.iter().copied().rfind(|r| r.resource == opens.resource && wanted(r.mode));
    let (written, read) = (on(Mode::writes), on(Mode::reads));
    let mut found = Vec::new();
    let mut add = |shape, harm: &'a Access| found.push(Pattern { shape, opens, intrudes: vec![harm], closes });
    // Two read-modify-writes are each whole by itself.
    let whole = !opens.section && !opens.piece;
    let both_updates = opens.mode == Mode::Update && closes.mode == Mode::Update && whole;
    if both_updates {
        return found;
    }
    if let Some(w) = written {
        let changed = differs(opens.found, w.left);
        if opens.mode.reads() && closes.mode.writes() && changed {
            add(Shape::ReadWriteWrite, w);
        } else if opens.mode == Mode::Read && closes.mode == Mode::Read && differs(opens.found, closes.found) {
            add(Shape::ReadWriteRead, w);
        } else if opens.mode.writes() && closes.mode == Mode::Read && differs(opens.left, closes.found) {
            add(Shape::WriteWriteRead, w);
        }
    }
    if let Some(r) = read.filter(|r| !r.section && differs(r.found, closes.left)) {
        if opens.mode == Mode::Write && closes.mode == Mode::Write && differs(opens.left, closes.left) {
            add(Shape::WriteReadWrite, r);
        }
    }
    found
}

fn double<'a>(opens: &'a Access, between: &[&'a Access], closes: &'a Access) -> Option<Pattern<'a>> {
    let shapes = [
        (opens.mode.writes() && closes.mode.writes(), Shape::WriteBothWrite),
        (opens.mode.reads() && closes.mode.reads(), Shape::ReadBothRead),
        (opens.mode == Mode::Write && closes.mode == Mode::Write, Shape::WriteOverWrite),
        (opens.mode == Mode::Read && closes.mode == Mode::Write, Shape::ReadBothWrite),
    ];
    for (fits, shape) in shapes {
        let wanted: fn(Mode) -> bool = if shape == Shape::WriteBothWrite { Mode::reads } else { Mode::writes };
        if !fits {
            continue;
        }
        let last_on = |resource: u32| {
            let fits = |r: &&&Access| r.resource == resource && wanted(r.mode);
            between.iter().filter(fits).copied().collect::<Vec<_>>()
        };
        for first in last_on(opens.resource) {
            let second = last_on(closes.resource).into_iter().rfind(|r| r.task == first.task);
            let Some(second) = second else { continue };
            let noticed = match shape {
                // It saw what was written first, and not what was to be written second.
                Shape::WriteBothWrite => {
                    (opens.left.is_none() || first.found.is_none() || first.found == opens.left)
                        && differs(second.found, closes.left)
                }
                Shape::WriteOverWrite => differs(opens.left, first.left) && differs(second.left, closes.left),
                Shape::ReadBothWrite => differs(opens.found, first.left) && differs(second.left, closes.left),
                _ => differs(opens.found, first.left) && (closes.found.is_none() || closes.found == second.left),
            };
            if noticed {
                let mut intrudes = vec![first, second];
                sort_by_key(&mut intrudes, |r| r.at);
                return Some(Pattern { shape, opens, intrudes, closes });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 2] = [Mode::Read, Mode::Write];

    /// What accesses by their numbers come to: what each read found, and what is left.
    fn outcome(order: &[(usize, Mode)]) -> (Vec<(usize, u64)>, u64) {
        let mut value = 0;
        let mut found = Vec::new();
        for (who, mode) in order {
            match mode {
                Mode::Read => found.push((*who, value)),
                Mode::Write | Mode::Update => value = *who as u64 + 1,
            }
        }
        sort(&mut found);
        (found, value)
    }

    fn access(at: u32, task: u32, resource: u32, mode: Mode, value: u64) -> Access {
        let (found, left) = if mode == Mode::Read { (Some(value), None) } else { (None, Some(value)) };
        let mut access = Access::plain(at, task, resource, mode);
        (access.found, access.left) = (found, left);
        access
    }

    /// The accesses as the execution in this order has them.
    fn executed(modes: &[(u32, u32, Mode)]) -> Vec<Access> {
        let mut values = [0; 2];
        let mut all = Vec::new();
        for (at, (task, resource, mode)) in (0..).zip(modes) {
            if *mode != Mode::Read {
                values[*resource as usize] = u64::from(at) + 1;
            }
            all.push(access(at, *task, *resource, *mode, values[*resource as usize]));
        }
        all
    }

    #[test]
    fn one_location_what_no_serial_order_does_is_a_pattern_and_nothing_else_is() {
        for (p, r, i) in
            MODES.iter().flat_map(|p| MODES.iter().flat_map(move |r| MODES.iter().map(move |i| (*p, *r, *i))))
        {
            let torn = outcome(&[(0, p), (1, r), (2, i)]);
            let serial = [outcome(&[(1, r), (0, p), (2, i)]), outcome(&[(0, p), (2, i), (1, r)])];
            let all = executed(&[(0, 0, p), (1, 0, r), (0, 0, i)]);
            let found = single(&all[0], &[&all[1]], &all[2]);
            assert_eq!(!found.is_empty(), !serial.contains(&torn), "{p:?} {r:?} {i:?}");
        }
    }

    #[test]
    fn two_locations_what_is_found_no_serial_order_does() {
        // The other task uses both, in either order, between the two accesses.
        for code in 0..32u32 {
            let mode = |bit: u32| MODES[(code >> bit & 1) as usize];
            let (p, i, x, y, swapped) = (mode(0), mode(1), mode(2), mode(3), code >> 4 & 1 == 1);
            let inner = if swapped { [(1, 1, y), (1, 0, x)] } else { [(1, 0, x), (1, 1, y)] };
            let torn = [(0, 0, p), inner[0], inner[1], (0, 1, i)];
            let all = executed(&torn);
            let found = double(&all[0], &[&all[1], &all[2]], &all[3]);
            let seen = |order: &[usize]| {
                // The same accesses in another order: what each reads, and what is left.
                let mut values = [0; 2];
                let mut reads = [None; 4];
                for at in order {
                    let (_, resource, mode) = torn[*at];
                    match mode {
                        Mode::Read => reads[*at] = Some(values[resource as usize]),
                        Mode::Write | Mode::Update => values[resource as usize] = *at as u64 + 1,
                    }
                }
                (reads, values)
            };
            let same = |order: &[usize]| seen(order) == seen(&[0, 1, 2, 3]);
            if found.is_some() {
                assert!(!same(&[0, 3, 1, 2]) && !same(&[1, 2, 0, 3]), "{torn:?}");
            } else {
                assert!(same(&[0, 3, 1, 2]) || same(&[1, 2, 0, 3]) || p != i || x != y, "{torn:?}");
            }
        }
    }
}
