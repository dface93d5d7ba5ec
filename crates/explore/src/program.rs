//! What a front end brings to an exploration: a program, and what runs it.

use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Engine, Outcome, Settings, Site};
use drawloom_report::{Language, Place};

/// A program that can be executed again and again.
pub trait Program: Sync {
    /// What runs its executions.
    type Executor: Executor;

    /// Whether executions may run side by side, on several OS threads.
    const SPREADS: bool;

    /// Whether accesses to plain memory that nothing orders are a finding of their own.
    const DATA_RACES: bool = true;

    /// Whether a task that waits for a limited time reads the clock by a step where
    /// [every timer fires](drawloom_engine::Engine::every_timer_fires): then timers that fire early can be explored
    /// exhaustively.
    const EARLY_TIMERS_ARE_STEPS: bool = true;

    /// The language that it is written in: the words of its reports, how its source is read, how it is run again.
    const LANGUAGE: Language;

    /// An executor of its own for a worker, with choices by `strategy`.
    fn executor(&self, strategy: Box<dyn Strategy>) -> Self::Executor;

    /// Runs one execution, with choices seeded by `seed`. One that others were in the way of is
    /// [abandoned](drawloom_engine::Ending::Abandoned), and run again.
    fn run(&self, executor: &mut Self::Executor, settings: &Settings, seed: u64) -> Outcome;

    /// The places at which it was seen, in all executions up to now, to ask for a weaker ordering than sequential consistency,
    /// which it gets all the same.
    fn weaker_accesses(&self) -> u64 {
        0
    }

    /// The place that a site of this front end stands for.
    fn place(site: Site) -> Option<Place>;

    /// The line of a site, for schedules.
    fn line_of(site: Site) -> u32;
}

/// What runs the executions of one worker, one after the other, and keeps their memory.
pub trait Executor {
    /// Exchanges the strategy, and hands back the one before.
    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy>;

    /// Calls `act` with the strategy.
    fn with_strategy<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R;

    /// The state that the last execution ended in.
    fn engine(&self) -> &Engine;

    /// Whether a task of any execution could not be unwound.
    fn has_leaked(&self) -> bool;

    /// Whether the OS thread must not run executions any more: a task had to be left in the middle of something.
    fn is_spent(&self) -> bool {
        false
    }

    /// Exchanges the strategy.
    fn set_strategy(&mut self, strategy: Box<dyn Strategy>) {
        self.replace_strategy(strategy);
    }
}
