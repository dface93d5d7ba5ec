//! Rounds: which executions a strategy has learned from when it makes another.
//!
//! Executions run side by side, and still each must be the same on one OS thread and on many. So what
//! execution i is drawn with follows from i alone: executions are divided into rounds, and those of one
//! round share the profile of all rounds before. At first a round is one execution, so that what is
//! learned is used at once; then rounds grow by half of what was made before, so that there are few of
//! them and workers seldom wait for each other.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use drawloom_engine::sorted;
use drawloom_engine::strategy::{Kept, Profile};

use super::memory;

/// Executions that a worker takes at a time.
pub(super) const BLOCK: u64 = 32;
/// The first rounds are one execution each: so many of them.
pub(super) const SINGLE: u64 = 16;
/// All executions below this number are learned from, and then every `LEARN_EVERY`-th: by then most is
/// known, and learning costs about as much as the steps do.
const LEARN_ALL: u64 = 64;
const LEARN_EVERY: u64 = 4;

/// What a worker is to do next, with what is known.
pub(super) enum Turn {
    /// To make executions.
    Block(Assignment),
    /// To do what is to be done between rounds, before this execution, while nobody makes any.
    Between(u64, Arc<Profile>),
}

/// Executions to be made by one worker, with what is known.
pub(super) struct Assignment {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) profile: Arc<Profile>,
    /// It is a whole round: what it shows is added to the profile itself.
    pub(super) alone: bool,
}

/// Hands out blocks of executions, in order.
pub(super) struct Rounds {
    learns: bool,
    /// From every execution.
    always: bool,
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    executions: u64,
    next: u64,
    /// The round ends before this execution.
    end: u64,
    /// Blocks of the round that are being made.
    running: usize,
    /// What comes between this round and the next has been dealt with.
    was_between: bool,
    /// Workers that wait for the end of the round.
    waiting: usize,
    /// None while it is lent to the one execution of a round.
    profile: Option<Arc<Profile>>,
    learned: Vec<(u64, Profile)>,
}

impl Rounds {
    /// Rounds of so many executions; all in one if nobody learns.
    pub(super) fn new(executions: u64, learns: bool) -> Self {
        Self::starting_with(memory::profile(), executions, learns, false)
    }

    /// Rounds in which every execution counts, and which stay short for that.
    pub(super) fn keeping(kept: Kept, executions: u64) -> Self {
        Self::starting_with(Arc::new(Profile::with_kept(kept)), executions, true, true)
    }

    fn starting_with(profile: Arc<Profile>, executions: u64, learns: bool, always: bool) -> Self {
        let state = State {
            executions,
            next: 0,
            end: if learns { executions.min(1) } else { executions },
            running: 0,
            was_between: false,
            waiting: 0,
            profile: Some(profile),
            learned: Vec::new(),
        };
        Rounds { learns, always, state: Mutex::new(state), over: Condvar::new() }
    }

    /// What is next, if there is anything; waits for the end of the round before it.
    pub(super) fn take(&self) -> Option<Turn> {
        let mut state = self.lock();
        loop {
            if state.next < state.end {
                let first = state.next;
                state.next = (first + BLOCK).min(state.end);
                state.running += 1;
                let alone = self.learns && state.end <= SINGLE;
                let profile = if alone { state.profile.take() } else { state.profile.clone() }.unwrap_or_default();
                return Some(Turn::Block(Assignment { first, last: state.next, profile, alone }));
            }
            if state.end >= state.executions {
                return None;
            }
            if state.running > 0 {
                state.waiting += 1;
                state = self.over.wait(state).unwrap_or_else(|e| e.into_inner());
                state.waiting -= 1;
            } else if state.was_between {
                state.begin_round(if self.always { 8 } else { 2 });
            } else {
                state.merge();
                state.was_between = true;
                state.running = 1;
                return Some(Turn::Between(state.end, state.profile.clone().unwrap_or_default()));
            }
        }
    }

    /// What came between rounds is over; so many executions were made in it.
    pub(super) fn done_between(&self, executions: u64) {
        let mut state = self.lock();
        state.executions = state.executions.saturating_sub(executions).max(state.end);
        self.one_is_done(&mut state);
    }

    /// Whether execution `number` is learned from.
    pub(super) fn learns_from(&self, number: u64) -> bool {
        self.learns && (self.always || number < LEARN_ALL || number % LEARN_EVERY == 0)
    }

    /// The round of one execution is over, and this is what is known now.
    pub(super) fn done_alone(&self, profile: Arc<Profile>) {
        let mut state = self.lock();
        state.profile = Some(profile);
        self.one_is_done(&mut state);
    }

    /// The block that began with `first` is over.
    pub(super) fn done(&self, first: u64, learned: Option<Profile>) {
        let mut state = self.lock();
        state.learned.extend(learned.map(|learned| (first, learned)));
        self.one_is_done(&mut state);
    }

    /// All that is known in the end, of executions up to number `last`.
    pub(super) fn known(&self, last: u64) -> Arc<Profile> {
        let mut state = self.lock();
        state.learned.retain(|(first, _)| *first <= last);
        state.merge();
        state.profile.clone().unwrap_or_default()
    }

    /// All is over: what is known is not needed any more.
    pub(super) fn end(self) {
        let state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        state.profile.into_iter().for_each(memory::keep_profile);
    }

    fn one_is_done(&self, state: &mut State) {
        state.running -= 1;
        // Waking nobody would be a system call, too.
        if state.running == 0 && state.waiting > 0 {
            self.over.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl State {
    /// The next round is that part of what was made before.
    fn begin_round(&mut self, part: u64) {
        self.was_between = false;
        let length = if self.end < SINGLE { 1 } else { (self.end / part / BLOCK * BLOCK).max(BLOCK) };
        self.end = (self.end + length).min(self.executions);
    }

    /// In the order of the executions, whoever was ready first.
    fn merge(&mut self) {
        if self.learned.is_empty() {
            return;
        }
        sorted::sort_by_key(&mut self.learned, |(first, _)| *first);
        let profile = Arc::make_mut(self.profile.get_or_insert_default());
        for (_, learned) in self.learned.drain(..) {
            profile.merge(&learned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_single_executions_at_first_and_grow() {
        let rounds = Rounds::new(1000, true);
        let mut blocks = Vec::new();
        let mut between = Vec::new();
        while let Some(turn) = rounds.take() {
            match turn {
                Turn::Block(block) => {
                    blocks.push((block.first, block.last));
                    if block.alone {
                        rounds.done_alone(block.profile);
                    } else {
                        rounds.done(block.first, None);
                    }
                }
                Turn::Between(number, _) => {
                    between.push(number);
                    rounds.done_between(0);
                }
            }
        }
        assert_eq!(between[..17], (1..=16).chain([48]).collect::<Vec<_>>());
        assert_eq!(blocks[..17], (0..16).map(|i| (i, i + 1)).chain([(16, 48)]).collect::<Vec<_>>());
        assert_eq!(blocks.last().map(|block| block.1), Some(1000));
        assert!(blocks.windows(2).all(|pair| pair[0].1 == pair[1].0 && pair[0].1 - pair[0].0 <= BLOCK));
    }
}
