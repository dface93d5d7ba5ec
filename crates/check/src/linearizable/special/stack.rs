//! Stacks: peel off the value at the bottom, again and again.
//!
//! A value is certainly there from the return of its push to the call of its pop. Where such times overlap without a gap,
//! something is there all the while, so one value must lie at the bottom from before the block begins until after it
//! ends: its push was called before the block and its pop returns after it. Any such value will do: what is left when it
//! is taken away falls into smaller blocks. If there is none, no order explains the block.
//!
//! Blocks are kept in a tree that counts, for every stretch of time, how many values are certainly there. At the
//! beginning of a block few pushes are open (one for each process), so that the bottom is found at once. Near-linear, as
//! in Lee & Mathur, Efficient decrease-and-conquer linearizability monitoring (2025); the proof there is by peeling as well.

use super::{Gathered, Life, Seen, gather};

pub(super) fn decide(seen: &[Seen<'_>]) -> Option<bool> {
    let lives = match gather(seen) {
        Gathered::Unclear => return None,
        Gathered::Impossible => return Some(false),
        Gathered::Lives(lives) => lives,
    };
    Some(lives.empties_fit(&lives.occupied()) && nests(&lives.lives))
}

/// Whether all values that are certainly there at some time can be nested.
fn nests(lives: &[Life]) -> bool {
    let sure: Vec<&Life> = lives.iter().filter(|life| life.insert.1 < life.remove.0).collect();
    let mut times: Vec<u32> = sure.iter().flat_map(|life| [life.insert.1, life.remove.0]).collect();
    times.sort_unstable();
    times.dedup();
    if times.is_empty() {
        return true;
    }
    let index = |time: u32| times.partition_point(|other| *other < time);
    // Stretch i lies between times i and i + 1.
    let stretches: Vec<(usize, usize)> =
        sure.iter().map(|life| (index(life.insert.1), index(life.remove.0) - 1)).collect();
    let mut counts = vec![0i32; times.len()];
    for (from, to) in &stretches {
        counts[*from] += 1;
        counts[*to + 1] -= 1;
    }
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }
    counts.pop();
    let open = Open::at_returns(&sure, &stretches, times.len());
    let mut peeled = vec![false; sure.len()];
    let mut coverage = Coverage::new(&counts);
    let mut blocks = Vec::new();
    split(&mut blocks, 0, counts.len() - 1, counts.iter().enumerate().filter(|(_, n)| **n == 0).map(|(at, _)| at));
    while let Some((from, to)) = blocks.pop() {
        let end = times[to + 1];
        let bottom = open
            .at(from)
            .iter()
            .copied()
            .find(|value| !peeled[*value as usize] && sure[*value as usize].remove.1 >= end);
        let Some(bottom) = bottom else { return false };
        peeled[bottom as usize] = true;
        let (first, last) = stretches[bottom as usize];
        let gaps = coverage.take(first, last);
        split(&mut blocks, from, to, gaps.iter().copied());
    }
    true
}

/// Adds the stretches from `from` to `to` that lie between gaps.
fn split(blocks: &mut Vec<(usize, usize)>, from: usize, to: usize, gaps: impl Iterator<Item = usize>) {
    let mut start = from;
    for gap in gaps {
        if gap > start {
            blocks.push((start, gap - 1));
        }
        start = gap + 1;
    }
    if start <= to {
        blocks.push((start, to));
    }
}

/// For every stretch that begins with the return of a push: which pushes were called before and return then or later.
struct Open {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Open {
    fn at_returns(sure: &[&Life], stretches: &[(usize, usize)], times: usize) -> Open {
        let mut by_call: Vec<u32> = (0..sure.len() as u32).collect();
        by_call.sort_unstable_by_key(|value| sure[*value as usize].insert.0);
        let mut by_return: Vec<u32> = (0..sure.len() as u32).collect();
        by_return.sort_unstable_by_key(|value| sure[*value as usize].insert.1);
        let mut called = by_call.into_iter().peekable();
        let mut open: Vec<u32> = Vec::new();
        let (mut starts, mut values) = (vec![0; times + 1], Vec::with_capacity(sure.len() * 4));
        let mut filled = 0;
        for value in by_return {
            let returned = sure[value as usize].insert.1;
            while let Some(call) = called.next_if(|call| sure[*call as usize].insert.0 < returned) {
                open.push(call);
            }
            let stretch = stretches[value as usize].0;
            starts[filled..=stretch].fill(values.len() as u32);
            filled = stretch + 1;
            values.extend_from_slice(&open);
            open.retain(|other| *other != value);
        }
        starts[filled..].fill(values.len() as u32);
        Open { starts, values }
    }

    fn at(&self, stretch: usize) -> &[u32] {
        &self.values[self.starts[stretch] as usize..self.starts[stretch + 1] as usize]
    }
}

/// How many values are certainly there, stretch by stretch: a tree of minima with additions that wait at inner nodes.
struct Coverage {
    size: usize,
    minimum: Vec<i32>,
    waiting: Vec<i32>,
    gaps: Vec<usize>,
}

/// A gap that was reported, and will not be again.
const GONE: i32 = i32::MAX / 2;

impl Coverage {
    fn new(counts: &[i32]) -> Coverage {
        let size = counts.len().next_power_of_two();
        let mut minimum = vec![GONE; 2 * size];
        for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            minimum[size + at] = *count;
        }
        for node in (1..size).rev() {
            minimum[node] = minimum[2 * node].min(minimum[2 * node + 1]);
        }
        Coverage { size, minimum, waiting: vec![0; size], gaps: Vec::new() }
    }

    /// Takes away a value that is there from `first` to `last`; says which stretches have nothing left.
    fn take(&mut self, first: usize, last: usize) -> &[usize] {
        self.gaps.clear();
        self.descend(1, 0, self.size, first, last);
        &self.gaps
    }

    fn descend(&mut self, node: usize, from: usize, width: usize, first: usize, last: usize) {
        if last < from || from + width <= first {
            return;
        }
        if first <= from && from + width - 1 <= last {
            self.minimum[node] -= 1;
            if node < self.size {
                self.waiting[node] += 1;
            }
            if self.minimum[node] == 0 {
                self.collect(node, from, width);
            }
            return;
        }
        self.push_down(node);
        self.descend(2 * node, from, width / 2, first, last);
        self.descend(2 * node + 1, from + width / 2, width / 2, first, last);
        self.minimum[node] = self.minimum[2 * node].min(self.minimum[2 * node + 1]);
    }

    /// Reports the zeros below a node, and takes them out of the tree.
    fn collect(&mut self, node: usize, from: usize, width: usize) {
        if self.minimum[node] != 0 {
            return;
        }
        if node >= self.size {
            self.minimum[node] = GONE;
            self.gaps.push(from);
            return;
        }
        self.push_down(node);
        self.collect(2 * node, from, width / 2);
        self.collect(2 * node + 1, from + width / 2, width / 2);
        self.minimum[node] = self.minimum[2 * node].min(self.minimum[2 * node + 1]);
    }

    fn push_down(&mut self, node: usize) {
        let waiting = std::mem::take(&mut self.waiting[node]);
        if waiting == 0 {
            return;
        }
        for child in [2 * node, 2 * node + 1] {
            self.minimum[child] -= waiting;
            if child < self.size {
                self.waiting[child] += waiting;
            }
        }
    }
}
